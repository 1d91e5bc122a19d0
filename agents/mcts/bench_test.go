package mcts

import (
	"fmt"
	"sync"
	"testing"
	"time"

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

// BenchmarkSearchWorkers searches the same roots on one goroutine and on two with a Searcher each. The rate is that of
// the fastest of all searches by the clock, so that other work on the machine does not count.
func BenchmarkSearchWorkers(b *testing.B) {
	const trees, simulations = 16, 100
	r := rules(b, "oware")
	for workers := 1; workers <= 2; workers++ {
		b.Run(fmt.Sprintf("oware/%d", workers), func(b *testing.B) {
			c := Default()
			c.Algorithm, c.Simulations = PUCT, simulations
			roots, seeds := opening(r, trees)
			share := trees / workers
			searchers, results := make([]*Searcher, workers), make([]*agents.Result, workers)
			for w := range searchers {
				s, err := New(r, agents.NewRollout(r), c)
				if err != nil {
					b.Fatal(err)
				}
				searchers[w], results[w] = s, agents.NewResult(share, r.Info().Actions)
			}
			var wait sync.WaitGroup
			work := func(w int) {
				defer wait.Done()
				if err := searchers[w].Search(roots[w*share:(w+1)*share], seeds[w*share:(w+1)*share], results[w]); err != nil {
					b.Error(err)
				}
			}
			fastest := time.Hour
			for b.Loop() {
				began := time.Now()
				wait.Add(workers)
				for w := 1; w < workers; w++ {
					go work(w)
				}
				work(0)
				wait.Wait()
				fastest = min(fastest, time.Since(began))
			}
			b.ReportMetric(trees*simulations/fastest.Seconds(), "sims/clock-s")
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
