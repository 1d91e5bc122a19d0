package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/datasets"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/progress"
	"github.com/mancalagym/mancalagym/train"
)

const (
	maxIterations = 1_000_000
	maxBudget     = 10_000 * time.Hour
)

func trainCommand() *cobra.Command {
	var (
		out, config string
		opt         train.Options
		s           = runSeed{1}
	)
	c := &cobra.Command{
		Use:   "train SPEC --out DIR",
		Short: "Train an agent by self-play",
		Long: `Train a network by self-play, in iterations of playing, recording, fitting, gating; then rate it.

Everything goes into the directory: the configuration, the games as a dataset, the weights of every iteration, the best
network under the name best, the log, the ratings. The same command on the directory goes on after the last iteration that
was completed, even if the program was killed. Budget and iterations are those of the whole run: give more to go on
with one that is finished. The result depends on the configuration and the seed alone.`,
		Example: `  mancala train modiar --budget 2m --out runs/first
  mancala tournament modiar --agent net:weights=runs/first/best,sims=64 --agent random --games 400`,
		Args:              oneSpec(),
		ValidArgsFunction: completeSpec,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := parseSpec(args[0])
			if err != nil {
				return err
			}
			if out == "" {
				return wrong("--out: no directory: want one to train in")
			}
			if opt.Iterations == 0 && opt.Budget == 0 {
				return wrong("--budget, --iterations: neither is given: want a time such as 3m, or a number")
			}
			var chosen *uint64
			if c.Flags().Changed("seed") {
				chosen = (*uint64)(&s.seed)
			}
			cfg, err := trainConfig(r, out, config, chosen)
			if err != nil {
				return err
			}
			return runTraining(c, cfg, out, opt)
		},
	}
	c.Flags().StringVar(&out, "out", "", "directory of the run, made or gone on with")
	c.Flags().Var(&span{&opt.Budget, time.Second, maxBudget}, "budget", "time to train in all, looked at between iterations")
	numberFlag(c, &opt.Iterations, "iterations", 1, maxIterations, "iterations in all")
	c.Flags().Var(&s, "seed", "source of all chance, "+s.allowed()+": the same seed gives the same result")
	workersFlag(c, &opt.Workers)
	c.Flags().StringVar(&config, "config", "", "TOML file with keys of config.toml, over the defaults of the variant")
	c.Flags().BoolVar(&opt.AllowKernelChange, "allow-kernel-change", false, "go on with a run that another kind of processor began")
	return c
}

// runSeed is a flag for a seed that config.toml can hold.
type runSeed struct{ seed }

func (s *runSeed) allowed() string {
	return fmt.Sprintf("a whole number from 0 to %d", uint64(train.MaxSeed))
}

func (s *runSeed) Set(text string) error {
	if err := s.seed.Set(text); err != nil || s.seed > train.MaxSeed {
		return fmt.Errorf("want %s", s.allowed())
	}
	return nil
}

// trainConfig lays file and flags over the configuration of the run in dir, or over the defaults where there is none. A run
// goes on with what it began with only.
func trainConfig(r mancala.Rules, dir, file string, chosen *uint64) (train.Config, error) {
	stored, err := train.ReadConfig(dir)
	if err != nil {
		return train.Config{}, err
	}
	var cfg train.Config
	if stored != nil {
		cfg = *stored
		cfg.Spec = r.Info().Spec
	} else {
		cfg = train.Default(r)
	}
	if file != "" {
		if err := cfg.ReadFile(file); err != nil {
			return cfg, wrong("--config: %w", err)
		}
		if again, err := mancala.Parse(cfg.Spec); err != nil {
			return cfg, wrong("--config: %s: %w", file, err)
		} else if again.Info().Spec != r.Info().Spec {
			return cfg, wrong("--config: %s: spec is %s: want %s as on the command line, or no spec", file, cfg.Spec, r.Info().Spec)
		}
		cfg.Spec = r.Info().Spec
	}
	if chosen != nil {
		cfg.Seed = *chosen
	}
	if stored != nil {
		if err := cfg.Differs(stored); err != nil {
			return cfg, wrong("--out: %s: %w", dir, err)
		}
	}
	if err := cfg.Validate(); err != nil {
		return cfg, blame(err, err)
	}
	return cfg, nil
}

func runTraining(c *cobra.Command, cfg train.Config, out string, opt train.Options) error {
	news := c.ErrOrStderr()
	bar := progress.New(news, "train "+cfg.Spec, "", 1)
	defer bar.Close()
	var stage train.Progress
	opt.Log = bar.Print
	opt.Progress = func(p train.Progress) {
		if p.Iteration != stage.Iteration || p.Stage != stage.Stage {
			bar.Start(fmt.Sprintf("iteration %d%s: %s", p.Iteration, share(p.Elapsed, opt.Budget), p.Stage), map[bool]string{true: "steps", false: "games"}[p.Stage == "fit"], p.Total)
		}
		stage = p
		bar.Set(p.Done)
	}
	result, err := train.Run(c.Context(), cfg, out, opt)
	bar.Close()
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("train: interrupted: the same command goes on after the last completed iteration in %s", out)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %d %s in %v; the best network is that of iteration %d: %s\n\n",
		cfg.Spec, result.Iteration, datasets.Plural(result.Iteration, "iteration"), result.Elapsed.Round(time.Second), result.Best, out+"/best")
	return result.Report.Text(c.OutOrStdout())
}

// share tells how much of a budget is used up.
func share(elapsed, budget time.Duration) string {
	if budget == 0 {
		return ""
	}
	return fmt.Sprintf(" (%v of %v)", elapsed.Round(time.Second), budget)
}
