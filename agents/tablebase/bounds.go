package tablebase

// bounds is the judge of values. A cell holds a lower bound in its low byte and an upper bound in its high byte, both for
// the mover. With pair a position has two nodes, in the games hope and threat, else one in the plain game.
type bounds struct {
	pair bool
}

func cellOf(lower, upper int8) uint16 { return uint16(uint8(lower)) | uint16(uint8(upper))<<8 }

// middle is the value of play that stops with 0 where the bounds end: the middle one of lower, 0 and upper.
func middle(cell uint16) int8 {
	return max(int8(cell), min(int8(cell>>8), 0))
}

func (j *bounds) open(cell uint16) bool { return uint8(cell) != uint8(cell>>8) }

func (j *bounds) moves(before, after uint16) bool { return middle(before) != middle(after) }

func (j *bounds) begin(node int, f *fan, r *record) (uint16, bool) {
	if f.ended {
		return cellOf(f.leave[plain], f.leave[plain]), true
	}
	if !j.pair {
		r.base = f.leave[plain]
		r.children = append(r.children, f.child[:f.n]...)
		return 0, false
	}
	// What the mover hopes for is a threat to the other player, whose position a child is unless it stays.
	side := uint32(node & 1)
	r.base = f.leave[hope+side]
	for _, c := range f.child[:f.n] {
		if c&stays != 0 {
			r.children = append(r.children, c<<1|side|stays)
		} else {
			r.children = append(r.children, c<<1|side^1)
		}
	}
	return 0, false
}

// step leaves out children that are no better than the base whatever becomes of them.
func (j *bounds) step(r *record, cells []uint16, _ int) uint16 {
	base := r.base
	lower, upper := base, base
	n := 0
	for _, c := range r.children {
		cell := cells[c&^stays]
		lo, hi := int8(cell), int8(cell>>8)
		if c&stays == 0 {
			lo, hi = -hi, -lo
		}
		if hi <= base {
			continue
		}
		lower, upper = max(lower, lo), max(upper, hi)
		if lo == hi {
			base = lo
			continue
		}
		r.children[n] = c
		n++
	}
	r.base, r.children = base, r.children[:n]
	return cellOf(lower, upper)
}
