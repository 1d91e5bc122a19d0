package learner

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"

	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/internal/clock"
	"github.com/mancalagym/mancalagym/internal/kernel"
)

// certain returns lessons in which every row has targets.
func certain(n int, s neural.Shape, seed uint64) *Batch {
	b := lessons(n, s, seed)
	for i := range n {
		if b.PolicyWeight[i] == 0 {
			b.PolicyWeight[i] = 1
			b.Policy[i*s.Actions+int(b.Legal[i].First())] = 1
		}
		if b.ValueWeight[i] == 0 {
			b.ValueWeight[i] = 1
			b.Value[i*neural.Outcomes+1] = 1
		}
	}
	return b
}

func stock(t testing.TB, w *neural.Weights, c Config, learns bool, k *kernel.Kernel) *Stock {
	t.Helper()
	s, err := NewStock(w, c, learns)
	if err != nil {
		t.Fatal(err)
	}
	s.k = k
	t.Cleanup(func() { s.Close() })
	return s
}

// What the benchmarks compare is the same network and the same learning.
func TestStockGraphIsTheSameNetwork(t *testing.T) {
	cfg := config(24)
	cfg.WeightDecay, cfg.ValueWeight = 0, 0.7
	for _, k := range []*kernel.Kernel{nil, chosen(t)} {
		w := initial(t, small, 7)
		l, s := learner(t, w, cfg), stock(t, w, cfg, true, k)
		for i := range 6 {
			b := certain(24, small, uint64(i))
			want := step(t, l, b).Total
			got, err := s.Step(b)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(float64(got-want)) > 1e-4 {
				t.Fatalf("step %d: loss %v, stock %v", i, want, got)
			}
		}
		for _, m := range l.weights.Tensors {
			if d := apart(m.Data, s.data(m.Name)); d > 3e-4 {
				t.Errorf("%s differs by %v", m.Name, d)
			}
		}
	}
}

func TestStockGraphPlays(t *testing.T) {
	w := initial(t, small, 7)
	n, err := neural.NewNetwork(w)
	if err != nil {
		t.Fatal(err)
	}
	s := stock(t, w, config(5), false, nil)
	for i := range 3 {
		b := lessons(5, small, uint64(i))
		policy, outcome, p, o := make([]float32, 5*16), make([]float32, 15), make([]float32, 5*16), make([]float32, 15)
		if err := s.Forward(b.Indices, policy, outcome); err != nil {
			t.Fatal(err)
		}
		if err := n.Forward(neural.NewScratch(small), 5, b.Indices, p, o); err != nil {
			t.Fatal(err)
		}
		if d := max(apart(policy, p), apart(outcome, o)); d > 1e-5 {
			t.Errorf("differs by %v", d)
		}
	}
	if _, err := s.Step(lessons(5, small, 1)); err == nil {
		t.Error("a graph without gradients learnt")
	}
	if err := s.Forward(make([]int32, 3), nil, nil); err == nil {
		t.Error("3 indices were taken")
	}
}

func TestProductsBehindGorgoniaAreGonums(t *testing.T) {
	defer use(nil)
	r := rand.New(rand.NewPCG(1, 2))
	var want gonum.Implementation
	for _, name := range neural.Kernels() {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		use(k)
		for _, c := range []struct {
			m, n, k     int
			alpha, beta float32
		}{{1, 1, 1, 1, 0}, {17, 33, 9, 1, 0}, {20, 5, 70, 1, 1}, {3, 40, 8, 1, 0.5}, {4, 4, 4, 2, 1}, {0, 3, 3, 1, 0}, {3, 3, 0, 1, 0}} {
			for bits := range 4 {
				ta, tb, lda, ldb := blas.NoTrans, blas.NoTrans, c.k+1, c.n+2
				if bits&1 != 0 {
					ta, lda = blas.Trans, c.m+1
				}
				if bits&2 != 0 {
					tb, ldb = blas.Trans, c.k+2
				}
				a, b := normals(r, 100*100), normals(r, 100*100)
				x, y := normals(r, c.m*(c.n+1)), []float32(nil)
				y = append(y, x...)
				installed.Sgemm(ta, tb, c.m, c.n, c.k, c.alpha, a, lda, b, ldb, c.beta, x, c.n+1)
				want.Sgemm(ta, tb, c.m, c.n, c.k, c.alpha, a, lda, b, ldb, c.beta, y, c.n+1)
				if d := apart(x, y); d > 1e-4 {
					t.Errorf("%s %v ta %v tb %v: differs by %v", name, c, ta, tb, d)
				}
			}
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a matrix that is too short was taken", name)
				}
			}()
			installed.Sgemm(blas.NoTrans, blas.NoTrans, 4, 4, 4, 1, make([]float32, 3), 4, make([]float32, 16), 4, 0, make([]float32, 16), 4)
		}()
	}
}

// The network of "mancala bench --network", with the products behind Gorgonia's own operations exchanged too.
func BenchmarkYardstick(b *testing.B) {
	w := initial(b, medium, 1)
	for _, c := range []struct {
		name string
		k    *kernel.Kernel
	}{{"stock", nil}, {"stock+products", chosen(b)}} {
		b.Run("play/"+c.name+"/batch=32", func(b *testing.B) {
			s, idx := stock(b, w, config(32), false, c.k), lessons(32, medium, 1).Indices
			policy, outcome := make([]float32, 32*medium.Actions), make([]float32, 32*neural.Outcomes)
			timed(b, 32, "positions/s", func() error { return s.Forward(idx, policy, outcome) })
		})
		b.Run("learn/"+c.name+"/batch=256", func(b *testing.B) {
			s, batch := stock(b, w, config(256), true, c.k), certain(256, medium, 1)
			timed(b, 256, "samples/s", func() error { _, err := s.Step(batch); return err })
		})
	}
}

// timed repeats f, which does n rows, and reports how many a second of processor time.
func timed(b *testing.B, n int, unit string, f func() error) {
	begin := clock.Spent()
	for b.Loop() {
		if err := f(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*float64(n)/(clock.Spent()-begin).Seconds(), unit)
}
