package mcts

import "math"

// puct returns the edge with the highest value plus exploration, the lowest one in a tie:
//
//	q + CPuct · prior · √(visits of the node) / (1 + visits of the edge)
//
// at is the edge that leads to the node; its own evaluation counts as a visit.
func (s *Searcher) puct(n *node, at *edge, es []edge) int {
	player := sign[n.mover]
	k := s.cPuct * s.root[at.visits]
	fresh := math.Float32bits(player*at.q - s.fpu)
	top := lowest
	for i := range es {
		e := &es[i]
		q := math.Float32bits(player * e.q)
		if e.visits == 0 {
			q = fresh
		}
		top = max(top, ranked(math.Float32frombits(q)+float32(k*e.prior*s.inverse[e.visits+1]), i))
	}
	return top.index()
}

// rank orders scores of edges as a whole number, so that choosing the best takes no branch: which edge is the best is
// what no processor foresees. A higher score is higher; of the same scores, the one of the lower edge.
type rank int64

const lowest rank = math.MinInt64

// ranked returns the rank of a score, which is a number, of an edge below 256.
func ranked(score float32, edge int) rank {
	b := int32(math.Float32bits(score + 0)) // −0 is 0
	b ^= b >> 31 & math.MaxInt32            // of negative numbers the larger bits are the lower number
	return rank(b)<<8 | rank(255-edge)
}

// index returns the edge.
func (r rank) index() int { return 255 - int(r&255) }

// uct returns the first edge without a visit or else the one with the highest value plus exploration,
// the lowest one in a tie:
//
//	q + CUct · √(ln(visits of the node) / visits of the edge)
//
// at is the edge that leads to the node; its own evaluation counts as a visit.
func (s *Searcher) uct(n *node, at *edge, es []edge) int {
	if fresh := int(at.visits) - 1; fresh < len(es) {
		return fresh
	}
	player := sign[n.mover]
	k := s.cUct * s.rootLog[at.visits]
	top := lowest
	for i := range es {
		e := &es[i]
		top = max(top, ranked(player*e.q+float32(k*s.inverseRoot[e.visits]), i))
	}
	return top.index()
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
