package arena

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// level knows every position: a draw.
type level struct{}

func (level) Probe(s mancala.State) (int, bool) {
	own := s.Store(s.Mover()) - s.Store(s.Mover().Opponent())
	return -own, true
}

func TestAdjudicatedGamesScoreWithoutAnEnd(t *testing.T) {
	r, err := mancala.Parse("oware")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Default(r)
	cfg.Games, cfg.Adjudicator = 20, level{}
	random := func() (agents.Agent, error) { return agents.NewRandom(r), nil }
	var kept shelf
	m, err := Play(context.Background(), cfg, r, [2]Entrant{{"a", random}, {"b", random}}, &kept)
	if err != nil {
		t.Fatal(err)
	}
	if m.Games != 20 || m.Draws != 20 || m.Adjudicated != 20 || m.Truncated != 0 || m.LeftOut != 0 {
		t.Errorf("%+v, want 20 adjudicated draws", m)
	}
	for _, e := range kept.kept {
		if !e.Truncated || e.Final.Over() {
			t.Errorf("episode %d is not a truncated one", e.Number)
		}
	}
	cfg.Games = 2
	if w, err := mancala.Parse("omweso"); err != nil {
		t.Fatal(err)
	} else if _, err := Play(context.Background(), cfg, w, [2]Entrant{{"a", random}, {"b", random}}, nil); err == nil {
		t.Error("an adjudicator without stores is taken")
	}
}

func TestMatchIsTheSameForAnyWorkersAndBatch(t *testing.T) {
	for _, spec := range append(mancala.Variants(), "omweso:setup=arrange", "hoyito2:laps=6") {
		r := parse(t, spec)
		var match Match
		var episodes shelf
		for _, c := range [][2]int{{1, 1}, {1, 64}, {4, 1}, {4, 64}, {3, 5}} {
			cfg := Default(r)
			cfg.Games, cfg.Seed, cfg.Workers, cfg.Batch = 60, 11, c[0], c[1]
			var s shelf
			m, err := Play(context.Background(), cfg, r, [2]Entrant{entrant("taker", taker(r)), entrant("dice", dice(r))}, &s)
			if err != nil {
				t.Fatal(err)
			}
			if episodes.kept == nil {
				match, episodes = m, s
			}
			if d := cmp.Diff(match, m); d != "" {
				t.Errorf("%s, %d workers, batch %d: another match:\n%s", spec, c[0], c[1], d)
			}
			same := len(s.kept) == len(episodes.kept)
			for i := 0; same && i < len(s.kept); i++ {
				same = fmt.Sprint(s.kept[i]) == fmt.Sprint(episodes.kept[i])
			}
			if !same {
				t.Errorf("%s, %d workers, batch %d: other episodes", spec, c[0], c[1])
			}
		}
	}
}

func TestPairsShareTheirOpeningWithSidesSwapped(t *testing.T) {
	for _, spec := range append(mancala.Variants(), "omweso:setup=arrange") {
		r := parse(t, spec)
		var s shelf
		cfg := config(200)
		if _, err := Play(context.Background(), cfg, r, [2]Entrant{entrant("A", dice(r)), entrant("B", dice(r))}, &s); err != nil {
			t.Fatal(err)
		}
		lengths := map[int]bool{}
		for i, e := range s.kept {
			want := [2]string{"A", "B"}
			if i%2 == 1 {
				want = [2]string{"B", "A"}
			}
			if e.Number != uint64(i) || e.Agents != want || e.Seed != cfg.Seed || e.Spec != r.Info().Spec || e.Truncated {
				t.Fatalf("%s: episode %d has number %d, agents %q, seed %d, spec %s, truncated %t", spec, i, e.Number, e.Agents, e.Seed, e.Spec, e.Truncated)
			}
			opening, counted := 0, 0
			state := r.Start()
			for k, p := range e.Plies {
				if p.State != state || p.Legal != r.Legal(state) || !p.Legal.Has(p.Action) {
					t.Fatalf("%s: episode %d: ply %d does not follow", spec, i, k)
				}
				if p.Opening {
					if k != opening {
						t.Fatalf("%s: episode %d: an opening ply after an agent's", spec, i)
					}
					opening++
					if state.Hand().Flags&mancala.HandArranging == 0 {
						counted++
					}
				}
				state = r.Next(state, p.Action)
				var z [2]int
				if k == len(e.Plies)-1 {
					z = state.Returns()
				}
				if p.Reward != [2]float32{float32(z[0]), float32(z[1])} {
					t.Fatalf("%s: episode %d: ply %d has reward %v, want %v", spec, i, k, p.Reward, z)
				}
			}
			if e.Final != state || !state.Over() {
				t.Fatalf("%s: episode %d does not end where its plies lead", spec, i)
			}
			if i%2 == 1 {
				for k, p := range s.kept[i-1].Plies[:opening] {
					if !p.Opening || p.Action != e.Plies[k].Action {
						t.Fatalf("%s: pair %d has two openings", spec, i/2)
					}
				}
			}
			lengths[counted] = true
		}
		if len(lengths) != 3 || !lengths[2] || !lengths[3] || !lengths[4] {
			t.Errorf("%s: openings of %v plies, want 2, 3 and 4", spec, lengths)
		}
	}
}

func TestArrangementIsPlayedByTheOpening(t *testing.T) {
	r := parse(t, "omweso:setup=arrange")
	cfg := Default(r)
	var inner int
	for pair := range 200 {
		actions, s, err := open(r, cfg, pair, nil)
		if err != nil || len(actions) != 32 || s.Mover() != mancala.South || s.Hand() != (mancala.Hand{}) {
			t.Fatalf("pair %d: %d plies, then %s, error %v", pair, len(actions), mancala.FormatState(r, s), err)
		}
		for i := 8; i < 16; i++ {
			inner += s.Pit(mancala.South, i)
		}
	}
	if mean := float64(inner) / 200; math.Abs(mean-16) > 1 { // a seed falls anywhere: half of 32; deviation √(32/4/200) = 0.2
		t.Errorf("%.2f of 32 seeds in the inner row on average, want half of them", mean)
	}
	for _, spec := range []string{"omweso:setup=arrange,pitcap=2", "omweso:setup=arrange,pitcap=32"} {
		r := parse(t, spec)
		if actions, _, err := open(r, cfg, 0, nil); err != nil || len(actions) != 32 {
			t.Errorf("%s: %d plies, error %v", spec, len(actions), err)
		}
	}
}

func TestOpeningRefusesLengthsThatCannotBe(t *testing.T) {
	for _, c := range [][2]int{{3, 2}, {-1, 0}, {0, -1}, {0, MaxOpening + 1}} {
		rng := rand.New(rand.NewPCG(1, 1))
		if _, _, err := Opening(parse(t, "modiar"), rng, c[0], c[1], nil); err == nil || !strings.HasPrefix(err.Error(), "arena: opening plies ") {
			t.Errorf("%v: error %v", c, err)
		}
	}
}

func TestOpeningNeverEndsTheGame(t *testing.T) {
	r := parse(t, "modiar") // over after 7 plies at the earliest
	cfg := Config{OpeningPlies: 30}
	for pair := range 500 {
		actions, s, err := open(r, cfg, pair, nil)
		if err != nil || s.Over() || len(actions) < 15 || len(actions) > 30 {
			t.Fatalf("pair %d: %d plies, over %t, error %v", pair, len(actions), s.Over(), err)
		}
	}
	cfg = config(2)
	cfg.OpeningPlies = 1000
	_, err := Play(context.Background(), cfg, r, [2]Entrant{entrant("A", first(r)), entrant("B", first(r))}, nil)
	if err == nil || err.Error() != "arena: opening plies 1000: 1000 openings of modiar ended the game: want fewer plies" {
		t.Errorf("error %v", err)
	}
}

func TestAllGamesOfABatchGoIntoOneCall(t *testing.T) {
	r := parse(t, "urim")
	cfg := config(100)
	cfg.Workers, cfg.Batch = 1, 40
	var calls, rows, most atomic.Int64
	counted := func() (agents.Agent, error) {
		return counter{dice(r), &calls, &rows, &most}, nil
	}
	var s shelf
	if _, err := Play(context.Background(), cfg, r, [2]Entrant{{"A", counted}, {"B", counted}}, &s); err != nil {
		t.Fatal(err)
	}
	plies := 0
	for _, e := range s.kept {
		for _, p := range e.Plies {
			if !p.Opening {
				plies++
			}
		}
	}
	if int(rows.Load()) != plies {
		t.Errorf("agents were asked %d times for %d plies", rows.Load(), plies)
	}
	if most.Load() > 40 {
		t.Errorf("a call has %d rows, the batch is 40", most.Load())
	}
	if mean := float64(plies) / float64(calls.Load()); mean < 12 { // about 20 while games are waiting, fewer at the end
		t.Errorf("%.1f rows a call, want most of half the batch", mean)
	}
}

type counter struct {
	actor
	calls, rows, most *atomic.Int64
}

func (c counter) Act(states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	c.calls.Add(1)
	c.rows.Add(int64(len(states)))
	c.most.Store(max(c.most.Load(), int64(len(states))))
	return c.actor.Act(states, seeds, actions)
}

func TestRowSeedsDiffer(t *testing.T) {
	r := parse(t, "urim")
	seen := map[uint64]bool{}
	rows := 0
	spy := func(s mancala.State, seed uint64) (mancala.Action, error) {
		seen[seed] = true
		rows++
		return r.Legal(s).First(), nil
	}
	cfg := config(20)
	cfg.Workers, cfg.OpeningPlies = 1, 0 // every game is the same
	m, err := Play(context.Background(), cfg, r, [2]Entrant{entrant("A", spy), entrant("B", spy)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != rows || m.DistinctGames != 1 || m.DistinctOpenings != 1 {
		t.Errorf("%d seeds in %d rows of %d different games", len(seen), rows, m.DistinctGames)
	}
}

func TestEqualAgentsWithoutChanceSplitEveryPair(t *testing.T) {
	r := parse(t, "urim")
	m, err := Play(context.Background(), config(200), r, [2]Entrant{entrant("A", taker(r)), entrant("B", taker(r))}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if m.Pairs != (Pairs{0, 0, 100, 0, 0}) || m.Score.Value != 0.5 || m.Wins != m.Losses || m.Wins+m.Draws+m.Losses != 200 {
		t.Errorf("%+v", m)
	}
	if m.DistinctGames > 100 || m.DistinctGames < m.DistinctOpenings/2 || m.DistinctOpenings < 50 {
		t.Errorf("%d different games of %d openings in 100 pairs", m.DistinctGames, m.DistinctOpenings)
	}
	if w := m.Score.High - m.Score.Low; w <= 0 || w > 0.02 {
		t.Errorf("interval of width %g", w)
	}
}

func TestTruncatedGamesAreNoDraws(t *testing.T) {
	r := parse(t, "modiar")
	cfg := config(200)
	cfg.MaxPlies = 12
	var s shelf
	m, err := Play(context.Background(), cfg, r, [2]Entrant{entrant("A", dice(r)), entrant("B", dice(r))}, &s)
	if err != nil {
		t.Fatal(err)
	}
	truncated, left, games := 0, 0, 0
	for i := 0; i < len(s.kept); i += 2 {
		n := 0
		for _, e := range s.kept[i : i+2] {
			agent := 0
			for _, p := range e.Plies {
				if !p.Opening {
					agent++
				}
			}
			if e.Truncated {
				n++
			}
			if e.Truncated == e.Final.Over() || agent > 12 || e.Truncated && agent != 12 {
				t.Fatalf("episode %d: truncated %t, over %t after %d plies", i, e.Truncated, e.Final.Over(), agent)
			}
		}
		truncated += n
		if n > 0 {
			left++
		} else {
			games += 2
		}
	}
	if m.Truncated != truncated || m.LeftOut != left || m.Games != games || m.Pairs.Len() != games/2 || left == 0 || games == 0 {
		t.Errorf("%d games, %d truncated, %d pairs left out; want %d, %d, %d, all above 0", m.Games, m.Truncated, m.LeftOut, games, truncated, left)
	}
	if m.Wins+m.Draws+m.Losses != m.Games {
		t.Errorf("%d + %d + %d is not %d", m.Wins, m.Draws, m.Losses, m.Games)
	}
}

func TestAnnulledGamesAreCountedDraws(t *testing.T) {
	r := parse(t, "hoyito2:laps=6")
	var s shelf
	m, err := Play(context.Background(), config(100), r, [2]Entrant{entrant("A", dice(r)), entrant("B", dice(r))}, &s)
	if err != nil {
		t.Fatal(err)
	}
	annulled, draws := 0, 0
	for _, e := range s.kept {
		if e.Final.Reason() == mancala.Endless {
			annulled++
		}
		if e.Final.Winner() == mancala.Nobody {
			draws++
		}
	}
	if annulled == 0 || m.Annulled != annulled || m.Draws != draws || m.Games != 100 {
		t.Errorf("%d annulled, %d draws of %d games; want %d, %d of 100", m.Annulled, m.Draws, m.Games, annulled, draws)
	}
}

func TestInterruptedMatchIsAShorterMatch(t *testing.T) {
	r := parse(t, "urim")
	who := [2]Entrant{entrant("A", taker(r)), entrant("B", dice(r))}
	ctx, stop := context.WithCancel(context.Background())
	cfg := config(1000)
	cfg.Workers = 1 // two may drift apart, and the first pair end last
	cfg.Progress = func(done, total int) {
		if done == 100 {
			stop()
		}
		if total != 1000 {
			t.Errorf("%d games in all", total)
		}
	}
	var s shelf
	m, err := Play(ctx, cfg, r, who, &s)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	if m.Games < 60 || m.Games >= 1000 || len(s.kept) != m.Games {
		t.Fatalf("%d games, %d episodes", m.Games, len(s.kept))
	}
	want, err := Play(context.Background(), config(m.Games), r, who, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}

	if m, err := Play(ctx, cfg, r, who, nil); !errors.Is(err, context.Canceled) || m.Games != 0 || m.Score != (Estimate{0.5, 0, 1}) {
		t.Errorf("nothing played: %+v, %v", m, err)
	}
	ctx, stop = context.WithCancel(context.Background())
	cfg = config(20)
	cfg.Progress = func(done, total int) {
		if done == total {
			stop()
		}
	}
	if m, err := Play(ctx, cfg, r, who, nil); err != nil || m.Games != 20 {
		t.Errorf("stopped after the last game: %d games, error %v", m.Games, err)
	}
}

func TestProgressCountsEveryGame(t *testing.T) {
	r := parse(t, "modiar")
	cfg, last := config(50), 0
	cfg.Workers = 4
	cfg.Progress = func(done, total int) {
		if done != last+1 || total != 50 {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}
	if _, err := Play(context.Background(), cfg, r, [2]Entrant{entrant("A", dice(r)), entrant("B", dice(r))}, nil); err != nil || last != 50 {
		t.Errorf("%d of 50, error %v", last, err)
	}
}

func TestErrorsSayWhoAndWhat(t *testing.T) {
	r := parse(t, "modiar")
	fault := errors.New("lost its mind")
	good := entrant("good", first(r))
	wrong := entrant("wrong", func(mancala.State, uint64) (mancala.Action, error) { return 9, nil })
	for _, c := range []struct {
		name   string
		cfg    func(*Config)
		who    [2]Entrant
		sink   *shelf
		want   string
		target error
	}{
		{"illegal action", nil, [2]Entrant{wrong, good}, nil, `arena: agent "wrong" in 7,7,7/7,7,7 0-0 S 0 0: action 9: legal are 0 1 2`, nil},
		{"failing agent", nil, [2]Entrant{good, entrant("ill", func(mancala.State, uint64) (mancala.Action, error) { return 0, fault })}, nil, `arena: agent "ill" in 1 positions, the first `, fault},
		{"failing factory", nil, [2]Entrant{good, {"late", func() (agents.Agent, error) { return nil, fault }}}, nil, `arena: agent "late": lost its mind`, fault},
		{"no agent", nil, [2]Entrant{good, {"void", func() (agents.Agent, error) { return nil, nil }}}, nil, `arena: agent "void": the factory made none: want an agent or an error`, nil},
		{"no factory", nil, [2]Entrant{good, {Name: "ghost"}}, nil, `arena: entrant 1 "ghost": want a name and a factory`, nil},
		{"no name", nil, [2]Entrant{{New: good.New}, good}, nil, `arena: entrant 0 "": want a name and a factory`, nil},
		{"full sink", nil, [2]Entrant{good, good}, &shelf{failAt: 3}, "arena: episode 3: shelf: full", errFull},
		{"odd games", func(c *Config) { c.Games = 7 }, [2]Entrant{good, good}, nil, "arena: games 7: want an even number from 2 to 1000000, as every opening is played twice with the sides swapped", nil},
		{"no games", func(c *Config) { c.Games = 0 }, [2]Entrant{good, good}, nil, "arena: games 0: want an even number", nil},
		{"opening", func(c *Config) { c.OpeningPlies = -1 }, [2]Entrant{good, good}, nil, "arena: opening plies -1: want a number from 0 to 1000", nil},
		{"limit", func(c *Config) { c.MaxPlies = -1 }, [2]Entrant{good, good}, nil, "arena: most plies -1: want a number from 0 to 2147483647", nil},
		{"workers", func(c *Config) { c.Workers = 0 }, [2]Entrant{good, good}, nil, "arena: workers 0: want a number from 1 to 1024", nil},
		{"batch", func(c *Config) { c.Batch = 1 << 20 }, [2]Entrant{good, good}, nil, "arena: batch 1048576: want a number from 1 to 65536", nil},
	} {
		cfg := config(20)
		cfg.OpeningPlies, cfg.Workers, cfg.Batch = 0, 1, 1
		if c.cfg != nil {
			c.cfg(&cfg)
		}
		var err error
		if c.sink != nil {
			_, err = Play(context.Background(), cfg, r, c.who, c.sink)
		} else {
			_, err = Play(context.Background(), cfg, r, c.who, nil)
		}
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
		if c.target != nil && !errors.Is(err, c.target) {
			t.Errorf("%s: %v does not wrap %v", c.name, err, c.target)
		}
	}
}

func TestDefaultIsValidForEveryVariant(t *testing.T) {
	for _, spec := range append(mancala.Variants(), "omweso:setup=arrange") {
		c := Default(parse(t, spec))
		if err := c.Validate(); err != nil {
			t.Errorf("%s: %v", spec, err)
		}
		if stores := parse(t, spec).Info().Stores; stores != (c.MaxPlies == 0) {
			t.Errorf("%s: at most %d plies", spec, c.MaxPlies)
		}
	}
}

func TestBeatsLooksAtTheLowerEnd(t *testing.T) {
	m := Match{Score: Estimate{0.6, 0.52, 0.67}}
	if !m.Beats(0.5) || m.Beats(0.55) {
		t.Error("a score of 0.60 from 0.52 up is above 0.50, and perhaps not above 0.55")
	}
}

// The score of equals is 0.5 whatever the opening, as the sides are swapped.
func TestIntervalOfPlayedMatchesCoversTheTruth(t *testing.T) {
	r := parse(t, "modiar")
	who := [2]Entrant{entrant("A", dice(r)), entrant("B", dice(r))}
	const matches = 300 // standard error 0.013
	hit := 0
	for seed := range uint64(matches) {
		cfg := Default(r)
		cfg.Games, cfg.Seed = 60, seed
		m, err := Play(context.Background(), cfg, r, who, nil)
		if err != nil {
			t.Fatal(err)
		}
		if m.Score.Low <= 0.5 && 0.5 <= m.Score.High {
			hit++
		}
	}
	if got := float64(hit) / matches; got < 0.93 || got > 0.98 {
		t.Errorf("the interval covers the truth in %.3f of the matches, want 0.93 to 0.98", got)
	}
}

// A longer match may allocate more for games (a fixed number each), not for plies.
func TestPliesAllocateNothing(t *testing.T) {
	r := parse(t, "urim")
	who := [2]Entrant{entrant("A", first(r)), entrant("B", first(r))}
	allocations := func(plies int) float64 {
		cfg := config(32)
		cfg.Workers, cfg.Batch, cfg.OpeningPlies, cfg.MaxPlies = 1, 32, 0, plies
		return testing.AllocsPerRun(5, func() {
			if _, err := Play(context.Background(), cfg, r, who, nil); err != nil {
				t.Fatal(err)
			}
		})
	}
	if a, b := allocations(4), allocations(28); b > a {
		t.Errorf("%g allocations for 4 plies a game, %g for 28", a, b)
	}
}

func BenchmarkPlay(b *testing.B) {
	for _, spec := range mancala.Variants() {
		b.Run(spec, func(b *testing.B) {
			r := parse(b, spec)
			cfg := Default(r)
			cfg.Workers = 1
			for b.Loop() {
				if _, err := Play(context.Background(), cfg, r, [2]Entrant{entrant("A", dice(r)), entrant("B", dice(r))}, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(cfg.Games*b.N)/b.Elapsed().Seconds(), "games/s")
		})
	}
}
