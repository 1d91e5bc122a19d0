package mcts

import "math"

// puct returns the edge with the highest value plus exploration, the lowest one in a tie:
//
//	q + CPuct · prior · √(visits of the node) / (1 + visits of the edge)
//
// at is the edge that leads to the node; its own evaluation counts as a visit.
func (s *Searcher) puct(n *node, at *edge, es []edge) (best int) {
	player := sign[n.mover]
	k := s.cPuct * s.root[at.visits]
	fresh := player*at.q - s.fpu
	top := float32(math.Inf(-1))
	for i := range es {
		e := &es[i]
		q := player * e.q
		if e.visits == 0 {
			q = fresh
		}
		if v := q + float32(k*e.prior*s.inverse[e.visits+1]); v > top {
			best, top = i, v
		}
	}
	return best
}

// uct returns the first edge without a visit or else the one with the highest value plus exploration,
// the lowest one in a tie:
//
//	q + CUct · √(ln(visits of the node) / visits of the edge)
//
// at is the edge that leads to the node; its own evaluation counts as a visit.
func (s *Searcher) uct(n *node, at *edge, es []edge) (best int) {
	if fresh := int(at.visits) - 1; fresh < len(es) {
		return fresh
	}
	player := sign[n.mover]
	k := s.cUct * s.rootLog[at.visits]
	top := float32(math.Inf(-1))
	for i := range es {
		e := &es[i]
		if v := player*e.q + float32(k*s.inverseRoot[e.visits]); v > top {
			best, top = i, v
		}
	}
	return best
}

// mostVisited returns the edge with most visits; the value for the mover and then the lowest action break ties.
func mostVisited(n *node, es []edge) (best int) {
	player := sign[n.mover]
	for i := range es {
		a, b := &es[i], &es[best]
		if a.visits > b.visits || a.visits == b.visits && player*a.q > player*b.q {
			best = i
		}
	}
	return best
}

// tables fills the functions of a visit count that the bounds need, for 0 … visits.
func (s *Searcher) tables(visits int) {
	s.inverse = make([]float32, visits+1)
	s.root = make([]float32, visits+1)
	s.rootLog = make([]float32, visits+1)
	s.inverseRoot = make([]float32, visits+1)
	for i := 1; i <= visits; i++ {
		x := float64(i)
		s.inverse[i] = float32(1 / x)
		s.root[i] = float32(math.Sqrt(x))
		s.rootLog[i] = float32(math.Sqrt(math.Log(x)))
		s.inverseRoot[i] = float32(1 / math.Sqrt(x))
	}
}
