package neural

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// InitStream is the stream of the generator rand.NewPCG(seed, InitStream) that Init draws from.
const InitStream = 0x6e65_7572_616c_0001

// Tensor is a named matrix, row-major; a bias has one row. A layer's matrix has a row for each of its
// inputs and a column for each output.
type Tensor struct {
	Name       string
	Rows, Cols int
	Data       []float32 // Rows × Cols
}

// bias reports whether the tensor is one.
func (t *Tensor) bias() bool { return strings.HasSuffix(t.Name, ".b") }

// Weights are all numbers of a network, with what they are for. Tensors stand in the order first, block0.in,
// block0.out, block1.in, …, policy, value, outcome, margin, of each the matrix (".w") before the bias (".b").
type Weights struct {
	Meta    Meta
	Shape   Shape
	Tensors []Tensor
}

// Zero returns weights that are all 0.
func Zero(m Meta, s Shape) (*Weights, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	w := &Weights{Meta: m, Shape: s, Tensors: s.layout()}
	for i := range w.Tensors {
		t := &w.Tensors[i]
		t.Data = make([]float32, t.Rows*t.Cols)
	}
	return w, nil
}

// Init returns weights to start learning from, drawn from rand.NewPCG(seed, InitStream): He-normal layers,
// the second of each block scaled by 1/√(2·blocks) so that depth does not blow up the trunk, the last
// layers scaled by 1/10 so that play starts out nearly uniform, zero biases.
func Init(m Meta, s Shape, seed uint64) (*Weights, error) {
	w, err := Zero(m, s)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, InitStream))
	for _, t := range w.Tensors {
		fan, scale := float64(t.Rows), 1.0
		switch {
		case t.bias():
			continue
		case t.Name == "first.w":
			fan = float64(s.Active) // no more than these are 1 at a time
		case strings.HasSuffix(t.Name, ".out.w"):
			scale = 1 / math.Sqrt(2*float64(s.Blocks))
		case t.Name == "policy.w", t.Name == "outcome.w", t.Name == "margin.w":
			scale = 0.1
		}
		scale *= math.Sqrt(2 / fan)
		for i := range t.Data {
			t.Data[i] = float32(scale * r.NormFloat64())
		}
	}
	return w, nil
}

// Clone returns a copy that shares nothing with w.
func (w *Weights) Clone() *Weights {
	c := &Weights{Meta: w.Meta, Shape: w.Shape, Tensors: slices.Clone(w.Tensors)}
	for i := range c.Tensors {
		c.Tensors[i].Data = slices.Clone(c.Tensors[i].Data)
	}
	return c
}

// Validate returns an error unless the tensors are those of the shape and every number is finite.
func (w *Weights) Validate() error {
	if err := w.Meta.Validate(); err != nil {
		return err
	}
	if err := w.Shape.Validate(); err != nil {
		return err
	}
	l := w.Shape.layout()
	if len(w.Tensors) != len(l) {
		return fmt.Errorf("neural: weights with %d tensors: shape %v has %d", len(w.Tensors), w.Shape, len(l))
	}
	for i, t := range w.Tensors {
		if t.Name != l[i].Name || t.Rows != l[i].Rows || t.Cols != l[i].Cols || len(t.Data) != t.Rows*t.Cols {
			return fmt.Errorf("neural: tensor %q of %d×%d with %d numbers: shape %v has %q of %d×%d here",
				t.Name, t.Rows, t.Cols, len(t.Data), w.Shape, l[i].Name, l[i].Rows, l[i].Cols)
		}
		if i := slices.IndexFunc(t.Data, notFinite); i >= 0 {
			return fmt.Errorf("neural: tensor %s number %d is %v: weights must be finite", t.Name, i, t.Data[i])
		}
	}
	return nil
}

func notFinite(v float32) bool { return math.Float32bits(v)&0x7f80_0000 == 0x7f80_0000 }
