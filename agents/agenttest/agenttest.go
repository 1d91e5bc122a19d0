// Package agenttest is the conformance kit for what plays: Check for agents, CheckEvaluator and CheckSearcher for
// the parts inside one.
//
// Each takes a constructor and a variant, asks about positions of random games, and returns nil or an error
// that names the first promise broken and the position:
//
//   - an answer depends on the state and the seed of its row alone: not on the batch, the place in it, the order of
//     the calls or the instance, down to the last bit;
//   - it is complete and in range, and a chosen action is legal;
//   - what is read is not written, nor is anything beyond the rows asked for;
//   - a batch without rows is no error, and nothing panics.
package agenttest

import (
	"fmt"
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// StreamStates is the stream of the positions asked about: game g draws from rand.NewPCG(g, StreamStates).
const StreamStates = 0x737461746573 // "states"

// positions is the number of positions a check asks about.
const positions = 48

// sample returns positions of random games that are not over, from all stages of a game, and a seed for each.
func sample(r mancala.Rules) (states []mancala.State, seeds []uint64) {
	const limit = 400 // plies looked at in one game; Omweso has no bound of its own
	for game := uint64(0); len(states) < positions; game++ {
		c := rand.New(rand.NewPCG(game, StreamStates))
		var line []mancala.State
		for s := r.Start(); !s.Over() && len(line) < limit; {
			line = append(line, s)
			m := r.Legal(s)
			s = r.Next(s, m.Nth(c.IntN(m.Len())))
		}
		// The first, the last, and one from between.
		for _, i := range []int{0, c.IntN(len(line)), len(line) - 1} {
			states = append(states, line[i])
			seeds = append(seeds, c.Uint64())
		}
	}
	return states[:positions], seeds[:positions]
}

// A plan is an order in which rows are asked, cut into batches.
type plan struct {
	name   string
	order  []int // of rows
	batch  int   // rows of one call
	second bool  // ask another instance
}

// plans cover sizes, places and orders; the first is the reference.
func plans(n int) []plan {
	up, down := make([]int, n), make([]int, n)
	for i := range n {
		up[i], down[i] = i, n-1-i
	}
	mixed := rand.New(rand.NewPCG(0, StreamStates)).Perm(n)
	twice := append(append([]int{}, mixed...), mixed...)
	return []plan{
		{name: "in one batch", order: up, batch: n},
		{name: "asked again", order: up, batch: n},
		{name: "one at a time", order: up, batch: 1},
		{name: "in reverse", order: down, batch: n},
		{name: "mixed, in batches of 3", order: mixed, batch: 3},
		{name: "mixed twice over, in batches of 17", order: twice, batch: 17},
		{name: "by another instance", order: up, batch: n, second: true},
		{name: "by another instance, mixed, in batches of 5", order: mixed, batch: 5, second: true},
	}
}

// at names a position in an error.
func at(r mancala.Rules, s mancala.State) string {
	return fmt.Sprintf("%s: state %q", r.Info().Spec, mancala.FormatState(r, s))
}

// guard turns a panic into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("agenttest: panic: %v: must not panic", p)
	}
}

// build makes the two instances of a check.
func build[T any](construct func(mancala.Rules) (T, error), r mancala.Rules) (both [2]T, err error) {
	for i := range both {
		if both[i], err = construct(r); err != nil {
			return both, fmt.Errorf("agenttest: %s: constructor: %w", r.Info().Spec, err)
		}
	}
	return both, nil
}

// exam asks about the sample by every plan. ask answers the given rows and returns one text a row that shows all bits of the
// answer.
func exam(r mancala.Rules, ask func(second bool, states []mancala.State, seeds []uint64) ([]string, error)) error {
	states, seeds := sample(r)
	if _, err := ask(false, nil, nil); err != nil {
		return fmt.Errorf("%w: an empty batch is no error", err)
	}
	want := make([]string, len(states))
	for _, p := range plans(len(states)) {
		for from := 0; from < len(p.order); from += p.batch {
			order := p.order[from:min(from+p.batch, len(p.order))]
			rows, chance := make([]mancala.State, len(order)), make([]uint64, len(order))
			for i, j := range order {
				rows[i], chance[i] = states[j], seeds[j]
			}
			got, err := ask(p.second, rows, chance)
			if err != nil {
				return err
			}
			for i, j := range order {
				if want[j] == "" {
					want[j] = got[i]
				}
				if got[i] != want[j] {
					return fmt.Errorf("agenttest: %s, seed %d: %s the answer is %s, at first %s: must depend on state and seed alone",
						at(r, states[j]), seeds[j], p.name, got[i], want[j])
				}
			}
		}
	}
	return nil
}
