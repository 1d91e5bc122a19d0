package mcts

import (
	"math"
	"math/bits"
)

// The algorithm is that of Danihelka, Guez, Schrittwieser and Silver, "Policy improvement by planning with Gumbel", ICLR 2022.

// halving is the schedule of sequential halving: the next simulation of the root goes to an action
// that has had level visits, the best of them. A phase gives each of width actions the same number of
// visits; the next phase keeps the better half of them, down to two. All considered actions of a phase
// have level visits when a round of it begins, which is why the level alone tells them from those dropped.
type halving struct {
	level  uint32
	width  int // actions of this phase
	left   int // simulations of this round
	rounds int // of this phase, this one included
	phases int // log₂ of the actions of the first phase, rounded up
	budget int // simulations of the search
}

// newHalving starts the schedule for that many considered actions, at least 1.
func newHalving(considered, simulations int) halving {
	h := halving{width: considered, phases: max(1, bits.Len(uint(considered-1))), budget: simulations}
	h.left, h.rounds = h.width, h.perPhase()
	return h
}

// perPhase shares the budget equally between the phases and then between the actions of this one.
func (h *halving) perPhase() int { return max(1, h.budget/(h.phases*h.width)) }

// next returns the level of the next simulation.
func (h *halving) next() uint32 {
	if h.left == 0 {
		h.level++
		if h.rounds--; h.rounds == 0 {
			if h.width > 1 {
				h.width = max(2, h.width/2)
			}
			h.rounds = h.perPhase()
		}
		h.left = h.width
	}
	h.left--
	return h.level
}

// noise draws the root's Gumbel noise from rand.NewPCG(seed, StreamNoise), one number an action in
// ascending order, and adds the logarithm of the prior.
func (s *Searcher) noise(t *tree, seed uint64) {
	s.pcg.Seed(seed, StreamNoise)
	es := t.edgesOf(&t.nodes[0])
	for i := range es {
		g := -math.Log(max(s.chance.ExpFloat64(), tiny))
		t.draw[i] = float32(float64(s.gumbelScale)*g + math.Log(max(float64(es[i].prior), tiny)))
	}
}

// tiny keeps logarithms finite.
const tiny = 1e-38

// halve returns the root edge for the next simulation.
func (s *Searcher) halve(t *tree) int {
	n := &t.nodes[0]
	return s.top(t, n, t.edgesOf(n), t.cut.next())
}

// top returns the root edge with the highest noise + log prior + σ(completed value) among those with
// level visits, the lowest one in a tie.
func (s *Searcher) top(t *tree, n *node, es []edge, level uint32) (best int) {
	c := s.complete(n, &t.edges[0], es)
	high := float32(math.Inf(-1))
	for i := range es {
		if es[i].visits != level {
			continue
		}
		if v := t.draw[i] + c.sigma(&es[i]); v > high {
			best, high = i, v
		}
	}
	return best
}

// completion is what action values of one node need to be complete: a value for actions without visits.
type completion struct {
	player float32 // sign of the mover
	mixed  float32 // for the mover: the value of actions without visits
	scale  float32 // of σ
}

// complete mixes the node's own evaluation with the values of its visited actions, weighted by the prior:
//
//	(evaluation + visits · Σ prior·q / Σ prior) / (1 + visits), sums over visited actions
func (s *Searcher) complete(n *node, at *edge, es []edge) completion {
	var weight, value float32
	var most uint32
	for i := range es {
		e := &es[i]
		if e.visits != 0 {
			weight += e.prior
			value += float32(e.prior * e.q)
			most = max(most, e.visits)
		}
	}
	mixed := n.value
	if weight > 0 {
		mixed += float32((value/weight - mixed) * (1 - s.inverse[at.visits]))
	}
	player := sign[n.mover]
	return completion{player, player * mixed, (s.cVisit + float32(most)) * s.cScale / 2}
}

// q returns the completed value of e for the mover.
func (c *completion) q(e *edge) float32 {
	if e.visits == 0 {
		return c.mixed
	}
	return c.player * e.q
}

// sigma returns σ of the completed value, without the constant that every action has in common.
func (c *completion) sigma(e *edge) float32 { return c.scale * c.q(e) }

// improve writes the improved policy, softmax(log prior + σ(completed value)), to w up to the factor
// 1/sum.
func (s *Searcher) improve(n *node, at *edge, es []edge, w []float32) (sum float32) {
	c := s.complete(n, at, es)
	high := float32(math.Inf(-1))
	for i := range es {
		if v := c.sigma(&es[i]); v > high && es[i].prior > 0 {
			high = v
		}
	}
	for i := range es {
		w[i] = float32(es[i].prior * exp(c.sigma(&es[i])-high))
		sum += w[i]
	}
	return sum
}

// follow returns the edge that brings the visit counts of a node below the root closest to the improved policy:
// the highest of policy − visits of the edge / visits of the node, the lowest one in a tie. at is the edge that leads to
// the node; its own evaluation counts as a visit.
func (s *Searcher) follow(n *node, at *edge, es []edge) (best int) {
	w := s.weights[:len(es)]
	sum := s.improve(n, at, es, w)
	per := sum * s.inverse[at.visits]
	high := float32(math.Inf(-1))
	for i := range es {
		if v := w[i] - float32(per*float32(es[i].visits)); v > high {
			best, high = i, v
		}
	}
	return best
}

// exp returns eˣ for x ≤ 0 to a few units in the last place, and the same bits on every processor.
func exp(x float32) float32 {
	if x < -87 {
		return 0
	}
	const log2e, ln2 = 1.4426950408889634, 0.6931471805599453
	k := int32(float32(x*log2e) - 0.5)
	r := float64(x) - float64(float64(k)*ln2)
	p := float32(r)
	e := float32(1.0 / 720)
	e = float32(e*p) + 1.0/120
	e = float32(e*p) + 1.0/24
	e = float32(e*p) + 1.0/6
	e = float32(e*p) + 0.5
	e = float32(e*p) + 1
	e = float32(e*p) + 1
	return e * math.Float32frombits(uint32(127+k)<<23)
}
