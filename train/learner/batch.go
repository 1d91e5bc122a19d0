package learner

import (
	"fmt"
	"math"

	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Batch is Config.Batch rows to learn from, all storage the caller's. A row whose two weights are 0 teaches
// nothing: use such rows to fill up a batch.
type Batch struct {
	Indices []int32        // Batch × Active: places of the ones of the observation
	Legal   []mancala.Mask // Batch: the legal actions
	// Policy holds the policy target, Batch × Actions: a distribution on the legal actions.
	Policy       []float32
	PolicyWeight []float32 // Batch: weight of the row in the policy loss, 0 where there is no target
	// Value holds the value target, Batch × 3: a distribution on the mover's win, draw and loss.
	Value       []float32
	ValueWeight []float32 // Batch: weight of the row in the value and margin losses, 0 where the episode was truncated
	// Margin holds the margin of seeds for the mover, −1 to 1, one a row; nothing without a margin head.
	Margin []float32
}

// NewBatch returns a Batch for n rows of networks of shape s, all zero.
func NewBatch(n int, s neural.Shape) *Batch {
	b := &Batch{
		Indices:      make([]int32, n*s.Active),
		Legal:        make([]mancala.Mask, n),
		Policy:       make([]float32, n*s.Actions),
		PolicyWeight: make([]float32, n),
		Value:        make([]float32, n*neural.Outcomes),
		ValueWeight:  make([]float32, n),
	}
	if s.MarginHead {
		b.Margin = make([]float32, n)
	}
	return b
}

// slack is how far a target's sum may be from 1.
const slack = 1e-3

// check returns an error unless b is n good rows for networks of shape s.
func (b *Batch) check(n int, s neural.Shape) error {
	margins := 0
	if s.MarginHead {
		margins = 1
	}
	for _, c := range []struct {
		name     string
		got, row int
	}{
		{"indices", len(b.Indices), s.Active},
		{"legal masks", len(b.Legal), 1},
		{"policy targets", len(b.Policy), s.Actions},
		{"policy weights", len(b.PolicyWeight), 1},
		{"value targets", len(b.Value), neural.Outcomes},
		{"value weights", len(b.ValueWeight), 1},
		{"margins", len(b.Margin), margins},
	} {
		if c.got != n*c.row {
			return fmt.Errorf("learner: batch with %d %s: must be %d rows of %d", c.got, c.name, n, c.row)
		}
	}
	for i, x := range b.Indices {
		if x < 0 || int(x) >= s.Inputs {
			return fmt.Errorf("learner: row %d has active index %d: must be 0 to %d", i/s.Active, x, s.Inputs-1)
		}
	}
	every := ^mancala.Mask(0) >> (64 - s.Actions)
	for r := range n {
		if b.Legal[r]&^every != 0 {
			return fmt.Errorf("learner: row %d has legal mask %#x: must be within %d actions", r, uint64(b.Legal[r]), s.Actions)
		}
		if err := target(b.Policy[r*s.Actions:(r+1)*s.Actions], b.PolicyWeight[r], b.Legal[r]); err != nil {
			return fmt.Errorf("learner: row %d has a policy target %w", r, err)
		}
		if err := target(b.Value[r*neural.Outcomes:(r+1)*neural.Outcomes], b.ValueWeight[r], 1<<neural.Outcomes-1); err != nil {
			return fmt.Errorf("learner: row %d has a value target %w", r, err)
		}
		if s.MarginHead && b.ValueWeight[r] != 0 && !(b.Margin[r] >= -1 && b.Margin[r] <= 1) {
			return fmt.Errorf("learner: row %d has margin %v: must be -1 to 1", r, b.Margin[r])
		}
	}
	return nil
}

// target returns an error unless weight is good and, if it is not 0, p a distribution on the places of mask.
func target(p []float32, weight float32, mask mancala.Mask) error {
	if !(weight >= 0 && weight <= math.MaxFloat32) {
		return fmt.Errorf("of weight %v: must be 0 or more, and finite", weight)
	}
	if weight == 0 {
		return nil
	}
	sum := 0.0
	for a, v := range p {
		if !(v >= 0) || v > 0 && !mask.Has(mancala.Action(a)) {
			return fmt.Errorf("with %v at %d: must be 0 or more, and 0 where illegal", v, a)
		}
		sum += float64(v)
	}
	if !(math.Abs(sum-1) <= slack) {
		return fmt.Errorf("with sum %v: must be 1", sum)
	}
	return nil
}
