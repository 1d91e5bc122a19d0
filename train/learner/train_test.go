package learner

import (
	"fmt"
	"math"
	"testing"

	"github.com/mancalagym/mancalagym/agents/neural"
)

// This also shows that Gorgonia runs at all: with another version of its guard against a moving garbage
// collector it panics before any test starts.
func TestTrainingLowersTheLossAndAgreesWithPlay(t *testing.T) {
	for _, c := range []struct {
		shape neural.Shape
		batch int
	}{{small, 64}, {odd, 33}, {bare, 1}, {neural.Shape{Inputs: 50, Active: 5, Width: 24, Blocks: 1, ValueWidth: 0, Actions: 19}, 7}, {full, 32}, {low, 9}} {
		t.Run(fmt.Sprintf("%v/%d", c.shape, c.batch), func(t *testing.T) {
			cfg := config(c.batch)
			cfg.LearningRate = 5e-3
			if c.shape.MarginHead {
				cfg.MarginWeight = 0.6
			}
			l := learner(t, initial(t, c.shape, 1), cfg)
			var first, last float64
			for i := range 100 {
				loss := step(t, l, lessons(c.batch, c.shape, uint64(i%8)))
				if i < 10 {
					first += float64(loss.Total)
				}
				if i >= 90 {
					last += float64(loss.Total)
				}
			}
			if c.batch > 1 && last > 0.8*first {
				t.Errorf("loss of ten steps went from %v to %v", first, last)
			}

			b := lessons(c.batch, c.shape, 1000)
			if _, err := l.Measure(b); err != nil {
				t.Fatal(err)
			}
			policy, outcome := make([]float32, len(b.Policy)), make([]float32, len(b.Value))
			if err := l.Outputs(policy, outcome); err != nil {
				t.Fatal(err)
			}
			for _, name := range neural.Kernels() {
				n, err := neural.NewNetworkOn(l.Weights(), name)
				if err != nil {
					t.Fatal(err)
				}
				p, o, m := make([]float32, len(b.Policy)), make([]float32, len(b.Value)), make([]float32, c.batch)
				s := neural.NewScratch(c.shape)
				if err := n.Forward(s, c.batch, b.Indices, p, o); err != nil {
					t.Fatal(err)
				}
				worst := max(apart(policy, p), apart(outcome, o))
				if c.shape.MarginHead {
					if err := n.ForwardMargin(s, c.batch, b.Indices, p, o, m); err != nil {
						t.Fatal(err)
					}
					worst = max(worst, apart(floats(l.marginOut), m))
				}
				if worst > 1e-5 {
					t.Errorf("graph on %s and play on %s differ by %v", l.k.Name(), name, worst)
				}
				t.Logf("loss %.3f → %.3f, largest difference to %s %.1e", first/10, last/10, name, worst)
			}
		})
	}
}

func apart(a, b []float32) float64 {
	d := 0.0
	for i := range a {
		d = max(d, math.Abs(float64(a[i])-float64(b[i])))
	}
	return d
}

func BenchmarkStep(b *testing.B) {
	for _, c := range []struct {
		name  string
		shape neural.Shape
	}{{"64x2", small}, {"128x2", medium}} {
		b.Run(c.name+"/batch=256", func(b *testing.B) {
			l := learner(b, initial(b, c.shape, 1), config(256))
			var batches []*Batch
			for i := range uint64(32) {
				batches = append(batches, lessons(256, c.shape, i))
			}
			i := 0
			timed(b, 256, "samples/s", func() error {
				i++
				_, err := l.Step(batches[i%len(batches)])
				return err
			})
		})
	}
}
