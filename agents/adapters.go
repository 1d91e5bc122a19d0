package agents

import (
	"github.com/mancalagym/mancalagym/env/mancala"
)

// FromSearcher returns the Agent that plays what s chooses: Result.Actions. It allocates only when a
// batch is larger than all before.
func FromSearcher(r mancala.Rules, s Searcher) Agent {
	return &searching{s: s, actions: r.Info().Actions, out: NewResult(0, 0)}
}

type searching struct {
	s       Searcher
	actions int
	out     *Result
}

func (a *searching) Act(states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	if err := rows("searcher", states, seeds, actions); err != nil {
		return err
	}
	if n := len(states); n > len(a.out.Actions) {
		a.out = NewResult(n, a.actions)
	}
	if err := a.s.Search(states, seeds, a.out); err != nil {
		return err
	}
	copy(actions, a.out.Actions)
	return nil
}

// FromEvaluator returns the Agent that plays the action of the highest prior, the lowest one in a tie,
// without looking ahead. It allocates only when a batch is larger than all before.
func FromEvaluator(r mancala.Rules, e Evaluator) Agent {
	return &judging{rules: r, e: e, actions: r.Info().Actions}
}

type judging struct {
	rules   mancala.Rules
	e       Evaluator
	actions int
	legal   []mancala.Mask
	prior   []float32
	value   []float32
	batch   Batch
}

func (a *judging) Act(states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	if err := rows("evaluator", states, seeds, actions); err != nil {
		return err
	}
	n := len(states)
	if n > len(a.legal) {
		a.legal = make([]mancala.Mask, n)
		a.prior = make([]float32, n*a.actions)
		a.value = make([]float32, n)
	}
	for i, s := range states {
		if a.legal[i] = a.rules.Legal(s); a.legal[i] == 0 {
			return stuck("evaluator", i)
		}
	}
	a.batch = Batch{States: states, Legal: a.legal[:n], Seeds: seeds, Prior: a.prior[:n*a.actions], Value: a.value[:n]}
	if err := a.e.Evaluate(&a.batch); err != nil {
		return err
	}
	for i, m := range a.batch.Legal {
		prior := a.prior[i*a.actions:]
		best := m.First()
		for m = m.WithoutFirst(); m != 0; m = m.WithoutFirst() {
			if prior[m.First()] > prior[best] {
				best = m.First()
			}
		}
		actions[i] = best
	}
	return nil
}

// Single makes an Agent act on one state at a time, as the opponent of a single-player environment does.
type Single struct {
	agent   Agent
	states  []mancala.State
	seeds   []uint64
	actions []mancala.Action
}

// NewSingle returns a Single that asks a.
func NewSingle(a Agent) *Single {
	return &Single{a, make([]mancala.State, 1), make([]uint64, 1), make([]mancala.Action, 1)}
}

// Act returns the agent's choice for s, which is not over; seed is its only source of chance.
func (o *Single) Act(s mancala.State, seed uint64) (mancala.Action, error) {
	o.states[0], o.seeds[0] = s, seed
	err := o.agent.Act(o.states, o.seeds, o.actions)
	return o.actions[0], err
}
