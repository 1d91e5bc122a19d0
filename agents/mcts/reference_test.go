package mcts

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// reference is the search written down from its definition: one tree, recursion, maps, double precision.
type reference struct {
	rules     mancala.Rules
	evaluator agents.Evaluator
	c         Config
	seeds     *rand.PCG
}

type position struct {
	state    mancala.State
	actions  []mancala.Action
	prior    map[mancala.Action]float64
	own      float64 // evaluation for South
	children map[mancala.Action]*position
	n        float64 // visits, the evaluation included
	sum      float64 // for South
}

func (f *reference) visit(s mancala.State) *position {
	p := &position{state: s, prior: map[mancala.Action]float64{}, children: map[mancala.Action]*position{}, n: 1}
	if s.Over() {
		p.own = float64(s.Returns()[mancala.South])
		p.sum = p.own
		return p
	}
	b := agents.Batch{
		States: []mancala.State{s}, Legal: []mancala.Mask{f.rules.Legal(s)}, Seeds: []uint64{f.seeds.Uint64()},
		Prior: make([]float32, f.rules.Info().Actions), Value: make([]float32, 1),
	}
	if err := f.evaluator.Evaluate(&b); err != nil {
		panic(err)
	}
	for a := range b.Legal[0].All {
		p.actions = append(p.actions, a)
		p.prior[a] = float64(b.Prior[a])
	}
	p.own = float64(b.Value[0])
	if s.Mover() == mancala.North {
		p.own = -p.own
	}
	p.sum = p.own
	return p
}

func (p *position) forMover(v float64) float64 {
	if p.state.Mover() == mancala.North {
		return -v
	}
	return v
}

func (p *position) visits(a mancala.Action) float64 {
	if c := p.children[a]; c != nil {
		return c.n
	}
	return 0
}

// completed returns the completed value of every action for the mover, and σ of it.
func (f *reference) completed(p *position) (q, sigma map[mancala.Action]float64) {
	q, sigma = map[mancala.Action]float64{}, map[mancala.Action]float64{}
	var weight, value, total, most float64
	for _, a := range p.actions {
		if c := p.children[a]; c != nil {
			weight += p.prior[a]
			value += p.prior[a] * c.sum / c.n
			total += c.n
			most = max(most, c.n)
		}
	}
	mixed := p.own
	if total > 0 {
		mixed = (p.own + total*value/weight) / (1 + total)
	}
	for _, a := range p.actions {
		v := mixed
		if c := p.children[a]; c != nil {
			v = c.sum / c.n
		}
		q[a] = p.forMover(v)
		sigma[a] = (f.c.CVisit + most) * f.c.CScale * (1 + q[a]) / 2
	}
	return q, sigma
}

func (f *reference) improved(p *position) map[mancala.Action]float64 {
	_, sigma := f.completed(p)
	w, sum := map[mancala.Action]float64{}, 0.0
	for _, a := range p.actions {
		w[a] = p.prior[a] * math.Exp(sigma[a])
		sum += w[a]
	}
	for a := range w {
		w[a] /= sum
	}
	return w
}

// best returns the action of the highest score, the first in a tie.
func best(actions []mancala.Action, score func(mancala.Action) float64) mancala.Action {
	top := actions[0]
	for _, a := range actions[1:] {
		if score(a) > score(top) {
			top = a
		}
	}
	return top
}

func (f *reference) choose(p *position) mancala.Action {
	switch f.c.Algorithm {
	case PUCT:
		return best(p.actions, func(a mancala.Action) float64 {
			q := p.forMover(p.sum/p.n) - f.c.FPU
			if c := p.children[a]; c != nil {
				q = p.forMover(c.sum / c.n)
			}
			return q + f.c.CPuct*p.prior[a]*math.Sqrt(p.n)/(1+p.visits(a))
		})
	case UCT:
		return best(p.actions, func(a mancala.Action) float64 {
			c := p.children[a]
			if c == nil {
				return math.Inf(1)
			}
			return p.forMover(c.sum/c.n) + f.c.CUct*math.Sqrt(math.Log(p.n)/c.n)
		})
	}
	w := f.improved(p)
	return best(p.actions, func(a mancala.Action) float64 { return w[a] - p.visits(a)/p.n })
}

// simulate adds one simulation through action a of p and returns its value for South.
func (f *reference) simulate(p *position, a mancala.Action) float64 {
	c := p.children[a]
	var v float64
	switch {
	case c == nil:
		c = f.visit(f.rules.Next(p.state, a))
		p.children[a] = c
		v = c.own
	case c.state.Over():
		v = c.own
		c.n++
		c.sum += v
	default:
		v = f.simulate(c, f.choose(c))
	}
	p.n++
	p.sum += v
	return v
}

// levels is the sequence of visit counts of sequential halving, a number for each simulation.
func levels(considered, simulations int) (seq []int) {
	if considered == 1 {
		for i := range simulations {
			seq = append(seq, i)
		}
		return seq
	}
	phases := math.Ceil(math.Log2(float64(considered)))
	level := 0
	for width := considered; len(seq) < simulations; width = max(2, width/2) {
		for range max(1, int(float64(simulations)/(phases*float64(width)))) {
			for range width {
				seq = append(seq, level)
			}
			level++
		}
	}
	return seq[:simulations]
}

// search returns visits, completed values, policy and the action for root.
func (f *reference) search(root mancala.State, seed uint64) (p *position, policy map[mancala.Action]float64, action mancala.Action) {
	f.seeds = rand.NewPCG(seed, StreamLeaf)
	p = f.visit(root)
	if f.c.Algorithm != Gumbel {
		for range f.c.Simulations {
			f.simulate(p, f.choose(p))
		}
		policy = map[mancala.Action]float64{}
		for _, a := range p.actions {
			policy[a] = p.visits(a) / float64(f.c.Simulations)
		}
		q, _ := f.completed(p)
		return p, policy, best(p.actions, func(a mancala.Action) float64 { return p.visits(a) + q[a]/4 })
	}
	chance := rand.New(rand.NewPCG(seed, StreamNoise))
	noise := map[mancala.Action]float64{}
	for _, a := range p.actions {
		noise[a] = -math.Log(chance.ExpFloat64())
	}
	pick := func(level float64) mancala.Action {
		_, sigma := f.completed(p)
		var open []mancala.Action
		for _, a := range p.actions {
			if p.visits(a) == level {
				open = append(open, a)
			}
		}
		return best(open, func(a mancala.Action) float64 {
			return f.c.GumbelScale*noise[a] + math.Log(p.prior[a]) + sigma[a]
		})
	}
	for _, level := range levels(min(f.c.Considered, len(p.actions)), f.c.Simulations) {
		f.simulate(p, pick(float64(level)))
	}
	most := 0.0
	for _, a := range p.actions {
		most = max(most, p.visits(a))
	}
	return p, f.improved(p), pick(most)
}

// TestSearchAgreesWithItsDefinition compares the search with the reference: equal visits and actions, and numbers equal but
// for single precision.
func TestSearchAgreesWithItsDefinition(t *testing.T) {
	for _, spec := range specs() {
		r := rules(t, spec)
		for _, algorithm := range algorithmNames {
			for _, simulations := range []int{1, 5, 16, 33, 100} {
				c := with(algorithm, simulations)
				c.Considered = 5
				e := newOpinion(r)
				s := searcher(t, r, e, c)
				f := &reference{rules: r, evaluator: e, c: c}
				for seed := range uint64(6) {
					root := wander(r, seed, 9*int(seed))
					out := search(t, s, root, seed)
					p, policy, action := f.search(root, seed)
					q, _ := f.completed(p)
					value := 0.0
					for a := range mancala.Action(s.actions) {
						value += policy[a] * q[a]
						if float64(out.Visits[a]) != p.visits(a) ||
							math.Abs(float64(out.Policy[a])-policy[a]) > 1e-4 || math.Abs(float64(out.Q[a])-q[a]) > 1e-5 {
							t.Errorf("%s, %s, %d simulations, seed %d, action %d: visits %d, policy %v, Q %v; want %v, %v, %v", spec, algorithm,
								simulations, seed, a, out.Visits[a], out.Policy[a], out.Q[a], p.visits(a), policy[a], q[a])
						}
					}
					if out.Actions[0] != action || math.Abs(float64(out.Value[0])-value) > 1e-4 {
						t.Errorf("%s, %s, %d simulations, seed %d: action %d and value %v, want %d and %v", spec, algorithm, simulations, seed,
							out.Actions[0], out.Value[0], action, value)
					}
				}
			}
		}
	}
}

func TestHalvingFollowsItsSequence(t *testing.T) {
	for considered := 1; considered <= 40; considered++ {
		for _, simulations := range []int{1, 2, 7, 16, 32, 100, 1000} {
			h := newHalving(considered, simulations)
			var got []int
			for range simulations {
				got = append(got, int(h.next()))
			}
			if want := levels(considered, simulations); !slices.Equal(got, want) {
				t.Errorf("%d actions, %d simulations: %v, want %v", considered, simulations, got, want)
			}
		}
	}
	// By hand: 4 actions and 8 simulations are two phases of 4: one visit for each of four, then two for each of two.
	h := newHalving(4, 8)
	for i, want := range []uint32{0, 0, 0, 0, 1, 1, 2, 2} {
		if got := h.next(); got != want {
			t.Errorf("simulation %d: level %d, want %d", i, got, want)
		}
	}
}
