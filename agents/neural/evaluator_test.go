package neural

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/clock"
)

var toy = mancala.Info{Spec: "toy:pits=7", Family: "toy", Actions: 16}

func evaluator(t testing.TB, n *Network) *Evaluator {
	t.Helper()
	e, err := NewEvaluator(NewHolder(n), toy, pits{"onehot"})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func batch(s []mancala.State, m []mancala.Mask) *agents.Batch {
	return &agents.Batch{
		States: s, Legal: m, Seeds: make([]uint64, len(s)),
		Prior: make([]float32, 16*len(s)), Value: make([]float32, len(s)),
	}
}

func TestEvaluatorPriorsAndValues(t *testing.T) {
	e := evaluator(t, network(t, scrambled(t, small, 1)))
	s, m := states(200, 2)
	b := batch(s, m)
	for i := range b.Prior {
		b.Prior[i] = 7 // what was there must not matter
	}
	if err := e.Evaluate(b); err != nil {
		t.Fatal(err)
	}
	for r := range s {
		var sum float64
		for a, p := range b.Prior[16*r : 16*r+16] {
			if m[r].Has(mancala.Action(a)) != (p > 0) {
				t.Fatalf("row %d action %d: prior %v with mask %b", r, a, p, m[r])
			}
			sum += float64(p)
		}
		if math.Abs(sum-1) > 1e-6 {
			t.Fatalf("row %d: priors sum to %v", r, sum)
		}
		if v := b.Value[r]; v < -1 || v > 1 {
			t.Fatalf("row %d: value %v", r, v)
		}
	}
}

func TestEvaluatorValueIsWinLessLoss(t *testing.T) {
	w, err := Zero(meta, small)
	if err != nil {
		t.Fatal(err)
	}
	out := w.Tensors[len(w.Tensors)-1].Data // outcome.b
	s, m := states(1, 1)
	for _, c := range []struct {
		win, draw, loss float32
		want            float64
	}{{0, 0, 0, 0}, {50, 0, 0, 1}, {0, 50, 0, 0}, {0, 0, 50, -1}, {float32(math.Log(3)), 0, 0, 2.0 / 5}} {
		out[0], out[1], out[2] = c.win, c.draw, c.loss
		b := batch(s, m)
		if err := evaluator(t, network(t, w)).Evaluate(b); err != nil {
			t.Fatal(err)
		}
		if math.Abs(float64(b.Value[0])-c.want) > 1e-6 {
			t.Errorf("logits %v %v %v: value %v, want %v", c.win, c.draw, c.loss, b.Value[0], c.want)
		}
	}
}

func TestEvaluatorRowDoesNotDependOnBatchOrPlace(t *testing.T) {
	n := network(t, scrambled(t, small, 3))
	s, m := states(150, 4)
	all := batch(s, m)
	if err := evaluator(t, n).Evaluate(all); err != nil {
		t.Fatal(err)
	}
	e := evaluator(t, n)
	for _, size := range []int{1, 7, 32, 150} {
		for at := 0; at < len(s); at += size {
			end := min(at+size, len(s))
			part := batch(slices.Clone(s[at:end]), slices.Clone(m[at:end]))
			slices.Reverse(part.States)
			slices.Reverse(part.Legal)
			if err := e.Evaluate(part); err != nil {
				t.Fatal(err)
			}
			for i := range part.States {
				r := end - 1 - i
				if part.Value[i] != all.Value[r] || !slices.Equal(part.Prior[16*i:16*i+16], all.Prior[16*r:16*r+16]) {
					t.Fatalf("row %d differs at place %d of %d", r, i, len(part.States))
				}
			}
		}
	}
}

func TestEvaluateAllocatesNothing(t *testing.T) {
	e := evaluator(t, network(t, scrambled(t, small, 1)))
	b := batch(states(100, 1))
	if a := testing.AllocsPerRun(10, func() {
		if err := e.Evaluate(b); err != nil {
			t.Fatal(err)
		}
	}); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

func TestEvaluatorRefusesAnotherGameOrEncoder(t *testing.T) {
	h := NewHolder(network(t, scrambled(t, small, 1)))
	for want, call := range map[string]func() (*Evaluator, error){
		"the game is urim": func() (*Evaluator, error) {
			return NewEvaluator(h, mancala.Info{Spec: "urim", Family: "urim", Actions: 16}, pits{"onehot"})
		},
		"has 12": func() (*Evaluator, error) {
			return NewEvaluator(h, mancala.Info{Spec: "toy", Family: "toy", Actions: 12}, pits{"onehot"})
		},
		"encoder is counts": func() (*Evaluator, error) { return NewEvaluator(h, toy, pits{"counts"}) },
		"version 4":         func() (*Evaluator, error) { return NewEvaluator(h, toy, newer{pits{"onehot"}}) },
		"512 and 0":         func() (*Evaluator, error) { return NewEvaluator(h, toy, denseOnly{pits{"onehot"}}) },
		"640 and 16":        func() (*Evaluator, error) { return NewEvaluator(h, toy, larger{pits{"onehot"}}) },
	} {
		if _, err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

type (
	newer     struct{ pits }
	denseOnly struct{ pits }
	larger    struct{ pits }
)

func (newer) Version() int    { return 4 }
func (denseOnly) Active() int { return 0 }
func (larger) Size() int      { return 640 }

func TestEvaluateRefusesBadBatches(t *testing.T) {
	e := evaluator(t, network(t, scrambled(t, small, 1)))
	s, m := states(3, 1)
	for want, change := range map[string]func(*agents.Batch){
		"2 masks":                 func(b *agents.Batch) { b.Legal = b.Legal[:2] },
		"47 priors":               func(b *agents.Batch) { b.Prior = b.Prior[:47] },
		"2 values":                func(b *agents.Batch) { b.Value = b.Value[1:] },
		"row 1: no legal":         func(b *agents.Batch) { b.Legal[1] = 0 },
		"row 2: legal mask reach": func(b *agents.Batch) { b.Legal[2] |= 1 << 16 },
	} {
		b := batch(slices.Clone(s), slices.Clone(m))
		change(b)
		if err := e.Evaluate(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if err := e.Evaluate(batch(nil, nil)); err != nil {
		t.Errorf("no rows: %v", err)
	}
}

func TestEvaluateRefusesOverflow(t *testing.T) {
	w := scrambled(t, small, 1)
	for _, m := range w.Tensors {
		for i := range m.Data {
			m.Data[i] = float32(math.Copysign(1e30, float64(m.Data[i])))
		}
	}
	if err := evaluator(t, network(t, w)).Evaluate(batch(states(1, 1))); err == nil || !strings.Contains(err.Error(), "not finite") {
		t.Errorf("error %v", err)
	}
}

func TestHolderSwapsWhileEvaluatorsWork(t *testing.T) {
	nets := []*Network{network(t, scrambled(t, small, 1)), network(t, scrambled(t, small, 2))}
	s, m := states(40, 1)
	var want [2][]float32
	for i, n := range nets {
		b := batch(s, m)
		if err := evaluator(t, n).Evaluate(b); err != nil {
			t.Fatal(err)
		}
		want[i] = b.Value
	}
	h := NewHolder(nets[0])
	var g sync.WaitGroup
	for range 2 {
		g.Go(func() {
			e, err := NewEvaluator(h, toy, pits{"onehot"})
			if err != nil {
				t.Error(err)
				return
			}
			b := batch(slices.Clone(s), slices.Clone(m))
			for range 50 {
				if err := e.Evaluate(b); err != nil {
					t.Error(err)
				}
				if !slices.Equal(b.Value, want[0]) && !slices.Equal(b.Value, want[1]) {
					t.Error("a batch was of neither network")
				}
			}
		})
	}
	for i := range 100 {
		if err := h.Swap(nets[i%2]); err != nil {
			t.Error(err)
		}
	}
	g.Wait()
	if h.Network() != nets[1] {
		t.Error("the last network swapped in is not held")
	}
}

func TestSwapRefusesAnotherKind(t *testing.T) {
	h := NewHolder(network(t, scrambled(t, small, 1)))
	if err := h.Swap(network(t, scrambled(t, medium, 1))); err == nil {
		t.Error("another shape was taken")
	}
	w := scrambled(t, small, 1)
	w.Meta.EncoderVersion++
	if err := h.Swap(network(t, w)); err == nil {
		t.Error("another encoder version was taken")
	}
}

// perSecond reports n rows in each of the benchmark's rounds, by processor time.
func perSecond(b *testing.B, n int, begin time.Duration) {
	b.ReportMetric(float64(b.N)*float64(n)/(clock.Spent()-begin).Seconds(), "positions/s")
}

// From positions to priors and values, with the encoders of play.
func BenchmarkEvaluate(b *testing.B) {
	for _, spec := range []string{"urim", "omweso"} {
		rules, err := mancala.Parse(spec)
		if err != nil {
			b.Fatal(err)
		}
		info := rules.Info()
		enc, err := encode.New("onehot", info)
		if err != nil {
			b.Fatal(err)
		}
		// Fresh rows each round, as in play: the processor must not learn them by heart.
		const all = 1 << 12
		r := rand.New(rand.NewPCG(1, 2))
		s, m := make([]mancala.State, all), make([]mancala.Mask, all)
		for i, at := 0, rules.Start(); i < all; i++ {
			s[i], m[i] = at, rules.Legal(at)
			if at = rules.Next(at, m[i].Nth(r.IntN(m[i].Len()))); at.Over() {
				at = rules.Start()
			}
		}
		r.Shuffle(all, func(i, j int) { s[i], s[j], m[i], m[j] = s[j], s[i], m[j], m[i] })
		for _, width := range []int{64, 128} {
			shape := DefaultShape(enc.Size(), enc.Active(), info.Actions)
			shape.Width = width
			w, err := Init(Meta{Family: info.Family, Spec: info.Spec, Encoder: enc.Name(), EncoderVersion: enc.Version()}, shape, 1)
			if err != nil {
				b.Fatal(err)
			}
			e, err := NewEvaluator(NewHolder(network(b, w)), info, enc)
			if err != nil {
				b.Fatal(err)
			}
			for _, rows := range []int{8, 32, 256} {
				b.Run(fmt.Sprintf("%s/%dx2/batch=%d", spec, width, rows), func(b *testing.B) {
					prior, value, at := make([]float32, rows*info.Actions), make([]float32, rows), 0
					begin := clock.Spent()
					for b.Loop() {
						p := agents.Batch{States: s[at : at+rows], Legal: m[at : at+rows], Prior: prior, Value: value}
						if err := e.Evaluate(&p); err != nil {
							b.Fatal(err)
						}
						at = (at + rows) % all
					}
					perSecond(b, rows, begin)
				})
			}
		}
	}
}

// Every variant's own encoder and a game at random: what training and play will do.
func TestEvaluatorPlaysEveryVariant(t *testing.T) {
	for _, spec := range mancala.Variants() {
		rules, err := mancala.Parse(spec)
		if err != nil {
			t.Fatal(err)
		}
		info := rules.Info()
		enc, err := encode.New("onehot", info)
		if err != nil {
			t.Fatal(err)
		}
		w, err := Init(Meta{Family: info.Family, Spec: info.Spec, Encoder: enc.Name(), EncoderVersion: enc.Version()},
			DefaultShape(enc.Size(), enc.Active(), info.Actions), 1)
		if err != nil {
			t.Fatal(err)
		}
		e, err := NewEvaluator(NewHolder(network(t, w)), info, enc)
		if err != nil {
			t.Fatal(err)
		}
		s, ply := rules.Start(), 0
		for ; !s.Over() && ply < 500; ply++ {
			m := rules.Legal(s)
			b := &agents.Batch{
				States: []mancala.State{s}, Legal: []mancala.Mask{m},
				Prior: make([]float32, info.Actions), Value: make([]float32, 1),
			}
			if err := e.Evaluate(b); err != nil {
				t.Fatalf("%s ply %d: %v", spec, ply, err)
			}
			s = rules.Next(s, m.Nth(ply%m.Len()))
		}
		if ply == 0 {
			t.Errorf("%s: nothing was played", spec)
		}
	}
}
