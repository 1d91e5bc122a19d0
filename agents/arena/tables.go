package arena

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// game is one game of a match. Game 2p and game 2p+1 are pair p; in the latter the sides are swapped.
type game struct {
	number    int
	state     mancala.State
	actions   []mancala.Action
	opening   int // the first so many actions
	truncated bool
	judged    bool // by the Adjudicator
	south     int  // South's return then
	chance    rand.PCG
}

func (g *game) finished() bool { return g.state.Over() || g.truncated || g.judged }

// returns gives the result of a finished game that was not truncated to South and North.
func (g *game) returns() [2]int {
	if g.judged {
		return [2]int{g.south, -g.south}
	}
	return g.state.Returns()
}

// side returns which of the two players of the match plays p.
func (g *game) side(p mancala.Player) int { return int(p) ^ g.number&1 }

// player is an agent at the tables of one worker.
type player struct {
	name  string
	agent agents.Agent
}

// tables are where the workers of a match play: they take games in order and put them out finished.
type tables struct {
	cfg   Config
	rules mancala.Rules
	taken atomic.Int64
	out   chan *game
}

// work plays games until none is left or ctx ends. It keeps cfg.Batch of them going as long as there are
// enough, and asks each player for all positions where it is to move in one call.
func (t *tables) work(ctx context.Context, who [2]player) error {
	n := t.cfg.Batch
	live := make([]*game, 0, n)
	rows := make([]*game, 0, n)
	states := make([]mancala.State, n)
	seeds := make([]uint64, n)
	actions := make([]mancala.Action, n)
	for {
		for len(live) < n {
			next := int(t.taken.Add(1)) - 1
			if next >= t.cfg.Games {
				break
			}
			g, err := t.sit(next)
			if err != nil {
				return err
			}
			live = append(live, g)
		}
		if len(live) == 0 {
			return nil
		}
		for k, p := range who {
			rows = rows[:0]
			for _, g := range live {
				if !g.finished() && g.side(g.state.Mover()) == k {
					i := len(rows)
					states[i], seeds[i] = g.state, g.chance.Uint64()
					rows = append(rows, g)
				}
			}
			if ctx.Err() != nil {
				return nil
			}
			if err := t.act(p, rows, states, seeds, actions); err != nil {
				return err
			}
		}
		live = slices.DeleteFunc(live, func(g *game) bool {
			if g.finished() {
				t.out <- g
			}
			return g.finished()
		})
	}
}

// sit starts a game after its opening.
func (t *tables) sit(number int) (*game, error) {
	g := &game{number: number, chance: *rand.NewPCG(t.cfg.Seed, gameStream|uint64(number))}
	var err error
	g.actions, g.state, err = open(t.rules, t.cfg, number/2, make([]mancala.Action, 0, 128))
	g.opening = len(g.actions)
	return g, err
}

// act asks a player for its action in every row, and plays them.
func (t *tables) act(p player, rows []*game, states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	n := len(rows)
	if n == 0 {
		return nil
	}
	if err := p.agent.Act(states[:n], seeds[:n], actions[:n]); err != nil {
		return fmt.Errorf("arena: agent %q in %d positions, the first %s: %w", p.name, n, mancala.FormatState(t.rules, rows[0].state), err)
	}
	for i, g := range rows {
		a := actions[i]
		if legal := t.rules.Legal(g.state); !legal.Has(a) {
			return fmt.Errorf("arena: agent %q in %s: action %d: legal are %s", p.name, mancala.FormatState(t.rules, g.state), a, list(legal))
		}
		g.state = t.rules.Next(g.state, a)
		g.actions = append(g.actions, a)
		if t.cfg.Adjudicator != nil && !g.state.Over() {
			var d int
			if d, g.judged = agents.Final(t.cfg.Adjudicator, &g.state); g.judged {
				g.south = max(-1, min(d, 1))
				continue
			}
		}
		g.truncated = !g.state.Over() && t.cfg.MaxPlies > 0 && len(g.actions)-g.opening >= t.cfg.MaxPlies
	}
	return nil
}

// list writes a set of actions with spaces between them.
func list(m mancala.Mask) string {
	if m == 0 {
		return "none"
	}
	var b strings.Builder
	for a := range m.All {
		fmt.Fprintf(&b, " %d", a)
	}
	return b.String()[1:]
}
