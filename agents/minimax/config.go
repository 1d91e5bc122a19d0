package minimax

import (
	"fmt"
	"time"

	"github.com/mancalagym/mancalagym/agents"
)

// MaxDepth is the most plies a search looks ahead.
const MaxDepth = 255

// MaxTableMB bounds Config.TableMB.
const MaxTableMB = 1 << 14

// Config says how far an Agent looks. The search ends at the first of the limits it reaches; the answer is then
// that of the last depth searched in full. Start from Default.
type Config struct {
	Depth int // plies, 1 … MaxDepth

	// Nodes is the most positions a search plays out, 0 for no limit. It is looked at between two expansions, so
	// a search may exceed it by the actions of one position; and depth 1 is always searched in full.
	Nodes uint64

	// Time is the most time a search takes, 0 for no limit. With it an answer depends on the machine and its
	// load: it cannot be reproduced, and the Agent breaks the promise that a row depends on its state alone.
	Time time.Duration

	TableMB int // size of the transposition table in units of 2²⁰ bytes, 1 … MaxTableMB

	// Prober, if given, is asked about every position at the horizon. What it knows takes the place of the static
	// value. Only variants with stores have one.
	Prober agents.Prober
}

// Default returns the configuration of the agent "minimax": 8 plies, a table of 16 MB, no other limit.
func Default() Config { return Config{Depth: 8, TableMB: 16} }

// Validate returns an error that names the first field out of its range.
func (c Config) Validate() error {
	switch {
	case c.Depth < 1 || c.Depth > MaxDepth:
		return fmt.Errorf("minimax: depth %d: must be 1 to %d", c.Depth, MaxDepth)
	case c.Time < 0:
		return fmt.Errorf("minimax: time %v: must be 0 (no limit) or more", c.Time)
	case c.TableMB < 1 || c.TableMB > MaxTableMB:
		return fmt.Errorf("minimax: table %d MB: must be 1 to %d", c.TableMB, MaxTableMB)
	}
	return nil
}
