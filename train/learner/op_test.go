package learner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/internal/kernel"
)

// trial is an operation with inputs to try it on. make returns a fresh operation each time.
type trial struct {
	name   string
	make   func() gorgonia.SDOp
	args   func(gorgonia.SDOp) []arg
	values []any // []float32, []int32 or []uint64
}

func normals(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// odds returns rows of distributions on the masks' places.
func odds(r *rand.Rand, width int, masks []uint64) []float32 {
	var x []float32
	for _, m := range masks {
		row, sum := make([]float32, width), float32(0)
		for a := range row {
			if m>>a&1 != 0 {
				row[a] = r.Float32()
				sum += row[a]
			}
		}
		for a := range row {
			row[a] /= sum
		}
		x = append(x, row...)
	}
	return x
}

func trials(k *kernel.Kernel) []trial {
	r := rand.New(rand.NewPCG(3, 0x7e57))
	var all []trial
	for _, c := range []struct {
		rows, in, out int
		skip, relu    bool
	}{{5, 7, 3, false, false}, {5, 7, 3, false, true}, {3, 4, 4, true, true}, {3, 4, 4, true, false}, {1, 1, 1, false, false}, {70, 65, 3, false, true}} {
		v := []any{normals(r, c.rows*c.in), normals(r, c.in*c.out), normals(r, c.out)}
		if c.skip {
			v = append(v, normals(r, c.rows*c.out))
		}
		all = append(all, trial{
			fmt.Sprintf("linear%v", c), func() gorgonia.SDOp { return newLinear(k, c.rows, c.in, c.out, c.skip, c.relu) },
			func(o gorgonia.SDOp) []arg { return o.(*linear).in }, v,
		})
	}
	s := odd
	idx := lessons(6, s, 1).Indices
	copy(idx[3:6], idx[:3]) // two equal rows: their gradients add up
	all = append(all, trial{
		"gather", func() gorgonia.SDOp { return newGather(k, 6, s) },
		func(o gorgonia.SDOp) []arg { return o.(*gather).in },
		[]any{idx, normals(r, s.Inputs*s.Width), normals(r, s.Width)},
	})
	all = append(all, trial{
		"square", func() gorgonia.SDOp { return newSquare(4, 1.5) },
		func(o gorgonia.SDOp) []arg { return o.(*square).in },
		[]any{normals(r, 4), normals(r, 4), []float32{1, 0, 0.5, 2}},
	})
	// One legal action, some, all, none (with weight 0), and logits far apart.
	masks := []uint64{1 << 4, 1<<0 | 1<<3, 1<<6 - 1, 0, 1<<2 | 1<<5}
	logits := normals(r, 5*6)
	logits[4*6+2], logits[4*6+5] = 40, -40
	logits[1*6+1] = 1e4 // illegal: its size must not matter
	all = append(all, trial{
		"entropy", func() gorgonia.SDOp { return newEntropy(5, 6, 1.5) },
		func(o gorgonia.SDOp) []arg { return o.(*entropy).in },
		[]any{logits, masks, odds(r, 6, []uint64{masks[0], masks[1], masks[2], 1, masks[4]}), []float32{1, 0.5, 2, 0, 1}},
	})
	return all
}

func (c trial) tensors(o gorgonia.SDOp) []gorgonia.Value {
	var v []gorgonia.Value
	for i, a := range c.args(o) {
		v = append(v, tensor.New(tensor.WithShape(a.shape...), tensor.WithBacking(c.values[i])))
	}
	return v
}

// cost runs a fresh operation on the inputs as they are now and adds up its results, weighted.
func (c trial) cost(t *testing.T, weight []float32) float64 {
	t.Helper()
	o := c.make()
	out, err := o.Do(c.tensors(o)...)
	if err != nil {
		t.Fatal(err)
	}
	if f, ok := out.Data().(float32); ok {
		return float64(f)
	}
	sum := 0.0
	for i, y := range floats(out) {
		sum += float64(weight[i]) * float64(y)
	}
	return sum
}

// between reports whether a gradient lies between the slopes below and above, give or take tol. At a bend of
// a relu the two differ, elsewhere hardly.
func between(g, below, above, tol float64) bool {
	return g > min(below, above)-tol*(1+math.Abs(g)) && g < max(below, above)+tol*(1+math.Abs(g))
}

func TestGradientsAreNumericallyRight(t *testing.T) {
	for _, name := range neural.Kernels() {
		k, err := kernel.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range trials(k) {
			t.Run(name+"/"+c.name, c.checkGradients)
		}
	}
}

func (c trial) checkGradients(t *testing.T) {
	g := gorgonia.NewGraph()
	o := c.make()
	var in, wrt gorgonia.Nodes
	diff := o.DiffWRT(len(c.values))
	for i, v := range c.tensors(o) {
		n := gorgonia.NewTensor(g, v.Dtype(), v.Shape().Dims(), gorgonia.WithShape(v.Shape()...), gorgonia.WithName(fmt.Sprint("in", i)), gorgonia.WithValue(v))
		in = append(in, n)
		if diff[i] {
			wrt = append(wrt, n)
		}
	}
	out, err := gorgonia.ApplyOp(o, in...)
	if err != nil {
		t.Fatal(err)
	}
	cost, weight := out, []float32(nil)
	if !out.IsScalar() {
		weight = normals(rand.New(rand.NewPCG(1, 2)), out.Shape().TotalSize())
		w := tensor.New(tensor.WithShape(out.Shape()...), tensor.WithBacking(weight))
		n := gorgonia.NewTensor(g, tensor.Float32, out.Dims(), gorgonia.WithShape(out.Shape()...), gorgonia.WithName("weight"), gorgonia.WithValue(w))
		cost = gorgonia.Must(gorgonia.Sum(gorgonia.Must(gorgonia.HadamardProd(out, n))))
	}
	if _, err := gorgonia.Grad(cost, wrt...); err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(wrt...))
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	for i, n := range in {
		if !diff[i] {
			continue
		}
		d, err := n.Grad()
		if err != nil {
			t.Fatal(err)
		}
		got, x := floats(d), c.values[i].([]float32)
		for j := range x {
			const h = 1.0 / 256
			old := x[j]
			x[j] = old + h
			up := c.cost(t, weight)
			x[j] = old - h
			down := c.cost(t, weight)
			x[j] = old
			if mid := c.cost(t, weight); !between(float64(got[j]), (mid-down)/h, (up-mid)/h, 2e-3) {
				t.Errorf("input %d place %d: gradient %v, numerically %v below and %v above", i, j, got[j], (mid-down)/h, (up-mid)/h)
			}
		}
	}
}

func TestEntropyIsMasked(t *testing.T) {
	all := trials(chosen(t))
	c := all[len(all)-1]
	want := 0.0
	logits, masks, target, weight := c.values[0].([]float32), c.values[1].([]uint64), c.values[2].([]float32), c.values[3].([]float32)
	for r, m := range masks {
		sum := 0.0
		for a := range 6 {
			if m>>a&1 != 0 {
				sum += math.Exp(float64(logits[6*r+a]))
			}
		}
		for a := range 6 {
			if m>>a&1 != 0 {
				want += 1.5 / 5 * float64(weight[r]*target[6*r+a]) * (math.Log(sum) - float64(logits[6*r+a]))
			}
		}
	}
	if got := c.cost(t, nil); math.Abs(got-want) > 1e-5 {
		t.Errorf("loss %v, want %v", got, want)
	}
}

func TestHashHoldsEveryParameter(t *testing.T) {
	k := chosen(t)
	s, wider := odd, odd
	wider.Inputs++
	all := []func() gorgonia.Op{
		func() gorgonia.Op { return newLinear(k, 2, 3, 4, false, false) },
		func() gorgonia.Op { return newLinear(k, 3, 3, 4, false, false) },
		func() gorgonia.Op { return newLinear(k, 2, 4, 4, false, false) },
		func() gorgonia.Op { return newLinear(k, 2, 3, 3, false, false) },
		func() gorgonia.Op { return newLinear(k, 2, 3, 4, true, false) },
		func() gorgonia.Op { return newLinear(k, 2, 3, 4, false, true) },
		func() gorgonia.Op { return newLinear(k, 2, 3, 4, true, true) },
		func() gorgonia.Op { return newProduct(k, false, false, 4, 4, 4) },
		func() gorgonia.Op { return newProduct(k, true, false, 4, 4, 4) },
		func() gorgonia.Op { return newProduct(k, false, true, 4, 4, 4) },
		func() gorgonia.Op { return newProduct(k, false, true, 4, 4, 5) },
		func() gorgonia.Op { return newProduct(k, false, true, 4, 5, 4) },
		func() gorgonia.Op { return newProduct(k, false, true, 5, 4, 4) },
		func() gorgonia.Op { return newGate(k, 2, 3) },
		func() gorgonia.Op { return newGate(k, 3, 2) },
		func() gorgonia.Op { return newColumns(k, 2, 3) },
		func() gorgonia.Op { return newColumns(k, 3, 3) },
		func() gorgonia.Op { return newGather(k, 2, s) },
		func() gorgonia.Op { return newGather(k, 3, s) },
		func() gorgonia.Op { return newGather(k, 2, wider) },
		func() gorgonia.Op { return newScatter(newGather(k, 2, s)) },
		func() gorgonia.Op { return newScatter(newGather(k, 2, wider)) },
		func() gorgonia.Op { return newSquare(2, 1) },
		func() gorgonia.Op { return newSquare(3, 1) },
		func() gorgonia.Op { return newSquare(2, 2) },
		func() gorgonia.Op { return newSlope(newSquare(2, 1)) },
		func() gorgonia.Op { return newSlope(newSquare(2, 2)) },
		func() gorgonia.Op { return newEntropy(2, 3, 1) },
		func() gorgonia.Op { return newEntropy(2, 3, 1.000001) },
		func() gorgonia.Op { return newEntropy(2, 4, 1) },
		func() gorgonia.Op { return newSurprise(newEntropy(2, 3, 1)) },
		func() gorgonia.Op { return newSurprise(newEntropy(2, 3, 2)) },
	}
	seen := map[uint32]string{}
	for _, f := range all {
		o := f()
		if was, ok := seen[o.Hashcode()]; ok {
			t.Errorf("%v has the hash of %v", o, was)
		}
		seen[o.Hashcode()] = o.String()
		if f().Hashcode() != o.Hashcode() {
			t.Errorf("two of %v have different hashes", o)
		}
	}
}

func TestOpsRefuseOtherShapes(t *testing.T) {
	k := chosen(t)
	g := gorgonia.NewGraph()
	x := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, 3), gorgonia.WithName("x"))
	w := gorgonia.NewMatrix(g, tensor.Float32, gorgonia.WithShape(2, 3), gorgonia.WithName("w"))
	b := gorgonia.NewVector(g, tensor.Float32, gorgonia.WithShape(4), gorgonia.WithName("b"))
	if _, err := gorgonia.ApplyOp(newLinear(k, 2, 3, 4, false, false), x, w, b); err == nil {
		t.Error("a matrix of 2×3 was taken for one of 3×4")
	}
	if _, err := gorgonia.ApplyOp(newLinear(k, 2, 3, 4, false, false), x, w); err == nil {
		t.Error("a missing bias was not missed")
	}
}

// The whole graph, through Gorgonia's own additions too.
func TestNetworkGradientsAreNumericallyRight(t *testing.T) {
	for _, c := range []struct {
		shape neural.Shape
		cfg   Config
	}{{odd, config(9)}, {full, margined(9)}, {low, margined(9)}} {
		c.cfg.ValueWeight = 0.7
		t.Run(c.shape.String(), func(t *testing.T) { checkNetwork(t, c.shape, c.cfg) })
	}
}

func checkNetwork(t *testing.T, s neural.Shape, cfg Config) {
	l := learner(t, initial(t, s, 4), cfg)
	r := rand.New(rand.NewPCG(8, 8))
	for _, m := range l.weights.Tensors { // away from Init's zero biases and small last layers
		for i := range m.Data {
			m.Data[i] += 0.2 * float32(r.NormFloat64())
		}
	}
	b := lessons(9, s, 5)
	if _, err := l.run(b); err != nil {
		t.Fatal(err)
	}
	var grads [][]float32
	for _, p := range l.params {
		g, err := p.Grad()
		if err != nil {
			t.Fatal(err)
		}
		grads = append(grads, slices.Clone(floats(g)))
	}
	l.forget()
	total := func() float64 {
		loss, err := l.Measure(b)
		if err != nil {
			t.Fatal(err)
		}
		return float64(loss.Policy) + cfg.ValueWeight*float64(loss.Value) + cfg.MarginWeight*float64(loss.Margin)
	}
	mid := total()
	for i, m := range l.weights.Tensors {
		for j := range m.Data {
			const h = 1.0 / 512
			old := m.Data[j]
			m.Data[j] = old + h
			up := total()
			m.Data[j] = old - h
			down := total()
			m.Data[j] = old
			if !between(float64(grads[i][j]), (mid-down)/h, (up-mid)/h, 2e-3) {
				t.Errorf("%s %d: gradient %v, numerically %v below and %v above", m.Name, j, grads[i][j], (mid-down)/h, (up-mid)/h)
			}
		}
	}
}
