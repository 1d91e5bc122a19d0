package arena

import (
	"context"
	"fmt"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
	"golang.org/x/sync/errgroup"
)

// Entrant is an agent by name and by factory: each goroutine that plays makes one of its own.
type Entrant struct {
	Name string
	New  func() (agents.Agent, error)
}

// Match is the result of the games between two entrants, as the first of them sees it.
type Match struct {
	Agents [2]string `json:"agents"`
	Seed   uint64    `json:"seed,string"` // Play with this seed gives the match again

	// The scored games, two a pair; Wins + Draws + Losses = Games. Games annulled by C3, which a real match would replay, are draws.
	Games    int `json:"games"`
	Wins     int `json:"wins"`
	Draws    int `json:"draws"`
	Losses   int `json:"losses"`
	Annulled int `json:"annulled"`
	// Adjudicated counts the scored games that Config.Adjudicator ended.
	Adjudicated int `json:"adjudicated,omitempty"`

	// Score is (Wins + Draws/2) / Games with its interval over pairs; without games it is 0.5, from 0 to 1. Pairs counts
	// the scored pairs by the points made in them.
	Score Estimate `json:"score"`
	Pairs Pairs    `json:"pairs"`

	// Games that MaxPlies stopped, and pairs that have no score because of them.
	Truncated int `json:"truncated"`
	LeftOut   int `json:"left_out"`

	// Different sequences of actions among all games played, scored or not, and among their openings.
	DistinctGames    int `json:"distinct_games"`
	DistinctOpenings int `json:"distinct_openings"`
}

// Beats reports whether the whole 95 % interval of the first agent's score lies above bound, from 0 to 1. An agent
// whose true score is bound passes in about one match in forty.
func (m *Match) Beats(bound float64) bool { return m.Score.Low > bound }

// Play plays cfg.Games games between two entrants, South and North in turn. The first game of a pair has
// entrants[0] as South. Finished episodes go to the sink, if there is one, in order: the two games of pair 0,
// of pair 1, and so on, numbered from 0; plies of the opening are flagged. A truncated game is written too.
//
// When ctx ends first, Play returns what it has with ctx's error: the pairs before the first that is
// incomplete, the same as those of a shorter match. Any other error comes with an empty Match: one of the
// Config, of a factory or a sink, or of an agent that fails or chooses an illegal action.
func Play(ctx context.Context, cfg Config, rules mancala.Rules, entrants [2]Entrant, sink env.Sink) (Match, error) {
	if err := cfg.Validate(); err != nil {
		return Match{}, err
	}
	b, err := seat(entrants[:], cfg)
	if err != nil {
		return Match{}, err
	}
	return b.play(ctx, cfg, rules, [2]int{0, 1}, sink, 0)
}

// bench holds the agents of every worker, made when they are first needed.
type bench struct {
	entrants []Entrant
	made     [][]agents.Agent // by worker, then entrant
}

func seat(entrants []Entrant, cfg Config) (*bench, error) {
	b := &bench{entrants: entrants, made: make([][]agents.Agent, cfg.Workers)}
	for i, e := range entrants {
		if e.Name == "" || e.New == nil {
			return nil, fmt.Errorf("arena: entrant %d %q: want a name and a factory", i, e.Name)
		}
	}
	for w := range b.made {
		b.made[w] = make([]agents.Agent, len(entrants))
	}
	return b, nil
}

// agent returns entrant i's agent of worker w; only that worker may call it.
func (b *bench) agent(w, i int) (agents.Agent, error) {
	if b.made[w][i] == nil {
		a, err := b.entrants[i].New()
		if err != nil {
			return nil, fmt.Errorf("arena: agent %q: %w", b.entrants[i].Name, err)
		}
		if a == nil {
			return nil, fmt.Errorf("arena: agent %q: the factory made none: want an agent or an error", b.entrants[i].Name)
		}
		b.made[w][i] = a
	}
	return b.made[w][i], nil
}

// play plays the match of two entrants, by index. Episodes are numbered from base.
func (b *bench) play(ctx context.Context, cfg Config, rules mancala.Rules, who [2]int, sink env.Sink, base uint64) (Match, error) {
	if info := rules.Info(); cfg.Adjudicator != nil && !info.Stores {
		return Match{}, fmt.Errorf("arena: adjudicator: %s has no stores: want none", info.Spec)
	}
	hall, stop := context.WithCancel(ctx)
	defer stop()
	workers, hall := errgroup.WithContext(hall)
	n := min(cfg.Workers, cfg.Games)
	cfg.Batch = min(cfg.Batch, (cfg.Games+n-1)/n)
	t := &tables{cfg: cfg, rules: rules, out: make(chan *game, n)}
	for w := range n {
		workers.Go(func() error {
			var pair [2]player
			for k, i := range who {
				a, err := b.agent(w, i)
				if err != nil {
					return err
				}
				pair[k] = player{b.entrants[i].Name, a}
			}
			return t.work(hall, pair)
		})
	}
	var failed error
	go func() { failed = workers.Wait(); close(t.out) }()

	s := newScorer(cfg, rules, [2]string{b.entrants[who[0]].Name, b.entrants[who[1]].Name}, sink, base)
	var broken error
	done := 0
	for g := range t.out {
		if broken != nil {
			continue
		}
		if broken = s.add(g); broken != nil {
			stop()
			continue
		}
		if done++; cfg.Progress != nil {
			cfg.Progress(done, cfg.Games)
		}
	}
	if broken == nil {
		broken = failed
	}
	if broken != nil {
		return Match{}, broken
	}
	if s.next < cfg.Games {
		return s.result(), ctx.Err()
	}
	return s.result(), nil
}
