package neural

import "fmt"

// Network is an immutable snapshot of weights, laid out for playing. Any number of goroutines may use it,
// each with a Scratch of its own.
type Network struct {
	meta   Meta
	shape  Shape
	first  layer
	blocks []block
	heads  layer // policy and value side by side: one product of the trunk
	last   layer // outcome; unused without a value layer
}

type layer struct {
	in, out int
	w, b    []float32 // in × out, out
}

type block struct{ in, out layer }

// NewNetwork copies w, which must be valid.
func NewNetwork(w *Weights) (*Network, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	w = w.Clone()
	next := func() layer {
		m, b := w.Tensors[0], w.Tensors[1]
		w.Tensors = w.Tensors[2:]
		return layer{m.Rows, m.Cols, m.Data, b.Data}
	}
	n := &Network{meta: w.Meta, shape: w.Shape, first: next()}
	for range w.Shape.Blocks {
		n.blocks = append(n.blocks, block{next(), next()})
	}
	n.heads = beside(next(), next())
	if w.Shape.ValueWidth > 0 {
		n.last = next()
	}
	return n, nil
}

// beside joins two layers on the same input.
func beside(p, q layer) layer {
	l := layer{in: p.in, out: p.out + q.out, b: append(append([]float32(nil), p.b...), q.b...)}
	for i := range p.in {
		l.w = append(append(l.w, p.w[i*p.out:(i+1)*p.out]...), q.w[i*q.out:(i+1)*q.out]...)
	}
	return l
}

// Meta returns what the network was made for.
func (n *Network) Meta() Meta { return n.meta }

// Shape returns the sizes.
func (n *Network) Shape() Shape { return n.shape }

// tile is how many rows go through the layers together, so that a layer's weights are used while they are
// near the processor.
const tile = 16

// Scratch is the working memory of one goroutine for networks of one shape.
type Scratch struct {
	shape                       Shape
	trunk, inner, heads, hidden []float32 // tile rows of Width, Width, heads, ValueWidth
	live                        []int32   // places of a row that are not 0
}

// NewScratch returns working memory for networks of shape s, which must be valid.
func NewScratch(s Shape) *Scratch {
	value := s.ValueWidth
	if value == 0 {
		value = Outcomes
	}
	return &Scratch{
		shape:  s,
		trunk:  make([]float32, tile*s.Width),
		inner:  make([]float32, tile*s.Width),
		heads:  make([]float32, tile*(s.Actions+value)),
		hidden: make([]float32, tile*s.ValueWidth),
		live:   make([]int32, max(s.Width, s.ValueWidth)),
	}
}

// Forward computes n rows: indices holds Active places of ones in [0, Inputs) a row, policy receives Actions
// logits a row, outcome the logits of the mover's win, draw and loss. A row's result depends on its indices
// alone, to the last bit. Nothing is allocated.
func (n *Network) Forward(s *Scratch, rows int, indices []int32, policy, outcome []float32) error {
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
		n.tile(s, end-at, indices[at*sh.Active:end*sh.Active], policy[at*sh.Actions:end*sh.Actions], outcome[at*Outcomes:end*Outcomes])
	}
	return nil
}

// tile computes up to tile rows.
func (n *Network) tile(s *Scratch, rows int, indices []int32, policy, outcome []float32) {
	sh := &n.shape
	n.first.gather(rows, sh.Active, indices, s.trunk)
	for i := range n.blocks {
		b := &n.blocks[i]
		b.in.product(s.live, rows, s.trunk, s.inner, false)
		relu(s.inner[:rows*sh.Width])
		b.out.product(s.live, rows, s.inner, s.trunk, true)
		relu(s.trunk[:rows*sh.Width])
	}
	n.heads.product(s.live, rows, s.trunk, s.heads, false)
	value := outcome
	if sh.ValueWidth > 0 {
		value = s.hidden
	}
	for r := range rows {
		h := s.heads[r*n.heads.out : (r+1)*n.heads.out]
		copy(policy[r*sh.Actions:(r+1)*sh.Actions], h)
		copy(value[r*(len(h)-sh.Actions):], h[sh.Actions:])
	}
	if sh.ValueWidth > 0 {
		relu(s.hidden[:rows*sh.ValueWidth])
		n.last.product(s.live, rows, s.hidden, outcome, false)
	}
}
