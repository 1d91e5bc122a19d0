package agents

import (
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Greedy plays the action that captures most now. It looks one action ahead and ranks what it sees:
//
//   - an action that wins the game at once comes before all others, one that loses it at once
//     after all others, whatever they capture;
//   - between them, and among several of either kind, more captured seeds are better. Where captures go to
//     stores (Info.Stores), that is what this one action adds to the mover's own store, the seeds of a
//     sweep (C4) or a cycle settlement (C2) that it brings about included. In Omweso it is what the
//     action takes off the opponent's pits; seeds go on being captured after a choice within the
//     turn (O13), and each action counts for itself;
//   - ties are broken at random, every best action with the same probability.
//
// It allocates nothing and may be shared between goroutines.
type Greedy struct {
	rules  mancala.Rules
	stores bool
}

// NewGreedy returns a Greedy for the variant of r.
func NewGreedy(r mancala.Rules) *Greedy { return &Greedy{r, r.Info().Stores} }

// Act implements Agent. Row i draws once from rand.NewPCG(seeds[i], StreamGreedy). It fails for slices
// of different lengths and for a state without a legal action; the actions are then undefined.
func (a *Greedy) Act(states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	if err := rows("greedy", states, seeds, actions); err != nil {
		return err
	}
	var p rand.PCG
	for i, s := range states {
		m := a.best(s)
		if m == 0 {
			return stuck("greedy", i)
		}
		p.Seed(seeds[i], StreamGreedy)
		actions[i] = choose(&p, m)
	}
	return nil
}

// decided outweighs every capture: no game has so many seeds.
const decided = 1 << 10

// best returns the actions of the highest rank; none for a state without a legal action.
func (a *Greedy) best(s mancala.State) (best mancala.Mask) {
	top := -2 * decided
	for m := a.rules.Legal(s); m != 0; m = m.WithoutFirst() {
		rank := a.rank(s, a.rules.Next(s, m.First()))
		if rank > top {
			top, best = rank, 0
		}
		if rank == top {
			best |= m &^ m.WithoutFirst()
		}
	}
	return best
}

// rank is what the mover of s gained by going to t.
func (a *Greedy) rank(s, t mancala.State) int {
	mover := s.Mover()
	var rank int
	if a.stores {
		rank = t.Store(mover) - s.Store(mover)
	} else {
		rank = s.OnBoard(mover.Opponent()) - t.OnBoard(mover.Opponent())
	}
	return rank + decided*t.Returns()[mover]
}
