// Package agents defines what plays: the Agent that chooses actions, and the seams inside one, which
// are the Evaluator of leaf positions, the Searcher of trees and the Prober of exact values.
//
// All of them are batch first: slices of rows in, caller-owned slices out. Row i of an answer depends only on
// row i of the question, never on the size of the batch, the place in it or earlier calls; so games
// may be played in any grouping on any number of goroutines with the same result. None is safe for
// concurrent use unless it says so: make one a goroutine.
package agents

import "github.com/mancalagym/mancalagym/env/mancala"

// Agent chooses actions.
type Agent interface {
	// Act writes the choice for states[i] to actions[i]. No state may be over. seeds[i] is the only
	// source of chance for row i: the same state and seed give the same action. The three slices are of
	// one length.
	Act(states []mancala.State, seeds []uint64, actions []mancala.Action) error
}

// Batch is what an Evaluator reads and writes: n rows, all storage the caller's.
type Batch struct {
	// Read by the Evaluator. No state is over.
	States []mancala.State // n
	Legal  []mancala.Mask  // n: the legal actions of States
	Seeds  []uint64        // n: chance for the row, if the Evaluator needs any
	// Written by the Evaluator.
	Prior []float32 // n × Info.Actions, row-major: probabilities that sum to 1 over the legal actions, 0 elsewhere
	Value []float32 // n: what the position is worth to the mover, −1 … 1: the expected outcome, or what else the Evaluator says
}

// Evaluator gives positions a prior and a value.
type Evaluator interface {
	Evaluate(b *Batch) error
}

// Result is what a Searcher writes: n rows, all storage the caller's. A is Info.Actions.
type Result struct {
	Actions []mancala.Action // n: the action to play
	Visits  []uint32         // n × A: simulations that went through each action
	Q       []float32        // n × A: completed action values for the mover, −1 … 1; 0 for illegal actions
	Policy  []float32        // n × A: the improved policy, the target for learning; sums to 1
	Value   []float32        // n: the root's value for the mover, −1 … 1
}

// NewResult returns a Result for n rows of a variant with the given number of actions.
func NewResult(n, actions int) *Result {
	return &Result{
		Actions: make([]mancala.Action, n),
		Visits:  make([]uint32, n*actions),
		Q:       make([]float32, n*actions),
		Policy:  make([]float32, n*actions),
		Value:   make([]float32, n),
	}
}

// Searcher looks ahead from many roots in lockstep.
type Searcher interface {
	// Search fills the first len(roots) rows of out. No root may be over; seeds[i] is the only source of
	// chance for row i.
	Search(roots []mancala.State, seeds []uint64, out *Result) error
}

// Prober knows the exact value of some positions.
type Prober interface {
	// Probe returns the best store difference the mover can still make, and whether s is known.
	Probe(s mancala.State) (value int, ok bool)
}

// Final returns the store difference, South's less North's, with which s ends under best play, if p knows s. It is for
// variants with stores.
func Final(p Prober, s *mancala.State) (difference int, ok bool) {
	v, ok := p.Probe(*s)
	if s.Mover() == mancala.North {
		v = -v
	}
	return s.Store(mancala.South) - s.Store(mancala.North) + v, ok
}
