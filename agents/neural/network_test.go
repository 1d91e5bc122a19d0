package neural

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mancalagym/mancalagym/internal/clock"
)

// reference computes one row in float64 from the definition in the package's comment.
func reference(w *Weights, indices []int32) (policy, outcome, margin []float64) {
	tensor := func(name string) Tensor {
		i := slices.IndexFunc(w.Tensors, func(t Tensor) bool { return t.Name == name })
		return w.Tensors[i]
	}
	affine := func(name string, x []float64) []float64 {
		m, b := tensor(name+".w"), tensor(name+".b")
		y := make([]float64, m.Cols)
		for c := range y {
			y[c] = float64(b.Data[c])
			for r, v := range x {
				y[c] += v * float64(m.Data[r*m.Cols+c])
			}
		}
		return y
	}
	positive := func(x []float64) []float64 {
		for i := range x {
			x[i] = math.Max(0, x[i])
		}
		return x
	}
	dense := make([]float64, w.Shape.Inputs)
	for _, i := range indices {
		dense[i] = 1
	}
	t := positive(affine("first", dense))
	for i := range w.Shape.Blocks {
		y := affine(fmt.Sprintf("block%d.out", i), positive(affine(fmt.Sprintf("block%d.in", i), t)))
		for j := range y {
			y[j] += t[j]
		}
		t = positive(y)
	}
	policy = affine("policy", t)
	if w.Shape.ValueWidth > 0 {
		t = positive(affine("value", t))
	}
	if w.Shape.MarginHead {
		margin = affine("margin", t)
	}
	return policy, affine("outcome", t), margin
}

func forward(t testing.TB, n *Network, idx []int32) (policy, outcome []float32) {
	t.Helper()
	rows := len(idx) / n.shape.Active
	policy, outcome = make([]float32, rows*n.shape.Actions), make([]float32, rows*Outcomes)
	if err := n.Forward(NewScratch(n.shape), rows, idx, policy, outcome); err != nil {
		t.Fatal(err)
	}
	return policy, outcome
}

// networks returns the network on every kernel that this processor can run.
func networks(t testing.TB, w *Weights) []*Network {
	t.Helper()
	var all []*Network
	for _, name := range Kernels() {
		n, err := NewNetworkOn(w, name)
		if err != nil {
			t.Fatal(err)
		}
		if n.Kernel() != name {
			t.Errorf("network on %s says %s", name, n.Kernel())
		}
		all = append(all, n)
	}
	return all
}

// margins returns nothing for a network without a margin head.
func margins(t testing.TB, n *Network, idx []int32) []float32 {
	t.Helper()
	rows := len(idx) / n.shape.Active
	margin := make([]float32, rows)
	err := n.ForwardMargin(NewScratch(n.shape), rows, idx, make([]float32, rows*n.shape.Actions), make([]float32, rows*Outcomes), margin)
	if (err == nil) != n.shape.MarginHead {
		t.Fatalf("shape %v: error %v", n.shape, err)
	}
	return margin
}

func TestForwardIsTheDefinition(t *testing.T) {
	for _, s := range append(anyShapes(60), shapes...) {
		w := scrambled(t, s, 5)
		const rows = 37
		idx := rowsOf(s, rows, 6)
		var policies, outcomes, marginals []float64
		for r := range rows {
			p, o, m := reference(w, idx[r*s.Active:(r+1)*s.Active])
			policies, outcomes, marginals = append(policies, p...), append(outcomes, o...), append(marginals, m...)
		}
		for _, n := range networks(t, w) {
			policy, outcome := forward(t, n, idx)
			check := func(name string, got []float32, want []float64) {
				t.Helper()
				for i, v := range want {
					if !(math.Abs(float64(got[i])-v) <= 1e-5*(1+math.Abs(v))) {
						t.Fatalf("%s shape %v: %s %d of %d rows is %v, want %v", n.Kernel(), s, name, i, rows, got[i], v)
					}
				}
			}
			check("policy", policy, policies)
			check("outcome", outcome, outcomes)
			check("margin", margins(t, n, idx), marginals)
		}
	}
}

// anyShapes returns shapes of all kinds that are allowed, drawn at random.
func anyShapes(n int) []Shape {
	r := rand.New(rand.NewPCG(11, 0x5a9e5))
	var all []Shape
	for range n {
		s := Shape{
			Inputs: 1 + r.IntN(60), Width: 1 + r.IntN(80), Blocks: r.IntN(4), ValueWidth: r.IntN(3) * r.IntN(40),
			Actions: 1 + r.IntN(maxActions), MarginHead: r.IntN(2) == 0,
		}
		s.Active = 1 + r.IntN(min(s.Inputs, 8))
		if r.IntN(4) == 0 {
			s.Width, s.Actions = 1+r.IntN(3), []int{1, maxActions}[r.IntN(2)]
		}
		all = append(all, s)
	}
	return all
}

// Kernels fill rows up with more or less. What is not finite must not get there: not for the next layer, nor for
// another kernel on the same Scratch.
func TestAnOverflowThatAReluEndsLeavesNoTrace(t *testing.T) {
	for _, width := range []int{5, 8, 13, 16} {
		s := Shape{Inputs: 2, Active: 1, Width: width, Blocks: 1, ValueWidth: 0, Actions: 1}
		w, err := Zero(meta, s)
		if err != nil {
			t.Fatal(err)
		}
		set := func(name string, v float32) {
			i := slices.IndexFunc(w.Tensors, func(t Tensor) bool { return t.Name == name })
			for j := range w.Tensors[i].Data {
				w.Tensors[i].Data[j] = v
			}
		}
		set("first.b", 1)
		set("block0.in.w", math.MaxFloat32)
		set("block0.out.w", -1)
		set("policy.w", 1)
		set("policy.b", 3)
		sc := NewScratch(s)
		for _, n := range networks(t, w) {
			for _, rows := range []int{1, 2, 4} {
				policy, outcome := make([]float32, rows), make([]float32, rows*Outcomes)
				if err := n.Forward(sc, rows, make([]int32, rows), policy, outcome); err != nil {
					t.Fatal(err)
				}
				if slices.ContainsFunc(policy, func(v float32) bool { return v != 3 }) {
					t.Errorf("%s width %d: policy %v, want 3", n.Kernel(), width, policy)
				}
			}
		}
	}
}

func TestOneNetworkServesManyGoroutines(t *testing.T) {
	for _, s := range []Shape{small, odd, full} {
		for _, n := range networks(t, scrambled(t, s, 5)) {
			idx := rowsOf(s, 60, 6)
			policy, outcome := forward(t, n, idx)
			var g sync.WaitGroup
			for worker := range 6 {
				g.Go(func() {
					sc := NewScratch(s)
					for i := range 40 {
						rows := 1 + (7*worker+i)%41
						from := i % (60 - rows)
						p, o := make([]float32, rows*s.Actions), make([]float32, rows*Outcomes)
						if err := n.Forward(sc, rows, idx[from*s.Active:(from+rows)*s.Active], p, o); err != nil {
							t.Error(err)
							return
						}
						if !slices.Equal(p, policy[from*s.Actions:(from+rows)*s.Actions]) || !slices.Equal(o, outcome[from*Outcomes:(from+rows)*Outcomes]) {
							t.Errorf("%s shape %v: rows %d to %d differ in goroutine %d", n.Kernel(), s, from, from+rows, worker)
							return
						}
					}
				})
			}
			g.Wait()
		}
	}
}

func TestNetworksInAssemblyAgreeToTheBit(t *testing.T) {
	for _, s := range shapes {
		var policy, outcome []float32
		for _, n := range networks(t, scrambled(t, s, 5)) {
			if n.Kernel() == "go" {
				continue
			}
			p, o := forward(t, n, rowsOf(s, 37, 6))
			if policy == nil {
				policy, outcome = p, o
			}
			if !slices.Equal(p, policy) || !slices.Equal(o, outcome) {
				t.Errorf("shape %v: %s differs", s, n.Kernel())
			}
		}
	}
}

func TestKernelIsOneOfThose(t *testing.T) {
	if !slices.Contains(Kernels(), Kernel()) {
		t.Errorf("kernel %s, of %v", Kernel(), Kernels())
	}
	if n := network(t, scrambled(t, odd, 1)); n.Kernel() != Kernel() {
		t.Errorf("NewNetwork made one for %s, not %s", n.Kernel(), Kernel())
	}
	if _, err := NewNetworkOn(scrambled(t, odd, 1), "sse"); err == nil || !strings.Contains(err.Error(), "avx512, avx2, go") {
		t.Errorf("error %v", err)
	}
}

func TestRowDoesNotDependOnBatchOrPlace(t *testing.T) {
	const rows = 97
	for _, s := range shapes {
		for _, n := range networks(t, scrambled(t, s, 7)) {
			idx := rowsOf(s, rows, 8)
			policy, outcome := forward(t, n, idx)
			perm := rand.New(rand.NewPCG(9, 9)).Perm(rows)
			for _, batch := range []int{1, 7, 32, rows} {
				for at := 0; at < rows; at += batch {
					part := perm[at:min(at+batch, rows)]
					var sub []int32
					for _, r := range part {
						sub = append(sub, idx[r*s.Active:(r+1)*s.Active]...)
					}
					p, o := forward(t, n, sub)
					for i, r := range part {
						if !slices.Equal(p[i*s.Actions:(i+1)*s.Actions], policy[r*s.Actions:(r+1)*s.Actions]) ||
							!slices.Equal(o[i*Outcomes:(i+1)*Outcomes], outcome[r*Outcomes:(r+1)*Outcomes]) {
							t.Fatalf("%s shape %v: row %d differs at place %d of a batch of %d", n.Kernel(), s, r, i, len(part))
						}
					}
				}
			}
		}
	}
}

func TestForwardAllocatesNothing(t *testing.T) {
	for _, s := range shapes {
		for _, n := range networks(t, scrambled(t, s, 1)) {
			sc := NewScratch(s)
			idx := rowsOf(s, 65, 2)
			policy, outcome := make([]float32, 65*s.Actions), make([]float32, 65*Outcomes)
			if a := testing.AllocsPerRun(10, func() {
				if err := n.Forward(sc, 65, idx, policy, outcome); err != nil {
					t.Fatal(err)
				}
			}); a != 0 {
				t.Errorf("%s shape %v: %v allocations", n.Kernel(), s, a)
			}
		}
	}
}

func TestNetworkIsACopy(t *testing.T) {
	w := scrambled(t, odd, 1)
	n := network(t, w)
	idx := rowsOf(odd, 3, 1)
	before, _ := forward(t, n, idx)
	for _, m := range w.Tensors {
		clear(m.Data)
	}
	if after, _ := forward(t, n, idx); !slices.Equal(before, after) {
		t.Error("changing the weights changed the network")
	}
}

func TestForwardRefusesWhatDoesNotFit(t *testing.T) {
	n := network(t, scrambled(t, odd, 1))
	idx := rowsOf(odd, 2, 1)
	p, o := make([]float32, 2*odd.Actions), make([]float32, 2*Outcomes)
	bad := slices.Clone(idx)
	bad[1] = int32(odd.Inputs)
	below := slices.Clone(idx)
	below[0] = -1
	for name, err := range map[string]error{
		"another shape":  n.Forward(NewScratch(small), 2, idx, p, o),
		"rows":           n.Forward(NewScratch(odd), 3, idx, p, o),
		"negative rows":  n.Forward(NewScratch(odd), -1, nil, nil, nil),
		"policy":         n.Forward(NewScratch(odd), 2, idx, p[1:], o),
		"outcome":        n.Forward(NewScratch(odd), 2, idx, p, o[1:]),
		"index":          n.Forward(NewScratch(odd), 2, bad, p, o),
		"negative index": n.Forward(NewScratch(odd), 2, below, p, o),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if err := n.Forward(NewScratch(odd), 0, nil, nil, nil); err != nil {
		t.Errorf("no rows: %v", err)
	}
}

func BenchmarkForward(b *testing.B) {
	for _, c := range []struct {
		name  string
		shape Shape
	}{{"64x2", small}, {"128x2", medium}} {
		for _, n := range networks(b, scrambled(b, c.shape, 1)) {
			for _, rows := range []int{1, 8, 32, 64, 256} {
				b.Run(fmt.Sprintf("%s/%s/batch=%d", c.name, n.Kernel(), rows), func(b *testing.B) {
					// Fresh rows each round, as in play: the processor must not learn them by heart.
					const rounds = 1 << 12
					idx := rowsOf(c.shape, rounds, 3)
					s := NewScratch(c.shape)
					p, o := make([]float32, rows*c.shape.Actions), make([]float32, rows*Outcomes)
					step, at := rows*c.shape.Active, 0
					begin := clock.Spent()
					for b.Loop() {
						if at+step > len(idx) {
							at = 0
						}
						if err := n.Forward(s, rows, idx[at:at+step], p, o); err != nil {
							b.Fatal(err)
						}
						at += step
					}
					perSecond(b, rows, begin)
				})
			}
		}
	}
}
