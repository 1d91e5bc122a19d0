// Package mcts is the lockstep tree search.
//
// One Searcher walks many trees. Each tick selects one leaf of every tree and hands all leaves to one
// Evaluate; games that end within a tree are worth their exact result and need none. Nodes and
// edges live in arrays made beforehand, only legal actions have an edge, and nothing locks or allocates.
//
// Values are stored for South and turned once, when an evaluator answers for its mover; a choice between actions
// compares them as its mover sees them. Plies are never counted, since a mover may move again.
//
// A tree holds paths, not positions: a position that is reached twice is two nodes, each with its own
// ply and quiet count. So the quiet limit (C1) is met exactly where play would meet it, and a
// game that comes back to a position needs no care. Nothing is kept from one search to the next,
// which makes an answer a function of the position and the seed alone.
package mcts

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// The streams of a search: row i draws from rand.NewPCG(seeds[i], stream). The constants are the names in ASCII.
const (
	StreamLeaf  = 0x6c656166   // "leaf": Batch.Seeds, one a position evaluated, the root first
	StreamNoise = 0x6e6f697365 // "noise": of the root
)

// Searcher searches positions of one variant with one Evaluator. It implements agents.Searcher. It is
// not safe for concurrent use: make one a goroutine, each with an Evaluator of its own unless
// that one may be shared.
type Searcher struct {
	rules     mancala.Rules
	advancer  mancala.Advancer
	evaluator agents.Evaluator
	config    Config
	algorithm algorithm
	actions   int
	ends      worth

	trees  []tree
	leaves []leaf
	batch  agents.Batch // storage for all trees
	ask    agents.Batch // the part of it in use

	cPuct, fpu, cUct            float32
	cVisit, cScale, gumbelScale float32
	inverse, root               []float32 // by visits: 1/n, √n
	rootLog, inverseRoot        []float32 // by visits: √ln n, 1/√n
	weights                     [64]float32
	pcg                         rand.PCG
	chance                      *rand.Rand // draws from pcg
}

// leaf is a node that waits for the evaluator.
type leaf struct {
	tree int
	node uint32
}

// New returns a Searcher. It fails for a missing argument and a Config that Validate refuses.
func New(r mancala.Rules, e agents.Evaluator, c Config) (*Searcher, error) {
	if r == nil || e == nil {
		return nil, errors.New("mcts: rules, evaluator nil: must both be given")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if info := r.Info(); c.Prober != nil && !info.Stores {
		return nil, fmt.Errorf("mcts: prober: %s has no stores: must be none", info.Spec)
	}
	s := &Searcher{
		rules: r, advancer: mancala.Advancing(r), evaluator: e, config: c, actions: r.Info().Actions,
		algorithm: algorithms[c.Algorithm],
		ends:      worth{r.Info(), float32(c.Margin), c.Prober},
		cPuct:     float32(c.CPuct), fpu: float32(c.FPU), cUct: float32(c.CUct),
		cVisit: float32(c.CVisit), cScale: float32(c.CScale), gumbelScale: float32(c.GumbelScale),
	}
	s.chance = rand.New(&s.pcg)
	s.tables(c.Simulations + 1)
	return s, nil
}

// NewAgent returns the Agent that plays what s chooses.
func NewAgent(s *Searcher) agents.Agent { return agents.FromSearcher(s.rules, s) }

// Config returns the configuration of the search.
func (s *Searcher) Config() Config { return s.config }

// reserve makes the storage for n trees.
func (s *Searcher) reserve(n int) {
	if n <= len(s.trees) {
		return
	}
	trees := make([]tree, n)
	for i := copy(trees, s.trees); i < n; i++ {
		trees[i] = newTree(s.config.Simulations, s.actions)
	}
	s.trees = trees
	s.leaves = make([]leaf, n)
	s.batch = agents.Batch{
		States: make([]mancala.State, n),
		Legal:  make([]mancala.Mask, n),
		Seeds:  make([]uint64, n),
		Prior:  make([]float32, n*s.actions),
		Value:  make([]float32, n),
	}
}

// Search implements agents.Searcher. It allocates only when it gets more roots than ever before.
//
// Result.Visits sums to Config.Simulations. Result.Q completes actions without visits by a mixture of the
// evaluation of the root and the values of the visited ones. Result.Value is the sum of Policy × Q. Policy
// and Actions depend on the algorithm:
//
//   - Gumbel: the improved policy, softmax(log prior + σ(Q)), without the noise; the action that sequential
//     halving keeps, noise included.
//   - PUCT, UCT: the shares of the visits; the most visited action, a higher Q and then the lowest
//     number breaking ties.
//
// It fails, leaving out undefined, for slices of unfit lengths, for a root that is over or has no legal action, when the
// Evaluator does, and when its answer is out of range.
func (s *Searcher) Search(roots []mancala.State, seeds []uint64, out *agents.Result) error {
	if err := s.check(roots, seeds, out); err != nil {
		return err
	}
	s.reserve(len(roots))
	trees := s.trees[:len(roots)]
	for i, r := range roots {
		m := s.rules.Legal(r)
		if m == 0 {
			return fmt.Errorf("mcts: root %d has no legal action: must be a game that goes on", i)
		}
		trees[i].plant(r, m, seeds[i])
		s.wait(i, i, 0)
	}
	if err := s.evaluate(len(roots)); err != nil {
		return err
	}
	for i := range trees {
		s.prepare(&trees[i], seeds[i])
	}
	for sim := uint32(1); sim <= uint32(s.config.Simulations); sim++ {
		n := 0
		for i := range trees {
			if at, pending := s.descend(&trees[i], sim); pending {
				s.wait(n, i, at)
				n++
			} else {
				trees[i].back(at, s.inverse)
			}
		}
		if err := s.evaluate(n); err != nil {
			return err
		}
	}
	for i := range trees {
		s.answer(&trees[i], i, out)
	}
	return nil
}

func (s *Searcher) check(roots []mancala.State, seeds []uint64, out *agents.Result) error {
	n := len(roots)
	switch {
	case len(seeds) != n:
		return fmt.Errorf("mcts: %d roots and %d seeds: must be of one length", n, len(seeds))
	case out == nil:
		return errors.New("mcts: result nil: must be given")
	case len(out.Actions) < n || len(out.Value) < n || len(out.Visits) < n*s.actions || len(out.Q) < n*s.actions || len(out.Policy) < n*s.actions:
		return fmt.Errorf("mcts: result: must have storage for %d rows of %d actions", n, s.actions)
	}
	return nil
}

// wait puts a node into row n of the batch.
func (s *Searcher) wait(n, tree int, node uint32) {
	t := &s.trees[tree]
	s.leaves[n] = leaf{tree, node}
	s.batch.States[n] = t.states[node]
	s.batch.Legal[n] = t.nodes[node].legal
	s.batch.Seeds[n] = t.chance.Uint64()
}

// evaluate has the first n rows of the batch answered and backs the values up.
func (s *Searcher) evaluate(n int) error {
	if n == 0 {
		return nil
	}
	b := &s.batch
	s.ask = agents.Batch{States: b.States[:n], Legal: b.Legal[:n], Seeds: b.Seeds[:n], Prior: b.Prior[:n*s.actions], Value: b.Value[:n]}
	if err := s.evaluator.Evaluate(&s.ask); err != nil {
		return fmt.Errorf("mcts: evaluator: %w", err)
	}
	for i, l := range s.leaves[:n] {
		t := &s.trees[l.tree]
		v := b.Value[i]
		if !(v >= -1 && v <= 1) {
			return fmt.Errorf("mcts: evaluator: value %v: must be -1 to 1", v)
		}
		if !t.grow(l.node, b.Prior[i*s.actions:(i+1)*s.actions], v) {
			return errors.New("mcts: evaluator: prior: must sum to 1 over the legal actions")
		}
		t.back(l.node, s.inverse)
	}
	return nil
}

// prepare adds the chance of the root, once its prior is known.
func (s *Searcher) prepare(t *tree, seed uint64) {
	switch {
	case s.algorithm == gumbel:
		s.noise(t, seed)
		t.cut = newHalving(min(s.config.Considered, t.nodes[0].legal.Len()), s.config.Simulations)
	case s.algorithm == puct && s.config.NoiseWeight > 0:
		s.dirichlet(t, seed)
	}
}

// descend follows the best edges from the root to a node that is new, and has index sim, or over. The node is
// pending if it needs an evaluator.
func (s *Searcher) descend(t *tree, sim uint32) (at uint32, pending bool) {
	arrival := uint32(0)
	for {
		n := &t.nodes[at]
		if n.over {
			return at, false
		}
		arrival = n.first + uint32(s.choose(t, at, n, &t.edges[arrival]))
		child := t.edges[arrival].child
		if child == 0 {
			return sim, t.add(s.advancer, &s.ends, at, arrival, sim)
		}
		at = child
	}
}

// choose returns the edge to follow from node at.
func (s *Searcher) choose(t *tree, at uint32, n *node, arrival *edge) int {
	switch {
	case s.algorithm == puct:
		return s.puct(n, arrival, t.edgesOf(n))
	case s.algorithm == uct:
		return s.uct(n, arrival, t.edgesOf(n))
	case at == 0:
		return s.halve(t)
	}
	return s.follow(n, arrival, t.edgesOf(n))
}

// answer writes row i of the result.
func (s *Searcher) answer(t *tree, i int, out *agents.Result) {
	n := &t.nodes[0]
	es := t.edgesOf(n)
	visits := out.Visits[i*s.actions : (i+1)*s.actions]
	values := out.Q[i*s.actions : (i+1)*s.actions]
	policy := out.Policy[i*s.actions : (i+1)*s.actions]
	clear(visits)
	clear(values)
	clear(policy)

	w := s.weights[:len(es)]
	var best int
	var sum float32
	if s.algorithm == gumbel {
		var most uint32
		for j := range es {
			most = max(most, es[j].visits)
		}
		best = s.top(t, n, es, most)
		sum = s.improve(n, &t.edges[0], es, w)
	} else {
		best = mostVisited(n, es)
		for j := range es {
			w[j] = float32(es[j].visits)
		}
		sum = float32(s.config.Simulations)
	}
	c := s.complete(n, &t.edges[0], es)
	value := 0.0
	for j := range es {
		a := n.legal.Nth(j)
		visits[a] = es[j].visits
		values[a] = c.q(&es[j])
		policy[a] = w[j] / sum
		value += float64(float64(policy[a]) * float64(values[a]))
	}
	out.Actions[i] = n.legal.Nth(best)
	out.Value[i] = float32(max(-1, min(1, value)))
}
