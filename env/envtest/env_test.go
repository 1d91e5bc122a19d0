package envtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// last plays the highest legal action.
type last struct{ rules mancala.Rules }

func (o last) Act(s mancala.State, seed uint64) (mancala.Action, error) {
	legal := o.rules.Legal(s)
	return legal.Nth(int(seed % uint64(legal.Len()))), nil
}

type nowhere struct{}

func (nowhere) Write(*env.Episode) error { return nil }

// with makes environments of a spec and passes them through wrap.
func with(spec string, o env.Options, wrap ...func(env.Env) (env.Env, error)) func() (env.Env, error) {
	return func() (env.Env, error) {
		e, err := env.Make(spec, o)
		for _, w := range wrap {
			if err != nil {
				break
			}
			e, err = w(e)
		}
		return e, err
	}
}

func scheme(c env.Scheme) func(env.Env) (env.Env, error) {
	return func(e env.Env) (env.Env, error) { return env.Rewards(e, c) }
}

func limit(plies int) func(env.Env) (env.Env, error) {
	return func(e env.Env) (env.Env, error) { return env.TimeLimit(e, plies) }
}

func single(p mancala.Player) func(env.Env) (env.Env, error) {
	return func(e env.Env) (env.Env, error) { return env.Single(e, last{e.Rules()}, p) }
}

func record(e env.Env) (env.Env, error) { return env.Record(e, nowhere{}), nil }

func count(e env.Env) (env.Env, error) { return env.Count(e), nil }

func TestEveryEnvKeepsThePromises(t *testing.T) {
	for _, spec := range append(mancala.Variants(), "omweso:setup=arrange", "hoyito2:pits=12", "omweso:laps=3") {
		for name, newEnv := range map[string]func() (env.Env, error){
			"bare":        with(spec, env.Options{}),
			"onehot":      with(spec, env.Options{Encoder: "onehot", OpeningPlies: 6}),
			"outcome":     with(spec, env.Options{}, scheme(env.Outcome)),
			"margin":      with(spec, env.Options{OpeningPlies: 2}, scheme(env.Margin)),
			"points":      with(spec, env.Options{}, scheme(env.Points)),
			"limit":       with(spec, env.Options{OpeningPlies: 3}, limit(20)),
			"record":      with(spec, env.Options{OpeningPlies: 3}, record),
			"count":       with(spec, env.Options{}, count),
			"south":       with(spec, env.Options{}, single(mancala.South)),
			"north":       with(spec, env.Options{}, single(mancala.North)),
			"drawn":       with(spec, env.Options{OpeningPlies: 3}, single(mancala.Nobody)),
			"all":         with(spec, env.Options{OpeningPlies: 2}, scheme(env.Margin), single(mancala.Nobody), limit(30), count, record),
			"limit first": with(spec, env.Options{OpeningPlies: 2}, limit(15), count, record, single(mancala.North), scheme(env.Points)),
		} {
			if err := CheckEnv(newEnv); err != nil {
				t.Errorf("%s %s: %v", spec, name, err)
			}
		}
	}
}

// liar is an Env that changes what another says.
type liar struct {
	env.Env
	reset func(e env.Env, seed uint64) (env.TimeStep, error)
	step  func(e env.Env, a mancala.Action) (env.TimeStep, error)
	tell  func(t *env.TimeStep)
	where func(e env.Env) mancala.State
	space func(e env.Env) env.Discrete
}

func (l *liar) State() mancala.State {
	if l.where != nil {
		return l.where(l.Env)
	}
	return l.Env.State()
}

func (l *liar) ActionSpace() env.Discrete {
	if l.space != nil {
		return l.space(l.Env)
	}
	return l.Env.ActionSpace()
}

func (l *liar) Reset(seed uint64) (env.TimeStep, error) {
	reset := env.Env.Reset
	if l.reset != nil {
		reset = l.reset
	}
	return l.pass(reset(l.Env, seed))
}

func (l *liar) Step(a mancala.Action) (env.TimeStep, error) {
	step := env.Env.Step
	if l.step != nil {
		step = l.step
	}
	return l.pass(step(l.Env, a))
}

func (l *liar) pass(t env.TimeStep, err error) (env.TimeStep, error) {
	if err == nil && l.tell != nil {
		l.tell(&t)
	}
	return t, err
}

func TestBrokenEnvsAreFound(t *testing.T) {
	shared := make([]float32, 1024)
	for _, c := range []struct {
		what    string
		promise string // the error's first word
		liar    func() *liar
		opening int
		limit   int
	}{
		{what: "a mask with an action too many", promise: "legal mask", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) { t.Legal |= 63 }}
		}},
		{what: "a mask with an action too few", promise: "legal mask", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) {
				if t.Legal.Len() > 1 {
					t.Legal = t.Legal.WithoutFirst()
				}
			}}
		}},
		{what: "a mask after the end", promise: "legal mask", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) {
				if t.Ended() {
					t.Legal = 1
				}
			}}
		}},
		{what: "an illegal action accepted", promise: "illegal action", liar: func() *liar {
			return &liar{step: func(e env.Env, a mancala.Action) (env.TimeStep, error) {
				t, err := e.Step(a)
				if errors.Is(err, env.ErrIllegalAction) {
					s := e.State()
					legal := e.Rules().Legal(s)
					return e.Step(legal.First())
				}
				return t, err
			}}
		}},
		{what: "an illegal action refused as something else", promise: "illegal action", liar: func() *liar {
			return &liar{step: func(e env.Env, a mancala.Action) (env.TimeStep, error) {
				t, err := e.Step(a)
				if errors.Is(err, env.ErrIllegalAction) {
					err = errors.New("no")
				}
				return t, err
			}}
		}},
		{what: "an observation that the next step overwrites", promise: "aliasing", liar: func() *liar {
			buffer := make([]float32, 1024)
			return &liar{tell: func(t *env.TimeStep) { t.Observation = buffer[:copy(buffer, t.Observation)] }}
		}},
		{what: "two observations that take turns", promise: "aliasing", liar: func() *liar {
			var buffers [2][]float32
			turn := 0
			return &liar{tell: func(t *env.TimeStep) {
				turn ^= 1
				buffers[turn] = append(buffers[turn][:0], t.Observation...)
				t.Observation = buffers[turn]
			}}
		}},
		{what: "an observation shared by all environments", promise: "aliasing", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) { t.Observation = shared[:copy(shared, t.Observation)] }}
		}},
		{what: "truncation called termination", promise: "termination", limit: 10, liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) {
				t.Terminated = t.Terminated || t.Truncated
				t.Truncated = false
			}}
		}},
		{what: "termination called truncation", promise: "termination", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) {
				t.Truncated = t.Terminated
				t.Terminated = false
			}}
		}},
		{what: "termination called both", promise: "truncation", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) { t.Truncated = t.Terminated }}
		}},
		{what: "a reward for the wrong player", promise: "reward", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) { t.Reward[0], t.Reward[1] = t.Reward[1], t.Reward[0] }}
		}},
		{what: "a reward for the mover first", promise: "reward", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) {
				if t.Player == mancala.North {
					t.Reward[0], t.Reward[1] = t.Reward[1], t.Reward[0]
				}
			}}
		}},
		{what: "a reward for a truncated episode", promise: "reward", limit: 10, liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) {
				if t.Truncated {
					t.Reward = [2]float32{-1, -1}
				}
			}}
		}},
		{what: "a step after the end accepted", promise: "end", liar: func() *liar {
			var final env.TimeStep
			l := &liar{step: func(e env.Env, a mancala.Action) (env.TimeStep, error) {
				t, err := e.Step(a)
				if errors.Is(err, env.ErrEnded) {
					return final, nil
				}
				final = t
				return t, err
			}}
			return l
		}},
		{what: "a step after the end begins the next episode", promise: "end", liar: func() *liar {
			return &liar{step: func(e env.Env, a mancala.Action) (env.TimeStep, error) {
				t, err := e.Step(a)
				if errors.Is(err, env.ErrEnded) {
					return e.Reset(1)
				}
				return t, err
			}}
		}},
		{what: "a step before the first reset accepted", promise: "not reset", liar: func() *liar {
			return &liar{step: func(e env.Env, a mancala.Action) (env.TimeStep, error) {
				t, err := e.Step(a)
				if errors.Is(err, env.ErrNotReset) {
					return e.Reset(1)
				}
				return t, err
			}}
		}},
		{what: "a seed ignored", promise: "seed", opening: 4, liar: func() *liar {
			return &liar{reset: func(e env.Env, seed uint64) (env.TimeStep, error) { return e.Reset(1) }}
		}},
		{what: "a seed of its own", promise: "determinism", opening: 4, liar: func() *liar {
			return &liar{reset: func(e env.Env, seed uint64) (env.TimeStep, error) {
				episodes++
				return e.Reset(episodes)
			}}
		}},
		{what: "an observation out of its space", promise: "observation", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) { t.Observation[0] *= 37 }}
		}},
		{what: "an observation too short", promise: "observation", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) { t.Observation = t.Observation[1:] }}
		}},
		{what: "an error that changes the position", promise: "error", liar: func() *liar {
			return &liar{step: func(e env.Env, a mancala.Action) (env.TimeStep, error) {
				t, err := e.Step(a)
				if errors.Is(err, env.ErrIllegalAction) {
					s := e.State()
					legal := e.Rules().Legal(s)
					e.Step(legal.First())
				}
				return t, err
			}}
		}},
		{what: "an error that is remembered", promise: "error", liar: func() *liar {
			errs := 0
			return &liar{step: func(e env.Env, a mancala.Action) (env.TimeStep, error) {
				t, err := e.Step(a)
				if err != nil {
					errs++
				} else if errs > 3 {
					t.Observation[len(t.Observation)-1] = 0.5
				}
				return t, err
			}}
		}},
		{what: "the wrong player to act", promise: "player", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) { t.Player = mancala.Player(t.Info.Ply & 1) }}
		}},
		{what: "a reset that goes on with an unfinished episode", promise: "reset", liar: func() *liar {
			var now env.TimeStep
			l := &liar{reset: func(e env.Env, seed uint64) (env.TimeStep, error) {
				if now.Info.Ply > 0 && !now.Ended() {
					return now, nil
				}
				return e.Reset(seed)
			}}
			l.tell = func(t *env.TimeStep) {
				now = *t
				now.Info.Played = nil
			}
			return l
		}},
		{what: "a reset that leaves something behind", promise: "reset", liar: func() *liar {
			resets := 0
			return &liar{
				reset: func(e env.Env, seed uint64) (env.TimeStep, error) { resets++; return e.Reset(seed) },
				tell: func(t *env.TimeStep) {
					if resets > 1 {
						t.Observation[0] = 0.75
					}
				},
			}
		}},
		{what: "a reset into an ended episode", promise: "reset", liar: func() *liar {
			return &liar{reset: func(e env.Env, seed uint64) (env.TimeStep, error) {
				t, err := e.Reset(seed)
				t.Truncated, t.Legal = true, 0
				return t, err
			}}
		}},
		{what: "a ply left out of Played", promise: "played", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) { t.Info.Played = nil }}
		}},
		{what: "a State that lags", promise: "played", liar: func() *liar {
			return &liar{where: func(e env.Env) mancala.State { return e.Rules().Start() }}
		}},
		{what: "points of its own", promise: "info", liar: func() *liar {
			return &liar{tell: func(t *env.TimeStep) { t.Info.Points[0]++ }}
		}},
		{what: "an action space too large", promise: "spaces", liar: func() *liar {
			return &liar{space: func(e env.Env) env.Discrete { return env.Discrete{N: e.ActionSpace().N + 1} }}
		}},
	} {
		// In Hoyito II players do not alternate, so that no lie about them goes unseen.
		newEnv := func() (env.Env, error) {
			e, err := env.Make("hoyito2", env.Options{OpeningPlies: c.opening})
			if err == nil && c.limit > 0 {
				e, err = env.TimeLimit(e, c.limit)
			}
			if err != nil {
				return nil, err
			}
			l := c.liar()
			l.Env = e
			return l, nil
		}
		err := CheckEnv(newEnv)
		if err == nil || !strings.HasPrefix(err.Error(), "envtest: "+c.promise+":") {
			t.Errorf("%s: got %v, want the promise %q named", c.what, err, c.promise)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: more than one line: %v", c.what, err)
		}
	}
}

// episodes counts over all environments.
var episodes uint64

func TestCheckEnvPassesOnWhatNewEnvSays(t *testing.T) {
	for _, newEnv := range []func() (env.Env, error){
		func() (env.Env, error) { return nil, errors.New("out of seeds") },
		func() (env.Env, error) { return nil, nil },
	} {
		if err := CheckEnv(newEnv); err == nil || !strings.HasPrefix(err.Error(), "envtest: new: ") {
			t.Errorf("got %v", err)
		}
	}
}
