package tablebase

import (
	"fmt"
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// StreamTable is the stream of rand.NewPCG(seed, stream) from which a row of Agent.Act draws its ties: "table" in ASCII.
const StreamTable = 0x7461626c65

// Agent plays from a table: an action of the highest value, and among those one that makes progress as the distance has it, the
// shortest way unless the value is negative, then the longest. What is left is chosen at random, each with the same probability. It plays an
// endless turn (C3) only if there is nothing else. Positions that lead out of the table it leaves to another agent.
//
// It implements agents.Agent and is as safe for concurrent use as the other agent.
type Agent struct {
	table  *Table
	beyond agents.Agent
	list   []Choice
	// The rows for the other agent.
	rows    []int
	states  []mancala.State
	seeds   []uint64
	actions []mancala.Action
}

// NewAgent returns an Agent. beyond may be nil if the table knows all positions of the variant.
func NewAgent(t *Table, beyond agents.Agent) (*Agent, error) {
	if all := t.rules.Info().Seeds; beyond == nil && t.Seeds() < all {
		return nil, fmt.Errorf("tablebase: a table of %d of %d seeds: want an agent for what is beyond it", t.Seeds(), all)
	}
	return &Agent{table: t, beyond: beyond, list: make([]Choice, 0, 64)}, nil
}

// Table is the table it plays from.
func (a *Agent) Table() *Table { return a.table }

// Act implements agents.Agent. It fails for slices of different lengths and for a state without a legal action, and with
// the error of the other agent.
func (a *Agent) Act(states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	if len(seeds) != len(states) || len(actions) != len(states) {
		return fmt.Errorf("tablebase: %d states, %d seeds and %d actions: must be of one length", len(states), len(seeds), len(actions))
	}
	a.rows, a.states, a.seeds = a.rows[:0], a.states[:0], a.seeds[:0]
	var p rand.PCG
	for i, s := range states {
		list, ok := a.table.Choices(s, a.list[:0])
		switch {
		case !ok && a.beyond == nil:
			return fmt.Errorf("tablebase: state %d has more than %d seeds on the board", i, a.table.Seeds())
		case !ok:
			a.rows, a.states, a.seeds = append(a.rows, i), append(a.states, s), append(a.seeds, seeds[i])
		case len(list) == 0:
			return fmt.Errorf("tablebase: state %d has no legal action: must be a game that goes on", i)
		default:
			p.Seed(seeds[i], StreamTable)
			best := Play(list)
			actions[i] = best.Nth(int(p.Uint64() >> 32 * uint64(best.Len()) >> 32))
		}
	}
	if len(a.rows) == 0 {
		return nil
	}
	for len(a.actions) < len(a.rows) {
		a.actions = append(a.actions, 0)
	}
	if err := a.beyond.Act(a.states, a.seeds, a.actions[:len(a.rows)]); err != nil {
		return err
	}
	for i, row := range a.rows {
		actions[row] = a.actions[i]
	}
	return nil
}

// Play returns the actions of best play: see Agent.
func Play(list []Choice) (best mancala.Mask) {
	e := Best(list)
	for _, c := range list {
		if !c.Endless && c.Value == e.Value && c.Distance == e.Distance {
			best |= 1 << c.Action
		}
	}
	if best == 0 {
		for _, c := range list {
			best |= 1 << c.Action
		}
	}
	return best
}
