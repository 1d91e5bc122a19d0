package arena

import (
	"fmt"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// scorer puts finished games back in order, counts them and hands them to the sink.
type scorer struct {
	rules    mancala.Rules
	sink     env.Sink
	base     uint64
	match    Match
	next     int           // the first game of the next pair
	waiting  map[int]*game // finished games from next on
	games    map[string]struct{}
	openings map[string]struct{}
	episode  env.Episode
}

func newScorer(cfg Config, r mancala.Rules, names [2]string, sink env.Sink, base uint64) *scorer {
	return &scorer{
		rules: r, sink: sink, base: base,
		match:    Match{Agents: names, Seed: cfg.Seed},
		waiting:  map[int]*game{},
		games:    map[string]struct{}{},
		openings: map[string]struct{}{},
		episode:  env.Episode{Spec: r.Info().Spec, Seed: cfg.Seed},
	}
}

// add takes a finished game and deals with all pairs that are now complete and in order.
func (s *scorer) add(g *game) error {
	s.waiting[g.number] = g
	for {
		pair := [2]*game{s.waiting[s.next], s.waiting[s.next+1]}
		if pair[0] == nil || pair[1] == nil {
			return nil
		}
		s.count(pair)
		for _, g := range pair {
			if err := s.write(g); err != nil {
				return err
			}
			delete(s.waiting, g.number)
		}
		s.next += 2
	}
}

func (s *scorer) count(pair [2]*game) {
	m := &s.match
	truncated := 0
	for _, g := range pair {
		s.games[string(g.actions)] = struct{}{}
		s.openings[string(g.actions[:g.opening])] = struct{}{}
		if g.truncated {
			truncated++
		}
	}
	if truncated > 0 {
		m.Truncated += truncated
		m.LeftOut++
		return
	}
	half := 2 // points × 2
	for k, g := range pair {
		z := g.returns()[k] // of the first agent, who is South, then North
		half += z
		m.Games++
		switch z {
		case 1:
			m.Wins++
		case 0:
			m.Draws++
		default:
			m.Losses++
		}
		if g.state.Reason() == mancala.Endless {
			m.Annulled++
		}
		if g.judged {
			m.Adjudicated++
		}
	}
	m.Pairs[half]++
}

// write plays the game again, now keeping what an episode holds.
func (s *scorer) write(g *game) error {
	if s.sink == nil {
		return nil
	}
	e := &s.episode
	e.Number = s.base + uint64(g.number)
	e.Agents = [2]string{s.match.Agents[g.side(mancala.South)], s.match.Agents[g.side(mancala.North)]}
	e.Truncated = g.truncated || g.judged
	e.Plies = e.Plies[:0]
	state := s.rules.Start()
	for i, a := range g.actions {
		e.Plies = append(e.Plies, env.Ply{State: state, Legal: s.rules.Legal(state), Action: a, Opening: i < g.opening})
		state = s.rules.Next(state, a)
	}
	e.Final = state
	if n := len(e.Plies); n > 0 {
		z := state.Returns()
		e.Plies[n-1].Reward = [2]float32{float32(z[0]), float32(z[1])}
	}
	if err := s.sink.Write(e); err != nil {
		return fmt.Errorf("arena: episode %d: %w", e.Number, err)
	}
	return nil
}

func (s *scorer) result() Match {
	m := s.match
	m.Score = m.Pairs.evidence().estimate()
	m.DistinctGames, m.DistinctOpenings = len(s.games), len(s.openings)
	return m
}
