package agenttest

import (
	"fmt"
	"slices"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// mark fills the actions that an agent must write and the one behind them that it must not.
const mark = mancala.Action(0xee)

// Check reports the first promise of agents.Agent that the agents made by construct break on the variant of r.
func Check(construct func(mancala.Rules) (agents.Agent, error), r mancala.Rules) (err error) {
	defer guard(&err)
	both, err := build(construct, r)
	if err != nil {
		return err
	}
	return exam(r, func(second bool, states []mancala.State, seeds []uint64) ([]string, error) {
		agent := both[0]
		if second {
			agent = both[1]
		}
		n := len(states)
		actions := slices.Repeat([]mancala.Action{mark}, n+1)
		givenStates, givenSeeds := slices.Clone(states), slices.Clone(seeds)
		if err := agent.Act(givenStates, givenSeeds, actions[:n]); err != nil {
			return nil, fmt.Errorf("agenttest: %s: Act on %d rows: %w", r.Info().Spec, n, err)
		}
		if err := untouched(r, states, givenStates, seeds, givenSeeds); err != nil {
			return nil, err
		}
		if actions[n] != mark {
			return nil, fmt.Errorf("agenttest: %s: action behind row %d: must not be written", r.Info().Spec, n-1)
		}
		text := make([]string, n)
		for i, a := range actions[:n] {
			if err := legal(r, states[i], a); err != nil {
				return nil, err
			}
			text[i] = fmt.Sprint(a)
		}
		return text, nil
	})
}

// legal reports a chosen action that is not.
func legal(r mancala.Rules, s mancala.State, a mancala.Action) error {
	if m := r.Legal(s); !m.Has(a) {
		return fmt.Errorf("agenttest: %s: action %d: must be one of %v", at(r, s), a, slices.Collect(m.All))
	}
	return nil
}

// untouched reports a state or seed that was written.
func untouched(r mancala.Rules, states, givenStates []mancala.State, seeds, givenSeeds []uint64) error {
	for i := range states {
		if givenStates[i] != states[i] {
			return fmt.Errorf("agenttest: %s, row %d: state: must not be written", at(r, states[i]), i)
		}
		if givenSeeds[i] != seeds[i] {
			return fmt.Errorf("agenttest: %s, row %d: seed: must not be written", at(r, states[i]), i)
		}
	}
	return nil
}
