package mancala_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vectorLines decodes a JSON lines file.
func vectorLines[T any](t *testing.T, path string) (list []T) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatalf("%s:%d: %v", path, len(list)+1, err)
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		t.Fatalf("%s is empty", path)
	}
	return list
}

func mustOpen(t testing.TB, spec string) book {
	t.Helper()
	b, err := openBook(spec)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The book is no better a witness than its own accuracy: it has to agree with every vector too.
func TestBookFollowsTheVectors(t *testing.T) {
	for i, v := range vectorLines[struct {
		Clause, Variant, Before, After string
		Action                         *int
		Legal                          []int
		LegalAfter                     []int `json:"legal_after"`
	}](t, "testdata/positions.jsonl") {
		b := mustOpen(t, v.Variant)
		before := lay(v.Before)
		if before.text() != v.Before {
			t.Errorf("position %d, %s: printed %s, want %s", i+1, v.Clause, before.text(), v.Before)
		}
		if got := b.legal(before); !slices.Equal(got, v.Legal) {
			t.Errorf("position %d, %s: legal %v, want %v", i+1, v.Clause, got, v.Legal)
		}
		if v.Action == nil {
			continue
		}
		after := b.next(before, *v.Action)
		if got := after.text(); got != v.After {
			t.Errorf("position %d, %s: %s, want %s", i+1, v.Clause, got, v.After)
		}
		if got := b.legal(after); !slices.Equal(got, v.LegalAfter) {
			t.Errorf("position %d, %s: legal after %v, want %v", i+1, v.Clause, got, v.LegalAfter)
		}
		if before.text() != v.Before {
			t.Errorf("position %d, %s: playing changed it", i+1, v.Clause)
		}
	}
}

func TestBookReplaysTheGames(t *testing.T) {
	files, err := filepath.Glob("testdata/games/*.jsonl")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		for i, g := range vectorLines[struct {
			Variant         string
			Actions         []int
			Legal           [][]int
			States          []string
			Returns, Points *[2]int
			End             string
		}](t, file) {
			b := mustOpen(t, g.Variant)
			p := b.start()
			for ply, action := range g.Actions {
				if p.text() != g.States[ply] {
					t.Fatalf("%s:%d: ply %d: %s, want %s", file, i+1, ply, p.text(), g.States[ply])
				}
				if g.Legal != nil && !slices.Equal(b.legal(p), g.Legal[ply]) {
					t.Fatalf("%s:%d: ply %d: legal %v, want %v", file, i+1, ply, b.legal(p), g.Legal[ply])
				}
				p = b.next(p, action)
			}
			if last := g.States[len(g.Actions)]; p.text() != last || !p.over() {
				t.Fatalf("%s:%d: ended with %s, want %s", file, i+1, p.text(), last)
			}
			if g.Returns != nil && p.returns() != *g.Returns || g.Points != nil && b.points(p) != *g.Points {
				t.Fatalf("%s:%d: returns %v points %v", file, i+1, p.returns(), b.points(p))
			}
			if g.End != "" && !strings.HasSuffix(p.text(), "#"+g.End) {
				t.Fatalf("%s:%d: ended with %s, want %s", file, i+1, p.text(), g.End)
			}
		}
	}
}

// bookPerftNodes bounds what the slow book counts of each row.
const bookPerftNodes = 20_000

func TestBookCountsAsPerft(t *testing.T) {
	for _, v := range vectorLines[struct {
		Spec  string
		Nodes []int
	}](t, "testdata/perft.jsonl") {
		b := mustOpen(t, v.Spec)
		for i, want := range v.Nodes {
			if want > bookPerftNodes {
				break
			}
			if got := bookPerft(b, b.start(), i+1); got != want {
				t.Errorf("%s: depth %d: %d, want %d", v.Spec, i+1, got, want)
			}
		}
	}
}

func bookPerft(b book, t table, depth int) (nodes int) {
	list := b.legal(t)
	if depth == 1 {
		return len(list)
	}
	for _, action := range list {
		nodes += bookPerft(b, b.next(t, action), depth-1)
	}
	return nodes
}
