package train

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/agents/catalog"
	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/agents/tablebase"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// writeNetwork writes an untrained network of c; another seed is another content.
func writeNetwork(t *testing.T, c *Config, path string, seed uint64) {
	t.Helper()
	r, err := mancala.Parse(c.Spec)
	if err != nil {
		t.Fatal(err)
	}
	shape, meta, err := c.shape(r)
	if err != nil {
		t.Fatal(err)
	}
	w, err := neural.Init(meta, shape, seed)
	if err == nil {
		err = w.Save(path)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// writeTable solves Modiar up to so many seeds.
func writeTable(t *testing.T, path string, seeds int) {
	t.Helper()
	r, err := mancala.Parse("modiar")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	if _, err := tablebase.Solve(t.Context(), r, seeds, path, tablebase.Options{Workers: 1}); err != nil {
		t.Fatal(err)
	}
}

func TestRunRefusesAgentsWhoseFilesChanged(t *testing.T) {
	c := small(t, "modiar")
	dir := t.TempDir()
	net, probed, table := filepath.Join(dir, "net"), filepath.Join(dir, "probed"), filepath.Join(dir, "table")
	writeNetwork(t, &c, net, 1)
	writeTable(t, probed, 4)
	writeTable(t, table, 5)
	c.Rate.Agents = []string{
		"random", "net:weights=" + net + ",sims=2",
		"minimax:table=" + probed + ",depth=2",
		"table:depth=1,path=" + table,
	}
	run := filepath.Join(dir, "run")
	mustRun(t, c, run, Options{Iterations: 1, Workers: 1})
	before := tree(t, run)
	o := Options{Iterations: 2, Workers: 1}
	for i, f := range []struct {
		path   string
		change func()
	}{
		{net, func() { writeNetwork(t, &c, net, 2) }},
		{probed, func() { writeTable(t, probed, 5) }},
		{table, func() { writeTable(t, table, 4) }},
	} {
		kept, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		began, err := digest(f.path)
		if err != nil {
			t.Fatal(err)
		}
		f.change()
		now, err := digest(f.path)
		if err != nil || now == began {
			t.Fatalf("%s is as it was: %v", f.path, err)
		}
		want := fmt.Sprintf("agent %q: %s has changed: its SHA-256 is %s…: want the file the run began with, of %s…", c.Rate.Agents[i+1], f.path, now[:12], began[:12])
		if _, err := ReadConfig(run); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %q in one line", err, want)
		}
		if _, err := Run(context.Background(), c, run, o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if err := os.Remove(f.path); err != nil {
			t.Fatal(err)
		}
		_, err = ReadConfig(run)
		if !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("goes on without %s: %v", f.path, err)
		}
		for _, part := range []string{fmt.Sprintf("agent %q", c.Rate.Agents[i+1]), f.path, began[:12]} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v, want %q", err, part)
			}
		}
		if _, err := Run(context.Background(), c, run, o); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("goes on without %s: %v", f.path, err)
		}
		sameTree(t, tree(t, run), before)
		if err := os.WriteFile(f.path, kept, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, c, run, o)
}

func TestRatingRefusesAFileThatChangedMeanwhile(t *testing.T) {
	c := small(t, "modiar")
	dir := t.TempDir()
	net, run := filepath.Join(dir, "net"), filepath.Join(dir, "run")
	writeNetwork(t, &c, net, 1)
	c.Rate.Agents = []string{"net:weights=" + net}
	changed := false
	_, err := Run(context.Background(), c, run, Options{Iterations: 1, Workers: 1, Progress: func(p Progress) {
		if p.Stage == "fit" && !changed {
			writeNetwork(t, &c, net, 2)
			changed = true
		}
	}})
	if err == nil || !strings.Contains(err.Error(), net+" has changed") {
		t.Errorf("%v, want that the file has changed", err)
	}
	if _, err := os.Stat(filepath.Join(run, fileRatings)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("rated: %v", err)
	}
	writeNetwork(t, &c, net, 1)
	mustRun(t, c, run, Options{Iterations: 1, Workers: 1})
}

func TestFilesAreFoundInWhatAgentsName(t *testing.T) {
	for text, want := range map[string][]string{
		"random":                            nil,
		"mcts:sims=3,search=puct":           nil,
		"net:weights=a/b=c,sims=2,table=d":  {"a/b=c", "d"},
		"mcts:table=t":                      {"t"},
		"minimax:depth=3,nodes=10,table=./": {"./"},
		"table:depth=2,path=p":              {"p"},
		"net":                               nil,
		"chess:weights=a":                   nil,
	} {
		if got := named(text); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	for _, k := range catalog.Kinds() {
		for _, key := range k.Keys {
			if file := strings.HasSuffix(key.Allowed, " file"); file != (key.Default == "") {
				t.Errorf("%s: key %s takes %s and has the default %q: no way to tell its files", k.Name, key.Name, key.Allowed, key.Default)
			}
		}
	}
}
