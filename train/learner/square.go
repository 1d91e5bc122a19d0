package learner

import (
	"fmt"

	"gorgonia.org/gorgonia"
)

// square is a loss: x (rows × 1), target (rows), weight (rows) → scale/rows · Σ weight·(x − target)², a scalar. A row of
// weight 0 is not looked at. Sums are in float64.
type square struct {
	form
	rows  int
	scale float64
	value *gorgonia.F32
}

func squareArgs(rows int) []arg { return []arg{f32(rows, 1), f32(rows), f32(rows)} }

func newSquare(rows int, scale float64) *square {
	return &square{
		form: newForm(fmt.Sprintf("square·%v", scale), f32(), squareArgs(rows)...),
		rows: rows, scale: scale, value: gorgonia.NewF32(0),
	}
}

// Do implements gorgonia.Op.
func (s *square) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	x, target, weight := floats(v[0]), floats(v[1]), floats(v[2])
	total := 0.0
	for r, w := range weight {
		if w != 0 {
			d := float64(x[r]) - float64(target[r])
			total += float64(w) * d * d
		}
	}
	*s.value = gorgonia.F32(s.scale / float64(s.rows) * total)
	return s.value, nil
}

// DiffWRT implements gorgonia.SDOp: targets and weights have no gradient.
func (s *square) DiffWRT(int) []bool { return []bool{true, false, false} }

// SymDiff implements gorgonia.SDOp.
func (s *square) SymDiff(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	d, err := gorgonia.ApplyOp(newSlope(s), append(append(gorgonia.Nodes(nil), in...), grad)...)
	return gorgonia.Nodes{d, nil, nil}, err
}

// slope is the gradient of square's x: square's inputs and the gradient of its result, a scalar g →
// 2·g·scale/rows · weight·(x − target); rows × 1.
type slope struct {
	form
	result
	last
	rows  int
	scale float64
}

func newSlope(s *square) *slope {
	p := &slope{rows: s.rows, scale: s.scale}
	p.form = newForm(fmt.Sprintf("slope·%v", s.scale), f32(s.rows, 1), append(squareArgs(s.rows), f32())...)
	p.result = newResult(p.out)
	return p
}

// Do implements gorgonia.Op.
func (p *slope) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	x, target, weight := floats(v[0]), floats(v[1]), floats(v[2])
	scale := 2 * float64(v[3].Data().(float32)) * p.scale / float64(p.rows)
	clear(p.y)
	for r, w := range weight {
		if w != 0 {
			p.y[r] = float32(scale * float64(w) * (float64(x[r]) - float64(target[r])))
		}
	}
	return p.dense, nil
}
