package datasets

import (
	"bytes"
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/env"
)

func TestStatisticsCountTheEpisodes(t *testing.T) {
	r := parse(t, "modiar")
	path := filepath.Join(t.TempDir(), "x.parquet")
	list := playAll(r, 30, env.Outcome)
	list = append(list, func() *env.Episode { e := play(r, 4, env.Outcome); e.Number = 99; return e }())
	write(t, path, r, Meta{}, list)

	var plies, legal, south, truncated, searched int
	reasons := map[string]int{}
	for _, e := range list {
		plies += len(e.Plies)
		for _, p := range e.Plies {
			legal += p.Legal.Len()
			if p.Policy != nil {
				searched++
			}
		}
		if e.Truncated {
			truncated++
			continue
		}
		reasons[e.Final.Reason().String()]++
		if e.Final.Returns()[0] == 1 {
			south++
		}
	}
	s, err := Statistics(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	v := s.Variants[0]
	if len(s.Variants) != 1 || s.Games != 31 || s.Plies != plies || v.Plies != plies || v.Games != 31 {
		t.Errorf("%+v: want 31 games, %d plies", s, plies)
	}
	if v.Distinct != 30 {
		t.Errorf("%d distinct games, want 30: one is played twice", v.Distinct)
	}
	if v.South != south || v.Truncated != truncated || v.Searched != searched || v.South+v.North+v.Drawn+v.Annulled+v.Truncated != 31 {
		t.Errorf("results %+v: want South %d, truncated %d, searched %d", v, south, truncated, searched)
	}
	for name, n := range reasons {
		if v.Reasons[name] != n {
			t.Errorf("%s %d times, want %d", name, v.Reasons[name], n)
		}
	}
	if v.Mean != float64(plies)/31 || v.Branching != float64(legal)/float64(plies) || v.Median < float64(v.Shortest) || v.Median > float64(v.Longest) {
		t.Errorf("means %+v", v)
	}
}

func TestStatisticsOfManyVariantsAreATableAndJSON(t *testing.T) {
	s, err := Statistics(context.Background(), writeDataset(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Variants) != len(specs) || s.Files != len(specs) || s.Games != 10*len(specs) {
		t.Errorf("%+v", s)
	}
	var b bytes.Buffer
	if err := s.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range append([]string{"distinct games", "branching factor", "ended by"}, specs...) {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, b.String())
		}
	}
	if _, err := json.Marshal(s); err != nil {
		t.Error(err)
	}
}

func TestMedianOfTwoGamesIsBetweenThem(t *testing.T) {
	v := (&tally{lengths: []int{9, 4}}).finish()
	if v.Median != 6.5 || v.Mean != 6.5 || v.Deviation != 2.5 || v.Shortest != 4 || v.Longest != 9 {
		t.Errorf("%+v", v)
	}
}
