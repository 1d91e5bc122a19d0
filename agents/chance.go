package agents

import (
	"fmt"
	"math/bits"
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// The streams of this package: row i draws from rand.NewPCG(seeds[i], stream), so that two consumers of
// one seed never draw the same numbers. The constants are the names in ASCII.
const (
	StreamRandom  = 0x72616e646f6d   // "random": the choice of Random
	StreamGreedy  = 0x677265656479   // "greedy": the ties of Greedy
	StreamRollout = 0x726f6c6c6f7574 // "rollout": the plies of Rollout
)

// choose draws one action of m, which is not empty, uniformly: the high word of a 64-bit draw times the
// size of m. No action is favoured by more than 64 parts in 2⁶⁴.
func choose(p *rand.PCG, m mancala.Mask) mancala.Action {
	i, _ := bits.Mul64(p.Uint64(), uint64(m.Len()))
	return m.Nth(int(i))
}

// rows reports slices of an Act that are not of one length.
func rows(name string, states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	if len(seeds) != len(states) || len(actions) != len(states) {
		return fmt.Errorf("agents: %s: %d states, %d seeds and %d actions: must be of one length", name, len(states), len(seeds), len(actions))
	}
	return nil
}

// stuck reports a state without a legal action.
func stuck(name string, i int) error {
	return fmt.Errorf("agents: %s: state %d has no legal action: must be a game that goes on", name, i)
}
