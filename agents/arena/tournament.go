package arena

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Standing is what a tournament says of one entrant.
type Standing struct {
	Rank  int    `json:"rank"` // from 1, by Elo
	Agent string `json:"agent"`
	// Elo is the Bradley-Terry rating: a lead of d points means an expected score of 1/(1 + 10^(−d/400)). Its 95 %
	// interval is Elo ± EloError; EloError is 0 for the anchor.
	Elo      float64  `json:"elo"`
	EloError float64  `json:"elo_error"`
	Score    Estimate `json:"score"` // over all opponents
	Games    int      `json:"games"`
	Wins     int      `json:"wins"`
	Draws    int      `json:"draws"`
	Losses   int      `json:"losses"`
}

// Report is the result of a tournament.
type Report struct {
	Variant      string     `json:"variant"` // the canonical spec
	RulesVersion int        `json:"rules_version"`
	Seed         uint64     `json:"seed,string"`
	Games        int        `json:"games_per_pairing"`
	OpeningPlies [2]int     `json:"opening_plies"` // the fewest and the most, arrangement plies aside
	MaxPlies     int        `json:"max_plies"`     // 0: no limit
	Anchor       string     `json:"anchor"`        // rated 0; "": the mean is
	Stopped      bool       `json:"stopped"`       // the context ended before the last game
	Standings    []Standing `json:"standings"`     // by rank
	Matches      []Match    `json:"matches"`       // those with a complete pair, in the order they were played
}

// Tournament plays cfg.Games games between any two of the entrants, who need different names, and rates them. Every
// pairing has openings and chance of its own, derived from cfg.Seed and the places of the two in entrants. The episodes go
// to the sink match after match: (0,1), (0,2), … (1,2), …, numbered through from 0, or with gaps after a match cut short.
//
// When ctx ends first, Tournament returns a Report of what has been played, marked Stopped, together with ctx's
// error. Any other error comes without a Report.
func Tournament(ctx context.Context, cfg Config, rules mancala.Rules, entrants []Entrant, sink env.Sink) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	n := len(entrants)
	if n < 2 || n > MaxEntrants {
		return nil, fmt.Errorf("arena: entrants %d: want from 2 to %d", n, MaxEntrants)
	}
	names := make([]string, n)
	for i, e := range entrants {
		if slices.Contains(names[:i], e.Name) {
			return nil, fmt.Errorf("arena: entrant %q: given twice: want different names", e.Name)
		}
		names[i] = e.Name
	}
	if cfg.Anchor != "" && !slices.Contains(names, cfg.Anchor) {
		return nil, fmt.Errorf("arena: anchor %q: want one of %q", cfg.Anchor, names)
	}
	b, err := seat(entrants, cfg)
	if err != nil {
		return nil, err
	}

	info := rules.Info()
	rep := &Report{
		Variant: info.Spec, RulesVersion: info.Version, Seed: cfg.Seed, Games: cfg.Games,
		OpeningPlies: [2]int{cfg.shortest(), cfg.OpeningPlies}, MaxPlies: cfg.MaxPlies, Anchor: cfg.Anchor,
	}
	var stopped error
	played, all := 0, n*(n-1)/2*cfg.Games
	for i := range n {
		for j := i + 1; j < n && stopped == nil; j++ {
			c := cfg
			c.Seed = rand.NewPCG(cfg.Seed, pairingStream|uint64(i)<<24|uint64(j)).Uint64()
			if cfg.Progress != nil {
				c.Progress = func(done, _ int) { cfg.Progress(played+done, all) }
			}
			m, err := b.play(ctx, c, rules, [2]int{i, j}, sink, uint64(played))
			if err != nil && (ctx.Err() == nil || !errors.Is(err, ctx.Err())) {
				return nil, err
			}
			stopped = err
			played += cfg.Games
			if m.Games+2*m.LeftOut > 0 {
				rep.Matches = append(rep.Matches, m)
			}
		}
	}
	rep.Stopped = stopped != nil
	if rep.Standings, err = standings(names, rep.Matches, slices.Index(names, cfg.Anchor)); err != nil {
		return nil, err
	}
	return rep, stopped
}

// standings rates the agents by their matches and ranks them; equals stay in the order of names.
func standings(names []string, matches []Match, anchor int) ([]Standing, error) {
	n := len(names)
	st := make([]Standing, n)
	total := make([]evidence, n)
	between := make(map[[2]string]Match, len(matches))
	for _, m := range matches {
		between[m.Agents] = m
	}
	ps := make([]pairing, 0, n*(n-1)/2)
	for i, a := range names {
		st[i].Agent = a
		for j := i + 1; j < n; j++ {
			m := between[[2]string{a, names[j]}]
			e := m.Pairs.evidence()
			ps = append(ps, pairing{i, j, e})
			st[i].count(m)
			total[i] = total[i].add(e)
			m = m.swapped()
			st[j].count(m)
			total[j] = total[j].add(m.Pairs.evidence())
		}
	}
	ratings, err := rate(n, ps, anchor)
	if err != nil {
		return nil, err
	}
	for i, r := range ratings {
		st[i].Elo, st[i].EloError = r.value, r.width
		st[i].Score = total[i].estimate()
	}
	slices.SortStableFunc(st, func(a, b Standing) int {
		switch {
		case a.Elo > b.Elo:
			return -1
		case a.Elo < b.Elo:
			return 1
		}
		return 0
	})
	for i := range st {
		st[i].Rank = i + 1
	}
	return st, nil
}

func (s *Standing) count(m Match) {
	s.Games += m.Games
	s.Wins += m.Wins
	s.Draws += m.Draws
	s.Losses += m.Losses
}

// swapped returns the match as the second agent sees it.
func (m Match) swapped() Match {
	m.Agents[0], m.Agents[1] = m.Agents[1], m.Agents[0]
	m.Wins, m.Losses = m.Losses, m.Wins
	m.Score = Estimate{1 - m.Score.Value, 1 - m.Score.High, 1 - m.Score.Low}
	slices.Reverse(m.Pairs[:])
	return m
}
