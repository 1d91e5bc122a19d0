package agents

import (
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Random plays every legal action with the same probability. It allocates nothing and may be shared
// between goroutines.
type Random struct{ rules mancala.Rules }

// NewRandom returns a Random for the variant of r.
func NewRandom(r mancala.Rules) *Random { return &Random{r} }

// Act implements Agent. Row i draws once from rand.NewPCG(seeds[i], StreamRandom). It fails for slices
// of different lengths and for a state without a legal action; the actions are then undefined.
func (a *Random) Act(states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	if err := rows("random", states, seeds, actions); err != nil {
		return err
	}
	var p rand.PCG
	for i, s := range states {
		m := a.rules.Legal(s)
		if m == 0 {
			return stuck("random", i)
		}
		p.Seed(seeds[i], StreamRandom)
		actions[i] = choose(&p, m)
	}
	return nil
}
