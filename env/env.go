// Package env plays episodes around the rules of a variant: reset, step, observe, reward. It is the Gymnasium
// contract for two players in turn.
//
// The kernel's rules say how a game goes; an Env adds what learning needs around them: observations, rewards of
// both players, limits, and errors instead of broken preconditions. [New] and [Make] give one episode at a
// time, to be wrapped by [Rewards], [TimeLimit], [Record], [Count] and [Single]; [NewVector] plays many in
// lockstep without allocating. [Text] and [SVG] draw positions.
//
// An episode ends in one of two ways, and they are never mixed up: it is terminated by the rules, and then has
// a result; or it is truncated by a limit, and then has none.
//
// Everything is a function of the seeds given. The streams of rand.NewPCG that are used are listed at
// [EpisodeSeed].
package env

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// What may go wrong with an action. Errors wrap these, name the action and say what is allowed; they leave the
// episode exactly as it was.
var (
	ErrIllegalAction = errors.New("illegal action")
	ErrNotReset      = errors.New("no episode has begun")
	ErrEnded         = errors.New("the episode has ended")
)

// Env is one episode at a time. It is not safe for concurrent use.
type Env interface {
	// Reset begins an episode, dropping an unfinished one. The seed is its only source of chance: the same seed
	// and actions give the same time steps. The episode has not ended, unless other plies than the opening's
	// were played (see Single).
	Reset(seed uint64) (TimeStep, error)
	// Step plays an action of the last time step's Legal for its Player. It fails with ErrNotReset before the
	// first Reset, with ErrEnded after a time step that was terminated or truncated, and with ErrIllegalAction.
	Step(a mancala.Action) (TimeStep, error)
	// ObservationSpace holds every observation.
	ObservationSpace() Box
	// ActionSpace holds every action; which are legal differs from ply to ply.
	ActionSpace() Discrete
	// Rules returns the rules that are played.
	Rules() mancala.Rules
	// State returns the position of the last time step; before the first Reset, the start of the game.
	State() mancala.State
}

// TimeStep is what an episode shows after Reset and after each Step. All of it is the caller's to keep.
type TimeStep struct {
	Player      mancala.Player // the mover, who acts next; at the end, who would have
	Observation []float32      // of the position as Player sees it: a point of the observation space
	Legal       mancala.Mask   // what Player may do; empty if the episode has ended, and only then
	Reward      [2]float32     // of South and North, earned since the last time step
	Terminated  bool           // the rules have ended the game: there is a result
	Truncated   bool           // a limit has stopped the episode: there is no result; never together with Terminated
	Info        Info
}

// Ended reports whether the episode has ended, either way.
func (t *TimeStep) Ended() bool { return t.Terminated || t.Truncated }

// Info tells about the episode what no agent should need to act.
type Info struct {
	Ply     int              // actions since the start of the game, those of the opening too
	Opening int              // how many of them Reset chose at random
	Played  []mancala.Action // since the last time step, in order: the opening, the agent's action, an Opponent's
	Reason  mancala.Reason   // of the end; NotOver unless terminated
	Winner  mancala.Player   // Nobody for a draw, and unless terminated
	Points  [2]int           // match points of South and North; zeros unless terminated
}

// Options choose how episodes are played. The zero Options are valid.
type Options struct {
	Encoder      string // of observations: a name of encode.Names; "" is "counts"
	OpeningPlies int    // plies that Reset plays at random, 0 to 1000; fewer if every next one would end the game
}

const maxOpening = 1000

// Make returns the environment of a variant given by its spec, for example "urim:pits=7".
func Make(spec string, o Options) (Env, error) {
	r, err := mancala.Parse(spec)
	if err != nil {
		return nil, err
	}
	return New(r, o)
}

// New returns the environment of the given rules. Its rewards are those of [Outcome].
func New(r mancala.Rules, o Options) (Env, error) {
	e, err := o.encoder(r)
	if err != nil {
		return nil, err
	}
	return &game{rules: r, encoder: e, opening: o.OpeningPlies, state: r.Start()}, nil
}

func (o *Options) encoder(r mancala.Rules) (encode.Encoder, error) {
	if r == nil {
		return nil, errors.New("env: rules nil: want those of a variant")
	}
	if o.OpeningPlies < 0 || o.OpeningPlies > maxOpening {
		return nil, fmt.Errorf("env: opening plies %d: want 0 to %d", o.OpeningPlies, maxOpening)
	}
	info := r.Info()
	if info.Actions < 1 || info.Actions > 64 {
		return nil, fmt.Errorf("env: variant %q: actions %d: want 1 to 64", info.Spec, info.Actions)
	}
	name := o.Encoder
	if name == "" {
		name = "counts"
	}
	return encode.New(name, info)
}

// game is the Env that plays the rules; all others wrap one.
type game struct {
	rules   mancala.Rules
	encoder encode.Encoder
	opening int // plies wanted
	began   bool
	opened  int // plies of this episode's opening
	state   mancala.State
}

func (g *game) Rules() mancala.Rules { return g.rules }

func (g *game) State() mancala.State { return g.state }

func (g *game) ActionSpace() Discrete { return Discrete{N: g.rules.Info().Actions} }

func (g *game) ObservationSpace() Box {
	return Box{Low: 0, High: 1, Shape: []int{g.encoder.Size()}}
}

func (g *game) Reset(seed uint64) (TimeStep, error) {
	played := make([]mancala.Action, g.opening)
	s, n := open(g.rules, seed, g.opening, played)
	g.state, g.opened, g.began = s, n, true
	return g.timeStep(played[:n]), nil
}

func (g *game) Step(a mancala.Action) (TimeStep, error) {
	if !g.began {
		return TimeStep{}, notReset(a)
	}
	if g.state.Over() {
		return TimeStep{}, ended(a)
	}
	if legal := g.rules.Legal(g.state); !legal.Has(a) {
		return TimeStep{}, fmt.Errorf("env: action %d: %w: want one of %s", a, ErrIllegalAction, list(legal))
	}
	g.state = g.rules.Next(g.state, a)
	return g.timeStep([]mancala.Action{a}), nil
}

func (g *game) timeStep(played []mancala.Action) TimeStep {
	s := g.state
	t := TimeStep{
		Player:      s.Mover(),
		Observation: make([]float32, g.encoder.Size()),
		Legal:       g.rules.Legal(s),
		Reward:      Outcome.Of(g.rules, s),
		Terminated:  s.Over(),
		Info: Info{
			Ply:     s.Ply(),
			Opening: g.opened,
			Played:  played,
			Reason:  s.Reason(),
			Winner:  s.Winner(),
			Points:  g.rules.Points(s),
		},
	}
	g.encoder.Dense(s, t.Observation)
	return t
}

func notReset(a mancala.Action) error {
	return fmt.Errorf("env: action %d: %w: want Reset first", a, ErrNotReset)
}

func ended(a mancala.Action) error {
	return fmt.Errorf("env: action %d: %w: want Reset", a, ErrEnded)
}

// list writes a set of actions as "0, 2, 5".
func list(m mancala.Mask) string {
	var b strings.Builder
	for a := range m.All {
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(int(a)))
	}
	return b.String()
}
