package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/datasets"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mancala": Main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails": fails,
			"same":  same,
		},
	})
}

// fails is a script command: "fails 2 mancala …" runs a program and wants this exit status and one line of error.
// A wrong call (status 2) must have no output besides.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails status program [argument…]")
	}
	err := ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if !errors.As(err, &exit) || strconv.Itoa(exit.ExitCode()) != args[0] {
		ts.Fatalf("%s: got %v want exit status %s", args[1], err, args[0])
	}
	text := ts.ReadFile("stderr")
	if !strings.HasPrefix(text, "mancala: ") || strings.Count(text, "\n") != 1 {
		ts.Fatalf("standard error is not one line of mancala's: %q", text)
	}
	if out := ts.ReadFile("stdout"); args[0] == "2" && out != "" {
		ts.Fatalf("a wrong call has output: %q", out)
	}
}

// same is a script command that compares files byte for byte, even if they hold anything.
func same(ts *testscript.TestScript, neg bool, args []string) {
	for _, other := range args[1:] {
		if equal := ts.ReadFile(args[0]) == ts.ReadFile(other); equal == neg {
			ts.Fatalf("%s and %s: equal is %t", args[0], other, equal)
		}
	}
}

// run runs the program in this process.
func run(ctx context.Context, stdin io.Reader, stdout io.Writer, args ...string) (status int, stderr string) {
	var b bytes.Buffer
	status = Run(ctx, args, stdin, stdout, &b)
	return status, b.String()
}

func TestEveryCommandHasAnExample(t *testing.T) {
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if c.Name() == "completion" {
			return
		}
		if c.Short == "" || !strings.Contains(c.Example, "  mancala") {
			t.Errorf("%s: short %q, example %q", c.CommandPath(), c.Short, c.Example)
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(program())
}

// at is a writer that calls f when it is written to.
type at struct {
	bytes.Buffer
	f func()
}

func (w *at) Write(p []byte) (int, error) {
	w.f()
	return w.Buffer.Write(p)
}

func TestInterruptedExportKeepsWholeGames(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out := &at{f: stop}
	status, stderr := run(ctx, nil, out, "export", "oware", "--games", "1000000", "--out", "-")
	if status != 1 || !strings.Contains(stderr, "stopped: - has the first ") {
		t.Errorf("status %d, %q", status, stderr)
	}
	if status, stderr := run(t.Context(), &out.Buffer, io.Discard, "replay", "-"); status != 0 {
		t.Errorf("what was kept: status %d, %q", status, stderr)
	}
}

func TestExportStoppedBeforeItsFirstGameLeavesNothing(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, name := range []string{"x.jsonl", "x.parquet", "x"} {
		dir := t.TempDir()
		status, stderr := run(ctx, nil, io.Discard, "export", "oware", "--out", filepath.Join(dir, name))
		if status != 1 || !strings.Contains(stderr, "nothing is written") {
			t.Errorf("%s: status %d, %q", name, status, stderr)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) > 0 {
			t.Errorf("%s: left %v, %v", name, entries, err)
		}
	}
}

func TestInterruptedTournamentReports(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	var out bytes.Buffer
	status, stderr := run(ctx, nil, &out, "tournament", "urim", "--agent", "random", "--agent", "greedy", "--games", "1000000")
	if status != 1 || !strings.Contains(stderr, "stopped before the last game") || !strings.Contains(out.String(), "Stopped before the end") {
		t.Errorf("status %d, %q, %s", status, stderr, &out)
	}
}

func TestInterruptedCountIsToldUpToThere(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out := &at{f: stop}
	status, stderr := run(ctx, nil, out, "perft", "oware", "--depth", "30")
	if status != 1 || !strings.HasPrefix(out.String(), "1 6\n") || !strings.Contains(stderr, "of 30") {
		t.Errorf("status %d, %q, %q", status, out, stderr)
	}
}

func TestInterruptLeavesAGame(t *testing.T) {
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	silent, _ := io.Pipe()
	var out bytes.Buffer
	status, stderr := run(ctx, silent, &out, "play", "oware")
	if status != 0 || !strings.Contains(out.String(), "The game is left at ply 0") {
		t.Errorf("status %d, %q, %s", status, stderr, &out)
	}
}

func TestExportedSeedPlaysTheSameGame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "games.parquet")
	flags := []string{"--south", "greedy", "--north", "mcts:sims=10", "--opening-plies", "3"}
	if status, stderr := run(t.Context(), nil, io.Discard, append(flags, "export", "oware", "--games", "7", "--out", path)...); status != 0 {
		t.Fatalf("status %d, %q", status, stderr)
	}
	r, err := datasets.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for e, err := range r.Episodes() {
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		status, stderr := run(t.Context(), nil, &out, append(flags, "play", "oware", "--seed", strconv.FormatUint(e.Seed, 10))...)
		if status != 0 {
			t.Fatalf("status %d, %q", status, stderr)
		}
		for _, p := range e.Plies {
			if p.Opening {
				continue
			}
			want := p.State.Mover().String() + ": sow pit " + strconv.Itoa(int(p.Action)) + "\n"
			_, rest, ok := strings.Cut(out.String(), want)
			if !ok {
				t.Fatalf("game %d: %q is not played", e.Number, want)
			}
			out = *bytes.NewBufferString(rest)
		}
	}
}

func TestLostOutputIsAFailure(t *testing.T) {
	for _, args := range [][]string{
		{"variants"}, {"variants", "--json"}, {"perft", "urim", "--depth", "2"}, {"--help"},
		{"export", "modiar", "--out", "-"}, {"play", "modiar", "--south", "random"},
	} {
		status, stderr := run(t.Context(), nil, full{}, args...)
		if status != 1 || stderr != "mancala: standard output: full\n" {
			t.Errorf("%v: status %d, %q", args, status, stderr)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("full") }

// FuzzReplay shows that no record crashes the program.
func FuzzReplay(f *testing.F) {
	f.Add([]byte(`{"variant":"modiar","actions":[1,2,0],"legal":[[0,1,2],[0,1,2],[0,1,2]],"points":null,"states":null}`))
	f.Add([]byte("{\"variant\":\"urim\",\"actions\":[-1]}\n\n[}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		status, stderr := run(t.Context(), bytes.NewReader(text), io.Discard, "replay", "-")
		if status != 0 && status != 1 || strings.Count(stderr, "\n") != status {
			t.Errorf("status %d, %q", status, stderr)
		}
	})
}
