package env_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/clock"
)

func vector(t testing.TB, spec string, n int, o env.VectorOptions) *env.VectorEnv {
	t.Helper()
	v, err := env.NewVector(parse(t, spec), n, o)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// full returns a Batch that wants everything.
func full(v *env.VectorEnv) *env.Batch {
	b := v.Batch()
	n, dense, sparse := v.Lanes(), v.Lanes()*v.Encoder().Size(), v.Lanes()*v.Encoder().Active()
	b.Observations, b.FinalObservations = make([]float32, dense), make([]float32, dense)
	b.FinalStates = make([]mancala.State, n)
	if sparse > 0 {
		b.Indices, b.FinalIndices = make([]int32, sparse), make([]int32, sparse)
	}
	return b
}

// choose draws an action for each lane from generators of the lanes' own.
func choose(b *env.Batch, rngs []*rand.Rand, actions []mancala.Action) {
	for i, legal := range b.Legal {
		actions[i] = env.NoAction
		if legal != 0 {
			actions[i] = legal.Nth(rngs[i].IntN(legal.Len()))
		}
	}
}

func generators(n int) []*rand.Rand {
	rngs := make([]*rand.Rand, n)
	for i := range rngs {
		rngs[i] = rand.New(rand.NewPCG(uint64(i), 1))
	}
	return rngs
}

// history plays steps and returns, for each lane, what it showed.
func history(t testing.TB, v *env.VectorEnv, seed uint64, steps int) [][]string {
	t.Helper()
	b := full(v)
	rngs, actions := generators(v.Lanes()), make([]mancala.Action, v.Lanes())
	lanes := make([][]string, v.Lanes())
	size, active := v.Encoder().Size(), v.Encoder().Active()
	if err := v.Reset(seed, b); err != nil {
		t.Fatal(err)
	}
	for range steps {
		for i := range lanes {
			row := fmt.Sprint(b.States[i], b.Players[i], b.Legal[i], b.Observations[i*size:(i+1)*size], b.Rewards[i], b.Terminated[i], b.Truncated[i],
				b.Reasons[i], b.Points[i], b.Episodes[i], b.FinalStates[i], b.FinalObservations[i*size:(i+1)*size])
			if active > 0 {
				row += fmt.Sprint(b.Indices[i*active:(i+1)*active], b.FinalIndices[i*active:(i+1)*active])
			}
			lanes[i] = append(lanes[i], row)
		}
		choose(b, rngs, actions)
		if err := v.Step(actions, b); err != nil {
			t.Fatal(err)
		}
	}
	return lanes
}

func TestLaneDependsOnNothingButSeedNumberAndActions(t *testing.T) {
	for _, mode := range []env.Autoreset{env.AutoresetNextStep, env.AutoresetSameStep, env.AutoresetDisabled} {
		o := env.VectorOptions{Autoreset: mode, TimeLimit: 30, Reward: env.Margin}
		o.OpeningPlies, o.Encoder = 3, "onehot"
		want := history(t, vector(t, "hoyito2", 13, o), 5, 80)
		for _, n := range []int{1, 2, 7, 13} {
			for _, workers := range []int{1, 2, 4, 50} {
				o.Workers = workers
				got := history(t, vector(t, "hoyito2", n, o), 5, 80)
				for i := range got {
					if !slices.Equal(got[i], want[i]) {
						t.Fatalf("mode %d: lane %d differs with %d lanes and %d workers", mode, i, n, workers)
					}
				}
			}
		}
		if mode != env.AutoresetDisabled && slices.Equal(want[0], want[1]) {
			t.Errorf("mode %d: lanes 0 and 1 are alike", mode)
		}
	}
}

func TestWorkersChangeNothing(t *testing.T) {
	const n, steps = 1000, 40
	for spec, mode := range map[string]env.Autoreset{"urim": env.AutoresetNextStep, "omweso": env.AutoresetSameStep} {
		o := env.VectorOptions{Autoreset: mode, TimeLimit: 30}
		o.OpeningPlies = 3
		var want []*env.Batch
		for _, workers := range []int{1, 2, 50} {
			o.Workers = workers
			v := vector(t, spec, n, o)
			b, rng, actions := v.Batch(), uint64(1), make([]mancala.Action, n)
			if err := v.Reset(7, b); err != nil {
				t.Fatal(err)
			}
			for step := range steps {
				if workers == 1 {
					kept := v.Batch()
					for i, to := 0, reflect.ValueOf(kept).Elem(); i < to.NumField(); i++ {
						reflect.Copy(to.Field(i), reflect.ValueOf(b).Elem().Field(i))
					}
					want = append(want, kept)
				} else if !reflect.DeepEqual(b, want[step]) {
					t.Fatalf("%s: step %d differs with %d workers", spec, step, workers)
				}
				for i, legal := range b.Legal {
					rng ^= rng << 13
					rng ^= rng >> 7
					rng ^= rng << 17
					if actions[i] = env.NoAction; legal != 0 {
						actions[i] = legal.Nth(int(rng % uint64(legal.Len())))
					}
				}
				if err := v.Step(actions, b); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
}

// hesitant rules give way now and then in the middle of a call, so that workers come late, leave off and overtake.
type hesitant struct {
	mancala.Rules
	plies *atomic.Uint32
}

func (h hesitant) Next(s mancala.State, a mancala.Action) mancala.State {
	switch n := h.plies.Add(1); {
	case n%509 == 0:
		time.Sleep(time.Microsecond)
	case n%31 == 0:
		runtime.Gosched()
	}
	return h.Rules.Next(s, a)
}

func TestWorkersChangeNothingInWhateverOrderCallsCome(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const calls = 10
	r := rand.New(rand.NewPCG(1, 2))
	goroutines := runtime.NumGoroutine()
	for _, processors := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(processors)
		for _, workers := range []int{2, 3, 64} {
			for _, n := range []int{1, 257, 1100} {
				o := env.VectorOptions{TimeLimit: 9, Autoreset: env.Autoreset(r.IntN(3))}
				alone := vector(t, "modiar", n, o)
				o.Workers = workers
				shared, err := env.NewVector(hesitant{parse(t, "modiar"), new(atomic.Uint32)}, n, o)
				if err != nil {
					t.Fatal(err)
				}
				want, got, actions, which := full(alone), full(shared), make([]mancala.Action, n), make([]bool, n)
				for call := range calls {
					on := func(play func(v *env.VectorEnv, b *env.Batch) error) {
						if err := errors.Join(play(alone, want), play(shared, got)); err != nil {
							t.Fatal(err)
						}
					}
					switch kind := r.IntN(10); {
					case call == 0 || kind == 0:
						on(func(v *env.VectorEnv, b *env.Batch) error { return v.Reset(uint64(call), b) })
					case kind == 1:
						for i := range which {
							which[i] = r.IntN(3) == 0
						}
						on(func(v *env.VectorEnv, b *env.Batch) error { return v.ResetLanes(which, b) })
					case kind == 2:
						if shared.Step(actions[1:], got) == nil || shared.ResetLanes(nil, got) == nil || shared.Reset(0, nil) == nil {
							t.Fatal("a wrong call passes")
						}
					default:
						for i, legal := range want.Legal {
							if actions[i] = env.NoAction; legal != 0 {
								actions[i] = legal.Nth(r.IntN(legal.Len()))
							}
						}
						on(func(v *env.VectorEnv, b *env.Batch) error { return v.Step(actions, b) })
					}
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("%d processors, %d workers, %d lanes: call %d differs", processors, workers, n, call)
					}
				}
			}
		}
	}
	for tries := 0; runtime.NumGoroutine() > goroutines; tries++ { // none stays behind
		if tries == 1000 {
			t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		}
		time.Sleep(time.Millisecond)
	}
}

// frail rules panic after so many plies.
type frail struct {
	mancala.Rules
	left *int
}

func (f frail) Next(s mancala.State, a mancala.Action) mancala.State {
	if *f.left--; *f.left < 0 {
		panic("frail")
	}
	return f.Rules.Next(s, a)
}

func TestVectorEnvFailsOnceAPanicHasCutACallShort(t *testing.T) {
	const n = 600
	left := 300
	v, err := env.NewVector(frail{parse(t, "modiar"), &left}, n, env.VectorOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b, actions := v.Batch(), make([]mancala.Action, n)
	if err := v.Reset(1, b); err != nil {
		t.Fatal(err)
	}
	func() {
		defer func() {
			if p := recover(); p != "frail" {
				t.Errorf("recovered %v", p)
			}
		}()
		_ = v.Step(actions, b)
	}()
	for _, err := range []error{v.Step(actions, b), v.ResetLanes(make([]bool, n), b), v.Reset(1, b)} {
		wantError(t, err, "env: vector: an earlier call has not ended: want a new VectorEnv after a panic, and one call at a time")
	}
}

// TestLanesAreEnvs plays every lane of a VectorEnv beside an Env that is reset with the episode's seed.
func TestLanesAreEnvs(t *testing.T) {
	const n, limit = 6, 40
	for _, spec := range append(mancala.Variants(), "omweso:setup=arrange") {
		for _, mode := range []env.Autoreset{env.AutoresetNextStep, env.AutoresetSameStep} {
			for _, scheme := range []env.Scheme{env.Outcome, env.Margin, env.Points} {
				o := env.VectorOptions{Options: env.Options{OpeningPlies: 2}, TimeLimit: limit, Autoreset: mode, Reward: scheme}
				v := vector(t, spec, n, o)
				size := v.Encoder().Size()
				b := full(v)
				envs, steps := make([]env.Env, n), make([]env.TimeStep, n)
				for i := range envs {
					paid, err := env.Rewards(open(t, spec, o.Options), scheme)
					if err != nil {
						t.Fatal(err)
					}
					if envs[i], err = env.TimeLimit(paid, limit); err != nil {
						t.Fatal(err)
					}
					steps[i] = must(t)(envs[i].Reset(env.EpisodeSeed(9, uint64(i), 0)))
				}
				if err := v.Reset(9, b); err != nil {
					t.Fatal(err)
				}
				rngs, actions := generators(n), make([]mancala.Action, n)
				episodes := make([]uint64, n)
				for step := range 120 {
					for i, e := range envs {
						ts, state, observation := steps[i], b.States[i], b.Observations[i*size:(i+1)*size]
						if ts.Terminated != b.Terminated[i] || ts.Truncated != b.Truncated[i] || ts.Reward != b.Rewards[i] ||
							ts.Info.Points != b.Points[i] || ts.Info.Reason != b.Reasons[i] {
							t.Fatalf("%s: lane %d step %d: %+v, the Env has %+v", spec, i, step, b.Rewards[i], ts)
						}
						if ts.Ended() && mode == env.AutoresetSameStep {
							if b.FinalStates[i] != e.State() || !slices.Equal(b.FinalObservations[i*size:(i+1)*size], ts.Observation) {
								t.Fatalf("%s: lane %d step %d: another end than the Env's", spec, i, step)
							}
							episodes[i]++
							ts = must(t)(e.Reset(env.EpisodeSeed(9, uint64(i), episodes[i])))
						}
						if state != e.State() || b.Players[i] != ts.Player || b.Legal[i] != ts.Legal || b.Episodes[i] != episodes[i] || !slices.Equal(observation, ts.Observation) {
							t.Fatalf("%s: lane %d step %d: another position than the Env's", spec, i, step)
						}
						steps[i] = ts
					}
					choose(b, rngs, actions)
					for i, e := range envs {
						if steps[i].Ended() {
							episodes[i]++
							steps[i] = must(t)(e.Reset(env.EpisodeSeed(9, uint64(i), episodes[i])))
						} else {
							steps[i] = must(t)(e.Step(actions[i]))
						}
					}
					if err := v.Step(actions, b); err != nil {
						t.Fatal(err)
					}
				}
				if episodes[0] == 0 {
					t.Errorf("%s: no episode ended", spec)
				}
			}
		}
	}
}

func TestVectorStepAllocatesNothing(t *testing.T) {
	for _, spec := range []string{"urim", "hoyito2:pits=12", "omweso"} {
		for _, mode := range []env.Autoreset{env.AutoresetNextStep, env.AutoresetSameStep} {
			for _, encoder := range []string{"counts", "onehot"} {
				for _, workers := range []int{1, 3} {
					o := env.VectorOptions{Options: env.Options{Encoder: encoder, OpeningPlies: 4}, TimeLimit: 25, Autoreset: mode, Workers: workers}
					const n = 600
					v := vector(t, spec, n, o)
					b, actions, rngs := v.Batch(), make([]mancala.Action, n), generators(n)
					if err := v.Reset(1, b); err != nil {
						t.Fatal(err)
					}
					var err error
					step := func() {
						choose(b, rngs, actions)
						err = errors.Join(err, v.Step(actions, b))
					}
					for range 50 { // the runtime's own goroutines
						step()
					}
					if n := testing.AllocsPerRun(200, step); n != 0 || err != nil {
						t.Errorf("%s mode %d %s, %d workers: %v allocations, error %v", spec, mode, encoder, workers, n, err)
					}
				}
			}
		}
	}
}

func TestLanesStayInTheirSpaces(t *testing.T) {
	for _, spec := range mancala.Variants() {
		const n, steps = 4, 300
		v := vector(t, spec, n, env.VectorOptions{Autoreset: env.AutoresetSameStep})
		b, rngs, actions := full(v), generators(n), make([]mancala.Action, n)
		if err := v.Reset(3, b); err != nil {
			t.Fatal(err)
		}
		for step := range steps {
			for i, legal := range b.Legal {
				row := b.Observations[i*v.Encoder().Size():][:v.Encoder().Size()]
				if !v.ObservationSpace().Contains(row) {
					t.Fatalf("%s: step %d lane %d: the observation is not in its space", spec, step, i)
				}
				for a := range legal.All {
					if !v.ActionSpace().Contains(a) {
						t.Fatalf("%s: step %d lane %d: action %d is not in its space", spec, step, i, a)
					}
				}
			}
			choose(b, rngs, actions)
			if err := v.Step(actions, b); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestIllegalActionMovesNoLane(t *testing.T) {
	v := vector(t, "modiar", 4, env.VectorOptions{Options: env.Options{OpeningPlies: 1}})
	b := full(v)
	if err := v.Step(make([]mancala.Action, 4), b); !errors.Is(err, env.ErrNotReset) {
		t.Errorf("before Reset: %v", err)
	}
	if err := v.ResetLanes(make([]bool, 4), b); !errors.Is(err, env.ErrNotReset) {
		t.Errorf("before Reset: %v", err)
	}
	if err := v.Reset(1, b); err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(b.States)
	actions := make([]mancala.Action, 4)
	choose(b, generators(4), actions)
	good := actions[2]
	actions[2] = 7
	err := v.Step(actions, b)
	if !errors.Is(err, env.ErrIllegalAction) || !slices.Equal(b.States, before) {
		t.Errorf("%v; states %v", err, b.States)
	}
	wantError(t, err, "env: lane 2: action 7: illegal action: want one of 0, 1, 2")
	actions[2] = good
	if err := v.Step(actions, b); err != nil {
		t.Fatal(err)
	}
	for i, s := range before {
		if b.States[i] != v.Rules().Next(s, actions[i]) {
			t.Errorf("lane %d had moved", i)
		}
	}
}

func TestDisabledLaneStaysUntilReset(t *testing.T) {
	v := vector(t, "modiar", 3, env.VectorOptions{Autoreset: env.AutoresetDisabled, TimeLimit: 4})
	b, actions, rngs := full(v), make([]mancala.Action, 3), generators(3)
	if err := v.Reset(1, b); err != nil {
		t.Fatal(err)
	}
	for range 4 {
		choose(b, rngs, actions)
		if err := v.Step(actions, b); err != nil {
			t.Fatal(err)
		}
	}
	if !b.Truncated[0] || b.Legal[0] != 0 {
		t.Fatalf("lane 0 goes on: %+v", b)
	}
	end := slices.Clone(b.States)
	err := v.Step([]mancala.Action{env.NoAction, 1, env.NoAction}, b)
	if !errors.Is(err, env.ErrEnded) {
		t.Errorf("got %v, want ErrEnded", err)
	}
	wantError(t, err, "env: lane 1: action 1: the episode has ended: want ResetLanes, or NoAction (255)")
	if err := v.Step([]mancala.Action{env.NoAction, env.NoAction, env.NoAction}, b); err != nil || !slices.Equal(b.States, end) {
		t.Errorf("NoAction: %v", err)
	}
	if b.Truncated[0] {
		t.Error("the end is told twice")
	}
	if err := v.ResetLanes([]bool{false, true, false}, b); err != nil {
		t.Fatal(err)
	}
	if b.States[0] != end[0] || b.States[1] != v.Rules().Start() || b.Episodes[0] != 0 || b.Episodes[1] != 1 || b.Legal[1] == 0 {
		t.Errorf("after ResetLanes: episodes %v", b.Episodes)
	}
	if err := v.Step([]mancala.Action{env.NoAction, 1, env.NoAction}, b); err != nil {
		t.Error(err)
	}
}

func TestNoActionIsIllegalInALaneThatGoesOn(t *testing.T) {
	v := vector(t, "modiar", 1, env.VectorOptions{Autoreset: env.AutoresetDisabled})
	b := v.Batch()
	if err := v.Reset(1, b); err != nil {
		t.Fatal(err)
	}
	if err := v.Step([]mancala.Action{env.NoAction}, b); !errors.Is(err, env.ErrIllegalAction) {
		t.Errorf("got %v", err)
	}
}

func TestNilFieldsAreNotWritten(t *testing.T) {
	v := vector(t, "urim", 2, env.VectorOptions{Autoreset: env.AutoresetSameStep, TimeLimit: 3})
	b := &env.Batch{Legal: make([]mancala.Mask, 2)}
	if err := v.Reset(1, b); err != nil {
		t.Fatal(err)
	}
	actions, rngs := make([]mancala.Action, 2), generators(2)
	for range 10 {
		choose(b, rngs, actions)
		if err := v.Step(actions, b); err != nil {
			t.Fatal(err)
		}
	}
}

func TestVectorNamesWhatIsAllowed(t *testing.T) {
	r := parse(t, "urim")
	for want, o := range map[string]env.VectorOptions{
		"env: time limit -1: want 0 (none) or more plies":                          {TimeLimit: -1},
		"env: autoreset mode 3: want 0 (next step), 1 (same step) or 2 (disabled)": {Autoreset: 3},
		"env: workers -2: want 0 or more":                                          {Workers: -2},
		"env: reward scheme 9: want 0 to 2":                                        {Reward: 9},
		"env: opening plies -1: want 0 to 1000":                                    {Options: env.Options{OpeningPlies: -1}},
	} {
		_, err := env.NewVector(r, 1, o)
		wantError(t, err, want)
	}
	for _, n := range []int{0, -5, 1 << 40} {
		_, err := env.NewVector(r, n, env.VectorOptions{})
		wantError(t, err, fmt.Sprintf("env: lanes %d: want 1 to 1048576", n))
	}
	v := vector(t, "urim", 2, env.VectorOptions{})
	wantError(t, v.Reset(1, nil), "env: batch nil: want one to write to")
	b := v.Batch()
	b.Observations = b.Observations[1:]
	wantError(t, v.Reset(1, b), "env: batch Observations of length 31: want nil or 32")
	b = v.Batch()
	b.Indices = make([]int32, 5) // counts has no sparse form
	wantError(t, v.Reset(1, b), "env: batch Indices of length 5: want nil or 0")
	b = v.Batch()
	if err := v.Reset(1, b); err != nil {
		t.Fatal(err)
	}
	wantError(t, v.Step([]mancala.Action{1}, b), "env: actions of 1 lanes: want 2")
	wantError(t, v.ResetLanes([]bool{true}, b), "env: choice among 1 lanes: want 2")
}

// BenchmarkVectorEnv steps 256 lanes with random actions: legal masks and observations of every step, same-step
// autoreset.
func BenchmarkVectorEnv(b *testing.B) {
	for _, spec := range append(mancala.Variants(), "hoyito2:pits=12") {
		for _, encoder := range []string{"counts", "onehot"} {
			b.Run(spec+"/"+encoder, func(b *testing.B) {
				stepLanes(b, spec, 256, env.VectorOptions{Options: env.Options{Encoder: encoder}})
			})
		}
	}
}

// BenchmarkVectorWorkers steps many lanes on one goroutine and on two. The rate is that of the fastest of all calls of
// Step by the clock, so that other work on the machine does not count.
func BenchmarkVectorWorkers(b *testing.B) {
	const warmUp = 200 // steps until the lanes are at all stages of a game
	for _, spec := range []string{"urim", "omweso"} {
		for _, n := range []int{1 << 14, 1 << 16} {
			for workers := 1; workers <= 2; workers++ {
				b.Run(fmt.Sprintf("%s/%d/%d", spec, n, workers), func(b *testing.B) {
					v := vector(b, spec, n, env.VectorOptions{Workers: workers, Autoreset: env.AutoresetSameStep, TimeLimit: 1000})
					out, actions := v.Batch(), make([]mancala.Action, n)
					if err := v.Reset(1, out); err != nil {
						b.Fatal(err)
					}
					rng, fastest := uint64(1), time.Hour
					step := func() time.Duration {
						rng = chooseAll(out.Legal, actions, rng)
						began := time.Now()
						if err := v.Step(actions, out); err != nil {
							b.Fatal(err)
						}
						return time.Since(began)
					}
					for range warmUp {
						step()
					}
					for b.Loop() {
						fastest = min(fastest, step())
					}
					b.ReportMetric(float64(n)/fastest.Seconds(), "steps/clock-s")
				})
			}
		}
	}
}

// chooseAll draws an action for each lane from one generator, which is cheap.
func chooseAll(legal []mancala.Mask, actions []mancala.Action, rng uint64) uint64 {
	for i, m := range legal {
		rng ^= rng << 13
		rng ^= rng >> 7
		rng ^= rng << 17
		actions[i] = m.Nth(int(rng >> 32 * uint64(m.Len()) >> 32))
	}
	return rng
}

func stepLanes(b *testing.B, spec string, n int, o env.VectorOptions) {
	o.Autoreset, o.TimeLimit = env.AutoresetSameStep, 1000
	v := vector(b, spec, n, o)
	out, actions := v.Batch(), make([]mancala.Action, n)
	if err := v.Reset(1, out); err != nil {
		b.Fatal(err)
	}
	rng := uint64(1)
	b.ReportAllocs()
	began := clock.Spent()
	for b.Loop() {
		rng = chooseAll(out.Legal, actions, rng)
		if err := v.Step(actions, out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N*n)/(clock.Spent()-began).Seconds(), "steps/s")
}
