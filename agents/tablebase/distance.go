package tablebase

// far is the cell of a position that has no distance yet.
const far = 0xffff

// The bases of a distance record.
const (
	shortest = iota // as soon as one child has a distance
	longest         // when all have
)

// distances is the judge of distances, when the values are known. A cell holds a distance or far.
type distances struct {
	values []int8 // of the level
}

func (j *distances) open(cell uint16) bool { return cell == far }

func (j *distances) moves(uint16, uint16) bool { return false }

// begin keeps the children of best value.
func (j *distances) begin(node int, f *fan, r *record) (uint16, bool) {
	value := j.values[node]
	for _, c := range f.child[:f.n] {
		v := j.values[c&^stays]
		if c&stays == 0 {
			v = -v
		}
		if v == value {
			r.children = append(r.children, c)
		}
	}
	r.base = shortest
	if value < 0 {
		r.base = longest
	}
	switch leaves := f.leave[plain] == value; {
	case f.ended:
		return 0, true
	case leaves && (value >= 0 || len(r.children) == 0):
		return 1, true
	}
	return far, false
}

// step gives a distance in the round of this number.
func (j *distances) step(r *record, cells []uint16, round int) uint16 {
	n := 0
	for _, c := range r.children {
		if cells[c&^stays] == far {
			r.children[n] = c
			n++
		} else if r.base == shortest {
			return uint16(round)
		}
	}
	r.children = r.children[:n]
	if r.base == longest && n == 0 {
		return uint16(round)
	}
	return far
}
