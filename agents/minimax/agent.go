// Package minimax is the alpha-beta agent: it looks a number of plies ahead and plays what is best if both
// players do.
//
// The value of a position for its mover, d plies deep, is
//
//   - the result, if the game is over: Win + the final store difference for a win, the same with the sign turned for a
//     loss, 0 for a draw and for an annulled game. In Omweso, where seeds never leave play, it is Win − the
//     number of plies from the root for a win: a player who can win at every move must not put it off for ever;
//   - the static value, if d is 0: the store difference; in Omweso the difference of seeds on the two sides, where a
//     hand belongs to the mover, plus the difference of mobility, which is the number of pits with two seeds or
//     more. Only those can be sown (O2), and a player without any loses (O12). Unlike the legal actions it is
//     defined for the player whose turn it is not, and within a turn, so that the value for the
//     one player is always minus that for the other;
//   - otherwise the highest value, for the mover, of the positions that the legal actions lead to, d−1 plies deep.
//
// Every action is a ply: a pass, a choice within a turn and the next play of a player who moves again too. The sign turns where
// the mover changes, and only there. The agent plays the lowest action among the best.
//
// How this value is found (iterative deepening, principal variation search with a transposition table, aspiration
// windows) changes nothing in it: value and action are those of plain minimax. Nothing is kept from one search to the
// next, so that an answer is a function of the position, even where nodes are limited.
package minimax

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Agent searches positions of one variant. It implements agents.Agent. It is not safe for concurrent use: make
// one a goroutine. It holds its table and Config.Depth frames of 56 · Info.Actions bytes and allocates nothing
// after New.
type Agent struct {
	rules   mancala.Rules
	config  Config
	quiet   int  // the limit, C1
	arrange bool // O1
	worth   worth
	table   table
	frames  []frame // by distance from the root
	pv      []mancala.Action
	past    [2][64]uint32 // by player and action: how often it cut, weighed by depth

	nodes    uint64
	check    uint64 // look at the limits when nodes gets here
	deadline time.Time
	halted   bool
}

// Analysis is the answer of a search.
type Analysis struct {
	Value  int            // of the root for its mover; see the package
	Action mancala.Action // the lowest of the best
	// PV is a line of best play that begins with Action and leads to Value: Depth plies, or fewer to the end of the
	// game. It is valid until the next call.
	PV    []mancala.Action
	Nodes uint64 // positions played out, those of unfinished depths included
	Depth int    // plies searched in full
}

// New returns an Agent. It fails for missing rules, a Config that Validate refuses and a Prober in a variant
// without stores.
func New(r mancala.Rules, c Config) (*Agent, error) {
	if r == nil {
		return nil, errors.New("minimax: rules nil: must be given")
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	info := r.Info()
	if c.Prober != nil && !info.Stores {
		return nil, fmt.Errorf("minimax: prober in %s: must be a variant with stores", info.Spec)
	}
	a := &Agent{
		rules: r, config: c, quiet: info.Quiet, arrange: info.Arrange,
		worth:  worth{stores: info.Stores, prober: c.Prober},
		table:  newTable(c.TableMB << 20 / bucketBytes),
		frames: make([]frame, c.Depth+1),
		pv:     make([]mancala.Action, 0, c.Depth),
	}
	if !info.Stores {
		a.worth.late = 1
	}
	for i := range a.frames {
		a.frames[i] = newFrame(info.Actions, c.Depth-i)
	}
	return a, nil
}

// Config returns the configuration of the search.
func (a *Agent) Config() Config { return a.config }

// Act implements agents.Agent. It needs no chance: seeds are not looked at. A single legal action is played without a search. It
// fails for slices of different lengths and for a state without a legal action; the actions are then
// undefined.
func (a *Agent) Act(states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	if len(seeds) != len(states) || len(actions) != len(states) {
		return fmt.Errorf("minimax: %d states, %d seeds and %d actions: must be of one length", len(states), len(seeds), len(actions))
	}
	for i, s := range states {
		m := a.rules.Legal(s)
		switch m.Len() {
		case 0:
			return fmt.Errorf("minimax: state %d has no legal action: must be a game that goes on", i)
		case 1:
			actions[i] = m.First()
		default:
			actions[i] = a.analyze(s, m).Action
		}
	}
	return nil
}

// Analyze searches one position. It fails for a position without a legal action.
func (a *Agent) Analyze(s mancala.State) (Analysis, error) {
	m := a.rules.Legal(s)
	if m == 0 {
		return Analysis{}, fmt.Errorf("minimax: state %q has no legal action: must be a game that goes on", mancala.FormatState(a.rules, s))
	}
	return a.analyze(s, m), nil
}

// analyze searches s, where m is legal, and remembers nothing of searches before.
func (a *Agent) analyze(s mancala.State, m mancala.Mask) Analysis {
	a.table.forget()
	return a.deepen(s, m)
}

// deepen searches ever deeper until a limit is reached.
func (a *Agent) deepen(s mancala.State, m mancala.Mask) (best Analysis) {
	a.past = [2][64]uint32{}
	a.nodes, a.halted = 0, false
	a.check = math.MaxUint64 // depth 1 is searched in full
	if a.config.Time > 0 {
		a.deadline = time.Now().Add(a.config.Time)
	}
	root := &a.frames[0]
	root.n = 0
	a.expand(root, &s, m)
	for depth := 1; depth <= a.config.Depth; depth++ {
		value := a.aspire(&s, depth, best.Value)
		if a.halted {
			break
		}
		a.pv = append(a.pv[:0], root.line...)
		best = Analysis{Value: value, Action: a.pv[0], PV: a.pv, Depth: depth}
		root.lead(best.Action)
		a.check = a.nodes
	}
	best.Nodes = a.nodes
	return best
}

// halt looks at the limits and says whether to stop.
func (a *Agent) halt() bool {
	const every = 4096 // nodes between two looks at the clock
	a.check = math.MaxUint64
	if a.config.Nodes > 0 {
		a.check = a.config.Nodes
		a.halted = a.halted || a.nodes >= a.config.Nodes
	}
	if a.config.Time > 0 {
		a.check = min(a.check, a.nodes+every)
		a.halted = a.halted || !time.Now().Before(a.deadline)
	}
	if a.halted {
		a.check = 0
	}
	return a.halted
}
