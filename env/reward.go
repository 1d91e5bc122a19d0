package env

import (
	"fmt"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Scheme says what a finished game is worth. All schemes are zero-sum, and all give 0 before the end, at a
// truncation, for a draw by the rules (but see Margin) and for a game annulled as endless.
type Scheme uint8

const (
	// Outcome is +1 for a win, −1 for a loss, 0 for a draw.
	Outcome Scheme = iota
	// Margin is how many more seeds one has than the other, as a share of all seeds: in the stores where the
	// variant has them, else on the board, where seeds in hand belong to the mover. −1 … 1. In four-row games a
	// winner may have fewer, and a draw by the quiet limit has a margin too.
	Margin
	// Points is the match points one gets less those the other gets, −12 … 12.
	Points
)

var schemeNames = [...]string{"outcome", "margin", "points"}

// ParseScheme returns the scheme of that name: "outcome", "margin" or "points".
func ParseScheme(name string) (Scheme, error) {
	for i, n := range schemeNames {
		if n == name {
			return Scheme(i), nil
		}
	}
	return 0, fmt.Errorf("env: reward scheme %q: want outcome, margin or points", name)
}

// String returns the name of the scheme.
func (c Scheme) String() string {
	if c.known() {
		return schemeNames[c]
	}
	return "unknown"
}

func (c Scheme) known() bool { return int(c) < len(schemeNames) }

func (c Scheme) check() error {
	if c.known() {
		return nil
	}
	return fmt.Errorf("env: reward scheme %d: want 0 to %d", uint8(c), len(schemeNames)-1)
}

// Of returns what South and North get for s, a position of r; zeros if it is not over.
func (c Scheme) Of(r mancala.Rules, s mancala.State) [2]float32 {
	if !s.Over() || s.Reason() == mancala.Endless {
		return [2]float32{}
	}
	var south float32
	switch c {
	case Outcome:
		south = float32(s.Returns()[mancala.South])
	case Margin:
		info := r.Info()
		south = mancala.Margin(&info, &s)
	case Points:
		p := r.Points(s)
		south = float32(p[mancala.South] - p[mancala.North])
	}
	return [2]float32{south, 0 - south}
}

// Rewards wraps an Env so that its rewards follow the scheme.
func Rewards(e Env, c Scheme) (Env, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	return &rewards{e, c}, nil
}

type rewards struct {
	Env
	scheme Scheme
}

func (w *rewards) Reset(seed uint64) (TimeStep, error) {
	t, err := w.Env.Reset(seed)
	return w.pay(t), err
}

func (w *rewards) Step(a mancala.Action) (TimeStep, error) {
	t, err := w.Env.Step(a)
	if err != nil {
		return t, err
	}
	return w.pay(t), nil
}

func (w *rewards) pay(t TimeStep) TimeStep {
	t.Reward = [2]float32{}
	if t.Terminated {
		t.Reward = w.scheme.Of(w.Rules(), w.State())
	}
	return t
}
