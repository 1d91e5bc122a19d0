package tablebase

import (
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
	if err := Solve(t.Context(), r, seeds, path, Options{Workers: 2}); err != nil {
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

func TestEveryPositionSatisfiesItsEquation(t *testing.T) {
	for _, c := range []struct {
		spec  string
		seeds int
	}{{"modiar", 20}, {"modiar:grandslam=forced", 14}, {"urim", 8}, {"hoyito2", 9}, {"hoyito2:laps=3", 7}, {"oware", 8}} {
		table := solved(t, c.spec, c.seeds)
		if err := table.Verify(t.Context(), 2, nil); err != nil {
			t.Error(err)
		}
	}
}
