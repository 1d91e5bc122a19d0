package mancala

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The files in testdata were worked out from the rules by an independent literal implementation, which also agrees
// with recorded games and with other engines where these play the same rules. games/omweso-recorded.jsonl holds twenty
// games played by programs on the McGill server in 2015 (public logs of github.com/HSY3D/Omweso, moves only).

// readLines decodes every line of a JSON lines file; a file without any fails the test.
func readLines[T any](t testing.TB, path string) (list []T) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var v T
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatalf("%s:%d: %v", path, len(list)+1, err)
		}
		list = append(list, v)
	}
	if err := lines.Err(); err != nil || len(list) == 0 {
		t.Fatalf("%s: %d lines, %v", path, len(list), err)
	}
	return list
}

func mustParse(t testing.TB, spec string) Rules {
	t.Helper()
	r, err := Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustState(t testing.TB, r Rules, text string) State {
	t.Helper()
	s, err := ParseState(r, text)
	if err != nil {
		t.Fatal(err)
	}
	if got := FormatState(r, s); got != text {
		t.Fatalf("%s: printed %q, want %q", r.Info().Spec, got, text)
	}
	return s
}

func ints(m Mask) []int {
	list := []int{}
	for a := range m.All {
		list = append(list, int(a))
	}
	return list
}

func TestPositionsFollowTheirClause(t *testing.T) {
	type position struct {
		Clause, Variant, Before, After, Note string
		Action                               *int
		Legal, LegalAfter                    []int
	}
	type alias struct {
		position
		LegalAfter []int `json:"legal_after"`
	}
	for i, v := range readLines[alias](t, "testdata/positions.jsonl") {
		t.Run(fmt.Sprintf("%s/%d", v.Clause, i+1), func(t *testing.T) {
			r := mustParse(t, v.Variant)
			s := mustState(t, r, v.Before)
			if got := ints(r.Legal(s)); !slices.Equal(got, v.Legal) {
				t.Fatalf("%s: legal %v, want %v (%s)", v.Before, got, v.Legal, v.Note)
			}
			if v.Action == nil {
				return
			}
			n := r.Next(s, Action(*v.Action))
			if got := FormatState(r, n); got != v.After {
				t.Fatalf("%s: action %d leads to %s, want %s (%s)", v.Before, *v.Action, got, v.After, v.Note)
			}
			if got := mustState(t, r, v.After); got != n {
				t.Errorf("%s: parsed differs from played", v.After)
			}
			if got := ints(r.Legal(n)); !slices.Equal(got, v.LegalAfter) {
				t.Errorf("%s: legal %v, want %v (%s)", v.After, got, v.LegalAfter, v.Note)
			}
		})
	}
}

type game struct {
	Variant string
	Actions []int
	Legal   [][]int
	States  []string
	Returns *[2]int
	Points  *[2]int
	End     string
}

func TestGamesReplay(t *testing.T) {
	files, err := filepath.Glob("testdata/games/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			for i, g := range readLines[game](t, file) {
				replay(t, fmt.Sprintf("%s:%d", file, i+1), g)
			}
		})
	}
}

func replay(t *testing.T, at string, g game) {
	t.Helper()
	r := mustParse(t, g.Variant)
	s := r.Start()
	for ply := range len(g.Actions) + 1 {
		if got := FormatState(r, s); got != g.States[ply] {
			t.Fatalf("%s: ply %d: state %s, want %s", at, ply, got, g.States[ply])
		}
		if got := mustState(t, r, g.States[ply]); got != s {
			t.Fatalf("%s: ply %d: parsed differs from played", at, ply)
		}
		if ply == len(g.Actions) {
			break
		}
		if got := ints(r.Legal(s)); g.Legal != nil && !slices.Equal(got, g.Legal[ply]) {
			t.Fatalf("%s: ply %d: legal %v, want %v", at, ply, got, g.Legal[ply])
		}
		if !r.Legal(s).Has(Action(g.Actions[ply])) {
			t.Fatalf("%s: ply %d: action %d is not legal", at, ply, g.Actions[ply])
		}
		s = r.Next(s, Action(g.Actions[ply]))
	}
	if !s.Over() || r.Legal(s) != 0 {
		t.Fatalf("%s: the game goes on", at)
	}
	if g.Returns != nil && s.Returns() != *g.Returns || g.Points != nil && r.Points(s) != *g.Points {
		t.Fatalf("%s: returns %v points %v, want %v %v", at, s.Returns(), r.Points(s), *g.Returns, *g.Points)
	}
	if g.End != "" && !strings.HasSuffix(FormatState(r, s), "#"+g.End) {
		t.Fatalf("%s: ended %s, want %s", at, FormatState(r, s), g.End)
	}
}

func TestEveryVariantHasGoldenGames(t *testing.T) {
	for _, name := range Variants() {
		for _, g := range readLines[game](t, filepath.Join("testdata/games", name+".jsonl")) {
			if r := mustParse(t, g.Variant); r.Info().Spec != name {
				t.Errorf("golden games of %s hold one of %s", name, g.Variant)
			}
		}
	}
}

func TestPerft(t *testing.T) {
	type row struct {
		Spec  string
		Nodes []int
	}
	for _, v := range readLines[row](t, "testdata/perft.jsonl") {
		t.Run(v.Spec, func(t *testing.T) {
			r := mustParse(t, v.Spec)
			for i, want := range v.Nodes {
				if got := perft(r, r.Start(), i+1); got != want {
					t.Errorf("depth %d: %d, want %d", i+1, got, want)
				}
			}
		})
	}
}

func perft(r Rules, s State, depth int) (nodes int) {
	if depth == 0 {
		return 1
	}
	for a := range r.Legal(s).All {
		nodes += perft(r, r.Next(s, a), depth-1)
	}
	return nodes
}
