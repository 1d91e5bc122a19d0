package agenttest

import (
	"fmt"
	"math"
	"slices"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Slack is how far a sum of probabilities may be from 1, and a value from −1 … 1: rounding only.
const Slack = 1e-5

// nan fills the numbers that must be written, with bits of its own to tell those that must not.
var nan = math.Float32frombits(0x7fc0ffee)

// CheckEvaluator reports the first promise of agents.Evaluator that the evaluators made by construct break on the
// variant of r.
func CheckEvaluator(construct func(mancala.Rules) (agents.Evaluator, error), r mancala.Rules) (err error) {
	defer guard(&err)
	both, err := build(construct, r)
	if err != nil {
		return err
	}
	width := r.Info().Actions
	return exam(r, func(second bool, states []mancala.State, seeds []uint64) ([]string, error) {
		evaluator := both[0]
		if second {
			evaluator = both[1]
		}
		n := len(states)
		masks := make([]mancala.Mask, n)
		for i, s := range states {
			masks[i] = r.Legal(s)
		}
		prior := slices.Repeat([]float32{nan}, (n+1)*width)
		value := slices.Repeat([]float32{nan}, n+1)
		b := agents.Batch{
			States: slices.Clone(states), Legal: slices.Clone(masks), Seeds: slices.Clone(seeds),
			Prior: prior[:n*width], Value: value[:n],
		}
		given := b
		if err := evaluator.Evaluate(&b); err != nil {
			return nil, fmt.Errorf("agenttest: %s: Evaluate on %d rows: %w", r.Info().Spec, n, err)
		}
		if err := untouched(r, states, given.States, seeds, given.Seeds); err != nil {
			return nil, err
		}
		if !slices.Equal(masks, given.Legal) {
			return nil, fmt.Errorf("agenttest: %s: legal masks: must not be written", r.Info().Spec)
		}
		if !blank(prior[n*width:]) || !blank(value[n:]) {
			return nil, fmt.Errorf("agenttest: %s: prior or value behind row %d: must not be written", r.Info().Spec, n-1)
		}
		text := make([]string, n)
		for i, s := range states {
			row := prior[i*width : (i+1)*width]
			if err := distribution("prior", row, masks[i]); err != nil {
				return nil, fmt.Errorf("agenttest: %s: %w", at(r, s), err)
			}
			if err := bounded("value", value[i]); err != nil {
				return nil, fmt.Errorf("agenttest: %s: %w", at(r, s), err)
			}
			text[i] = fmt.Sprintf("prior %x value %x", row, value[i])
		}
		return text, nil
	})
}

// blank reports whether nothing was written to v.
func blank(v []float32) bool {
	for _, x := range v {
		if math.Float32bits(x) != math.Float32bits(nan) {
			return false
		}
	}
	return true
}

// distribution reports a row that is not a distribution over the legal actions.
func distribution(name string, row []float32, m mancala.Mask) error {
	sum := 0.0
	for a, p := range row {
		switch {
		case !m.Has(mancala.Action(a)) && p != 0:
			return fmt.Errorf("%s %v of illegal action %d: must be 0", name, p, a)
		case !(p >= 0 && p <= 1+Slack):
			return fmt.Errorf("%s %v of action %d: must be 0 to 1", name, p, a)
		}
		sum += float64(p)
	}
	if math.Abs(sum-1) > Slack {
		return fmt.Errorf("%s: sums to %v: must be 1 within %v", name, sum, Slack)
	}
	return nil
}

// bounded reports a value out of −1 … 1.
func bounded(name string, v float32) error {
	if !(v >= -1-Slack && v <= 1+Slack) {
		return fmt.Errorf("%s %v: must be -1 to 1", name, v)
	}
	return nil
}
