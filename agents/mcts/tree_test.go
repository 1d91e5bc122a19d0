package mcts

import (
	"math"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// TestTreesAreSound audits every node and edge of finished trees.
func TestTreesAreSound(t *testing.T) {
	const simulations = 300
	for _, spec := range specs() {
		r := rules(t, spec)
		for _, algorithm := range algorithmNames {
			s := searcher(t, r, newOpinion(r), with(algorithm, simulations))
			roots, seeds := opening(r, 6)
			if err := s.Search(roots, seeds, agents.NewResult(6, s.actions)); err != nil {
				t.Fatal(err)
			}
			for i := range s.trees {
				audit(t, r, &s.trees[i], roots[i], simulations)
			}
		}
	}
}

func audit(t *testing.T, r mancala.Rules, tr *tree, root mancala.State, simulations int) {
	t.Helper()
	if tr.states[0] != root || tr.edges[0].visits != uint32(simulations)+1 {
		t.Errorf("root %+v with %d visits", tr.states[0], tr.edges[0].visits)
	}
	last, edges := uint32(0), uint32(1)
	reached := map[uint32]bool{}
	todo := []uint32{0}
	for len(todo) > 0 {
		i := todo[0]
		todo = todo[1:]
		n := &tr.nodes[i]
		at := &tr.edges[n.arrival]
		if reached[i] {
			t.Fatalf("node %d is reached twice", i)
		}
		reached[i] = true
		last = max(last, i)
		s := tr.states[i]
		if n.over != s.Over() || n.mover != s.Mover() || n.legal != r.Legal(s) {
			t.Errorf("node %d: %+v for %s", i, *n, mancala.FormatState(r, s))
		}
		if n.over {
			if n.value != float32(s.Returns()[mancala.South]) || at.q != n.value {
				t.Errorf("node %d: value %v and mean %v of a game with returns %v", i, n.value, at.q, s.Returns())
			}
			continue
		}
		es := tr.edgesOf(n)
		edges += uint32(len(es))
		sum, total, prior := uint32(1), float64(n.value), 0.0
		m := n.legal
		for j := range es {
			e := &es[j]
			sum += e.visits
			total += float64(e.visits) * float64(e.q)
			prior += float64(e.prior)
			if (e.visits == 0) != (e.child == 0) || e.child != 0 && e.child <= i || e.visits == 0 && e.q != 0 {
				t.Errorf("node %d: edge %+v", i, *e)
			}
			if e.child != 0 {
				c := &tr.nodes[e.child]
				if c.parent != i || c.arrival != n.first+uint32(j) || tr.states[e.child] != r.Next(s, m.First()) {
					t.Errorf("node %d: child %+v", i, *c)
				}
				todo = append(todo, e.child)
			}
			m = m.WithoutFirst()
		}
		if sum != at.visits {
			t.Errorf("node %d: %d visits, and %d of its own and its edges", i, at.visits, sum)
		}
		if d := total/float64(sum) - float64(at.q); math.Abs(d) > 1e-4 {
			t.Errorf("node %d: mean %v is off by %v", i, at.q, d)
		}
		if math.Abs(prior-1) > 1e-4 {
			t.Errorf("node %d: prior sums to %v", i, prior)
		}
	}
	if edges != tr.used {
		t.Errorf("%d edges in use, %d in the tree", tr.used, edges)
	}
	if last > uint32(simulations) {
		t.Errorf("node %d after %d simulations", last, simulations)
	}
}

// TestNodeIndexIsItsSimulation: a search of k simulations is the beginning of a longer one for algorithms that do not
// plan ahead, so the nodes up to k must be the same.
func TestNodeIndexIsItsSimulation(t *testing.T) {
	r := rules(t, "hoyito2")
	for _, algorithm := range []string{PUCT, UCT} {
		long := searcher(t, r, newOpinion(r), with(algorithm, 200))
		search(t, long, r.Start(), 1)
		for _, k := range []int{1, 10, 100} {
			short := searcher(t, r, newOpinion(r), with(algorithm, k))
			search(t, short, r.Start(), 1)
			for i := range k + 1 {
				if short.trees[0].states[i] != long.trees[0].states[i] {
					t.Errorf("%s: node %d differs after %d simulations", algorithm, i, k)
				}
			}
		}
	}
}
