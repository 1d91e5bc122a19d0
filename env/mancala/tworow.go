package mancala

// This file holds what the two-row games share.

// answer ends a ply of one lap that has taken these pits: the rows are own and opp now, and the opponent moves.
func (s *State) answer(own, opp, taken uint64) {
	s.side[0][0], s.side[1][0] = opp, own
	s.count(taken != 0)
	s.store[0], s.store[1] = s.store[1], s.store[0]+uint8(taken*ones>>56) // sum8
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
	s.store[0] += uint8(s.side[0].sum())
	s.store[1] += uint8(s.side[1].sum())
	s.side = [2]side{}
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
