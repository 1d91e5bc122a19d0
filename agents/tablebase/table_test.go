package tablebase

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/mancalagym/mancalagym/env/mancala"
)

func rules(t testing.TB, spec string) mancala.Rules {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// solved builds and opens a table.
func solved(t testing.TB, spec string, seeds int) *Table {
	t.Helper()
	r := rules(t, spec)
	path := filepath.Join(t.TempDir(), "table")
	if _, err := Solve(t.Context(), r, seeds, path, Options{Workers: 2}); err != nil {
		t.Fatal(err)
	}
	table, err := Open(path, r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := table.Close(); err != nil {
			t.Error(err)
		}
	})
	return table
}

// BenchmarkProbe asks for random positions of a table of 1.4 million, in the file's memory.
func BenchmarkProbe(b *testing.B) {
	table := solved(b, "urim", 11)
	p := rand.New(rand.NewPCG(1, 1))
	states := make([]mancala.State, 1<<16)
	for i := range states {
		states[i] = random(p, table.index, 11)
	}
	i := 0
	sum := 0
	for b.Loop() {
		v, _ := table.Probe(states[i&(len(states)-1)])
		sum += v
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "positions/s")
}

// BenchmarkSolve solves Modiar up to 30 seeds, 1.6 million positions.
func BenchmarkSolve(b *testing.B) {
	r := rules(b, "modiar")
	path := filepath.Join(b.TempDir(), "table")
	const seeds = 30
	for b.Loop() {
		if _, err := Solve(b.Context(), r, seeds, path, Options{}); err != nil {
			b.Fatal(err)
		}
	}
	p, err := NewPlan(r, seeds, Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)*float64(p.Positions)/b.Elapsed().Seconds(), "positions/s")
}
