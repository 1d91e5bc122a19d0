package arena

import (
	"errors"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// actor makes an agent of a function of one position.
type actor func(s mancala.State, seed uint64) (mancala.Action, error)

func (f actor) Act(states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	for i, s := range states {
		a, err := f(s, seeds[i])
		if err != nil {
			return err
		}
		actions[i] = a
	}
	return nil
}

func entrant(name string, f actor) Entrant {
	return Entrant{name, func() (agents.Agent, error) { return f, nil }}
}

// first chooses the lowest legal action.
func first(r mancala.Rules) actor {
	return func(s mancala.State, _ uint64) (mancala.Action, error) { return r.Legal(s).First(), nil }
}

// dice chooses any legal action.
func dice(r mancala.Rules) actor {
	return func(s mancala.State, seed uint64) (mancala.Action, error) {
		legal := r.Legal(s)
		return legal.Nth(int(seed >> 33 % uint64(legal.Len()))), nil
	}
}

// taker leaves the opponent with the least seeds on the board and in store.
func taker(r mancala.Rules) actor {
	return func(s mancala.State, _ uint64) (best mancala.Action, _ error) {
		p, least := s.Mover().Opponent(), 1<<10
		for a := range r.Legal(s).All {
			n := r.Next(s, a)
			if left := n.OnBoard(p) + n.Store(p) - n.Store(p.Opponent()); left < least {
				best, least = a, left
			}
		}
		return best, nil
	}
}

func parse(t testing.TB, spec string) mancala.Rules {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// shelf is a sink that keeps copies, or fails at an episode.
type shelf struct {
	kept   []env.Episode
	failAt int
}

var errFull = errors.New("shelf: full")

func (s *shelf) Write(e *env.Episode) error {
	if s.failAt > 0 && len(s.kept) == s.failAt {
		return errFull
	}
	c := *e
	c.Plies = append([]env.Ply(nil), e.Plies...)
	s.kept = append(s.kept, c)
	return nil
}

func config(games int) Config {
	return Config{Games: games, Seed: 7, OpeningPlies: 4, Workers: 2, Batch: 8}
}
