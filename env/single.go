package env

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// View wraps an Env for one agent: an Opponent plays the other side.
type View struct {
	Env
	opponent Opponent
	seat     mancala.Player // as asked for
	agent    mancala.Player
	began    bool
	ended    bool
	chance   rand.PCG // one seed for each of the opponent's plies
}

// Single returns the single-player view of e in which the agent is the given player, or, for mancala.Nobody, a
// player drawn from each Reset's seed. The agent sees only its own turns: Step plays its action and then the
// opponent's plies up to its next turn or the end; rewards are summed over them. For the agent itself that is
// t.Reward[v.Agent()].
//
// An episode can end before the agent's first turn; Reset then returns a time step that has ended. At an end,
// as everywhere, TimeStep.Player is who would have moved next, which may be the opponent.
//
// If the opponent fails or chooses an illegal action, Step returns an error and the episode is as it was
// before; after such an error from Reset, no episode has begun.
func Single(e Env, o Opponent, agent mancala.Player) (*View, error) {
	if o == nil {
		return nil, errors.New("env: opponent nil: want one that acts")
	}
	if agent > mancala.Nobody {
		return nil, fmt.Errorf("env: agent's player %d: want 0 (South), 1 (North) or 2 (drawn by the seed)", uint8(agent))
	}
	return &View{Env: e, opponent: o, seat: agent, agent: agent}, nil
}

// Agent returns the player whose turns the view shows: that of the current episode, or Nobody before the first
// Reset of a view that draws it.
func (v *View) Agent() mancala.Player { return v.agent }

// Reset begins an episode and plays up to the agent's first turn.
func (v *View) Reset(seed uint64) (TimeStep, error) {
	v.began = false
	t, err := v.Env.Reset(seed)
	if err != nil {
		return t, err
	}
	v.agent = v.seat
	if v.agent == mancala.Nobody {
		v.agent = mancala.Player(rand.NewPCG(seed, streamSeat).Uint64() & 1)
	}
	v.chance.Seed(seed, streamOpponent)
	if !t.Ended() {
		replies, err := v.replies(v.State())
		if err != nil {
			return TimeStep{}, err
		}
		if t, err = v.play(t, replies); err != nil {
			return TimeStep{}, err
		}
	}
	v.began, v.ended = true, t.Ended()
	return t, nil
}

// Step plays the agent's action and the opponent's plies after it.
func (v *View) Step(a mancala.Action) (TimeStep, error) {
	if !v.began {
		return TimeStep{}, notReset(a)
	}
	s := v.State()
	if v.ended || !v.Rules().Legal(s).Has(a) {
		return v.Env.Step(a) // to be refused
	}
	before := v.chance
	replies, err := v.replies(v.Rules().Next(s, a))
	if err == nil {
		var t TimeStep
		if t, err = v.Env.Step(a); err == nil {
			t, err = v.play(t, replies)
			v.ended = t.Ended()
			return t, err
		}
	}
	v.chance = before
	return TimeStep{}, err
}

// replies asks the opponent for its plies from s on, before any is played, so that a failure leaves the episode
// alone.
func (v *View) replies(s mancala.State) ([]mancala.Action, error) {
	var replies []mancala.Action
	r := v.Rules()
	for !s.Over() && s.Mover() != v.agent {
		a, err := v.opponent.Act(s, v.chance.Uint64())
		if err != nil {
			return nil, fmt.Errorf("env: opponent at ply %d: %w", s.Ply(), err)
		}
		if legal := r.Legal(s); !legal.Has(a) {
			return nil, fmt.Errorf("env: opponent at ply %d: action %d: want one of %s", s.Ply(), a, list(legal))
		}
		replies = append(replies, a)
		s = r.Next(s, a)
	}
	return replies, nil
}

// play plays the replies after t, as long as the episode goes on, and adds up.
func (v *View) play(t TimeStep, replies []mancala.Action) (TimeStep, error) {
	for _, a := range replies {
		if t.Ended() {
			break
		}
		next, err := v.Env.Step(a)
		if err != nil {
			return t, err
		}
		next.Info.Played = append(t.Info.Played, next.Info.Played...)
		for p := range next.Reward {
			next.Reward[p] += t.Reward[p]
		}
		t = next
	}
	return t, nil
}
