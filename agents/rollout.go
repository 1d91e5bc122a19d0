package agents

import (
	"math/rand/v2"
	"sync"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// RolloutLimit is the number of plies after which a Rollout gives up. The quiet limit (C1) ends
// two-row games long before it; Omweso has no bound of its own.
const RolloutLimit = 2000

// Rollout is the Evaluator that plays one game to its end: every legal action is equally likely, and a position
// is worth what one game of uniformly random plies from it brings its mover: +1, 0 or −1, and 0
// after RolloutLimit plies without an end. It allocates nothing and may be shared between goroutines.
type Rollout struct {
	advancer mancala.Advancer
	actions  int
	boards   sync.Pool // of *mancala.State: an Advancer's moves from the stack to the heap
}

// NewRollout returns a Rollout for the variant of r.
func NewRollout(r mancala.Rules) *Rollout {
	return &Rollout{
		advancer: mancala.Advancing(r),
		actions:  r.Info().Actions,
		boards:   sync.Pool{New: func() any { return new(mancala.State) }},
	}
}

// Evaluate implements Evaluator. Row i draws from rand.NewPCG(b.Seeds[i], StreamRollout), once a ply. It
// never fails.
func (e *Rollout) Evaluate(b *Batch) error {
	s := e.boards.Get().(*mancala.State)
	for i := range b.States {
		spread(b.Legal[i], b.Prior[i*e.actions:(i+1)*e.actions])
		*s = b.States[i]
		b.Value[i] = float32(e.play(s, b.Legal[i], b.Seeds[i]))
	}
	e.boards.Put(s)
	return nil
}

// play plays a random game from s, where m is legal, and returns what it brings the mover of s.
func (e *Rollout) play(s *mancala.State, m mancala.Mask, seed uint64) int {
	var p rand.PCG
	p.Seed(seed, StreamRollout)
	mover := s.Mover()
	for range RolloutLimit {
		if m == 0 {
			break
		}
		m = e.advancer.Advance(s, choose(&p, m))
	}
	return s.Returns()[mover]
}
