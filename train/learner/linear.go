package learner

import (
	"gorgonia.org/gorgonia"

	"github.com/mancalagym/mancalagym/internal/kernel"
)

// linear is a layer: x (rows × in), w (in × out), b (out) and, with skip, s (rows × out) →
// b + x·w + s, rows × out, and with relu the positive part of it.
type linear struct {
	form
	result
	k               *kernel.Kernel
	m               multiplier
	rows, ins, outs int
	skip, relu      bool
}

func newLinear(k *kernel.Kernel, rows, in, out int, skip, relu bool) *linear {
	l := &linear{k: k, m: newMultiplier(k), rows: rows, ins: in, outs: out, skip: skip, relu: relu}
	name, args := "linear", []arg{f32(rows, in), f32(in, out), f32(out)}
	if skip {
		name, args = name+"+skip", append(args, f32(rows, out))
	}
	if relu {
		name += "+relu"
	}
	l.form = newForm(name, f32(rows, out), args...)
	l.result = newResult(l.out)
	return l
}

// Do implements gorgonia.Op.
func (l *linear) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	var skip []float32
	if l.skip {
		skip = floats(v[3])
	}
	x, w := kernel.Matrix{Data: floats(v[0]), Lead: l.ins}, kernel.Matrix{Data: floats(v[1]), Lead: l.outs}
	l.m.multiply(l.rows, l.outs, l.ins, x, w, floats(v[2]), skip, l.y, l.relu)
	return l.dense, nil
}

// DiffWRT implements gorgonia.SDOp.
func (l *linear) DiffWRT(n int) []bool {
	d := make([]bool, n)
	for i := range d {
		d[i] = true
	}
	return d
}

// SymDiff implements gorgonia.SDOp.
func (l *linear) SymDiff(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	dz := grad
	var err error
	if l.relu {
		if dz, err = gorgonia.ApplyOp(newGate(l.k, l.rows, l.outs), out, grad); err != nil {
			return nil, err
		}
	}
	dx, err := gorgonia.ApplyOp(newProduct(l.k, false, true, l.rows, l.ins, l.outs), dz, in[1])
	if err != nil {
		return nil, err
	}
	dw, err := gorgonia.ApplyOp(newProduct(l.k, true, false, l.ins, l.outs, l.rows), in[0], dz)
	if err != nil {
		return nil, err
	}
	db, err := gorgonia.ApplyOp(newColumns(l.k, l.rows, l.outs), dz)
	if err != nil {
		return nil, err
	}
	d := gorgonia.Nodes{dx, dw, db}
	if l.skip {
		d = append(d, dz)
	}
	return d, nil
}

// product multiplies two matrices, either of them transposed: the result is m × n, the sums are of k terms.
type product struct {
	form
	result
	last
	by            multiplier
	left, right   kernel.Matrix // without data
	rows, cols, k int
}

func newProduct(by *kernel.Kernel, ta, tb bool, m, n, k int) *product {
	p := &product{by: newMultiplier(by), left: kernel.Matrix{Lead: k, Trans: ta}, right: kernel.Matrix{Lead: n, Trans: tb}, rows: m, cols: n, k: k}
	name, a, b := "product", f32(m, k), f32(k, n)
	if ta {
		name, a, p.left.Lead = name+"ᵀ·", f32(k, m), m
	}
	if tb {
		name, b, p.right.Lead = name+"·ᵀ", f32(n, k), k
	}
	p.form = newForm(name, f32(m, n), a, b)
	p.result = newResult(p.out)
	return p
}

// Do implements gorgonia.Op.
func (p *product) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	a, b := p.left, p.right
	a.Data, b.Data = floats(v[0]), floats(v[1])
	p.by.multiply(p.rows, p.cols, p.k, a, b, nil, nil, p.y, false)
	return p.dense, nil
}

// gate is the gradient before a relu: y (rows × width) after it, dy (rows × width) → dy where y is
// not 0, that is positive, and 0 elsewhere.
type gate struct {
	form
	result
	last
	k *kernel.Kernel
}

func newGate(k *kernel.Kernel, rows, width int) *gate {
	g := &gate{k: k, form: newForm("gate", f32(rows, width), f32(rows, width), f32(rows, width))}
	g.result = newResult(g.out)
	return g
}

// Do implements gorgonia.Op.
func (g *gate) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	g.k.Gate(g.y, floats(v[0]), floats(v[1]))
	return g.dense, nil
}

// columns sums a matrix over its rows: rows × width → width.
type columns struct {
	form
	result
	last
	k *kernel.Kernel
}

func newColumns(k *kernel.Kernel, rows, width int) *columns {
	c := &columns{k: k, form: newForm("columns", f32(width), f32(rows, width))}
	c.result = newResult(c.out)
	return c
}

// Do implements gorgonia.Op.
func (c *columns) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	clear(c.y)
	for x := floats(v[0]); len(x) > 0; x = x[len(c.y):] {
		c.k.Add(c.y, x)
	}
	return c.dense, nil
}
