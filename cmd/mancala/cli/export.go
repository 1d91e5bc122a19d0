package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/agents/arena"
	"github.com/mancalagym/mancalagym/datasets"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/progress"
)

// limits are the flags that say how a game begins and when it is cut off.
type limits struct{ opening, plies int }

func (l *limits) flags(c *cobra.Command, opening string) {
	numberFlag(c, &l.opening, "opening-plies", 0, maxOpening, opening)
	numberFlag(c, &l.plies, "max-plies", 0, maxPlies,
		"truncate a game after so many plies of the agents, 0 for no limit (default 2000 in omweso, else 0)")
}

// most returns the limit of plies, by default that of matches.
func (l *limits) most(c *cobra.Command, r mancala.Rules) int {
	if c.Flags().Changed("max-plies") {
		return l.plies
	}
	return arena.Default(r).MaxPlies
}

func exportCommand() *cobra.Command {
	var (
		names     = [2]string{"random", "random"}
		games     = 100
		random    seed
		workers   int
		limit     limits
		out, form string
		force     bool
	)
	c := &cobra.Command{
		Use:   "export SPEC --out PATH",
		Short: "Play games between two agents and write them to a file",
		Long: `Play games between two agents, with fixed sides, and write them as JSON lines or Parquet.

` + outHelp + ` "-" is standard output (JSON lines).
The same seed gives the same bytes at any number of workers, and a game's own seed gives the same game to "mancala play".
An interrupt ends with the games that are finished, and exit status 1.

` + agentHelp(),
		Example: "  mancala export urim --south greedy --north random --games 1000 --seed 1 --out urim.parquet\n" +
			"  mancala export omweso --games 10 --out - --format jsonl",
		Args:              oneSpec(),
		ValidArgsFunction: completeSpec,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := parseSpec(args[0])
			if err != nil {
				return err
			}
			p := &pairing{rules: r, opening: limit.opening, maxPlies: limit.most(c, r)}
			for i, flag := range []string{"south", "north"} {
				if p.agents[i], err = parseAgent(flag, names[i], r); err != nil {
					return err
				}
			}
			if out == "" {
				return wrong("--out is missing: want a path, or - for standard output")
			}
			if form == "" {
				form = format(out)
			}
			meta := datasets.Meta{Agents: [2]string{p.agents[0].Name, p.agents[1].Name}, Seed: uint64(random)}
			o, err := create(out, form, force, r, meta, c.OutOrStdout())
			if err != nil {
				return err
			}
			defer o.abort()

			bar := progress.New(c.ErrOrStderr(), "export", "games", games)
			done, err := p.record(c.Context(), uint64(random), games, workers, o, bar.Set)
			bar.Close()
			stopped := interrupted(c, err)
			if err != nil && !stopped {
				return fmt.Errorf("export: %w", err)
			}
			if stopped && done == 0 {
				return fmt.Errorf("export: stopped before the first of %d games: nothing is written", games)
			}
			if err := o.commit(); err != nil {
				return unwritable(out, err)
			}
			if stopped {
				return fmt.Errorf("export: stopped: %s has the first %d of %d games", out, done, games)
			}
			if out != "-" {
				fmt.Fprintf(c.OutOrStdout(), "%s: %d games, %d plies, %d truncated\n", out, done, o.plies, o.truncated)
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&names[0], "south", names[0], "`AGENT` that plays South, who moves first")
	f.StringVar(&names[1], "north", names[1], "`AGENT` that plays North")
	numberFlag(c, &games, "games", 1, maxGames, "games to play")
	seedFlag(c, &random)
	f.StringVar(&out, "out", "", "`PATH` to write to, or - for standard output")
	f.Var(&choice{&form, []string{"parquet", "jsonl"}}, "format", "of the file (default: by the name of PATH)")
	f.BoolVar(&force, "force", false, "replace what exists at PATH")
	limit.flags(c, "random plies at the start of each game")
	workersFlag(c, &workers)
	complete(c, "south", agentNames()...)
	complete(c, "north", agentNames()...)
	complete(c, "format", "parquet", "jsonl")
	return c
}
