package learner

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gorgonia.org/gorgonia"
)

// linear is a layer: x (rows × in), w (in × out), b (out) and, with skip, s (rows × out) →
// b + x·w + s, rows × out, and with relu the positive part of it.
type linear struct {
	form
	result
	rows, ins, outs int
	skip, relu      bool
}

func newLinear(rows, in, out int, skip, relu bool) *linear {
	l := &linear{rows: rows, ins: in, outs: out, skip: skip, relu: relu}
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
	x, w, b := floats(v[0]), floats(v[1]), floats(v[2])
	for at := 0; at < len(l.y); at += l.outs {
		copy(l.y[at:at+l.outs], b)
	}
	if l.skip {
		add(l.y, floats(v[3]))
	}
	gorgonia.WhichBLAS().Sgemm(blas.NoTrans, blas.NoTrans, l.rows, l.outs, l.ins, 1, x, l.ins, w, l.outs, 1, l.y, l.outs)
	if l.relu {
		relu(l.y)
	}
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
		if dz, err = gorgonia.ApplyOp(newGate(l.rows, l.outs), out, grad); err != nil {
			return nil, err
		}
	}
	dx, err := gorgonia.ApplyOp(newProduct(false, true, l.rows, l.ins, l.outs), dz, in[1])
	if err != nil {
		return nil, err
	}
	dw, err := gorgonia.ApplyOp(newProduct(true, false, l.ins, l.outs, l.rows), in[0], dz)
	if err != nil {
		return nil, err
	}
	db, err := gorgonia.ApplyOp(newColumns(l.rows, l.outs), dz)
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
	ta, tb           blas.Transpose
	m, n, k          int
	strideA, strideB int
}

func newProduct(ta, tb bool, m, n, k int) *product {
	p := &product{ta: blas.NoTrans, tb: blas.NoTrans, m: m, n: n, k: k, strideA: k, strideB: n}
	name, a, b := "product", f32(m, k), f32(k, n)
	if ta {
		name, a, p.ta, p.strideA = name+"ᵀ·", f32(k, m), blas.Trans, m
	}
	if tb {
		name, b, p.tb, p.strideB = name+"·ᵀ", f32(n, k), blas.Trans, k
	}
	p.form = newForm(name, f32(m, n), a, b)
	p.result = newResult(p.out)
	return p
}

// Do implements gorgonia.Op.
func (p *product) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	gorgonia.WhichBLAS().Sgemm(p.ta, p.tb, p.m, p.n, p.k, 1, floats(v[0]), p.strideA, floats(v[1]), p.strideB, 0, p.y, p.n)
	return p.dense, nil
}

// gate is the gradient before a relu: y (rows × width) after it, dy (rows × width) → dy where y is
// not 0, that is positive, and 0 elsewhere.
type gate struct {
	form
	result
	last
}

func newGate(rows, width int) *gate {
	g := &gate{form: newForm("gate", f32(rows, width), f32(rows, width), f32(rows, width))}
	g.result = newResult(g.out)
	return g
}

// Do implements gorgonia.Op.
func (g *gate) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	y, dy := floats(v[0])[:len(g.y)], floats(v[1])[:len(g.y)]
	for i := range g.y {
		// All bits of the mask are those of "y is not 0", without a branch that could not be guessed.
		u := math.Float32bits(y[i])
		g.y[i] = math.Float32frombits(math.Float32bits(dy[i]) & uint32(int32(u|-u)>>31))
	}
	return g.dense, nil
}

// columns sums a matrix over its rows: rows × width → width.
type columns struct {
	form
	result
	last
}

func newColumns(rows, width int) *columns {
	c := &columns{form: newForm("columns", f32(width), f32(rows, width))}
	c.result = newResult(c.out)
	return c
}

// Do implements gorgonia.Op.
func (c *columns) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	clear(c.y)
	for x := floats(v[0]); len(x) > 0; x = x[len(c.y):] {
		add(c.y, x)
	}
	return c.dense, nil
}
