package mcts

import (
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/clock"
)

// BenchmarkSearch searches a batch of opening positions of oware with 1,000 simulations each, in lockstep. sims/s counts the
// simulations of all trees.
func BenchmarkSearch(b *testing.B) {
	r := rules(b, "oware")
	for _, e := range []struct {
		name      string
		evaluator agents.Evaluator
		algorithm string
	}{
		{"uniform", agents.NewUniform(r), PUCT},
		{"uniform-uct", agents.NewUniform(r), UCT},
		{"uniform-gumbel", agents.NewUniform(r), Gumbel},
		{"rollout", agents.NewRollout(r), UCT},
	} {
		b.Run("oware/"+e.name, func(b *testing.B) {
			const trees, simulations = 8, 1000
			c := Default()
			c.Algorithm, c.Simulations = e.algorithm, simulations
			s, err := New(r, e.evaluator, c)
			if err != nil {
				b.Fatal(err)
			}
			roots, seeds := opening(r, trees)
			out := agents.NewResult(trees, r.Info().Actions)
			if err := s.Search(roots, seeds, out); err != nil { // makes the storage
				b.Fatal(err)
			}
			b.ReportAllocs()
			began := clock.Spent()
			for b.Loop() {
				if err := s.Search(roots, seeds, out); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(trees*simulations*b.N)/(clock.Spent()-began).Seconds(), "sims/s")
		})
	}
}

// opening plays row i 2·i random plies from the start.
func opening(r mancala.Rules, n int) ([]mancala.State, []uint64) {
	roots, seeds := make([]mancala.State, n), make([]uint64, n)
	for i := range roots {
		seeds[i] = uint64(i)
		roots[i] = wander(r, uint64(i), 2*i)
	}
	return roots, seeds
}
