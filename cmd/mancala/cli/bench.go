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
	"github.com/mancalagym/mancalagym/agents/minimax"
	"github.com/mancalagym/mancalagym/datasets"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/clock"
	"github.com/mancalagym/mancalagym/internal/progress"
)

const (
	benchStream = 0x62656e6368 // of seed 1: the random plies of bench
	benchLanes  = 256          // of the VectorEnv
	benchTrees  = 8            // searched in lockstep
	benchSims   = 1000         // a search
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
	{"env_steps_per_s", "env steps/s", func(r mancala.Rules) (work, error) { return vectorWork(r, "counts") }},
	{"onehot_steps_per_s", "one-hot steps/s", func(r mancala.Rules) (work, error) { return vectorWork(r, "onehot") }},
	{"sims_per_s", "sims/s", func(r mancala.Rules) (work, error) { return searchWork(r, agents.NewUniform(r), mcts.PUCT) }},
	{"rollout_sims_per_s", "rollout sims/s", func(r mancala.Rules) (work, error) { return searchWork(r, agents.NewRollout(r), mcts.UCT) }},
	{"nodes_per_s", "nodes/s", minimaxWork},
}

// figure is the rates of some runs.
type figure struct{ median, low, high float64 }

// report is what bench says of a variant.
type report struct {
	rules     mancala.Rules
	figures   []figure // by measure
	signature uint64
}

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
  env steps        a VectorEnv of %d lanes, random actions; it shows players, legal masks, rewards, ends and the
                   observation "counts"
  one-hot steps    the same with the sparse observation "onehot"
  sims             simulations of the tree search puct, %d a search and %d trees in lockstep, every leaf worth 0
  rollout sims     the same with uct, every leaf valued by a random game to its end
  nodes            positions that minimax plays out, %d plies deep
  signature        how many these are for %d fixed positions: a number that changes when rules or search come to
                   behave otherwise in these searches, and never for speed

Every figure is the median of --runs runs; below it are the lowest and the highest. On Unix a second is one of processor time of
this process, elsewhere one of the clock.`, benchLanes, benchSims, benchTrees, minimax.SignatureDepth, minimax.SignatureCount),
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
			var reports []report
			done := 0
			for _, r := range rules {
				one := report{rules: r, figures: make([]figure, len(measures))}
				var err error
				for i, m := range measures {
					one.figures[i], err = m.run(c.Context(), r, runs, length, func() { done++; bar.Set(done) })
					if interrupted(c, err) {
						err = errors.New("bench: stopped before a variant was complete")
						if len(reports) > 0 {
							err = errors.New("bench: stopped: the figures of complete variants are above")
						}
					}
					if err != nil {
						break
					}
				}
				if err == nil {
					one.signature, err = minimax.Signature(r)
				}
				if err != nil {
					bar.Close()
					if !asJSON && len(reports) > 0 {
						printBench(c.OutOrStdout(), reports, runs, length)
					}
					return err
				}
				reports = append(reports, one)
				if asJSON {
					if err := one.json(c.OutOrStdout(), runs, length); err != nil {
						return err
					}
				}
			}
			bar.Close()
			if asJSON {
				return nil
			}
			printBench(c.OutOrStdout(), reports, runs, length)
			return nil
		},
	}
	numberFlag(c, &runs, "runs", 1, 1000, "runs of each measurement")
	c.Flags().Var(&span{&length, time.Millisecond, time.Minute}, "time", "of each run")
	jsonFlag(c, &asJSON, "a JSON object a line for each variant")
	withNetwork(c, &runs, &length, &asJSON)
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
		n, begin, took := 0, clock.Spent(), time.Duration(0)
		for took < length {
			if err := ctx.Err(); err != nil {
				return figure{}, err
			}
			k, err := w()
			if err != nil {
				return figure{}, err
			}
			n += k
			took = clock.Spent() - begin
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

// draw returns one of the actions, all nearly alike. A loop to a random member is a branch that no processor foresees, which
// would count as the games' time; so small sets are looked up.
func draw(pcg *rand.PCG, m mancala.Mask) mancala.Action {
	i := pcg.Uint64() >> 32 * uint64(m.Len()) >> 32
	if m < 256 {
		return mancala.Action(members[m] >> (8 * i))
	}
	return m.Nth(int(i))
}

// members holds the members of every set of the first eight actions as the bytes of a word.
var members = func() (t [256]uint64) {
	for m := range t {
		i := 0
		for a := range mancala.Mask(m).All {
			t[m] |= uint64(a) << (8 * i)
			i++
		}
	}
	return t
}()

// vectorWork steps a VectorEnv that shows what a learner reads.
func vectorWork(r mancala.Rules, encoder string) (work, error) {
	o := env.VectorOptions{Autoreset: env.AutoresetSameStep}
	o.Encoder = encoder
	v, err := env.NewVector(r, benchLanes, o)
	if err != nil {
		return nil, err
	}
	b := v.Batch()
	b.States, b.Reasons, b.Points, b.Episodes, b.FinalStates = nil, nil, nil, nil, nil
	b.FinalObservations, b.FinalIndices = nil, nil
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
func searchWork(r mancala.Rules, e agents.Evaluator, algorithm string) (work, error) {
	c := mcts.Default()
	c.Algorithm, c.Simulations = algorithm, benchSims
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

// minimaxWork searches the positions of the signature, one at a time.
func minimaxWork(r mancala.Rules) (work, error) {
	a, err := minimax.New(r, minimax.SignatureConfig())
	if err != nil {
		return nil, err
	}
	list, i := minimax.SignaturePositions(r), 0
	return func() (int, error) {
		x, err := a.Analyze(list[i%len(list)])
		i++
		return int(x.Nodes), err
	}, nil
}

// printBench writes a table, and the signatures added up.
func printBench(w io.Writer, reports []report, runs int, length time.Duration) {
	const cell = "  %15s"
	width := len("variant")
	for _, r := range reports {
		width = max(width, len(r.rules.Info().Spec))
	}
	fmt.Fprintf(w, "%-*s", width, "variant")
	for _, m := range measures {
		fmt.Fprintf(w, cell, m.head)
	}
	fmt.Fprintf(w, cell+"\n", "signature")
	sum := uint64(0)
	for _, r := range reports {
		fmt.Fprintf(w, "%-*s", width, r.rules.Info().Spec)
		for _, f := range r.figures {
			fmt.Fprintf(w, cell, thousands(f.median))
		}
		fmt.Fprintf(w, cell+"\n%-*s", fmt.Sprint(r.signature), width, "")
		for _, f := range r.figures {
			fmt.Fprintf(w, cell, brief(f.low)+"–"+brief(f.high))
		}
		fmt.Fprintln(w)
		sum += r.signature
	}
	fmt.Fprintf(w, "\nsignature of all: %d\nper second of %s time, one goroutine: median of %d %s of %v, lowest–highest below it\n",
		sum, map[string]string{"cpu": "processor", "wall": "clock"}[clock.Name], runs, datasets.Plural(runs, "run"), length)
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

// json writes one line: the medians under their keys, and the lowest and the highest under "range".
func (r *report) json(w io.Writer, runs int, length time.Duration) error {
	info := r.rules.Info()
	object := map[string]any{
		"variant": info.Spec, "rules_version": info.Version, "signature": r.signature,
		"clock": clock.Name, "runs": runs, "run_seconds": length.Seconds(),
	}
	ranges := map[string][2]float64{}
	for i, m := range measures {
		object[m.key] = r.figures[i].median
		ranges[m.key] = [2]float64{r.figures[i].low, r.figures[i].high}
	}
	object["range"] = ranges
	return json.NewEncoder(w).Encode(object)
}
