package learner

import (
	"github.com/mancalagym/mancalagym/agents/neural"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// gather is the first layer: indices (rows × active, int32), w (inputs × width), b (width) →
// relu(b + Σ rows of w at the indices), rows × width.
type gather struct {
	form
	result
	rows, active, inputs, width int
}

func newGather(rows int, s neural.Shape) *gather {
	g := &gather{rows: rows, active: s.Active, inputs: s.Inputs, width: s.Width}
	g.form = newForm("gather", f32(rows, s.Width), arg{tensor.Int32, tensor.Shape{rows, s.Active}}, f32(s.Inputs, s.Width), f32(s.Width))
	g.result = newResult(g.out)
	return g
}

// Do implements gorgonia.Op.
func (g *gather) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	idx, w, b := v[0].Data().([]int32), floats(v[1]), floats(v[2])
	for r := range g.rows {
		y := g.y[r*g.width : (r+1)*g.width]
		copy(y, b)
		for _, i := range idx[r*g.active : (r+1)*g.active] {
			add(y, w[int(i)*g.width:])
		}
		relu(y)
	}
	return g.dense, nil
}

// DiffWRT implements gorgonia.SDOp: the indices have no gradient.
func (g *gather) DiffWRT(int) []bool { return []bool{false, true, true} }

// SymDiff implements gorgonia.SDOp.
func (g *gather) SymDiff(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	dz, err := gorgonia.ApplyOp(newGate(g.rows, g.width), out, grad)
	if err != nil {
		return nil, err
	}
	dw, err := gorgonia.ApplyOp(newScatter(g), in[0], dz)
	if err != nil {
		return nil, err
	}
	db, err := gorgonia.ApplyOp(newColumns(g.rows, g.width), dz)
	return gorgonia.Nodes{nil, dw, db}, err
}

// scatter is the gradient of gather's matrix: indices, dz (rows × width) → inputs × width.
type scatter struct {
	form
	result
	last
	rows, active, width int
}

func newScatter(g *gather) *scatter {
	s := &scatter{rows: g.rows, active: g.active, width: g.width}
	s.form = newForm("scatter", f32(g.inputs, g.width), g.in[0], f32(g.rows, g.width))
	s.result = newResult(s.out)
	return s
}

// Do implements gorgonia.Op.
func (s *scatter) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	idx, dz := v[0].Data().([]int32), floats(v[1])
	clear(s.y)
	for r := range s.rows {
		d := dz[r*s.width : (r+1)*s.width]
		for _, i := range idx[r*s.active : (r+1)*s.active] {
			add(s.y[int(i)*s.width:(int(i)+1)*s.width], d)
		}
	}
	return s.dense, nil
}

// add adds x to y, which may be shorter.
func add(y, x []float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] += x[i]
	}
}

func relu(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}
