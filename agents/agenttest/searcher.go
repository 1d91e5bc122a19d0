package agenttest

import (
	"fmt"
	"slices"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// CheckSearcher reports the first promise of agents.Searcher that the searchers made by construct break on the
// variant of r. An action chosen must also have visits, if any has.
func CheckSearcher(construct func(mancala.Rules) (agents.Searcher, error), r mancala.Rules) (err error) {
	defer guard(&err)
	both, err := build(construct, r)
	if err != nil {
		return err
	}
	width := r.Info().Actions
	return exam(r, func(second bool, states []mancala.State, seeds []uint64) ([]string, error) {
		searcher := both[0]
		if second {
			searcher = both[1]
		}
		n := len(states)
		out := spoiled(n+1, width)
		givenStates, givenSeeds := slices.Clone(states), slices.Clone(seeds)
		if err := searcher.Search(givenStates, givenSeeds, out); err != nil {
			return nil, fmt.Errorf("agenttest: %s: Search on %d rows: %w", r.Info().Spec, n, err)
		}
		if err := untouched(r, states, givenStates, seeds, givenSeeds); err != nil {
			return nil, err
		}
		if !unwritten(out, n, width) {
			return nil, fmt.Errorf("agenttest: %s: result behind row %d: must not be written", r.Info().Spec, n-1)
		}
		text := make([]string, n)
		for i, s := range states {
			row := rowOf(out, i, width)
			if err := conforms(r, s, row); err != nil {
				return nil, err
			}
			text[i] = fmt.Sprintf("action %d visits %v Q %x policy %x value %x", row.Actions, row.Visits, row.Q, row.Policy, row.Value)
		}
		return text, nil
	})
}

// conforms checks one row of a result.
func conforms(r mancala.Rules, s mancala.State, row agents.Result) error {
	m := r.Legal(s)
	if err := legal(r, s, row.Actions[0]); err != nil {
		return err
	}
	visits := uint32(0)
	for a := range row.Visits {
		visits += row.Visits[a]
		if row.Visits[a] == unseen {
			return fmt.Errorf("agenttest: %s: visits of action %d: must be written", at(r, s), a)
		}
		if !m.Has(mancala.Action(a)) && (row.Visits[a] != 0 || row.Q[a] != 0) {
			return fmt.Errorf("agenttest: %s: visits %d and Q %v of illegal action %d: must be 0", at(r, s), row.Visits[a], row.Q[a], a)
		}
		if err := bounded(fmt.Sprintf("Q of action %d", a), row.Q[a]); err != nil {
			return fmt.Errorf("agenttest: %s: %w", at(r, s), err)
		}
	}
	if visits > 0 && row.Visits[row.Actions[0]] == 0 {
		return fmt.Errorf("agenttest: %s: chosen action %d: must have visits", at(r, s), row.Actions[0])
	}
	if err := distribution("policy", row.Policy, m); err != nil {
		return fmt.Errorf("agenttest: %s: %w", at(r, s), err)
	}
	if err := bounded("value", row.Value[0]); err != nil {
		return fmt.Errorf("agenttest: %s: %w", at(r, s), err)
	}
	return nil
}

// unseen fills the visits that must be written.
const unseen = 0xeeeeeeee

// spoiled returns a Result in which every entry is one that no search writes.
func spoiled(n, width int) *agents.Result {
	return &agents.Result{
		Actions: slices.Repeat([]mancala.Action{mark}, n),
		Visits:  slices.Repeat([]uint32{unseen}, n*width),
		Q:       slices.Repeat([]float32{nan}, n*width),
		Policy:  slices.Repeat([]float32{nan}, n*width),
		Value:   slices.Repeat([]float32{nan}, n),
	}
}

// unwritten reports whether row i is still spoiled.
func unwritten(out *agents.Result, i, width int) bool {
	row := rowOf(out, i, width)
	for _, v := range row.Visits {
		if v != unseen {
			return false
		}
	}
	return row.Actions[0] == mark && blank(row.Q) && blank(row.Policy) && blank(row.Value)
}

// rowOf returns row i alone.
func rowOf(out *agents.Result, i, width int) agents.Result {
	return agents.Result{
		Actions: out.Actions[i : i+1],
		Visits:  out.Visits[i*width : (i+1)*width],
		Q:       out.Q[i*width : (i+1)*width],
		Policy:  out.Policy[i*width : (i+1)*width],
		Value:   out.Value[i : i+1],
	}
}
