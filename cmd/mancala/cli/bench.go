package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/mcts"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/progress"
)

const (
	benchStream = 0x62656e6368 // of seed 1: the random plies of bench
	benchLanes  = 256          // of the VectorEnv
	benchTrees  = 64           // searched in lockstep
	benchSims   = 100          // a search
)

// measure is one thing that bench measures.
type measure struct {
	key, head string
	make      func(r mancala.Rules) (work, error)
}

// work does some of a work and returns how much, some milliseconds at most.
type work func() (int, error)

var measures = []measure{
	{"plies_per_s", "plies/s", rulesWork},
	{"env_steps_per_s", "env steps/s", func(r mancala.Rules) (work, error) { return vectorWork(r, false) }},
	{"onehot_steps_per_s", "one-hot steps/s", func(r mancala.Rules) (work, error) { return vectorWork(r, true) }},
	{"sims_per_s", "sims/s", func(r mancala.Rules) (work, error) { return searchWork(r, agents.NewUniform(r)) }},
	{"rollout_sims_per_s", "rollout sims/s", func(r mancala.Rules) (work, error) { return searchWork(r, agents.NewRollout(r)) }},
}

// figure is the rates of some runs.
type figure struct{ median, low, high float64 }

func benchCommand() *cobra.Command {
	var (
		runs   = 5
		length = 200 * time.Millisecond
		asJSON bool
	)
	c := &cobra.Command{
		Use:   "bench [SPEC…]",
		Short: "Measure how fast this machine plays and searches",
		Long: fmt.Sprintf(`Measure the speed of one goroutine, for each variant (all families without a SPEC):

  plies            random games through the rules: legal actions, a choice, the next position
  env steps        a VectorEnv of %d lanes, random actions, without observations
  one-hot steps    the same with the sparse one-hot observation
  sims             simulations of the Gumbel tree search, %d a search and %d trees in lockstep, uniform evaluator
  rollout sims     the same, every leaf valued by a random game to its end

Every figure is the median of --runs runs; below it are the lowest and the highest. On Unix a second is one of processor time of
this process, elsewhere one of the clock.`, benchLanes, benchSims, benchTrees),
		Example: "  mancala bench urim oware\n  mancala bench --json --runs 9 modiar",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return mancala.Variants(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = mancala.Variants()
			}
			var rules []mancala.Rules
			for _, spec := range args {
				r, err := parseSpec(spec)
				if err != nil {
					return err
				}
				rules = append(rules, r)
			}
			bar := progress.New(c.ErrOrStderr(), "bench", "runs", len(rules)*len(measures)*runs)
			defer bar.Close()
			var rows [][]figure
			done := 0
			for _, r := range rules {
				row := make([]figure, len(measures))
				for i, m := range measures {
					var err error
					row[i], err = m.run(c.Context(), r, runs, length, func() { done++; bar.Set(done) })
					if interrupted(c, err) {
						err = errors.New("bench: stopped: the figures of complete variants are above")
					}
					if err != nil {
						bar.Close()
						if !asJSON && len(rows) > 0 {
							printBench(c.OutOrStdout(), rules[:len(rows)], rows)
						}
						return err
					}
				}
				rows = append(rows, row)
				if asJSON {
					if err := printBenchJSON(c.OutOrStdout(), r, row, runs, length); err != nil {
						return err
					}
				}
			}
			bar.Close()
			if asJSON {
				return nil
			}
			printBench(c.OutOrStdout(), rules, rows)
			fmt.Fprintf(c.OutOrStdout(), "\nper second of %s time, one goroutine: median of %d runs of %v, lowest–highest below it\n",
				map[string]string{"cpu": "processor", "wall": "clock"}[clock], runs, length)
			return nil
		},
	}
	numberFlag(c, &runs, "runs", 1, 1000, "runs of each measurement")
	c.Flags().Var(&span{&length, time.Millisecond, time.Minute}, "time", "of each run")
	jsonFlag(c, &asJSON, "a JSON object a line for each variant")
	return c
}

// run measures the rate of a work, once without counting.
func (m *measure) run(ctx context.Context, r mancala.Rules, runs int, length time.Duration, told func()) (figure, error) {
	w, err := m.make(r)
	if err != nil {
		return figure{}, err
	}
	if _, err := w(); err != nil {
		return figure{}, err
	}
	rates := make([]float64, runs)
	for i := range rates {
		n, begin, took := 0, spent(), time.Duration(0)
		for took < length {
			if err := ctx.Err(); err != nil {
				return figure{}, err
			}
			k, err := w()
			if err != nil {
				return figure{}, err
			}
			n += k
			took = spent() - begin
		}
		rates[i] = math.Round(float64(n) / took.Seconds())
		told()
	}
	slices.Sort(rates)
	return figure{(rates[(runs-1)/2] + rates[runs/2]) / 2, rates[0], rates[runs-1]}, nil
}

// rulesWork plays random games, about ten thousand plies at a time.
func rulesWork(r mancala.Rules) (work, error) {
	pcg := rand.NewPCG(1, benchStream)
	s := r.Start()
	return func() (int, error) {
		const plies = 10_000
		for range plies {
			legal := r.Legal(s)
			if legal == 0 {
				s = r.Start()
				legal = r.Legal(s)
			}
			s = r.Next(s, draw(pcg, legal))
		}
		return plies, nil
	}, nil
}

// draw returns one of the actions, all nearly alike.
func draw(pcg *rand.PCG, m mancala.Mask) mancala.Action {
	return m.Nth(int(pcg.Uint64() >> 32 * uint64(m.Len()) >> 32))
}

// vectorWork steps a VectorEnv.
func vectorWork(r mancala.Rules, onehot bool) (work, error) {
	o := env.VectorOptions{Autoreset: env.AutoresetSameStep}
	if onehot {
		o.Encoder = "onehot"
	}
	v, err := env.NewVector(r, benchLanes, o)
	if err != nil {
		return nil, err
	}
	b := v.Batch()
	if !onehot {
		b.Observations, b.FinalObservations = nil, nil
	}
	if err := v.Reset(1, b); err != nil {
		return nil, err
	}
	pcg := rand.NewPCG(1, benchStream)
	actions := make([]mancala.Action, benchLanes)
	return func() (int, error) {
		const steps = 20
		for range steps {
			for i, legal := range b.Legal {
				actions[i] = draw(pcg, legal)
			}
			if err := v.Step(actions, b); err != nil {
				return 0, err
			}
		}
		return steps * benchLanes, nil
	}, nil
}

// searchWork searches positions of random games.
func searchWork(r mancala.Rules, e agents.Evaluator) (work, error) {
	c := mcts.Default()
	c.Simulations = benchSims
	s, err := mcts.New(r, e, c)
	if err != nil {
		return nil, err
	}
	pcg := rand.NewPCG(1, benchStream)
	roots := make([]mancala.State, benchTrees)
	seeds := make([]uint64, benchTrees)
	for i := range roots {
		roots[i] = r.Start()
		for range i {
			if next := r.Next(roots[i], draw(pcg, r.Legal(roots[i]))); !next.Over() {
				roots[i] = next
			}
		}
	}
	out := agents.NewResult(benchTrees, r.Info().Actions)
	return func() (int, error) {
		for i := range seeds {
			seeds[i] = pcg.Uint64()
		}
		return benchTrees * benchSims, s.Search(roots, seeds, out)
	}, nil
}

func printBench(w io.Writer, rules []mancala.Rules, rows [][]figure) {
	width := len("variant")
	for _, r := range rules {
		width = max(width, len(r.Info().Spec))
	}
	fmt.Fprintf(w, "%-*s", width, "variant")
	for _, m := range measures {
		fmt.Fprintf(w, "  %17s", m.head)
	}
	fmt.Fprintln(w)
	for i, r := range rules {
		fmt.Fprintf(w, "%-*s", width, r.Info().Spec)
		for _, f := range rows[i] {
			fmt.Fprintf(w, "  %17s", thousands(f.median))
		}
		fmt.Fprintf(w, "\n%-*s", width, "")
		for _, f := range rows[i] {
			fmt.Fprintf(w, "  %17s", brief(f.low)+"–"+brief(f.high))
		}
		fmt.Fprintln(w)
	}
}

// thousands writes a rate with commas, to three or more digits.
func thousands(x float64) string {
	text := fmt.Sprintf("%.0f", x)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// brief writes a rate to three digits: 4.21M, 870k, 93.
func brief(x float64) string {
	switch {
	case x >= 1e6:
		return fmt.Sprintf("%.3gM", x/1e6)
	case x >= 1e3:
		return fmt.Sprintf("%.3gk", x/1e3)
	}
	return fmt.Sprintf("%.3g", x)
}

// printBenchJSON writes one line: the medians under their keys, and the lowest and the highest under "range".
func printBenchJSON(w io.Writer, r mancala.Rules, row []figure, runs int, length time.Duration) error {
	object := map[string]any{
		"variant": r.Info().Spec, "rules_version": r.Info().Version,
		"clock": clock, "runs": runs, "run_seconds": length.Seconds(),
	}
	ranges := map[string][2]float64{}
	for i, m := range measures {
		object[m.key] = row[i].median
		ranges[m.key] = [2]float64{row[i].low, row[i].high}
	}
	object["range"] = ranges
	return json.NewEncoder(w).Encode(object)
}
