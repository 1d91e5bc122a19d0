package env

import "github.com/mancalagym/mancalagym/env/mancala"

// Ply is one action of an episode and what was known when it was chosen.
type Ply struct {
	State   mancala.State  // before the action
	Legal   mancala.Mask   // in State
	Action  mancala.Action // in Legal
	Opening bool           // chosen by the opening generator, not by an agent
	Reward  [2]float32     // of South and North, on arrival
	// What a search said of State; nil and zero where none was kept.
	Policy []float32 // Info.Actions entries: the policy target
	Visits []uint32  // Info.Actions entries
	Value  float32   // for the mover, −1 … 1; meaningful only with Policy
}

// Episode is a game played to its end or to a limit, in the kernel's own terms.
type Episode struct {
	Spec      string    // canonical variant spec
	Number    uint64    // within its source, from 0
	Seed      uint64    // of its generator
	Agents    [2]string // South's and North's in text form; "" if unknown
	Plies     []Ply
	Final     mancala.State // after the last ply
	Truncated bool          // stopped by a limit, not by the rules: there is no result
}

// Sink takes finished episodes. It must copy what it keeps: the caller may use the Episode again.
type Sink interface {
	Write(e *Episode) error
}

// Opponent chooses the actions of the side that a wrapper plays itself. Every agents.Agent
// that acts on one state at a time can be one through a small adapter.
type Opponent interface {
	// Act returns a legal action of s, which is not over; seed is its only source of chance.
	Act(s mancala.State, seed uint64) (mancala.Action, error)
}
