package envtest

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// CheckEnv plays random episodes in an environment and returns the first broken promise of env.Env, nil if
// there is none. newEnv returns a new environment, always of the same kind; it is called many times, since
// every episode is played in a second environment too, which is new and treated well. The promises, by the
// words the error begins with:
//
//   - spaces: the action space is the variant's;
//   - not reset: Step before Reset is ErrNotReset, and the position is the start;
//   - observation: it lies in the observation space;
//   - player: it is the mover;
//   - legal mask: it holds the legal actions, and none when the episode has ended;
//   - played: Info.Played leads from the last position to this one, and holds the opening on Reset, the action
//     on Step;
//   - termination: an episode is terminated when the rules have ended the game, and only then;
//   - truncation: an episode is never truncated and terminated;
//   - reward: it is 0 unless terminated, and then that of one of the schemes of package env, the same in all
//     episodes;
//   - info: ply, reason, winner and points are those of the position;
//   - illegal action: Step refuses it with ErrIllegalAction;
//   - end: Step after the end is ErrEnded;
//   - error: a refused Step leaves the episode as it was;
//   - determinism: the same seed and actions give the same time steps;
//   - seed: not every seed gives the same opening;
//   - reset: Reset begins an episode as a new environment would, from wherever;
//   - aliasing: a time step is the caller's, to keep and to write on;
//   - length: a random episode ends within MaxPlies steps.
func CheckEnv(newEnv func() (env.Env, error)) error {
	k := envChecker{new: newEnv, schemes: []env.Scheme{env.Outcome, env.Margin, env.Points}}
	for _, check := range []func() error{
		k.unreset,
		func() error { return k.episodes(plain, 12) },
		func() error { return k.episodes(refused, 8) },
		func() error { return k.episodes(scribbled, 8) },
		func() error { return k.episodes(dropped, 12) },
		k.seeds,
	} {
		if err := check(); err != nil {
			return fmt.Errorf("envtest: %w", err)
		}
	}
	return nil
}

// treatment is what the environment suffers besides the episode itself; its twin, new for each episode, does not.
type treatment int

const (
	plain     treatment = iota // nothing: it is new for each episode, as in the next two
	refused                    // every illegal action is tried at every ply
	scribbled                  // time steps are written on
	dropped                    // one environment for all episodes, some dropped half-way
)

// blame names the promise that is broken if the environment then plays otherwise than its twin.
var blame = [...]string{
	plain:     "determinism: the same seed and actions give another time step than before",
	refused:   "error: after refused actions the episode goes on otherwise than without",
	scribbled: "aliasing: writing on a time step changes later ones",
	dropped:   "reset: the episode is not that of a new environment with the same seed and actions",
}

type envChecker struct {
	new     func() (env.Env, error)
	schemes []env.Scheme // that all rewards so far agree with
}

func (k *envChecker) make() (env.Env, error) {
	e, err := k.new()
	if err == nil && e == nil {
		err = errors.New("no environment")
	}
	if err != nil {
		return nil, fmt.Errorf("new: %w", err)
	}
	return e, nil
}

// unreset checks an environment that has not been reset.
func (k *envChecker) unreset() error {
	e, err := k.make()
	if err != nil {
		return err
	}
	r := e.Rules()
	if got, want := e.ActionSpace().N, r.Info().Actions; got != want {
		return fmt.Errorf("spaces: action space of %d: want %d", got, want)
	}
	for a := range mancala.Action(e.ActionSpace().N) {
		if _, err := e.Step(a); !errors.Is(err, env.ErrNotReset) {
			return fmt.Errorf("not reset: Step before Reset returns error %v: want ErrNotReset", err)
		}
	}
	if e.State() != r.Start() {
		return fmt.Errorf("not reset: the position is %s: want the start", mancala.FormatState(r, e.State()))
	}
	return nil
}

func (k *envChecker) episodes(how treatment, n int) error {
	e, err := k.make()
	if err != nil {
		return err
	}
	for seed := range uint64(n) {
		if how != dropped && seed > 0 {
			if e, err = k.make(); err != nil {
				return err
			}
		}
		if err := k.episode(e, how, seed); err != nil {
			return fmt.Errorf("%w (%s, seed %d)", err, e.Rules().Info().Spec, seed)
		}
	}
	return nil
}

// episode plays one episode in e and in its twin.
func (k *envChecker) episode(e env.Env, how treatment, seed uint64) error {
	twin, err := k.make()
	if err != nil {
		return err
	}
	r := e.Rules()
	rng := rand.New(rand.NewPCG(seed, streamEnv))
	drop := MaxPlies
	if how == dropped && seed%3 != 0 {
		drop = rng.IntN(12)
	}
	t, err := e.Reset(seed)
	if err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	want, err := twin.Reset(seed)
	if err != nil {
		return fmt.Errorf("reset: %w", err)
	}
	if n := len(t.Info.Played); n < t.Info.Opening {
		return fmt.Errorf("played: %d actions on Reset: want the %d of the opening", n, t.Info.Opening)
	} else if n == t.Info.Opening && t.Ended() {
		return errors.New("reset: the episode has ended at once")
	}
	before := r.Start()
	var kept []keepsake
	for steps := 0; ; steps++ {
		now := e.State()
		if err := k.timeStep(e, before, &t, steps == 0); err != nil {
			return fmt.Errorf("%w, at ply %d", err, now.Ply())
		}
		if !same(&t, &want) || now != twin.State() {
			return fmt.Errorf("%s, at ply %d", blame[how], now.Ply())
		}
		before = now
		if how == refused || t.Ended() {
			if err := refuse(e, &t); err != nil {
				return fmt.Errorf("%w, at ply %d", err, before.Ply())
			}
		}
		if t.Ended() || steps >= drop {
			break
		}
		if steps == MaxPlies {
			return fmt.Errorf("length: not ended after %d steps: want an end", steps)
		}
		a := t.Legal.Nth(rng.IntN(t.Legal.Len()))
		kept = append(kept, keep(&t, how == scribbled))
		if t, err = e.Step(a); err != nil {
			return fmt.Errorf("legal mask: action %d of it is refused at ply %d: %w", a, before.Ply(), err)
		}
		if !kept[len(kept)-1].intact() {
			return fmt.Errorf("aliasing: the time step of ply %d is written on by the next Step", before.Ply())
		}
		if want, err = twin.Step(a); err != nil {
			return fmt.Errorf("%s, at ply %d: %w", blame[how], before.Ply(), err)
		}
		if len(t.Info.Played) == 0 || t.Info.Played[0] != a {
			return fmt.Errorf("played: %v on Step at ply %d: want %d first", t.Info.Played, before.Ply(), a)
		}
	}
	for _, s := range kept {
		if !s.intact() {
			return errors.New("aliasing: a time step is written on by a later Step")
		}
	}
	return nil
}

// timeStep checks t, which e has just returned; before was the position of the last one or, if t is fresh from
// Reset, the start.
func (k *envChecker) timeStep(e env.Env, before mancala.State, t *env.TimeStep, fresh bool) error {
	r, s := e.Rules(), e.State()
	if box := e.ObservationSpace(); !box.Contains(t.Observation) {
		return fmt.Errorf("observation: %v: want a point of %+v", brief(t.Observation), box)
	}
	for _, a := range t.Info.Played {
		if !r.Legal(before).Has(a) {
			return fmt.Errorf("played: %v: want actions that lead from the last position", t.Info.Played)
		}
		before = r.Next(before, a)
	}
	if before != s && fresh {
		return fmt.Errorf("reset: begins at %s: want %s, where the opening played leads", mancala.FormatState(r, s), mancala.FormatState(r, before))
	}
	if before != s {
		return fmt.Errorf("played: %v leads to %s: want %s", t.Info.Played, mancala.FormatState(r, before), mancala.FormatState(r, s))
	}
	if t.Player != s.Mover() {
		return fmt.Errorf("player: %v: want %v, the mover", t.Player, s.Mover())
	}
	switch {
	case t.Terminated && t.Truncated:
		return errors.New("truncation: terminated and truncated: want one of them")
	case t.Terminated && !s.Over():
		return errors.New("termination: terminated, but the rules go on: want truncated if a limit is reached")
	case !t.Terminated && s.Over():
		return errors.New("termination: the rules have ended the game: want terminated")
	}
	legal := r.Legal(s)
	if t.Ended() {
		legal = 0
	}
	if t.Legal != legal {
		return fmt.Errorf("legal mask: %#x: want %#x", t.Legal, legal)
	}
	if got, want := t.Info, (env.Info{Ply: s.Ply(), Reason: s.Reason(), Winner: s.Winner(), Points: r.Points(s)}); got.Ply != want.Ply ||
		got.Reason != want.Reason || got.Winner != want.Winner || got.Points != want.Points {
		return fmt.Errorf("info: %+v: want %+v", got, want)
	}
	if !t.Terminated {
		if t.Reward != [2]float32{} {
			return fmt.Errorf("reward: %v before a result: want 0", t.Reward)
		}
		return nil
	}
	var agree []env.Scheme
	for _, c := range k.schemes {
		if c.Of(r, s) == t.Reward {
			agree = append(agree, c)
		}
	}
	if len(agree) == 0 {
		return fmt.Errorf("reward: %v of South and North, winner %v: want that of %v, as in the episodes before", t.Reward, s.Winner(), k.schemes)
	}
	k.schemes = agree
	return nil
}

// refuse tries every action that e must refuse after t.
func refuse(e env.Env, t *env.TimeStep) error {
	before := e.State()
	n := e.ActionSpace().N
	for i := range n + 2 {
		a := mancala.Action(i)
		if i == n+1 {
			a = math.MaxUint8
		}
		if t.Legal.Has(a) {
			continue
		}
		want, promise := env.ErrIllegalAction, "illegal action"
		if t.Ended() {
			want, promise = env.ErrEnded, "end"
		}
		if _, err := e.Step(a); !errors.Is(err, want) {
			return fmt.Errorf("%s: action %d returns error %v: want %q", promise, a, err, want)
		}
		if e.State() != before {
			return fmt.Errorf("error: the refused action %d changes the position", a)
		}
	}
	return nil
}

// seeds checks that the seed matters where there is something for it to decide.
func (k *envChecker) seeds() error {
	e, err := k.make()
	if err != nil {
		return err
	}
	var first mancala.State
	for seed := range uint64(64) {
		t, err := e.Reset(seed)
		if err != nil {
			return fmt.Errorf("reset: %w", err)
		}
		switch {
		case t.Info.Opening == 0:
			return nil
		case seed == 0:
			first = e.State()
		case e.State() != first:
			return nil
		}
	}
	return errors.New("seed: 64 seeds give one opening: want it drawn from the seed")
}

// keepsake is a time step's memory and what it must hold.
type keepsake struct {
	observation, wantObservation []float32
	played, wantPlayed           []mancala.Action
}

func keep(t *env.TimeStep, scribble bool) keepsake {
	if scribble {
		for i := range t.Observation {
			t.Observation[i] = -float32(i) - 1
		}
		for i := range t.Info.Played {
			t.Info.Played[i] = math.MaxUint8
		}
	}
	return keepsake{t.Observation, slices.Clone(t.Observation), t.Info.Played, slices.Clone(t.Info.Played)}
}

func (s *keepsake) intact() bool {
	return slices.Equal(s.observation, s.wantObservation) && slices.Equal(s.played, s.wantPlayed)
}

func same(a, b *env.TimeStep) bool {
	return a.Player == b.Player && a.Legal == b.Legal && a.Reward == b.Reward && a.Terminated == b.Terminated && a.Truncated == b.Truncated &&
		slices.Equal(a.Observation, b.Observation) && slices.Equal(a.Info.Played, b.Info.Played) &&
		a.Info.Ply == b.Info.Ply && a.Info.Opening == b.Info.Opening && a.Info.Reason == b.Info.Reason &&
		a.Info.Winner == b.Info.Winner && a.Info.Points == b.Info.Points
}

// brief cuts an observation down to what fits a line.
func brief(x []float32) string {
	if len(x) > 16 {
		return fmt.Sprintf("%v … (%d values)", x[:16], len(x))
	}
	return fmt.Sprint(x)
}
