package mancala_test

import "slices"

// omwesoBook is Omweso. A player's pits are counted 0–7 along the outer row and 8–15 back along the inner one.
type omwesoBook struct {
	setup        string
	pitcap       int
	reverse      bool
	anyResow     bool
	okwesera     bool
	firstCapture bool
	emitwe       bool
	akawumbi     string
	frontRow     bool
	akakyala     bool
	quiet, laps  int
}

const (
	forward   = 1
	clockwise = -1
)

// reversePits are the two leftmost columns, in the order of actions 16–19 (O13).
var reversePits = []int{0, 1, 14, 15}

func (b omwesoBook) start() (t table) { // O1
	switch b.setup {
	case "outer4":
		side := slices.Concat(filled(8, 4), filled(8, 0))
		t.pits = [2][]int{side, slices.Clone(side)}
	case "all2":
		t.pits = [2][]int{filled(16, 2), filled(16, 2)}
	case "arrange":
		t.pits = [2][]int{filled(16, 0), filled(16, 0)}
		t.hand = held{any: true, arranging: true, seeds: 32}
	}
	return t
}

// sowRound sows a handful round the own pits from the one next to ref, and returns the pit of the last seed.
func sowRound(own []int, ref, seeds, by int) (at int) {
	at = ref
	for ; seeds > 0; seeds-- {
		at = (at + by + 16) % 16 // O3: no pit is skipped
		own[at]++
	}
	return at
}

// faced returns the opponent's two pits that an inner pit faces, the outer one first.
func faced(at int) (outer, inner int) { return at - 8, 23 - at }

// mayCapture is O8.
func (b omwesoBook) mayCapture(t table) bool { return t.finished[t.mover] || b.firstCapture }

// captures tells whether a lap that has just put its last seed at a pit captures there (O5).
func (b omwesoBook) captures(t table, at int) bool {
	if at < 8 || t.pits[t.mover][at] < 2 || !b.mayCapture(t) {
		return false
	}
	outer, inner := faced(at)
	return t.pits[1-t.mover][outer] > 0 && t.pits[1-t.mover][inner] > 0
}

// mayTurn tells whether a clockwise lap of these seeds, already lifted, may start from the pit (O13).
func (b omwesoBook) mayTurn(t table, ref, seeds int) bool {
	if !b.reverse || !slices.Contains(reversePits, ref) {
		return false
	}
	trial := t.clone()
	return b.captures(trial, sowRound(trial.pits[trial.mover], ref, seeds, clockwise))
}

// lift takes all seeds out of an own pit.
func (t table) lift(pit int) (after table, seeds int) {
	after = t.clone()
	seeds = after.pits[t.mover][pit]
	after.pits[t.mover][pit] = 0
	return after, seeds
}

func (b omwesoBook) legal(t table) (list []int) {
	if t.over() {
		return nil
	}
	if t.hand.arranging { // O1
		for seeds := 0; seeds <= min(b.pitcap, t.hand.seeds); seeds++ {
			if rest, pits := t.hand.seeds-seeds, 15-t.hand.ref; rest <= pits*b.pitcap {
				list = append(list, seeds)
			}
		}
		return list
	}
	if t.hand.any {
		return []int{36, 37} // O13
	}
	for pit, seeds := range t.pits[t.mover] {
		if seeds >= 2 {
			list = append(list, pit) // O2
		}
	}
	for i, pit := range reversePits {
		lifted, seeds := t.lift(pit)
		if seeds >= 2 && b.mayTurn(lifted, pit, seeds) {
			list = append(list, 16+i) // O13
		}
	}
	for pit, seeds := range t.pits[t.mover] {
		if b.okwesera && seeds == 3 && !t.captured[south] && !t.captured[north] {
			list = append(list, 20+pit) // O14
		}
	}
	return list
}

func (b omwesoBook) next(t table, action int) table {
	if t.hand.arranging {
		return b.arrange(t, action)
	}
	after := t.clone()
	turn := t.hand // O13: a turn goes on with what it has captured and sown so far
	by := forward
	switch {
	case action < 16:
		after, turn.seeds = t.lift(action)
		turn.ref = action
	case action < 20:
		turn.ref = reversePits[action-16]
		after, turn.seeds = t.lift(turn.ref)
		by = clockwise
	case action < 36: // O14
		pit := action - 20
		after, _ = t.lift(pit)
		after.pits[t.mover][(pit+1)%16] += 2
		after.pits[t.mover][(pit+2)%16]++
		return b.turnEnds(after.count(0), false)
	case action == 37:
		by = clockwise
	}
	turn.any = true
	after.hand = held{}
	caught := 0 // by this ply
	for {
		if turn.laps == b.laps { // C3
			return t.clone().count(0).end("endless", nobody)
		}
		turn.laps++
		own, other := after.pits[t.mover], after.pits[1-t.mover]
		at := sowRound(own, turn.ref, turn.seeds, by)
		if own[at] == 1 { // O4: it was empty
			return b.turnEnds(after.count(caught), turn.captured)
		}
		turnable := true
		if b.captures(after, at) { // O5, O6
			outer, inner := faced(at)
			turn.seeds = other[outer] + other[inner]
			other[outer], other[inner] = 0, 0
			caught += turn.seeds
			turn.captured = true
			turn.left = turn.left || outer == 0
			turn.right = turn.right || outer == 7
			if reason := b.wins(turn, outer, sum(other)); reason != "" {
				after.hand = turn
				return after.count(caught).end(reason, t.mover)
			}
			turnable = b.anyResow || by == clockwise
		} else { // O7
			turn.ref, turn.seeds = at, own[at]
			own[at] = 0
		}
		if turnable && b.mayTurn(after, turn.ref, turn.seeds) {
			after.hand = turn
			return after.count(caught)
		}
		by = forward
	}
}

// wins is O9, after a capture in the column of this outer pit that leaves the opponent so many seeds.
func (b omwesoBook) wins(turn held, outer, left int) (reason string) {
	if outer != 0 && outer != 7 {
		return ""
	}
	bothEnds := turn.left && turn.right
	if left == 0 && (b.akawumbi == "end" || b.akawumbi == "both" && bothEnds) {
		return "akawumbi"
	}
	if b.emitwe && bothEnds {
		return "okutema"
	}
	return ""
}

// turnEnds looks at what ends a game with a turn; captured tells whether the whole turn has captured.
func (b omwesoBook) turnEnds(t table, captured bool) table {
	mover, opponent := t.mover, 1-t.mover
	before := t.captured[mover]
	t.finished[mover] = true
	t.captured[mover] = before || captured
	if b.frontRow && captured && sum(t.pits[opponent][8:]) == 0 {
		return t.end("okutema", mover) // O10
	}
	if b.akakyala && captured && before && !t.captured[opponent] {
		return t.end("akakyala", mover) // O11
	}
	t.mover = opponent
	if t = b.settle(t); !t.over() && t.quiet >= b.quiet {
		return t.end("cycle", nobody) // C1, C2
	}
	return t
}

// arrange puts seeds into the next pit (O1). The quiet count leaves it out (C1).
func (b omwesoBook) arrange(t table, seeds int) table {
	after := t.clone()
	after.ply++
	after.pits[t.mover][t.hand.ref] += seeds
	after.hand.seeds -= seeds
	after.hand.ref++
	if after.hand.ref < 16 {
		return after
	}
	if t.mover == south {
		after.mover = north
		after.hand = held{any: true, arranging: true, seeds: 32}
		return after
	}
	after.mover = south
	after.hand = held{}
	return b.settle(after)
}

// settle is O12.
func (b omwesoBook) settle(t table) table {
	if t.over() || t.hand.any || slices.Max(t.pits[t.mover]) >= 2 {
		return t
	}
	return t.end("bulijo", 1-t.mover)
}

func (b omwesoBook) points(t table) (points [2]int) {
	if t.over() && t.winner != nobody {
		points[t.winner] = map[string]int{"akawumbi": 12, "okutema": 2, "akakyala": 2, "bulijo": 1}[t.reason]
	}
	return points
}
