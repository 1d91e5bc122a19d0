package env

import (
	"fmt"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// TimeLimit wraps an Env so that an episode is truncated once it has that many plies besides those of the
// opening, unless the rules end it there. With Single inside, the opponent's plies count too.
func TimeLimit(e Env, plies int) (Env, error) {
	if plies < 1 {
		return nil, fmt.Errorf("env: time limit %d: want 1 ply or more", plies)
	}
	return &timeLimit{Env: e, plies: plies}, nil
}

type timeLimit struct {
	Env
	plies int
	out   bool // of time
}

func (w *timeLimit) Reset(seed uint64) (TimeStep, error) {
	t, err := w.Env.Reset(seed)
	w.out = false
	return w.watch(t), err
}

func (w *timeLimit) Step(a mancala.Action) (TimeStep, error) {
	if w.out {
		return TimeStep{}, ended(a)
	}
	t, err := w.Env.Step(a)
	if err != nil {
		return t, err
	}
	return w.watch(t), nil
}

func (w *timeLimit) watch(t TimeStep) TimeStep {
	if !t.Ended() && t.Info.Ply-t.Info.Opening >= w.plies {
		w.out, t.Truncated, t.Legal = true, true, 0
	}
	return t
}
