package learner

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"
	"io"
	"slices"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// arg is the kind of a value: its number type and shape, none for a scalar.
type arg struct {
	of    tensor.Dtype
	shape tensor.Shape
}

func f32(shape ...int) arg { return arg{tensor.Float32, shape} }

func (a arg) kind() hm.Type {
	if len(a.shape) == 0 {
		return a.of
	}
	return gorgonia.TensorType{Dims: len(a.shape), Of: a.of}
}

// form is what all operations share: what goes in, what comes out, and the name, which holds every parameter
// because Gorgonia takes nodes with the same name on the same children for one. An operation belongs to one
// node of one graph: it owns the memory of its result.
type form struct {
	name string
	in   []arg
	out  arg
}

func newForm(name string, out arg, in ...arg) form {
	for _, a := range append(slices.Clone(in), out) {
		name += fmt.Sprint(" ", a.of, []int(a.shape))
	}
	return form{name, in, out}
}

// Arity implements gorgonia.Op.
func (f *form) Arity() int { return len(f.in) }

// Type implements gorgonia.Op.
func (f *form) Type() hm.Type {
	var t []hm.Type
	for _, a := range f.in {
		t = append(t, a.kind())
	}
	return hm.NewFnType(append(t, f.out.kind())...)
}

// InferShape implements gorgonia.Op: it refuses inputs of another shape than the operation was made for.
func (f *form) InferShape(in ...gorgonia.DimSizer) (tensor.Shape, error) {
	for i, s := range in {
		if got, ok := s.(tensor.Shape); !ok || !got.Eq(f.in[i].shape) {
			return nil, fmt.Errorf("learner: input %d of %s has shape %v: must be %v", i, f.name, s, f.in[i].shape)
		}
	}
	if len(f.out.shape) == 0 {
		return tensor.ScalarShape(), nil
	}
	return f.out.shape.Clone(), nil
}

// ReturnsPtr implements gorgonia.Op: the result is the operation's own memory.
func (f *form) ReturnsPtr() bool { return true }

// CallsExtern implements gorgonia.Op.
func (f *form) CallsExtern() bool { return false }

// OverwritesInput implements gorgonia.Op: none is.
func (f *form) OverwritesInput() int { return -1 }

// WriteHash implements gorgonia.Op.
func (f *form) WriteHash(h hash.Hash) { io.WriteString(h, f.name) } // a hash never fails

// Hashcode implements gorgonia.Op.
func (f *form) Hashcode() uint32 {
	h := fnv.New32a()
	f.WriteHash(h)
	return h.Sum32()
}

// String implements fmt.Stringer.
func (f *form) String() string { return f.name }

// result is the memory an operation writes to.
type result struct {
	dense *tensor.Dense
	y     []float32 // of dense
}

func newResult(out arg) result {
	y := make([]float32, out.shape.TotalSize())
	return result{tensor.New(tensor.WithShape(out.shape...), tensor.WithBacking(y)), y}
}

// floats returns the numbers of a tensor.
func floats(v gorgonia.Value) []float32 { return v.Data().([]float32) }

// errLast is returned by operations that stand in gradients.
var errLast = errors.New("learner: gradients of gradients are not defined")

// last is embedded by operations that stand in gradients and have none themselves.
type last struct{}

// DiffWRT implements gorgonia.SDOp.
func (last) DiffWRT(n int) []bool { return make([]bool, n) }

// SymDiff implements gorgonia.SDOp.
func (last) SymDiff(gorgonia.Nodes, *gorgonia.Node, *gorgonia.Node) (gorgonia.Nodes, error) {
	return nil, errLast
}
