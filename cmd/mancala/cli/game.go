package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/catalog"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// The streams of rand.NewPCG. A game's own seed also feeds its opening, as env.Options says.
const (
	streamGame = 0x67616d65 << 32   // of an export's seed, plus the game's number: the seed of the game
	streamPly  = 0x706c696573 << 16 // of a game's seed: one number for each ply, the chance of the agent that acts
)

// gameSeed returns the seed of an export's game.
func gameSeed(seed uint64, number int) uint64 {
	return rand.NewPCG(seed, streamGame+uint64(number)).Uint64()
}

// pairing is two agents and how they play.
type pairing struct {
	rules    mancala.Rules
	agents   [2]catalog.Entry // South's and North's
	opening  int              // random plies before the agents take over
	maxPlies int              // of the agents; then the game is truncated. 0 is no limit
}

// game is an episode in the making.
type game struct {
	*pairing
	env.Episode
	state  mancala.State
	chance *rand.PCG
	end    int // most plies; 0 is no limit
}

// start begins a game with its opening. The same seed gives the same game, whatever number it has.
func (p *pairing) start(seed, number uint64) (*game, error) {
	e, err := env.New(p.rules, env.Options{OpeningPlies: p.opening})
	if err != nil {
		return nil, err
	}
	t, err := e.Reset(seed)
	if err != nil {
		return nil, err
	}
	g := &game{
		pairing: p,
		Episode: env.Episode{
			Spec: p.rules.Info().Spec, Number: number, Seed: seed,
			Agents: [2]string{p.agents[0].Name, p.agents[1].Name},
		},
		state:  p.rules.Start(),
		chance: rand.NewPCG(seed, streamPly),
	}
	for _, a := range t.Info.Played {
		g.play(a)
		g.Plies[len(g.Plies)-1].Opening = true
	}
	if p.maxPlies > 0 {
		g.end = len(g.Plies) + p.maxPlies
	}
	return g, nil
}

// play plays a legal action.
func (g *game) play(a mancala.Action) {
	next := g.rules.Next(g.state, a)
	g.Plies = append(g.Plies, env.Ply{
		State: g.state, Legal: g.rules.Legal(g.state), Action: a, Reward: env.Outcome.Of(g.rules, next),
	})
	g.state, g.Final = next, next
	g.Truncated = !next.Over() && len(g.Plies) == g.end
}

func (g *game) ended() bool { return g.state.Over() || g.Truncated }

// record plays games and writes them to the sink in order. What it writes is a function of the pairing, the seed and the
// number of games alone. It returns how many games it has written: when ctx ends first, a shorter run of the same games and
// ctx's error. told is called with the number of games played so far, from any goroutine.
func (p *pairing) record(ctx context.Context, seed uint64, games, workers int, sink env.Sink, told func(done int)) (int, error) {
	type block struct {
		first, n int
		games    chan []*game // one answer
	}
	size := min(max(games/(4*workers), 1), 64)
	var played atomic.Int64
	todo := make(chan block)
	queue := make(chan block, 2*workers) // the same blocks in order, and no more of them in memory
	work, inner := errgroup.WithContext(ctx)
	work.Go(func() error {
		defer close(todo)
		defer close(queue)
		for first := 0; first < games; first += size {
			b := block{first, min(size, games-first), make(chan []*game, 1)}
			for _, line := range []chan block{queue, todo} {
				select {
				case line <- b:
				case <-inner.Done():
					return nil
				}
			}
		}
		return nil
	})
	for range min(workers, games) {
		work.Go(func() error {
			var players [2]agents.Agent
			for i, e := range p.agents {
				var err error
				if players[i], err = e.New(); err != nil {
					return err
				}
			}
			for b := range todo {
				list, err := p.lockstep(inner, players, seed, b.first, b.n, func() { told(int(played.Add(1))) })
				if err != nil {
					return err
				}
				b.games <- list
			}
			return nil
		})
	}
	written := 0
	work.Go(func() error {
		for b := range queue {
			var list []*game
			select {
			case list = <-b.games:
			case <-inner.Done():
				return nil
			}
			for _, g := range list {
				if err := sink.Write(&g.Episode); err != nil {
					return err
				}
				written++
			}
		}
		return nil
	})
	if err := work.Wait(); err != nil {
		return written, err
	}
	return written, ctx.Err()
}

// lockstep plays n games, each player acting in all of them at once. told is called after each game.
func (p *pairing) lockstep(ctx context.Context, players [2]agents.Agent, seed uint64, first, n int, told func()) ([]*game, error) {
	games := make([]*game, n)
	for i := range games {
		var err error
		if games[i], err = p.start(gameSeed(seed, first+i), uint64(first+i)); err != nil {
			return nil, err
		}
	}
	states := make([]mancala.State, n)
	seeds := make([]uint64, n)
	actions := make([]mancala.Action, n)
	rows := make([]*game, 0, n)
	for live := true; live; {
		live = false
		for k, player := range players {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			rows = rows[:0]
			for _, g := range games {
				if !g.ended() && g.state.Mover() == mancala.Player(k) {
					states[len(rows)], seeds[len(rows)] = g.state, g.chance.Uint64()
					rows = append(rows, g)
				}
			}
			if len(rows) == 0 {
				continue
			}
			live = true
			if err := act(p.rules, p.agents[k].Name, player, states[:len(rows)], seeds, actions); err != nil {
				return nil, err
			}
			for i, g := range rows {
				if g.play(actions[i]); g.ended() {
					told()
				}
			}
		}
	}
	return games, nil
}

// act asks an agent and checks its answers: an agent may come from anywhere.
func act(r mancala.Rules, name string, a agents.Agent, states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	n := len(states)
	if err := a.Act(states, seeds[:n], actions[:n]); err != nil {
		return fmt.Errorf("agent %q: %w", name, err)
	}
	for i, s := range states {
		if legal := r.Legal(s); !legal.Has(actions[i]) {
			return fmt.Errorf("agent %q: action %d in %s: want one of %s", name, actions[i], mancala.FormatState(r, s), list(legal))
		}
	}
	return nil
}
