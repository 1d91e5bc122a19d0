package neural

import (
	"fmt"
	"os"

	"github.com/mancalagym/mancalagym/internal/kernel"
)

// Kernel returns the name of the kernel that NewNetwork makes networks for: avx512, avx2 or go. The environment
// variable MANCALA_KERNEL chooses one, else it is the fastest that the processor can run. Where the variable holds
// anything else Kernel returns that, and NewNetwork the error.
//
// Kernels may differ in the last bits of a result; avx512 and avx2 do not differ from each other.
func Kernel() string {
	k, err := kernel.Chosen()
	if err != nil {
		return os.Getenv(kernel.Variable)
	}
	return k.Name()
}

// Kernels returns the names of the kernels that this processor can run, the fastest first.
func Kernels() []string { return kernel.Names() }

// Network is an immutable snapshot of weights, laid out for playing. Any number of goroutines may use it,
// each with a Scratch of its own.
type Network struct {
	meta   Meta
	shape  Shape
	kernel *kernel.Kernel
	firstW []float32 // Inputs rows of whole vectors
	firstB []float32 // one row
	blocks []block
	heads  *kernel.Layer // policy and value side by side: one product of the trunk
	last   *kernel.Layer // outcome and margin; nil without a value layer, when they are in heads
}

type block struct{ in, out *kernel.Layer }

// NewNetwork copies w, which must be valid, for the kernel that Kernel names.
func NewNetwork(w *Weights) (*Network, error) {
	k, err := kernel.Chosen()
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	return newNetwork(w, k)
}

// NewNetworkOn copies w, which must be valid, for the kernel of that name, one of Kernels.
func NewNetworkOn(w *Weights, name string) (*Network, error) {
	k, err := kernel.Named(name)
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	return newNetwork(w, k)
}

func newNetwork(w *Weights, k *kernel.Kernel) (*Network, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	n := &Network{meta: w.Meta, shape: w.Shape, kernel: k}
	tensors := w.Tensors
	next := func() (m, b Tensor) {
		m, b = tensors[0], tensors[1]
		tensors = tensors[2:]
		return m, b
	}
	layer := func() *kernel.Layer {
		m, b := next()
		return k.NewLayer(m.Rows, m.Cols, m.Data, b.Data, 0)
	}
	first, b := next()
	wide := k.Width(w.Shape.Width)
	n.firstW, n.firstB = make([]float32, first.Rows*wide), make([]float32, wide)
	copy(n.firstB, b.Data)
	for i := range first.Rows {
		copy(n.firstW[i*wide:], first.Data[i*first.Cols:(i+1)*first.Cols])
	}
	for range w.Shape.Blocks {
		n.blocks = append(n.blocks, block{layer(), layer()})
	}
	policy, pb := next()
	var value, vb Tensor
	if w.Shape.ValueWidth > 0 {
		value, vb = next()
	}
	outcome, ob := next()
	if w.Shape.MarginHead {
		margin, mb := next()
		outcome, ob = beside(outcome, margin), beside(ob, mb)
	}
	if w.Shape.ValueWidth > 0 {
		n.last = k.NewLayer(outcome.Rows, outcome.Cols, outcome.Data, ob.Data, outcome.Cols)
		outcome, ob = value, vb
	}
	heads, hb := beside(policy, outcome), beside(pb, ob)
	relu := heads.Cols
	if n.last != nil {
		relu = policy.Cols
	}
	n.heads = k.NewLayer(heads.Rows, heads.Cols, heads.Data, hb.Data, relu)
	return n, nil
}

// beside joins the rows of two tensors.
func beside(p, q Tensor) Tensor {
	t := Tensor{Rows: p.Rows, Cols: p.Cols + q.Cols}
	for i := range p.Rows {
		t.Data = append(append(t.Data, p.Data[i*p.Cols:(i+1)*p.Cols]...), q.Data[i*q.Cols:(i+1)*q.Cols]...)
	}
	return t
}

// Meta returns what the network was made for.
func (n *Network) Meta() Meta { return n.meta }

// Shape returns the sizes.
func (n *Network) Shape() Shape { return n.shape }

// Kernel returns the name of the kernel the network was made for.
func (n *Network) Kernel() string { return n.kernel.Name() }

// tile is how many rows go through the layers together, so that a layer's weights are used while they are
// near the processor.
const tile = 32

// stride is how far rows of n numbers are apart in a Scratch: whole vectors of every kernel, and a 0 at the end.
func stride(n int) int { return (n + 1 + 31) &^ 31 }

// Scratch is the working memory of one goroutine for networks of one shape, whatever their kernel.
type Scratch struct {
	shape               Shape
	width, joint        int       // strides
	trunk, inner, heads []float32 // tile rows
	last                []float32 // of outcomes
	lists               *kernel.Lists
}

// NewScratch returns working memory for networks of shape s, which must be valid.
func NewScratch(s Shape) *Scratch {
	width, joint := stride(s.Width), stride(s.Actions)+stride(max(s.ValueWidth, ends))
	return &Scratch{
		shape: s, width: width, joint: joint,
		trunk: make([]float32, tile*width),
		inner: make([]float32, tile*width),
		heads: make([]float32, tile*joint),
		last:  make([]float32, tile*stride(ends)),
		lists: kernel.NewLists(tile, max(s.Width, s.ValueWidth)),
	}
}

// Terms returns how many products of numbers the layers behind the first have made so far: those with inputs that
// are 0 in two rows are left out.
func (s *Scratch) Terms() uint64 { return s.lists.Terms() }

// Forward computes n rows: indices holds Active places of ones in [0, Inputs) a row, policy receives Actions
// logits a row, outcome the logits of the mover's win, draw and loss. A row's result depends on its indices
// alone, to the last bit. Nothing is allocated.
func (n *Network) Forward(s *Scratch, rows int, indices []int32, policy, outcome []float32) error {
	return n.forward(s, rows, indices, policy, outcome, nil)
}

// ForwardMargin is Forward of a network with a margin head: margin receives one number a row, about −1 to 1.
func (n *Network) ForwardMargin(s *Scratch, rows int, indices []int32, policy, outcome, margin []float32) error {
	if !n.shape.MarginHead {
		return fmt.Errorf("neural: network of shape %v: has no margin head", n.shape)
	}
	if len(margin) != rows {
		return fmt.Errorf("neural: %d rows with %d margins: must be one a row", rows, len(margin))
	}
	return n.forward(s, rows, indices, policy, outcome, margin)
}

func (n *Network) forward(s *Scratch, rows int, indices []int32, policy, outcome, margin []float32) error {
	sh := &n.shape
	if s.shape != *sh {
		return fmt.Errorf("neural: scratch for shape %v: the network has %v", s.shape, *sh)
	}
	if rows < 0 || len(indices) != rows*sh.Active || len(policy) != rows*sh.Actions || len(outcome) != rows*Outcomes {
		return fmt.Errorf("neural: %d rows with %d indices, %d policy and %d outcome logits: must be %d, %d and %d a row",
			rows, len(indices), len(policy), len(outcome), sh.Active, sh.Actions, Outcomes)
	}
	for _, i := range indices {
		if uint32(i) >= uint32(sh.Inputs) {
			return fmt.Errorf("neural: active index %d: must be 0 to %d", i, sh.Inputs-1)
		}
	}
	for at := 0; at < rows; at += tile {
		end := min(at+tile, rows)
		last, between := n.tile(s, end-at, indices[at*sh.Active:end*sh.Active])
		for r := at; r < end; r++ {
			copy(policy[r*sh.Actions:(r+1)*sh.Actions], s.heads[(r-at)*s.joint:])
			row := last[(r-at)*between:]
			copy(outcome[r*Outcomes:(r+1)*Outcomes], row)
			if margin != nil {
				margin[r] = row[Outcomes]
			}
		}
	}
	return nil
}

// tile computes up to tile rows. It leaves the policy in the heads, and returns rows of outcome and margin and how far they
// are apart.
func (n *Network) tile(s *Scratch, rows int, indices []int32) (last []float32, between int) {
	n.kernel.Gather(rows, n.shape.Active, indices, n.firstW, len(n.firstB), n.firstB, s.trunk, s.width)
	for i := range n.blocks {
		b := &n.blocks[i]
		b.in.Product(s.lists, rows, s.trunk, s.width, false, s.inner, s.width)
		b.out.Product(s.lists, rows, s.inner, s.width, true, s.trunk, s.width)
	}
	n.heads.Product(s.lists, rows, s.trunk, s.width, false, s.heads, s.joint)
	value := s.heads[n.shape.Actions:]
	if n.last == nil {
		return value, s.joint
	}
	n.last.Product(s.lists, rows, value, s.joint, false, s.last, stride(ends))
	return s.last, stride(ends)
}

// ends is how many numbers the last layer gives at most: outcome and margin.
const ends = Outcomes + 1
