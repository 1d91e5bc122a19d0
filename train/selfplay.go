package train

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/arena"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
	"golang.org/x/sync/errgroup"
)

// lanes is the number of games that a worker plays in lockstep. It changes the speed, never the games.
const lanes = 64

// selfPlay plays the games of an iteration: every action of both sides by search, after an opening of random plies. A
// game depends on the seed, the iteration and its number, so workers and lanes change nothing. In an arranged
// game (O1) the players place their own seeds in every other game, the opening generator does in the rest.
type selfPlay struct {
	rules     mancala.Rules
	cfg       SelfPlayConfig
	seed      uint64
	iteration int
	name      string // the agent's, for the records
	searcher  func() (agents.Searcher, error)
	workers   int
	progress  func(done, total int)
}

// lane is a game under way.
type lane struct {
	rng   *rand.Rand
	state mancala.State
	e     *env.Episode
	// opening is the number of plies that the opening generator played.
	opening int
}

// play returns the episodes in the order of their numbers.
func (p *selfPlay) play(ctx context.Context) ([]env.Episode, error) {
	episodes := make([]env.Episode, p.cfg.Games)
	workers, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	var one sync.Mutex
	done := 0
	report := func() {
		one.Lock()
		defer one.Unlock()
		done++
		p.progress(done, p.cfg.Games)
	}
	for range min(p.workers, p.cfg.Games) {
		workers.Go(func() error {
			s, err := p.searcher()
			if err != nil {
				return err
			}
			return p.work(ctx, s, episodes, &next, report)
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	return episodes, nil
}

// work plays games until none is left.
func (p *selfPlay) work(ctx context.Context, s agents.Searcher, episodes []env.Episode, next *atomic.Int64, report func()) error {
	actions := p.rules.Info().Actions
	var open []*lane
	roots := make([]mancala.State, lanes)
	seeds := make([]uint64, lanes)
	found := agents.NewResult(lanes, actions)
	for {
		for len(open) < lanes {
			g := int(next.Add(1)) - 1
			if g >= len(episodes) {
				break
			}
			l, err := p.start(g, &episodes[g])
			if err != nil {
				return err
			}
			open = append(open, l)
		}
		if len(open) == 0 {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		for i, l := range open {
			roots[i], seeds[i] = l.state, l.rng.Uint64()
		}
		if err := s.Search(roots[:len(open)], seeds[:len(open)], found); err != nil {
			return err
		}
		going := open[:0]
		for i, l := range open {
			at := i * actions
			l.state = p.step(l.e, l.state, env.Ply{
				Action: found.Actions[i],
				Policy: append([]float32(nil), found.Policy[at:at+actions]...),
				Visits: append([]uint32(nil), found.Visits[at:at+actions]...),
				Value:  found.Value[i],
			})
			if l.state.Over() || p.cfg.MaxPlies > 0 && len(l.e.Plies)-l.opening >= p.cfg.MaxPlies {
				l.e.Final, l.e.Truncated = l.state, !l.state.Over()
				report()
				continue
			}
			going = append(going, l)
		}
		open = going
	}
}

// start plays the opening of game g.
func (p *selfPlay) start(g int, e *env.Episode) (*lane, error) {
	rng := rand.New(rand.NewPCG(p.seed, streamGame|uint64(p.iteration)<<24|uint64(g)))
	*e = env.Episode{
		Spec:   p.rules.Info().Spec,
		Number: uint64(p.iteration-1)*uint64(p.cfg.Games) + uint64(g),
		Seed:   p.seed,
		Agents: [2]string{p.name, p.name},
	}
	l := &lane{rng: rng, state: p.rules.Start(), e: e}
	if p.rules.Info().Arrange && g%2 != 0 {
		return l, nil
	}
	opening, _, err := arena.Opening(p.rules, rng, 0, p.cfg.OpeningPlies, nil)
	if err != nil {
		return nil, fmt.Errorf("train: self_play.opening_plies: %w", err)
	}
	for _, a := range opening {
		l.state = p.step(e, l.state, env.Ply{Action: a, Opening: true})
	}
	l.opening = len(opening)
	return l, nil
}

// step records a ply and returns the position after it.
func (p *selfPlay) step(e *env.Episode, s mancala.State, ply env.Ply) mancala.State {
	ply.State, ply.Legal = s, p.rules.Legal(s)
	s = p.rules.Next(s, ply.Action)
	ply.Reward = env.Outcome.Of(p.rules, s)
	e.Plies = append(e.Plies, ply)
	return s
}
