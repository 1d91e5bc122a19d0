package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/datasets"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/clock"
	"github.com/mancalagym/mancalagym/internal/kernel"
	"github.com/mancalagym/mancalagym/internal/progress"
	"github.com/mancalagym/mancalagym/train/learner"
)

// The network that bench measures: the medium one. It plays as initialised: about half of what stands behind its relus is
// then 0, as in networks that have learnt a game. Learning from positions without sense fills them up.
var (
	benchShape = neural.Shape{Inputs: 512, Active: 16, Width: 128, Blocks: 2, ValueWidth: 32, Actions: 16}
	benchMeta  = neural.Meta{Family: "bench", Spec: "bench", Encoder: "bench"}
)

const (
	benchBatch  = 256  // rows to learn from
	benchRows   = 4096 // positions to play, over and over
	stockRows   = 32   // positions a call of the stock graph
	lessonsSeed = 2    // of benchStream
)

// networkMeasure is one thing that bench --network measures, in rows a second.
type networkMeasure struct {
	key, about string
	do         work
	figure     figure
}

// withNetwork gives bench the flag --network.
func withNetwork(c *cobra.Command, runs *int, length *time.Duration, asJSON *bool) {
	variants, network := c.RunE, false
	c.Flags().BoolVar(&network, "network", false, "measure the network instead: playing and learning, against Gorgonia's own operations")
	c.Long += fmt.Sprintf(`

With --network it measures the medium network (512 inputs of which 16 are 1, width 128, two blocks, 16 actions), runs taking turns:

  infer_b1 …         positions a second in batches of 1, 8, 32 and 64
  stock_b32          the same in batches of 32 with Gorgonia's own operations and gonum's products
  train_b256         samples a second that are learnt in batches of 256
  stock_train_b256   the same with Gorgonia's own operations, gonum's products and Gorgonia's Adam
  peak_share         multiply-adds of the network in batches of 64, as a share of those that the kernel makes of numbers
                     that need not be fetched; all count, also products with 0 that are left out
  carried_out        share of them that was not left out, with the weights that a network begins with
  kernel             what computes: %s chooses another`, kernel.Variable)
	c.Example += "\n  mancala bench --network --json"
	c.RunE = func(c *cobra.Command, args []string) error {
		if !network {
			return variants(c, args)
		}
		if len(args) > 0 {
			return wrong("bench: argument %q: want none with --network", args[0])
		}
		return benchNetwork(c, *runs, *length, *asJSON)
	}
}

// networkBench is the works of the measures, and how many multiply-adds have been carried out for playing.
type networkBench struct {
	measures []*networkMeasure
	spin     work // multiply-adds of the processor at its best
	carried  func() float64
	closers  []io.Closer
}

// multiplyAdds are those of a position. The first layer has only sums of rows.
func multiplyAdds(s neural.Shape) float64 {
	return float64(s.Active*s.Width + 2*s.Blocks*s.Width*s.Width + s.Width*(s.Actions+s.ValueWidth) + s.ValueWidth*neural.Outcomes)
}

func benchNetwork(c *cobra.Command, runs int, length time.Duration, asJSON bool) error {
	b, err := newNetworkBench()
	if err != nil {
		return err
	}
	defer func() {
		for _, x := range b.closers {
			x.Close() // holds nothing that could be lost
		}
	}()
	bar := progress.New(c.ErrOrStderr(), "bench", "runs", runs*(len(b.measures)+1))
	defer bar.Close()
	rates, shares, carried := make([][]float64, len(b.measures)), make([]float64, runs), 0.0
	done := 0
	timed := func(do work) (float64, error) {
		n, begin, took := 0, clock.Spent(), time.Duration(0)
		for took < length {
			if err := c.Context().Err(); err != nil {
				return 0, errors.New("bench: stopped before there were figures")
			}
			k, err := do()
			if err != nil {
				return 0, err
			}
			n += k
			took = clock.Spent() - begin
		}
		done++
		bar.Set(done)
		return float64(n) / took.Seconds(), nil
	}
	for _, m := range b.measures { // once without counting
		if _, err := m.do(); err != nil {
			return err
		}
	}
	for i := range runs {
		peak, err := timed(b.spin)
		if err != nil {
			return err
		}
		for j, m := range b.measures {
			before, n := b.carried(), 0
			rate, err := timed(func() (int, error) {
				k, err := m.do()
				n += k
				return k, err
			})
			if err != nil {
				return err
			}
			rates[j] = append(rates[j], math.Round(rate))
			if m.key == "infer_b64" {
				all := multiplyAdds(benchShape)
				shares[i] = all * rate / peak
				carried = (b.carried() - before) / (all * float64(n))
			}
		}
	}
	bar.Close()
	thousandth := func(x float64) float64 { return math.Round(1000*x) / 1000 }
	object := map[string]any{"kernel": neural.Kernel(), "peak_share": thousandth(median(shares)), "carried_out": thousandth(carried)}
	for j, m := range b.measures {
		slices.Sort(rates[j])
		m.figure = figure{median(rates[j]), rates[j][0], rates[j][runs-1]}
		object[m.key] = m.figure.median
	}
	if asJSON {
		return json.NewEncoder(c.OutOrStdout()).Encode(object)
	}
	w := c.OutOrStdout()
	for _, m := range b.measures {
		fmt.Fprintf(w, "%-16s  %12s  %15s   %s\n", m.key, thousands(m.figure.median), brief(m.figure.low)+"–"+brief(m.figure.high), m.about)
	}
	fmt.Fprintf(w, "%-16s  %12.3f  %15s   multiply-adds in batches of 64, of the most that the kernel makes\n", "peak_share", object["peak_share"], "")
	fmt.Fprintf(w, "%-16s  %12.3f  %15s   of these; the others are products with 0\n", "carried_out", object["carried_out"], "")
	fmt.Fprintf(w, "%-16s  %12s\n\nper second of %s time, one goroutine: median of %d %s of %v, lowest–highest beside it\n",
		"kernel", neural.Kernel(), map[string]string{"cpu": "processor", "wall": "clock"}[clock.Name], runs, datasets.Plural(runs, "run"), length)
	return nil
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

func newNetworkBench() (*networkBench, error) {
	b := new(networkBench)
	w, err := neural.Init(benchMeta, benchShape, 1)
	if err != nil {
		return nil, err
	}
	cfg := learner.DefaultConfig()
	cfg.Batch = benchBatch
	l, err := learner.New(w, cfg)
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, l)
	pcg := rand.NewPCG(lessonsSeed, benchStream)
	var lessons []*learner.Batch
	for range 16 {
		lessons = append(lessons, madeUp(rand.New(pcg)))
	}
	n, err := neural.NewNetwork(w)
	if err != nil {
		return nil, err
	}
	indices := make([]int32, 0, benchRows*benchShape.Active)
	for len(indices) < cap(indices) {
		indices = append(indices, madeUp(rand.New(pcg)).Indices...)
	}
	scratch := neural.NewScratch(benchShape)
	var gathered float64
	b.carried = func() float64 { return float64(scratch.Terms()) + gathered }
	about := []string{"positions/s, one at a time", "positions/s", "positions/s", "positions/s"}
	for i, rows := range []int{1, 8, 32, 64} {
		policy, outcome := make([]float32, rows*benchShape.Actions), make([]float32, rows*neural.Outcomes)
		next := turns(indices, rows*benchShape.Active)
		b.measures = append(b.measures, &networkMeasure{key: fmt.Sprintf("infer_b%d", rows), about: about[i], do: func() (int, error) {
			calls := 1024 / rows // looking at the clock takes time, too
			for range calls {
				if err := n.Forward(scratch, rows, next(), policy, outcome); err != nil {
					return 0, err
				}
			}
			gathered += float64(calls * rows * benchShape.Active * benchShape.Width)
			return calls * rows, nil
		}})
	}

	cfg.Batch = stockRows
	player, err := learner.NewStock(w, cfg, false)
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, player)
	policy, outcome := make([]float32, stockRows*benchShape.Actions), make([]float32, stockRows*neural.Outcomes)
	next := turns(indices, stockRows*benchShape.Active)
	b.measures = append(b.measures, &networkMeasure{key: "stock_b32", about: "positions/s with Gorgonia's own operations", do: func() (int, error) {
		return stockRows, player.Forward(next(), policy, outcome)
	}})

	turn := 0
	lesson := func() *learner.Batch { turn++; return lessons[turn%len(lessons)] }
	b.measures = append(b.measures, &networkMeasure{key: "train_b256", about: "samples/s", do: func() (int, error) {
		_, err := l.Step(lesson())
		return benchBatch, err
	}})
	cfg.Batch = benchBatch
	pupil, err := learner.NewStock(w, cfg, true)
	if err != nil {
		return nil, err
	}
	b.closers = append(b.closers, pupil)
	b.measures = append(b.measures, &networkMeasure{key: "stock_train_b256", about: "samples/s with Gorgonia's own operations", do: func() (int, error) {
		_, err := pupil.Step(lesson())
		return benchBatch, err
	}})

	k, err := kernel.Chosen()
	if err != nil {
		return nil, err
	}
	b.spin = func() (int, error) { return k.Spin(1 << 24), nil }
	return b, nil
}

// turns returns a function that returns the next n of all again and again, so that the processor cannot learn them by heart.
func turns(all []int32, n int) func() []int32 {
	at := 0
	return func() []int32 {
		if at+n > len(all) {
			at = 0
		}
		at += n
		return all[at-n : at]
	}
}

// madeUp returns a batch whose first active index tells the best action and the outcome.
func madeUp(r *rand.Rand) *learner.Batch {
	s := benchShape
	b := learner.NewBatch(benchBatch, s)
	each := s.Inputs / s.Active
	for i := range benchBatch {
		for j := range s.Active {
			b.Indices[i*s.Active+j] = int32(j*each + r.IntN(each))
		}
		key := int(b.Indices[i*s.Active])
		best := mancala.Action(key % s.Actions)
		b.Legal[i] = 1<<best | mancala.Mask(r.Uint64())&(1<<s.Actions-1)
		b.Policy[i*s.Actions+int(best)], b.PolicyWeight[i] = 1, 1
		b.Value[i*neural.Outcomes+key%neural.Outcomes], b.ValueWeight[i] = 1, 1
	}
	return b
}
