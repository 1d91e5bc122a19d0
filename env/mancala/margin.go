package mancala

// Margin is how many more seeds South has than North, as a share of all seeds of the variant, −1 … 1: in the stores
// where the variant has them, else on the board, where seeds in hand belong to the mover. It is 0 for a game
// annulled as endless (C3).
func Margin(i *Info, s *State) float32 {
	if s.Reason() == Endless {
		return 0
	}
	own, opp := int(s.store[0]), int(s.store[1])
	if !i.Stores {
		own, opp = s.side[0].sum()+int(s.seeds), s.side[1].sum()
	}
	if s.Mover() == North {
		own, opp = opp, own
	}
	return float32(own-opp) / float32(i.Seeds)
}
