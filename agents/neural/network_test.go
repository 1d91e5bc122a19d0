package neural

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
	for _, s := range shapes {
		w := scrambled(t, s, 5)
		idx := rowsOf(s, 37, 6)
		for _, n := range networks(t, w) {
			policy, outcome := forward(t, n, idx)
			margin := margins(t, n, idx)
			for r := range 37 {
				p, o, m := reference(w, idx[r*s.Active:(r+1)*s.Active])
				for a, want := range p {
					if got := policy[r*s.Actions+a]; math.Abs(float64(got)-want) > 1e-5*(1+math.Abs(want)) {
						t.Fatalf("%s shape %v row %d policy %d = %v, want %v", n.Kernel(), s, r, a, got, want)
					}
				}
				for a, want := range o {
					if got := outcome[r*Outcomes+a]; math.Abs(float64(got)-want) > 1e-5*(1+math.Abs(want)) {
						t.Fatalf("%s shape %v row %d outcome %d = %v, want %v", n.Kernel(), s, r, a, got, want)
					}
				}
				if m != nil && math.Abs(float64(margin[r])-m[0]) > 1e-5*(1+math.Abs(m[0])) {
					t.Fatalf("%s shape %v row %d margin %v, want %v", n.Kernel(), s, r, margin[r], m[0])
				}
			}
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
