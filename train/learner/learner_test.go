package learner

import (
	"math/rand/v2"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/kernel"
)

var (
	small  = neural.Shape{Inputs: 512, Active: 16, Width: 64, Blocks: 2, ValueWidth: 32, Actions: 16}
	medium = neural.Shape{Inputs: 512, Active: 16, Width: 128, Blocks: 2, ValueWidth: 32, Actions: 16}
	odd    = neural.Shape{Inputs: 37, Active: 3, Width: 13, Blocks: 2, ValueWidth: 7, Actions: 5}
	bare   = neural.Shape{Inputs: 9, Active: 2, Width: 3, Blocks: 0, ValueWidth: 0, Actions: 1}
	full   = neural.Shape{Inputs: 37, Active: 3, Width: 20, Blocks: 1, ValueWidth: 7, Actions: 5, MarginHead: true}
	low    = neural.Shape{Inputs: 37, Active: 3, Width: 20, Blocks: 1, ValueWidth: 0, Actions: 5, MarginHead: true}
)

func chosen(t testing.TB) *kernel.Kernel {
	t.Helper()
	k, err := kernel.Chosen()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func initial(t testing.TB, s neural.Shape, seed uint64) *neural.Weights {
	t.Helper()
	w, err := neural.Init(neural.Meta{Family: "toy", Spec: "toy", Encoder: "onehot", EncoderVersion: 1}, s, seed)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func config(batch int) Config {
	c := DefaultConfig()
	c.Batch = batch
	return c
}

// margined is config for networks with a margin head.
func margined(batch int) Config {
	c := config(batch)
	c.MarginWeight = 0.6
	return c
}

func learner(t testing.TB, w *neural.Weights, c Config) *Learner {
	t.Helper()
	l, err := New(w, c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// lessons returns n rows of a made-up game in which the first active index tells the best action and the
// outcome; every fifth row is truncated, every seventh has no policy target.
func lessons(n int, s neural.Shape, seed uint64) *Batch {
	r := rand.New(rand.NewPCG(seed, 0x1e550))
	b := NewBatch(n, s)
	for i := range n {
		for j := range s.Active {
			low, up := j*s.Inputs/s.Active, (j+1)*s.Inputs/s.Active
			b.Indices[i*s.Active+j] = int32(low + r.IntN(up-low))
		}
		key := int(b.Indices[i*s.Active])
		best := mancala.Action(key % s.Actions)
		b.Legal[i] = 1<<best | mancala.Mask(r.Uint64())&(^mancala.Mask(0)>>(64-s.Actions))
		if i%7 != 6 {
			b.PolicyWeight[i] = 1
			p := b.Policy[i*s.Actions : (i+1)*s.Actions]
			for a := range b.Legal[i].All {
				p[a] = 0.2 / float32(b.Legal[i].Len())
			}
			p[best] += 0.8
		}
		if i%5 != 4 {
			b.ValueWeight[i] = 1
			b.Value[i*neural.Outcomes+key%neural.Outcomes] = 1
			if s.MarginHead {
				b.Margin[i] = float32(key%neural.Outcomes-1) * 0.7
			}
		}
	}
	return b
}

func step(t testing.TB, l *Learner, b *Batch) Loss {
	t.Helper()
	loss, err := l.Step(b)
	if err != nil {
		t.Fatal(err)
	}
	return loss
}

// agentsBatch returns n positions that differ in the ply, with all of small's actions legal.
func agentsBatch(n int) *agents.Batch {
	b := &agents.Batch{
		States: make([]mancala.State, n), Legal: make([]mancala.Mask, n), Seeds: make([]uint64, n),
		Prior: make([]float32, n*small.Actions), Value: make([]float32, n),
	}
	for i := range n {
		b.States[i], b.Legal[i] = mancala.Position{Ply: uint32(i)}.State(), 1<<small.Actions-1
	}
	return b
}
