package mcts

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

var update = flag.Bool("update", false, "rewrite the golden searches")

// TestGoldenSearches compares the answers for fixed positions and seeds with those that this code gave when the file was
// written, to make every change of behaviour visible. Run with -update where a change is meant.
func TestGoldenSearches(t *testing.T) {
	var b strings.Builder
	for _, spec := range mancala.Variants() {
		r := rules(t, spec)
		root := wander(r, 7, 12)
		fmt.Fprintf(&b, "%s %s\n", spec, mancala.FormatState(r, root))
		for _, algorithm := range algorithmNames {
			for _, e := range []struct {
				name      string
				evaluator agents.Evaluator
			}{{"opinion", newOpinion(r)}, {"rollout", agents.NewRollout(r)}} {
				for _, simulations := range []int{16, 100} {
					s := searcher(t, r, e.evaluator, with(algorithm, simulations))
					out := search(t, s, root, 42)
					fmt.Fprintf(&b, "  %-6s %-7s %3d: action %d, value %+.3f", algorithm, e.name, simulations, out.Actions[0], out.Value[0])
					for a := range r.Legal(root).All {
						fmt.Fprintf(&b, " | %d: %d %+.2f %.2f", a, out.Visits[a], out.Q[a], out.Policy[a])
					}
					b.WriteString("\n")
				}
			}
		}
	}
	name := filepath.Join("testdata", "searches.txt")
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(want), "\n")
	for i, got := range strings.Split(b.String(), "\n") {
		if i >= len(lines) || got != lines[i] {
			t.Fatalf("line %d: %s\nwant %s", i+1, got, lines[min(i, len(lines)-1)])
		}
	}
}
