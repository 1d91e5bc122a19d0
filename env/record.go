package env

import (
	"fmt"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Recorder wraps an Env and writes its episodes to a Sink. Set Agents before a Reset.
type Recorder struct {
	Env
	Agents [2]string // South's and North's, as the episodes will name them

	sink    Sink
	episode Episode
	state   mancala.State
}

// Record returns a Recorder around e. An episode is written when it ends, by the rules or by a limit: so a time
// limit and a reward scheme belong inside. One that is dropped by Reset before its end is not written.
//
// If the sink fails, Step (or a Reset whose episode ends at once) returns the time step together with the
// sink's error; the episode has ended and is not written again. No other error comes with a time step.
func Record(e Env, sink Sink) *Recorder { return &Recorder{Env: e, sink: sink} }

// Reset begins an episode.
func (w *Recorder) Reset(seed uint64) (TimeStep, error) {
	t, err := w.Env.Reset(seed)
	if err != nil {
		return t, err
	}
	r := w.Rules()
	w.episode = Episode{
		Spec:   r.Info().Spec,
		Number: w.episode.Number,
		Seed:   seed,
		Agents: w.Agents,
		Plies:  w.episode.Plies[:0],
	}
	w.state = r.Start()
	return t, w.add(&t)
}

// Step plays an action.
func (w *Recorder) Step(a mancala.Action) (TimeStep, error) {
	t, err := w.Env.Step(a)
	if err != nil {
		return t, err
	}
	return t, w.add(&t)
}

func (w *Recorder) add(t *TimeStep) error {
	r := w.Rules()
	e := &w.episode
	for _, a := range t.Info.Played {
		e.Plies = append(e.Plies, Ply{
			State:   w.state,
			Legal:   r.Legal(w.state),
			Action:  a,
			Opening: len(e.Plies) < t.Info.Opening,
		})
		w.state = r.Next(w.state, a)
	}
	if n := len(t.Info.Played); n > 0 {
		e.Plies[len(e.Plies)-1].Reward = t.Reward
	}
	if !t.Ended() {
		return nil
	}
	e.Final, e.Truncated = w.state, t.Truncated
	err := w.sink.Write(e)
	e.Number++
	if err != nil {
		return fmt.Errorf("env: record episode %d: %w", e.Number-1, err)
	}
	return nil
}
