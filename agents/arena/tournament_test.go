package arena

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mancalagym/mancalagym/env/mancala"
)

var update = flag.Bool("update", false, "write the golden files anew")

func trio(r mancala.Rules) []Entrant {
	return []Entrant{entrant("dice", dice(r)), entrant("taker", taker(r)), entrant("first", first(r))}
}

func TestTournamentIsTheSameForAnyWorkersAndBatch(t *testing.T) {
	r := parse(t, "modiar")
	var want *Report
	for _, c := range [][2]int{{1, 1}, {1, 64}, {4, 1}, {4, 64}} {
		cfg := config(60)
		cfg.Workers, cfg.Batch = c[0], c[1]
		last := 0
		cfg.Progress = func(done, total int) {
			if done != last+1 || total != 180 {
				t.Errorf("%d of %d after %d", done, total, last)
			}
			last = done
		}
		var s shelf
		got, err := Tournament(context.Background(), cfg, r, trio(r), &s)
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%d workers, batch %d:\n%s", c[0], c[1], d)
		}
		for i, e := range s.kept {
			if e.Number != uint64(i) {
				t.Fatalf("episode %d has number %d", i, e.Number)
			}
		}
		if len(s.kept) != 180 || last != 180 {
			t.Errorf("%d episodes, %d games", len(s.kept), last)
		}
	}
}

func TestTournamentAddsUp(t *testing.T) {
	r := parse(t, "modiar")
	cfg := config(100)
	cfg.MaxPlies = 25
	rep, err := Tournament(context.Background(), cfg, r, trio(r), nil)
	if err != nil {
		t.Fatal(err)
	}
	games, wins, losses, mean := 0, 0, 0, 0.0
	for i, s := range rep.Standings {
		games += s.Games
		wins += s.Wins
		losses += s.Losses
		mean += s.Elo
		if s.Wins+s.Draws+s.Losses != s.Games || s.Rank != i+1 || i > 0 && s.Elo > rep.Standings[i-1].Elo {
			t.Errorf("%+v", s)
		}
		if want := (float64(s.Wins) + float64(s.Draws)/2) / float64(s.Games); s.Score.Value != want {
			t.Errorf("%s scores %v, want %g", s.Agent, s.Score, want)
		}
	}
	scored, left := 0, 0
	seeds := map[uint64]bool{}
	for _, m := range rep.Matches {
		scored += m.Games
		left += m.LeftOut
		seeds[m.Seed] = true
	}
	if scored+2*left != 300 || games != 2*scored || wins != losses || left == 0 || math.Abs(mean) > 1e-6 || len(seeds) != 3 {
		t.Errorf("%d games in matches, %d pairs left out, %d games, %d wins, %d losses in standings, sum of ratings %g", scored, left, games, wins, losses, mean)
	}
}

func TestMatchOfATournamentCanBePlayedAgain(t *testing.T) {
	r := parse(t, "modiar")
	cfg := config(40)
	who := trio(r)
	rep, err := Tournament(context.Background(), cfg, r, who, nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Seed = rep.Matches[1].Seed
	m, err := Play(context.Background(), cfg, r, [2]Entrant{who[0], who[2]}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(rep.Matches[1], m); d != "" {
		t.Error(d)
	}
}

func TestAnchorIsZero(t *testing.T) {
	r := parse(t, "modiar")
	cfg := config(40)
	free, err := Tournament(context.Background(), cfg, r, trio(r), nil)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Anchor = "dice"
	held, err := Tournament(context.Background(), cfg, r, trio(r), nil)
	if err != nil {
		t.Fatal(err)
	}
	shift := free.Standings[0].Elo - held.Standings[0].Elo
	for i, s := range held.Standings {
		if s.Agent == "dice" && (s.Elo != 0 || s.EloError != 0) || s.Agent != "dice" && s.EloError <= 0 {
			t.Errorf("%+v", s)
		}
		if f := free.Standings[i]; f.Agent != s.Agent || math.Abs(f.Elo-s.Elo-shift) > 1e-6 {
			t.Errorf("anchored %+v, free %+v", s, f)
		}
	}
}

func TestInterruptedTournamentReportsWhatWasPlayed(t *testing.T) {
	r := parse(t, "urim")
	ctx, stop := context.WithCancel(context.Background())
	cfg := config(200)
	cfg.Workers = 1
	cfg.Progress = func(done, _ int) {
		if done == 300 {
			stop()
		}
	}
	rep, err := Tournament(ctx, cfg, r, trio(r), nil)
	if !errors.Is(err, context.Canceled) || rep == nil || !rep.Stopped {
		t.Fatalf("%+v, error %v", rep, err)
	}
	if len(rep.Matches) != 2 || rep.Matches[0].Games != 200 || rep.Matches[1].Games >= 200 || len(rep.Standings) != 3 {
		t.Errorf("%+v", rep)
	}
	var b bytes.Buffer
	if err := rep.Text(&b); err != nil || !strings.Contains(b.String(), "Stopped before the end") {
		t.Errorf("%v\n%s", err, &b)
	}

	rep, err = Tournament(ctx, cfg, r, trio(r), nil)
	if !errors.Is(err, context.Canceled) || len(rep.Matches) != 0 {
		t.Errorf("%+v, error %v", rep, err)
	}
	if _, err := json.Marshal(rep); err != nil {
		t.Error(err)
	}
	if err := rep.Text(&b); err != nil {
		t.Error(err)
	}
}

func TestTournamentRefusesWhatItCannotRate(t *testing.T) {
	r := parse(t, "modiar")
	a, b := entrant("a", first(r)), entrant("b", first(r))
	for _, c := range []struct {
		who    []Entrant
		anchor string
		want   string
	}{
		{[]Entrant{a}, "", "arena: entrants 1: want from 2 to 256"},
		{[]Entrant{a, b, a}, "", `arena: entrant "a": given twice: want different names`},
		{[]Entrant{a, b}, "c", `arena: anchor "c": want one of ["a" "b"]`},
		{[]Entrant{a, {}}, "", `arena: entrant 1 "": want a name and a factory`},
		{[]Entrant{a, entrant("bad", func(mancala.State, uint64) (mancala.Action, error) { return 77, nil })}, "", `arena: agent "bad" in `},
	} {
		cfg := config(2)
		cfg.Anchor = c.anchor
		if rep, err := Tournament(context.Background(), cfg, r, c.who, nil); rep != nil || err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, error %v, want %s", rep, err, c.want)
		}
	}
}

func TestReportText(t *testing.T) {
	r := parse(t, "modiar")
	cfg := config(100)
	cfg.MaxPlies = 25
	who := append(trio(r), entrant("net:weights=runs/first/best,sims=64", taker(r)))
	rep, err := Tournament(context.Background(), cfg, r, who, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := rep.Text(&b); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/report.txt"
	if *update {
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), b.String()); d != "" {
		t.Errorf("%s (go test -update writes it anew):\n%s", golden, d)
	}
}

func TestReportGoesThroughJSON(t *testing.T) {
	r := parse(t, "omweso")
	rep, err := Tournament(context.Background(), config(20), r, trio(r), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(rep)
	if err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(*rep, back); d != "" {
		t.Error(d)
	}
}

func TestSwappedTwiceIsTheSame(t *testing.T) {
	m := Match{Agents: [2]string{"a", "b"}, Games: 8, Wins: 5, Draws: 1, Losses: 2, Pairs: Pairs{0, 1, 0, 1, 2}}
	m.Score = m.Pairs.evidence().estimate()
	s := m.swapped()
	if s.Wins != 2 || s.Pairs != (Pairs{2, 1, 0, 1, 0}) || s.Score.Low != 1-m.Score.High || m.Pairs != (Pairs{0, 1, 0, 1, 2}) {
		t.Errorf("%+v", s)
	}
	if d := cmp.Diff(m, s.swapped()); s.Wins != 2 || cmp.Diff(m.Pairs, s.swapped().Pairs) != "" {
		t.Error(d)
	}
}

// failing is a writer that is always full.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

func TestTextReturnsTheWritersError(t *testing.T) {
	if err := (&Report{}).Text(failing{}); !errors.Is(err, errFull) {
		t.Errorf("error %v", err)
	}
}
