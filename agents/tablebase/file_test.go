package tablebase

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// build solves into a new file and returns its bytes.
func build(t testing.TB, spec string, seeds int, change func(s *solver)) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table")
	s, err := newSolver(rules(t, spec), seeds, Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	change(s)
	if _, err := s.run(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestWorkersAndMemoryChangeNothing(t *testing.T) {
	for _, c := range []struct {
		spec  string
		seeds int
	}{{"modiar", 16}, {"urim", 6}, {"hoyito2:laps=3", 5}} {
		want := build(t, c.spec, c.seeds, func(*solver) {})
		for _, change := range []func(*solver){
			func(s *solver) { s.workers = 4 },
			func(s *solver) { s.pages.limit = 0 },
			func(s *solver) { s.pages.limit = 2 },
			func(s *solver) { s.workers, s.pages.limit = 3, 5 },
		} {
			if !bytes.Equal(build(t, c.spec, c.seeds, change), want) {
				t.Errorf("%s: the file differs", c.spec)
			}
		}
	}
}

func TestAStoppedRunGoesOn(t *testing.T) {
	const spec, seeds = "hoyito2:laps=2", 7
	want := build(t, spec, seeds, func(*solver) {})
	path := filepath.Join(t.TempDir(), "table")
	for _, stop := range []int{0, 3, 5, 6} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := Solve(ctx, rules(t, spec), seeds, path, Options{Told: func(p Progress) {
			if p.Seeds == stop {
				cancel()
			}
		}})
		if err == nil || !strings.Contains(err.Error(), "canceled") {
			t.Fatalf("stopped at %d: %v", stop, err)
		}
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Fatalf("stopped at %d: there is a table: %v", stop, err)
		}
	}
	// A damaged part is worked out again.
	part := partName(Parts(path), 4)
	b, err := os.ReadFile(part)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-3]++
	if err := os.WriteFile(part, b, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Solve(t.Context(), rules(t, "urim"), seeds, path, Options{}); err == nil || !strings.Contains(err.Error(), "a level of hoyito2:laps=2") {
		t.Errorf("parts of another variant: %v", err)
	}
	first := -1
	_, err = Solve(t.Context(), rules(t, spec), seeds, path, Options{Told: func(p Progress) {
		if first < 0 && p.Stage != "found" {
			first = p.Seeds
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if first != 4 {
		t.Errorf("went on from level %d, want 4", first)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the file differs from one made at once: %v", err)
	}
	if _, err := os.Stat(Parts(path)); !os.IsNotExist(err) {
		t.Errorf("parts are left: %v", err)
	}
}

func TestDamagedAndForeignFilesAreRefused(t *testing.T) {
	good := build(t, "modiar", 4, func(*solver) {})
	path := filepath.Join(t.TempDir(), "table")
	refused := func(what string, b []byte, want string) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		table, err := Open(path, nil)
		if err == nil {
			table.Close()
			t.Errorf("%s: opened", what)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q in one line", what, err, want)
		}
	}
	for i := range good {
		for _, bit := range []byte{1, 0x80} {
			b := bytes.Clone(good)
			b[i] ^= bit
			refused("a flipped bit", b, "tablebase: ")
		}
	}
	for n := 0; n < len(good); n += 13 {
		refused("a short file", good[:n], "tablebase: ")
	}
	refused("a byte more", append(bytes.Clone(good), 0), "want")
	refused("text", []byte("not a table at all, but long enough to be looked at"), "no table")
	refused("the next format", bytes.Replace(good, []byte("table 1"), []byte("table 2"), 1), `format "mancala table 2": want "mancala table 1"`)

	headed := func(change func(h *header)) []byte {
		t.Helper()
		h, _, err := readHeader(bytes.NewReader(good), tableMagic)
		if err != nil {
			t.Fatal(err)
		}
		change(&h)
		var b bytes.Buffer
		if err := h.write(&b, tableMagic); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	refused("other rules", headed(func(h *header) { h.Version = 2 }), "a table of another variant: modiar, rules version 2: want modiar, version 1")
	refused("no such variant", headed(func(h *header) { h.Spec = "ouri" }), `variant "ouri"`)
	refused("four rows", headed(func(h *header) { h.Spec = "omweso" }), "does not fit")
	refused("too few levels", headed(func(h *header) { h.Levels = h.Levels[1:] }), "does not fit")
	refused("a wrong size", headed(func(h *header) { h.Levels[3].Positions = -56 }), "does not fit")

	if err := os.WriteFile(path, good, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path, rules(t, "modiar:grandslam=forced")); !errors.Is(err, ErrVariant) || !strings.Contains(err.Error(), "want modiar:grandslam=forced") {
		t.Errorf("another variant: %v", err)
	}
	if table, err := Open(path, rules(t, "modiar:quiet=7")); err != nil {
		t.Errorf("another quiet limit: %v", err)
	} else {
		table.Close()
	}
	if _, err := Open(filepath.Dir(path), nil); err == nil {
		t.Error("a directory was opened")
	}
	if _, err := Open(filepath.Join(t.TempDir(), "nothing"), nil); err == nil || strings.Count(err.Error(), "nothing") != 1 {
		t.Errorf("a missing file: %v", err)
	}
}

// FuzzOpen shows that no file crashes a reader.
func FuzzOpen(f *testing.F) {
	good := build(f, "modiar", 2, func(*solver) {})
	f.Add(good)
	f.Add(good[:100])
	f.Add(append([]byte(tableMagic), binary.LittleEndian.AppendUint32(nil, 1<<31)...))
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "table")
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if table, err := Open(path, nil); err == nil {
			table.Close()
		}
	})
}

func TestWhatCannotBeSolvedIsRefused(t *testing.T) {
	for _, c := range []struct {
		spec  string
		seeds int
		want  string
	}{
		{"omweso", 8, "4 rows"},
		{"modiar:cycle=owner", 8, "cycle=owner: want cycle=split"},
		{"modiar", 43, "43 seeds on the board: want 1 to 42"},
		{"modiar", 0, "want 1 to 42"},
		{"urim", 30, "want 1 to 26"},
		{"hoyito2:pits=12", 20, "want 1 to "},
	} {
		_, err := NewPlan(rules(t, c.spec), c.seeds, Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %d seeds: %v, want %q", c.spec, c.seeds, err, c.want)
		}
		if _, err := Solve(t.Context(), rules(t, c.spec), c.seeds, filepath.Join(t.TempDir(), "x"), Options{}); err == nil {
			t.Errorf("%s, %d seeds: solved", c.spec, c.seeds)
		}
	}
}

func TestAPlanSaysWhatIsComing(t *testing.T) {
	p, err := NewPlan(rules(t, "urim"), 20, Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	if p.Positions != 225792840 || p.File != 451585680 || p.Memory < 500e6 || p.Memory > 1e9 || p.Warning != "" || p.Time <= 0 {
		t.Errorf("%+v", p)
	}
	if p, err := NewPlan(rules(t, "urim:quiet=20"), 5, Options{}); err != nil || p.Spec != "urim" || !strings.Contains(p.Warning, "quiet=20 is short") {
		t.Errorf("%+v, %v", p, err)
	}
}
