package env_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/envtest"
	"github.com/mancalagym/mancalagym/env/mancala"
)

func parse(t testing.TB, spec string) mancala.Rules {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func state(t testing.TB, spec, text string) mancala.State {
	t.Helper()
	s, err := mancala.ParseState(parse(t, spec), text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func open(t testing.TB, spec string, o env.Options) env.Env {
	t.Helper()
	e, err := env.Make(spec, o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// must returns the time step of a call that cannot fail.
func must(t testing.TB) func(env.TimeStep, error) env.TimeStep {
	return func(ts env.TimeStep, err error) env.TimeStep {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return ts
	}
}

// play plays an episode of random actions to its end.
func play(t testing.TB, e env.Env, seed uint64) env.TimeStep {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 1))
	ts := must(t)(e.Reset(seed))
	for !ts.Ended() {
		a, _ := e.ActionSpace().Sample(rng, ts.Legal)
		ts = must(t)(e.Step(a))
	}
	return ts
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("got error %v, want %s", err, want)
	}
}

func TestRefusalsNameActionAndWhatIsAllowed(t *testing.T) {
	e := open(t, "modiar", env.Options{})
	_, err := e.Step(1)
	if !errors.Is(err, env.ErrNotReset) {
		t.Errorf("got %v, want ErrNotReset", err)
	}
	wantError(t, err, "env: action 1: no episode has begun: want Reset first")
	must(t)(e.Reset(1))
	_, err = e.Step(3)
	if !errors.Is(err, env.ErrIllegalAction) {
		t.Errorf("got %v, want ErrIllegalAction", err)
	}
	wantError(t, err, "env: action 3: illegal action: want one of 0, 1, 2")
	play(t, e, 1)
	_, err = e.Step(0)
	if !errors.Is(err, env.ErrEnded) {
		t.Errorf("got %v, want ErrEnded", err)
	}
	wantError(t, err, "env: action 0: the episode has ended: want Reset")
}

func TestMakingNamesWhatIsAllowed(t *testing.T) {
	_, err := env.Make("chess", env.Options{})
	if err == nil {
		t.Error("chess is a variant")
	}
	_, err = env.Make("urim", env.Options{Encoder: "planes"})
	wantError(t, err, `encode: encoder "planes": want counts or onehot`)
	for _, n := range []int{-1, 1001, math.MaxInt} {
		_, err = env.Make("urim", env.Options{OpeningPlies: n})
		if err == nil || !strings.Contains(err.Error(), ": want 0 to 1000") {
			t.Errorf("%d opening plies: %v", n, err)
		}
	}
	_, err = env.New(nil, env.Options{})
	wantError(t, err, "env: rules nil: want those of a variant")
}

func TestOpeningIsDrawnFromTheSeed(t *testing.T) {
	e := open(t, "urim", env.Options{OpeningPlies: 8})
	seen := map[mancala.State]bool{}
	for seed := range uint64(50) {
		ts := must(t)(e.Reset(seed))
		first := e.State()
		seen[first] = true
		if ts.Ended() || ts.Info.Ply != 8 || ts.Info.Opening != 8 || len(ts.Info.Played) != 8 {
			t.Fatalf("seed %d: %+v", seed, ts.Info)
		}
		must(t)(e.Reset(seed))
		if e.State() != first {
			t.Fatalf("seed %d: two openings", seed)
		}
	}
	if len(seen) < 45 {
		t.Errorf("%d openings of 50 seeds", len(seen))
	}
}

func TestOpeningNeverEndsTheGame(t *testing.T) {
	// A random game of modiar lasts about 20 plies; of an opening of 1,000 only part can be played.
	e := open(t, "modiar", env.Options{OpeningPlies: 1000})
	for seed := range uint64(50) {
		ts := must(t)(e.Reset(seed))
		if ts.Ended() || ts.Info.Opening == 0 || ts.Info.Opening == 1000 || ts.Info.Ply != ts.Info.Opening {
			t.Fatalf("seed %d: ended %t, %+v", seed, ts.Ended(), ts.Info)
		}
		for a := range ts.Legal.All {
			next := e.Rules().Next(e.State(), a)
			if !next.Over() {
				t.Fatalf("seed %d: action %d was left", seed, a)
			}
		}
	}
}

func TestExtraTurnsStayWithTheMover(t *testing.T) {
	e := open(t, "hoyito2", env.Options{})
	rng := rand.New(rand.NewPCG(1, 1))
	again := 0
	for seed := range uint64(20) {
		ts := must(t)(e.Reset(seed))
		for !ts.Ended() {
			before := ts.Player
			a, _ := e.ActionSpace().Sample(rng, ts.Legal)
			ts = must(t)(e.Step(a))
			if ts.Player == before {
				again++
			}
		}
	}
	if again == 0 {
		t.Error("no player moved again in 20 games")
	}
}

func TestDiscreteSampleStaysInMask(t *testing.T) {
	d := env.Discrete{N: 7}
	rng := rand.New(rand.NewPCG(1, 1))
	const mask = 1<<0 | 1<<3 | 1<<6 | 1<<9 // 9 is no action of the space
	counts := map[mancala.Action]int{}
	for range 3000 {
		a, ok := d.Sample(rng, mask)
		if !ok || !d.Contains(a) {
			t.Fatalf("drew %d, %t", a, ok)
		}
		counts[a]++
	}
	for _, a := range []mancala.Action{0, 3, 6} {
		if counts[a] < 900 { // 1,000 expected, standard deviation 26
			t.Errorf("action %d drawn %d times of 3000", a, counts[a])
		}
	}
	if len(counts) != 3 {
		t.Errorf("drew %v", counts)
	}
	for _, d := range []env.Discrete{{N: 7}, {N: 0}, {N: -3}} {
		if a, ok := d.Sample(rng, 1<<9); ok {
			t.Errorf("%+v: drew %d from nothing", d, a)
		}
	}
	if !(env.Discrete{N: 64}).Contains(63) || (env.Discrete{N: 64}).Contains(64) || (env.Discrete{N: 64}).All() != math.MaxUint64 {
		t.Error("a space of 64 actions is not 0 to 63")
	}
}

func TestBoxContainsItsBoundsAndNoNaN(t *testing.T) {
	b := env.Box{Low: -1, High: 2, Shape: []int{2, 2}}
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		x    []float32
		want bool
	}{
		{[]float32{-1, 2, 0, 1}, true},
		{[]float32{-1, 2, 0}, false},
		{[]float32{-1, 2, 0, 1, 1}, false},
		{[]float32{-1.01, 2, 0, 1}, false},
		{[]float32{-1, 2.01, 0, 1}, false},
		{[]float32{-1, nan, 0, 1}, false},
		{[]float32{-1, inf, 0, 1}, false},
		{nil, false},
	} {
		if got := b.Contains(c.x); got != c.want {
			t.Errorf("%v: %t", c.x, got)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		if x := b.Sample(rng); !b.Contains(x) {
			t.Fatalf("sampled %v", x)
		}
	}
}

func TestRewardSchemes(t *testing.T) {
	for _, c := range []struct {
		spec, text              string
		outcome, margin, points float32 // of South
	}{
		{"urim", "3,3,3,3,3,3/3,3,3,3,3,3 0-0 S 0 0", 0, 0, 0},
		{"urim", "0,0,0,0,0,0/0,0,0,0,0,0 27-9 S 0 40 #nomoves:S", 1, 0.5, 2},
		{"urim", "0,0,0,0,0,0/0,0,0,0,0,0 9-27 S 0 40 #nomoves:N", -1, -0.5, -2},
		{"urim", "0,0,0,0,0,0/0,0,0,0,0,0 15-21 N 0 40 #nomoves:N", -1, -6. / 36, -1},
		{"urim", "0,0,0,0,0,0/0,0,0,0,0,0 18-17 N 100 140 #cycle:S", 1, 1. / 36, 0},
		{"urim", "0,0,0,0,0,0/0,0,0,0,0,0 18-18 N 0 40 #nomoves:=", 0, 0, 0},
		{"modiar", "0,0,0/0,0,0 32-10 N 1 17 #nomoves:S", 1, 22. / 42, 1},
		{"hoyito2", "1,1,1,1,1,1/1,1,1,1,1,1 30-6 N 1 17 #endless:=", 0, 0, 0},
		// South has 10 on the board and the mover, North, 12 and 42 in hand.
		{"omweso", "10,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0/0,12,0,0,0,0,0,0,0,0,0,0,0,0,0,0 42@1+3cLR N snz 0 9 #okutema:N", -1, -44. / 64, -2},
		{"omweso", "1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0/0,62,0,0,0,0,0,0,0,0,0,0,0,0,0,0 - S sn 3 9 #bulijo:N", -1, -60. / 64, -1},
		{"omweso", "32,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0/0,32,0,0,0,0,0,0,0,0,0,0,0,0,0,0 - S sn 100 200 #cycle:=", 0, 0, 0},
	} {
		r, s := parse(t, c.spec), state(t, c.spec, c.text)
		for scheme, want := range map[env.Scheme]float32{env.Outcome: c.outcome, env.Margin: c.margin, env.Points: c.points} {
			if got := scheme.Of(r, s); got != [2]float32{want, 0 - want} {
				t.Errorf("%s %s: %v, want %v for South", c.text, scheme, got, want)
			}
		}
	}
	for _, name := range []string{"outcome", "margin", "points"} {
		c, err := env.ParseScheme(name)
		if err != nil || c.String() != name {
			t.Errorf("%s: %v, %v", name, c, err)
		}
	}
	_, err := env.ParseScheme("win")
	wantError(t, err, `env: reward scheme "win": want outcome, margin or points`)
	_, err = env.Rewards(open(t, "urim", env.Options{}), 7)
	wantError(t, err, "env: reward scheme 7: want 0 to 2")
}

func TestTimeLimitTruncatesAfterTheOpening(t *testing.T) {
	e, err := env.TimeLimit(open(t, "urim", env.Options{OpeningPlies: 4}), 6)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(5) {
		ts := play(t, e, seed)
		if !ts.Truncated || ts.Terminated || ts.Info.Ply != 10 || ts.Legal != 0 || ts.Reward != [2]float32{} || ts.Info.Reason != mancala.NotOver {
			t.Errorf("seed %d: %+v", seed, ts)
		}
		if _, err := e.Step(0); !errors.Is(err, env.ErrEnded) {
			t.Errorf("after it: %v", err)
		}
	}
	_, err = env.TimeLimit(e, 0)
	wantError(t, err, "env: time limit 0: want 1 ply or more")
}

func TestEndByTheRulesComesBeforeTheLimit(t *testing.T) {
	whole := play(t, open(t, "modiar", env.Options{}), 3)
	e, err := env.TimeLimit(open(t, "modiar", env.Options{}), whole.Info.Ply)
	if err != nil {
		t.Fatal(err)
	}
	if ts := play(t, e, 3); !ts.Terminated || ts.Truncated || ts.Reward == [2]float32{} {
		t.Errorf("%+v", ts)
	}
}

type shelf struct {
	episodes []env.Episode
	err      error
}

func (s *shelf) Write(e *env.Episode) error {
	if s.err != nil {
		return s.err
	}
	c := *e
	c.Plies = append([]env.Ply(nil), e.Plies...)
	s.episodes = append(s.episodes, c)
	return nil
}

func TestRecordedEpisodesReplay(t *testing.T) {
	for _, spec := range []string{"hoyito2", "omweso"} {
		limited, err := env.TimeLimit(open(t, spec, env.Options{OpeningPlies: 3}), 30)
		if err != nil {
			t.Fatal(err)
		}
		var s shelf
		e := env.Record(limited, &s)
		e.Agents = [2]string{"random", "random"}
		var ends []env.TimeStep
		for seed := range uint64(20) {
			must(t)(e.Reset(seed + 1000)) // dropped
			ends = append(ends, play(t, e, seed))
		}
		if len(s.episodes) != 20 {
			t.Fatalf("%d episodes, want 20", len(s.episodes))
		}
		r := parse(t, spec)
		for n, ep := range s.episodes {
			if ep.Spec != spec || ep.Number != uint64(n) || ep.Seed != uint64(n) || ep.Agents[1] != "random" || ep.Truncated != ends[n].Truncated {
				t.Errorf("%s: episode %d: %+v", spec, n, ep)
			}
			now := r.Start()
			for i, p := range ep.Plies {
				want := [2]float32{}
				if i == len(ep.Plies)-1 {
					want = ends[n].Reward
				}
				if p.State != now || p.Legal != r.Legal(now) || !p.Legal.Has(p.Action) || p.Opening != (i < 3) || p.Reward != want {
					t.Fatalf("%s: episode %d ply %d: %+v", spec, n, i, p)
				}
				now = r.Next(now, p.Action)
			}
			if now != ep.Final || now.Over() == ep.Truncated {
				t.Errorf("%s: episode %d does not end where it says", spec, n)
			}
		}
	}
}

func TestSinkErrorIsPassedOn(t *testing.T) {
	full := errors.New("disk full")
	e := env.Record(open(t, "modiar", env.Options{}), &shelf{err: full})
	ts := must(t)(e.Reset(1))
	var err error
	for err == nil {
		ts, err = e.Step(ts.Legal.First())
	}
	if !errors.Is(err, full) || !ts.Terminated {
		t.Errorf("%v, %+v", err, ts)
	}
	wantError(t, err, "env: record episode 0: disk full")
}

func TestStatsAddUp(t *testing.T) {
	limited, err := env.TimeLimit(open(t, "urim", env.Options{}), 140)
	if err != nil {
		t.Fatal(err)
	}
	e := env.Count(limited)
	var want env.Stats
	for seed := range uint64(40) {
		must(t)(e.Reset(seed + 1000)) // dropped: does not count
		must(t)(e.Step(0))
		ts := play(t, e, seed)
		want.Episodes++
		want.Plies += ts.Info.Ply
		want.Longest = max(want.Longest, ts.Info.Ply)
		if want.Shortest == 0 || ts.Info.Ply < want.Shortest {
			want.Shortest = ts.Info.Ply
		}
		for p := range 2 {
			want.Return[p] += float64(ts.Reward[p])
			want.Points[p] += ts.Info.Points[p]
		}
		switch {
		case ts.Truncated:
			want.Truncated++
			continue
		case ts.Info.Winner == mancala.Nobody:
			want.Draws++
		default:
			want.Wins[ts.Info.Winner]++
		}
		want.Reasons[ts.Info.Reason]++
	}
	got := e.Stats()
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got.Truncated == 0 || got.Wins[0] == 0 || got.Wins[1] == 0 || got.Episodes != got.Truncated+got.Draws+got.Wins[0]+got.Wins[1] {
		t.Errorf("%+v", got)
	}
}

// chooser plays by a function.
type chooser func(s mancala.State, seed uint64) (mancala.Action, error)

func (f chooser) Act(s mancala.State, seed uint64) (mancala.Action, error) { return f(s, seed) }

func random(r mancala.Rules) chooser {
	return func(s mancala.State, seed uint64) (mancala.Action, error) {
		legal := r.Legal(s)
		return legal.Nth(int(seed % uint64(legal.Len()))), nil
	}
}

func TestSingleShowsOnlyTheAgentsTurns(t *testing.T) {
	for _, spec := range []string{"urim", "hoyito2", "omweso"} {
		for _, seat := range []mancala.Player{mancala.South, mancala.North, mancala.Nobody} {
			inner := open(t, spec, env.Options{OpeningPlies: 2})
			v, err := env.Single(inner, random(inner.Rules()), seat)
			if err != nil {
				t.Fatal(err)
			}
			var seats [2]int
			for seed := range uint64(30) {
				ts := must(t)(v.Reset(seed))
				seats[v.Agent()]++
				if seat != mancala.Nobody && v.Agent() != seat {
					t.Fatalf("%s: agent is %v, want %v", spec, v.Agent(), seat)
				}
				for !ts.Ended() {
					if ts.Player != v.Agent() {
						t.Fatalf("%s: %v to act, the agent is %v", spec, ts.Player, v.Agent())
					}
					ts = must(t)(v.Step(ts.Legal.First()))
				}
				if want := env.Outcome.Of(inner.Rules(), inner.State()); ts.Reward != want {
					t.Fatalf("%s: reward %v, want %v", spec, ts.Reward, want)
				}
			}
			if seat == mancala.Nobody && (seats[0] < 5 || seats[1] < 5) {
				t.Errorf("%s: agent was South %d times and North %d times of 30", spec, seats[0], seats[1])
			}
		}
	}
}

func TestFailingOpponentLeavesTheEpisode(t *testing.T) {
	inner := open(t, "urim", env.Options{})
	tired := errors.New("tired")
	var fail bool
	var answer mancala.Action
	good := random(inner.Rules())
	v, err := env.Single(inner, chooser(func(s mancala.State, seed uint64) (mancala.Action, error) {
		if fail {
			return answer, tired
		}
		if answer != 0 {
			return answer, nil
		}
		return good(s, seed)
	}), mancala.South)
	if err != nil {
		t.Fatal(err)
	}
	must(t)(v.Reset(1))
	before := v.State()
	fail = true
	_, err = v.Step(2)
	if !errors.Is(err, tired) || v.State() != before {
		t.Errorf("%v; state changed: %t", err, v.State() != before)
	}
	fail, answer = false, 17
	_, err = v.Step(2)
	wantError(t, err, "env: opponent at ply 1: action 17: want one of 0, 1, 2, 3, 4, 5")
	if errors.Is(err, env.ErrIllegalAction) || v.State() != before {
		t.Error("the opponent's illegal action counts as the agent's")
	}
	answer = 0
	ts := must(t)(v.Step(2))

	// What went wrong before has left no trace, not even in the opponent's seeds.
	w, err := env.Single(open(t, "urim", env.Options{}), good, mancala.South)
	if err != nil {
		t.Fatal(err)
	}
	must(t)(w.Reset(1))
	if want := must(t)(w.Step(2)); ts.Info.Played[1] != want.Info.Played[1] {
		t.Errorf("the opponent played %d, want %d", ts.Info.Played[1], want.Info.Played[1])
	}

	north, err := env.Single(inner, chooser(func(mancala.State, uint64) (mancala.Action, error) { return 0, tired }), mancala.North)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := north.Reset(1); !errors.Is(err, tired) {
		t.Errorf("Reset: %v", err)
	}
	if _, err := north.Step(1); !errors.Is(err, env.ErrNotReset) {
		t.Errorf("Step after a Reset that failed: %v", err)
	}
}

func TestSingleNamesWhatIsAllowed(t *testing.T) {
	e := open(t, "urim", env.Options{})
	_, err := env.Single(e, nil, mancala.South)
	wantError(t, err, "env: opponent nil: want one that acts")
	_, err = env.Single(e, random(e.Rules()), 3)
	wantError(t, err, "env: agent's player 3: want 0 (South), 1 (North) or 2 (drawn by the seed)")
}

func TestEnvKeepsThePromises(t *testing.T) {
	if err := envtest.CheckEnv(func() (env.Env, error) { return env.Make("hoyito2", env.Options{OpeningPlies: 2}) }); err != nil {
		t.Error(err)
	}
}
