package learner

import (
	"fmt"
	"math"

	"github.com/mancalagym/mancalagym/env/mancala"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// entropy is a loss: logits (rows × width), legal (rows, uint64 masks), target (rows × width), weight (rows) →
//
//	scale/rows · Σ weight · (−Σ target·log softmax(logits)),
//
// a scalar, the softmax being over the places of the mask alone. A row of weight 0 is not looked at. Sums
// are in float64.
type entropy struct {
	form
	rows, width int
	scale       float64
	value       *gorgonia.F32
}

func entropyArgs(rows, width int) []arg {
	return []arg{f32(rows, width), {tensor.Uint64, tensor.Shape{rows}}, f32(rows, width), f32(rows)}
}

func newEntropy(rows, width int, scale float64) *entropy {
	return &entropy{
		form: newForm(fmt.Sprintf("entropy·%v", scale), f32(), entropyArgs(rows, width)...),
		rows: rows, width: width, scale: scale, value: gorgonia.NewF32(0),
	}
}

// Do implements gorgonia.Op.
func (e *entropy) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	logits, legal, target, weight := floats(v[0]), v[1].Data().([]uint64), floats(v[2]), floats(v[3])
	total := 0.0
	for r := range e.rows {
		if weight[r] == 0 {
			continue
		}
		l, t := logits[r*e.width:(r+1)*e.width], target[r*e.width:(r+1)*e.width]
		top, sum := mass(l, mancala.Mask(legal[r]))
		log, loss := math.Log(sum), 0.0
		for m := mancala.Mask(legal[r]); m != 0; m = m.WithoutFirst() {
			a := m.First()
			loss += float64(t[a]) * (log + top - float64(l[a]))
		}
		total += float64(weight[r]) * loss
	}
	*e.value = gorgonia.F32(e.scale / float64(e.rows) * total)
	return e.value, nil
}

// mass returns the largest logit of the mask's places and Σ exp(logit − largest) over them.
func mass(logits []float32, mask mancala.Mask) (top, sum float64) {
	top = math.Inf(-1)
	for m := mask; m != 0; m = m.WithoutFirst() {
		top = max(top, float64(logits[m.First()]))
	}
	for m := mask; m != 0; m = m.WithoutFirst() {
		sum += math.Exp(float64(logits[m.First()]) - top)
	}
	return top, sum
}

// DiffWRT implements gorgonia.SDOp: masks, targets and weights have no gradient.
func (e *entropy) DiffWRT(int) []bool { return []bool{true, false, false, false} }

// SymDiff implements gorgonia.SDOp.
func (e *entropy) SymDiff(in gorgonia.Nodes, _, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	d, err := gorgonia.ApplyOp(newSurprise(e), append(append(gorgonia.Nodes(nil), in...), grad)...)
	return gorgonia.Nodes{d, nil, nil, nil}, err
}

// surprise is the gradient of entropy's logits: entropy's inputs and the gradient of its result, a scalar g →
// g·scale/rows · weight · (softmax·Σ target − target) at the mask's places, 0 elsewhere; rows × width.
type surprise struct {
	form
	result
	last
	rows, width int
	scale       float64
}

func newSurprise(e *entropy) *surprise {
	s := &surprise{rows: e.rows, width: e.width, scale: e.scale}
	s.form = newForm(fmt.Sprintf("surprise·%v", e.scale), f32(e.rows, e.width), append(entropyArgs(e.rows, e.width), f32())...)
	s.result = newResult(s.out)
	return s
}

// Do implements gorgonia.Op.
func (s *surprise) Do(v ...gorgonia.Value) (gorgonia.Value, error) {
	logits, legal, target, weight := floats(v[0]), v[1].Data().([]uint64), floats(v[2]), floats(v[3])
	scale := float64(v[4].Data().(float32)) * s.scale / float64(s.rows)
	clear(s.y)
	for r := range s.rows {
		if weight[r] == 0 {
			continue
		}
		l, t, d := logits[r*s.width:(r+1)*s.width], target[r*s.width:(r+1)*s.width], s.y[r*s.width:(r+1)*s.width]
		mask := mancala.Mask(legal[r])
		top, sum := mass(l, mask)
		all := 0.0
		for m := mask; m != 0; m = m.WithoutFirst() {
			all += float64(t[m.First()])
		}
		for m := mask; m != 0; m = m.WithoutFirst() {
			a := m.First()
			d[a] = float32(scale * float64(weight[r]) * (all*math.Exp(float64(l[a])-top)/sum - float64(t[a])))
		}
	}
	return s.dense, nil
}
