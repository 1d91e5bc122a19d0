package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/agents/arena"
	"github.com/mancalagym/mancalagym/agents/tablebase"
	"github.com/mancalagym/mancalagym/datasets"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/internal/progress"
)

func tournamentCommand() *cobra.Command {
	var (
		names       []string
		games       = 100
		random      seed
		workers     int
		limit       limits
		anchor, out string
		adjudicate  string
		force       bool
		asJSON      bool
	)
	c := &cobra.Command{
		Use:   "tournament SPEC --agent AGENT --agent AGENT…",
		Short: "Let agents play each other and rate them",
		Long: `Let every two of the agents play --games games and rate them: Bradley-Terry ratings in Elo, scores, a cross table, all with 95 %
intervals. Games are played in pairs: one random opening twice, the sides swapped.

With --out the games are written too.
` + outHelp + `
The same seed gives the same games and the same report at any number of workers. An interrupt ends with a report of what has
been played, and exit status 1.

` + agentHelp(),
		Example:           "  mancala tournament oware --agent random --agent greedy --agent mcts:sims=100 --games 200 --anchor random",
		Args:              oneSpec(),
		ValidArgsFunction: completeSpec,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := parseSpec(args[0])
			if err != nil {
				return err
			}
			if len(names) < 2 || len(names) > arena.MaxEntrants {
				return wrong("--agent: given %d times: want 2 to %d agents, each with an --agent of its own", len(names), arena.MaxEntrants)
			}
			var entrants []arena.Entrant
			var known []string
			for _, name := range names {
				e, err := parseAgent("agent", name, r)
				if err != nil {
					return err
				}
				if slices.Contains(known, e.Name) {
					return wrong("--agent %q: given twice: want different agents", e.Name)
				}
				known = append(known, e.Name)
				entrants = append(entrants, arena.Entrant{Name: e.Name, New: e.New})
			}
			cfg := arena.Default(r)
			cfg.Games, cfg.Seed, cfg.Workers, cfg.MaxPlies = games, uint64(random), workers, limit.most(c, r)
			if c.Flags().Changed("opening-plies") {
				cfg.OpeningPlies = limit.opening
			}
			if anchor != "" {
				e, err := parseAgent("anchor", anchor, r)
				if err != nil {
					return err
				}
				if !slices.Contains(known, e.Name) {
					return wrong("--anchor %q: want one of %s", anchor, strings.Join(known, " "))
				}
				cfg.Anchor = e.Name
			}
			if adjudicate != "" {
				t, err := tablebase.Open(adjudicate, r)
				if errors.Is(err, tablebase.ErrVariant) {
					return wrong("--adjudicate: %w", err)
				}
				if err != nil {
					return fmt.Errorf("--adjudicate: %w", err)
				}
				defer t.Close()
				cfg.Adjudicator = t
			}
			if err := cfg.Validate(); err != nil {
				return misuse{err}
			}
			var sink env.Sink
			var o *output
			if out != "" {
				if out == "-" {
					return wrong("--out -: want a path: standard output has the report")
				}
				if o, err = create(out, format(out), force, r, datasets.Meta{Seed: uint64(random)}, nil); err != nil {
					return err
				}
				defer o.abort()
				sink = o
			}

			bar := progress.New(c.ErrOrStderr(), "tournament", "games", len(known)*(len(known)-1)/2*games)
			cfg.Progress = func(done, _ int) { bar.Set(done) }
			report, err := arena.Tournament(c.Context(), cfg, r, entrants, sink)
			bar.Close()
			stopped := interrupted(c, err) && report != nil
			if err != nil && !stopped {
				return fmt.Errorf("tournament: %s", strings.TrimPrefix(err.Error(), "arena: "))
			}
			if o != nil && len(report.Matches) > 0 { // first: the games are kept whatever becomes of standard output
				if err := o.commit(); err != nil {
					return unwritable(out, err)
				}
			}
			if asJSON {
				err = printJSON(c.OutOrStdout(), report)
			} else {
				err = report.Text(c.OutOrStdout())
			}
			if err != nil {
				return err
			}
			if stopped {
				return errors.New("tournament: stopped before the last game: the report is of what had been played")
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringArrayVar(&names, "agent", nil, "`AGENT` that takes part; one flag for each")
	f.Var(&number{value: &games, lo: 2, hi: arena.MaxGames, even: true}, "games", "games of a pairing, half of them with the sides swapped")
	seedFlag(c, &random)
	f.StringVar(&anchor, "anchor", "", "`AGENT` whose rating is 0 (default: the mean of all ratings is 0)")
	f.StringVar(&adjudicate, "adjudicate", "", "table `FILE` of mancala solve: games end as soon as it knows their result")
	f.StringVar(&out, "out", "", "`PATH` to write the games to")
	f.BoolVar(&force, "force", false, "replace what exists at PATH")
	limit.flags(c, "random plies at the start of each pair of games, half of it to all (default: by the variant)")
	workersFlag(c, &workers)
	jsonFlag(c, &asJSON, "a JSON object")
	complete(c, "agent", agentNames()...)
	return c
}
