package catalog_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/agenttest"
	"github.com/mancalagym/mancalagym/agents/catalog"
	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/agents/tablebase"
	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// weights writes an untrained network for the variant and returns its path.
func weights(t *testing.T, r mancala.Rules) string {
	t.Helper()
	enc, err := encode.New("onehot", r.Info())
	if err != nil {
		t.Fatal(err)
	}
	w, err := neural.Init(
		neural.Meta{Family: r.Info().Family, Spec: r.Info().Spec, Encoder: enc.Name(), EncoderVersion: enc.Version()},
		neural.DefaultShape(enc.Size(), enc.Active(), r.Info().Actions), 1)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "net")
	if err := w.Save(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func rules(t *testing.T, spec string) mancala.Rules {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestEveryKindConforms(t *testing.T) {
	for _, spec := range mancala.Variants() {
		r := rules(t, spec)
		net := "net:weights=" + weights(t, r)
		for _, text := range []string{
			"random", "greedy", "minimax:depth=3", "minimax:depth=64,nodes=2000,tt=1", "mcts:sims=20", "mcts:sims=20,search=puct", "mcts:sims=20,search=gumbel,eval=uniform",
			net + ",sims=0", net + ",sims=8", net + ",sims=8,search=gumbel",
		} {
			e, err := catalog.Parse(text, r)
			if err != nil {
				t.Errorf("%s: %s: %v", spec, text, err)
				continue
			}
			if e.Name != text {
				t.Errorf("%s: canonical name of %s is %s", spec, text, e.Name)
			}
			if err := agenttest.Check(func(mancala.Rules) (agents.Agent, error) { return e.New() }, r); err != nil {
				t.Errorf("%s: %s: %v", spec, text, err)
			}
		}
	}
}

func TestTheTableConformsAndMustFit(t *testing.T) {
	r := rules(t, "modiar")
	path := filepath.Join(t.TempDir(), "table")
	if _, err := tablebase.Solve(t.Context(), r, 14, path, tablebase.Options{}); err != nil {
		t.Fatal(err)
	}
	text := "table:path=" + path + ",depth=2"
	e, err := catalog.Parse(text, r)
	if err != nil {
		t.Fatal(err)
	}
	if e.Name != text {
		t.Errorf("canonical name of %s is %s", text, e.Name)
	}
	if err := agenttest.Check(func(mancala.Rules) (agents.Agent, error) { return e.New() }, r); err != nil {
		t.Error(err)
	}
	if _, err := catalog.Parse(text, rules(t, "modiar:quiet=7")); err != nil {
		t.Errorf("another quiet limit: %v", err)
	}
	_, err = catalog.Parse(text, rules(t, "urim"))
	if err == nil || errors.As(err, new(catalog.FileError)) || !strings.Contains(err.Error(), "a table of another variant: modiar") {
		t.Errorf("another variant: %v", err)
	}
	if _, err := catalog.Parse("table:path=/nowhere/at/all", r); !errors.As(err, new(catalog.FileError)) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestKeysPrintInOneOrder(t *testing.T) {
	for in, want := range map[string]string{
		"minimax":                      "minimax:depth=8",
		"minimax:nodes=0,tt=16":        "minimax:depth=8",
		"minimax:tt=2,nodes=9,depth=3": "minimax:depth=3,nodes=9,tt=2",
		"mcts":                         "mcts:sims=100",
		"mcts:eval=uniform,sims=7":     "mcts:sims=7,eval=uniform",
		"mcts:search=uct,eval=rollout": "mcts:sims=100",
		"mcts:search=gumbel,sims=100":  "mcts:sims=100,search=gumbel",
	} {
		if e, err := catalog.Parse(in, rules(t, "oware")); err != nil || e.Name != want {
			t.Errorf("%s: %s, %v, want %s", in, e.Name, err, want)
		}
	}
}

func TestKindsAreTheCallers(t *testing.T) {
	for _, k := range catalog.Kinds() {
		for i := range k.Keys {
			k.Keys[i].Name = "changed"
		}
	}
	if _, err := catalog.Parse("mcts:sims=7", rules(t, "oware")); err != nil {
		t.Error(err)
	}
}

// TestSearchesProbeTables: where a table knows all that an action leads to, a search that probes it gives nothing away.
func TestSearchesProbeTables(t *testing.T) {
	r := rules(t, "modiar")
	path := filepath.Join(t.TempDir(), "table")
	if _, err := tablebase.Solve(context.Background(), r, 14, path, tablebase.Options{Workers: 2}); err != nil {
		t.Fatal(err)
	}
	table, err := tablebase.Open(path, r)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Close()
	outcome := func(s mancala.State) int {
		if s.Over() {
			return s.Returns()[mancala.South]
		}
		d, ok := agents.Final(table, &s)
		if !ok {
			t.Fatalf("%s is not known", mancala.FormatState(r, s))
		}
		return max(-1, min(d, 1))
	}
	var states []mancala.State
	rng := rand.New(rand.NewPCG(1, 0))
	for s := r.Start(); len(states) < 300; {
		if s.Over() {
			s = r.Start()
		}
		if s.Ply() > 0 && s.OnBoard(mancala.South)+s.OnBoard(mancala.North) <= 14 {
			states = append(states, s)
		}
		legal := r.Legal(s)
		s = r.Next(s, legal.Nth(rng.IntN(legal.Len())))
	}
	actions := make([]mancala.Action, len(states))
	for _, text := range []string{"minimax:depth=1", "mcts:sims=30,eval=uniform", "mcts:sims=30,search=puct,eval=uniform", "mcts:sims=30,search=gumbel,eval=uniform", "net:weights=" + weights(t, r)} {
		e, err := catalog.Parse(text+",table="+path, r)
		if err != nil {
			t.Fatal(err)
		}
		a, err := e.New()
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Act(states, make([]uint64, len(states)), actions); err != nil {
			t.Fatal(err)
		}
		for i, s := range states {
			side := 1 - 2*int(s.Mover())
			best := -1
			for b := range r.Legal(s).All {
				best = max(best, side*outcome(r.Next(s, b)))
			}
			if got := side * outcome(r.Next(s, actions[i])); got != best {
				t.Errorf("%s: %s plays %d for %+d, best is %+d", text, mancala.FormatState(r, s), actions[i], got, best)
			}
		}
	}
}

func TestBadAgentsSayWhatIsAllowed(t *testing.T) {
	modiar := rules(t, "modiar")
	foreign := filepath.Join(t.TempDir(), "foreign")
	if err := os.WriteFile(foreign, []byte("not weights"), 0o644); err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"":                            "want one of random, greedy, minimax, mcts, net",
		"Random":                      "want one of random, greedy, minimax, mcts, net",
		"random:":                     "empty list",
		"random:sims=3":               "random has no keys",
		"minimax:sims=3":              "minimax has depth, nodes, tt",
		"minimax:depth=0":             "want 1–255",
		"minimax:depth=256":           "want 1–255",
		"minimax:depth=":              "want 1–255",
		"minimax:depth=8,depth=8":     "given twice",
		"minimax:nodes=-1":            "want 0–2147483647",
		"minimax:tt=0":                "want 1–16384",
		"minimax:tt=16385":            "want 1–16384",
		"mcts:depth=3":                "mcts has sims, search, eval",
		"mcts:sims=0":                 "want 1–",
		"mcts:sims=-1":                "want 1–",
		"mcts:sims=+1":                "want 1–",
		"mcts:sims=99999999999":       "want 1–",
		"mcts:sims=10,sims=10":        "given twice",
		"mcts:search=best":            "want uct or puct or gumbel",
		"net":                         "weights is missing",
		"net:weights=":                "want a weights file",
		"net:weights=/nowhere/at/all": "no such file",
		"net:weights=" + foreign:      "neural",
		"net:weights=" + weights(t, rules(t, "urim")): "urim",
	} {
		_, err := catalog.Parse(in, modiar)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q in one line", in, err, want)
		}
	}
}
