package mancala_test

import "slices"

// ring lays the two rows out as one circle: South's 0…n−1, then North's n…2n−1. Counter-clockwise is +1.
func (t table) ring() []int { return slices.Concat(t.pits[south], t.pits[north]) }

// unroll puts the circle back as two rows.
func (t table) unroll(ring []int) table {
	n := len(ring) / 2
	t.pits = [2][]int{slices.Clone(ring[:n]), slices.Clone(ring[n:])}
	return t
}

// ownerOf tells whose pit a place of the circle is.
func ownerOf(ring []int, place int) int {
	if place < len(ring)/2 {
		return south
	}
	return north
}

// step moves one place round the circle.
func step(ring []int, place, by int) int { return (place + by + len(ring)) % len(ring) }

// count brings the counters up to date after a ply.
func (t table) count(captured int) table {
	t.ply++
	t.quiet++
	if captured > 0 {
		t.quiet = 0 // C1
	}
	return t
}

// byStores is C5: more seeds win.
func (t table) byStores(reason string) table {
	switch {
	case t.stores[south] > t.stores[north]:
		return t.end(reason, south)
	case t.stores[south] < t.stores[north]:
		return t.end(reason, north)
	}
	return t.end(reason, nobody)
}

// owners gives each player the own row.
func (t table) owners(reason string) table {
	for player, row := range t.pits {
		t.stores[player] += sum(row)
		t.pits[player] = filled(len(row), 0)
	}
	return t.byStores(reason)
}

// settleCycle is C2.
func (t table) settleCycle(option string) table {
	if option == "owner" {
		return t.owners("cycle")
	}
	half := (sum(t.pits[south]) + sum(t.pits[north])) / 2 // an odd seed goes to nobody
	for player, row := range t.pits {
		t.stores[player] += half
		t.pits[player] = filled(len(row), 0)
	}
	return t.byStores("cycle")
}

// onePoint is the match points of every two-row game but Urim.
func onePoint(t table) (points [2]int) {
	if t.over() && t.winner != nobody {
		points[t.winner] = 1
	}
	return points
}

// urimBook is Urim, and Oware with other numbers.
type urimBook struct {
	pits, seeds int
	cap, slam   string
	chain       []int
	graded      bool // U10
	cycle       string
	quiet       int
}

func (b urimBook) start() table {
	return table{pits: [2][]int{filled(b.pits, b.seeds), filled(b.pits, b.seeds)}} // U1
}

// play sows and captures. fits is false if the play puts an eighteenth seed into a pit.
func (b urimBook) play(t table, action int) (after table, captured int, fits bool) {
	opponent := 1 - t.mover
	ring := t.ring()
	origin := t.mover*b.pits + action
	hand := ring[origin]
	ring[origin] = 0
	fits = true
	at := origin
	for hand > 0 {
		at = step(ring, at, 1)
		if at == origin {
			continue // U3: never into the emptied origin, on any pass
		}
		if ring[at] >= 17 { // U4
			if b.cap == "skip" {
				continue
			}
			fits = false
		}
		ring[at]++
		hand--
	}
	taken := slices.Clone(ring)
	if ownerOf(ring, at) == opponent && (ring[at] == 2 || ring[at] == 3) { // U5
		for ownerOf(ring, at) == opponent && slices.Contains(b.chain, ring[at]) { // U6
			captured += taken[at]
			taken[at] = 0
			at = step(ring, at, -1)
		}
	}
	after = t.unroll(taken)
	if captured > 0 && sum(after.pits[opponent]) == 0 && b.slam == "nocapture" { // U7
		return t.unroll(ring), 0, fits
	}
	after.stores[t.mover] += captured
	return after, captured, fits
}

func (b urimBook) legal(t table) (list []int) {
	if t.over() {
		return nil
	}
	opponent := 1 - t.mover
	for action := range b.pits {
		if t.pits[t.mover][action] == 0 {
			continue // U2
		}
		after, _, fits := b.play(t, action)
		if b.cap == "illegal" && !fits {
			continue // U4
		}
		if sum(t.pits[opponent]) == 0 && sum(after.pits[opponent]) == 0 {
			continue // U8
		}
		list = append(list, action)
	}
	return list
}

func (b urimBook) next(t table, action int) table {
	after, captured, _ := b.play(t, action)
	after = after.count(captured)
	after.mover = 1 - t.mover
	if after = b.settle(after); !after.over() && after.quiet >= b.quiet {
		return after.settleCycle(b.cycle) // C1
	}
	return after
}

// settle is U9 with C4.
func (b urimBook) settle(t table) table {
	if t.over() || len(b.legal(t)) > 0 {
		return t
	}
	return t.owners("nomoves")
}

func (b urimBook) points(t table) (points [2]int) {
	if !b.graded {
		return onePoint(t)
	}
	if !t.over() || t.winner == nobody {
		return points
	}
	all := 2 * b.pits * b.seeds
	switch have := t.stores[t.winner]; { // U10
	case 4*have >= 3*all:
		points[t.winner] = 2
	case 2*have > all:
		points[t.winner] = 1
	}
	return points
}

// modiarBook is Modiar.
type modiarBook struct {
	slam  string
	cycle string
	quiet int
}

func (b modiarBook) start() table {
	return table{pits: [2][]int{filled(3, 7), filled(3, 7)}} // M1
}

// play sows and captures. slam tells of a grand slam, which captures only if the option allows it.
func (b modiarBook) play(t table, action int) (after table, captured int, slam bool) {
	opponent := 1 - t.mover
	ring := t.ring()
	origin := t.mover*3 + action
	hand := ring[origin]
	ring[origin] = 0
	at := origin
	for first := true; hand > 0; first = false {
		if !first {
			at = step(ring, at, 1)
		}
		ring[at]++ // M3: the first seed goes back into the origin
		hand--
	}
	if t.ply == 0 {
		return t.unroll(ring), 0, false // M6
	}
	taken := slices.Clone(ring)
	fromOpponent := 0
	for taken[at] == 2 || taken[at] == 4 || taken[at] == 6 { // M4, M5
		captured += taken[at]
		if ownerOf(ring, at) == opponent {
			fromOpponent += taken[at]
		}
		taken[at] = 0
		at = step(ring, at, -1)
	}
	after = t.unroll(taken)
	slam = fromOpponent > 0 && sum(after.pits[opponent]) == 0 // M7
	if slam && b.slam != "allowed" {
		return t.unroll(ring), 0, true
	}
	after.stores[t.mover] += captured
	return after, captured, slam
}

func (b modiarBook) legal(t table) (list []int) {
	if t.over() {
		return nil
	}
	opponent := 1 - t.mover
	var slams []int
	for action := range 3 {
		if t.pits[t.mover][action] < 2 {
			continue // M2
		}
		after, _, slam := b.play(t, action)
		if sum(t.pits[opponent]) == 0 && sum(after.pits[opponent]) == 0 {
			continue // M8
		}
		if slam && (b.slam == "illegal" || b.slam == "forced") {
			slams = append(slams, action)
			continue // M7
		}
		list = append(list, action)
	}
	if len(list) == 0 && b.slam == "forced" {
		return slams // M7
	}
	return list
}

func (b modiarBook) next(t table, action int) table {
	after, captured, _ := b.play(t, action)
	after = after.count(captured)
	after.mover = 1 - t.mover
	if after = b.settle(after); !after.over() && after.quiet >= b.quiet {
		return after.settleCycle(b.cycle) // C1
	}
	return after
}

// settle is M9 with C4.
func (b modiarBook) settle(t table) table {
	if t.over() || len(b.legal(t)) > 0 {
		return t
	}
	return t.owners("nomoves")
}

func (b modiarBook) points(t table) [2]int { return onePoint(t) }

// hoyitoBook is Hoyito II.
type hoyitoBook struct {
	pits            int
	clockwise, both bool
	cycle           string
	quiet, laps     int
}

func (b hoyitoBook) start() table {
	return table{pits: [2][]int{filled(b.pits, 4), filled(b.pits, 4)}} // H1
}

func (b hoyitoBook) legal(t table) (list []int) {
	if t.over() || sum(t.ring()) == 0 {
		return nil // H11
	}
	for action, seeds := range t.pits[t.mover] {
		if seeds > 0 {
			list = append(list, action) // H3
		}
	}
	if list == nil {
		return []int{b.pits} // H3: pass
	}
	return list
}

func (b hoyitoBook) next(t table, action int) table {
	if action == b.pits {
		after := t.clone().count(0) // H3
		after.mover = 1 - t.mover
		return b.ends(after)
	}
	along := 1
	if b.clockwise {
		along = -1 // H2
	}
	ring := t.ring()
	from := t.mover*b.pits + action
	for laps := 0; ; laps++ {
		if laps == b.laps { // C3: pits and stores as they were
			return t.clone().count(0).end("endless", nobody)
		}
		hand := ring[from]
		ring[from] = 0
		at := from
		for hand > 0 {
			at = step(ring, at, along) // H4
			ring[at]++
			hand--
		}
		if ring[at] == 1 { // H5: it was empty
			after := t.unroll(ring).count(0)
			after.mover = 1 - t.mover
			return b.ends(after)
		}
		mayCapture := func(place int) bool { return b.both || ownerOf(ring, place) != t.mover }
		if ring[at] != 4 || !mayCapture(at) {
			from = at // H7; H8: fours on the way stay
			continue
		}
		captured := 0
		for ring[at] == 4 && mayCapture(at) { // H6
			captured += 4
			ring[at] = 0
			at = step(ring, at, -along)
		}
		if sum(ring) == 4 { // H10
			captured += 4
			ring = filled(len(ring), 0)
		}
		after := t.unroll(ring).count(captured)
		after.stores[t.mover] += captured
		return b.ends(after) // H9: the mover stays
	}
}

func (b hoyitoBook) ends(t table) table {
	if t = b.settle(t); !t.over() && t.quiet >= b.quiet {
		return t.settleCycle(b.cycle) // C1
	}
	return t
}

// settle is H11: a player without a legal action has an empty board before him.
func (b hoyitoBook) settle(t table) table {
	if t.over() || sum(t.ring()) > 0 {
		return t
	}
	return t.byStores("cleared")
}

func (b hoyitoBook) points(t table) [2]int { return onePoint(t) }
