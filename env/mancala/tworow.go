package mancala

// This file holds what the two-row games share: one-lap sowing by table, and their common endings.

// lap is the effect of sowing one handful in a two-row game of up to 8 pits a row, for the mover.
type lap struct {
	own, opp uint64 // added to the rows, once the origin has been emptied
	last     uint64 // where the last seed falls: the lowest bit of its byte in the opponent's row, 64 if in the own row
}

// laps holds the lap of every pit and handful. The sizes are powers of two so that masking an
// index proves it in range.
type laps [8][64]lap

// newLaps tabulates sowing counter-clockwise with n pits a row, in handfuls of at most seeds. The first
// seed falls first places after the origin; where skip is set no other seed falls into the origin.
func newLaps(n, seeds, first int, skip bool) *laps {
	var t laps
	for origin := range n {
		place := origin + first
		rows := [2]uint64{}
		for k := 1; k <= seeds; k++ {
			if skip && place%(2*n) == origin {
				place++
			}
			place %= 2 * n
			rows[place/n] += 1 << (place % n * 8)
			t[origin][k] = lap{rows[0], rows[1], lastOf(uint(place), uint(n))}
			place++
		}
	}
	return &t
}

// lastOf returns lap.last for a place of the ring: 0 … n−1 in the mover's row, n … 2n−1 in the opponent's.
func lastOf(place, n uint) uint64 {
	if place < n {
		return 64
	}
	return uint64(place-n) * 8
}

// answer ends a ply of one lap that has taken so many seeds: the rows are own and opp now, and the opponent moves.
func (s *State) answer(own, opp uint64, took uint8) {
	s.side[0][0], s.side[1][0] = opp, own
	s.count(took > 0)
	s.store[0], s.store[1] = s.store[1], s.store[0]+took
	s.status ^= 1
}

// twoRow is the part of a two-row variant that its endings need.
type twoRow struct {
	info  Info
	owner bool // C2: cycle=owner
}

func (r *twoRow) Info() Info { return r.info }

// start sets every pit of both rows to the same number of seeds.
func (r *twoRow) start(seeds int) State {
	var p Position
	for i := range r.info.Pits {
		p.Pits[South][i], p.Pits[North][i] = uint8(seeds), uint8(seeds)
	}
	return p.State()
}

// sweep ends the game for want of a move: each player takes the own row (C4).
func (r *twoRow) sweep(s *State) {
	for i := range s.side {
		s.store[i] += uint8(s.side[i].sum())
		s.side[i] = side{}
	}
	s.byStores(NoMoves)
}

// settle ends the game at the quiet limit (C1, C2).
func (r *twoRow) settle(s *State) {
	if !r.owner {
		half := uint8((s.side[0].sum() + s.side[1].sum()) / 2)
		s.store[0] += half
		s.store[1] += half
		s.side = [2]side{}
	}
	for i := range s.side {
		s.store[i] += uint8(s.side[i].sum())
		s.side[i] = side{}
	}
	s.byStores(Cycle)
}

// byStores ends the game; more seeds in store win (C5).
func (s *State) byStores(why Reason) {
	winner := Nobody
	if s.store[0] != s.store[1] {
		winner = s.Mover()
		if s.store[0] < s.store[1] {
			winner = winner.Opponent()
		}
	}
	s.end(why, winner)
}

// onePoint gives a match point to the winner.
func onePoint(s *State) (points [2]int) {
	if w := s.Winner(); w != Nobody {
		points[w] = 1
	}
	return points
}
