package learner

import (
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/internal/kernel"
)

// gather is the first layer: indices (rows × active, int32), w (inputs × width), b (width) →
// relu(b + Σ rows of w at the indices), rows × width.
type gather struct {
	form
	result
	k                           *kernel.Kernel
	rows, active, inputs, width int
}

func newGather(k *kernel.Kernel, rows int, s neural.Shape) *gather {
	g := &gather{k: k, rows: rows, active: s.Active, inputs: s.Inputs, width: s.Width}
	g.form = newForm("gather", f32(rows, s.Width), arg{tensor.Int32, tensor.Shape{rows, s.Active}}, f32(s.Inputs, s.Width), f32(s.Width))
	g.result = newResult(g.out)
	return g
}

// Do implements gorgonia.Op.
func (g *gather) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	idx, w, b := v[0].Data().([]int32), floats(v[1]), floats(v[2])
	g.k.Gather(g.rows, g.active, idx, w, g.width, b, g.y, g.width)
	return g.dense, nil
}

// DiffWRT implements gorgonia.SDOp: the indices have no gradient.
func (g *gather) DiffWRT(int) []bool { return []bool{false, true, true} }

// SymDiff implements gorgonia.SDOp.
func (g *gather) SymDiff(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	dz, err := gorgonia.ApplyOp(newGate(g.k, g.rows, g.width), out, grad)
	if err != nil {
		return nil, err
	}
	dw, err := gorgonia.ApplyOp(newScatter(g), in[0], dz)
	if err != nil {
		return nil, err
	}
	db, err := gorgonia.ApplyOp(newColumns(g.k, g.rows, g.width), dz)
	return gorgonia.Nodes{nil, dw, db}, err
}

// scatter is the gradient of gather's matrix: indices, dz (rows × width) → inputs × width.
type scatter struct {
	form
	result
	last
	k                   *kernel.Kernel
	rows, active, width int
}

func newScatter(g *gather) *scatter {
	s := &scatter{k: g.k, rows: g.rows, active: g.active, width: g.width}
	s.form = newForm("scatter", f32(g.inputs, g.width), g.in[0], f32(g.rows, g.width))
	s.result = newResult(s.out)
	return s
}

// Do implements gorgonia.Op.
func (s *scatter) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	idx, dz := v[0].Data().([]int32), floats(v[1])
	clear(s.y)
	s.k.Scatter(s.rows, s.active, idx, s.y, s.width, dz, s.width, s.width)
	return s.dense, nil
}
