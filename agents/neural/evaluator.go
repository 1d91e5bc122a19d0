package neural

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Holder holds the network that evaluators use, so that it can be exchanged while games go on. It is safe for
// concurrent use.
type Holder struct{ p atomic.Pointer[Network] }

// NewHolder returns a Holder of n.
func NewHolder(n *Network) *Holder {
	h := new(Holder)
	h.p.Store(n)
	return h
}

// Network returns the network held now.
func (h *Holder) Network() *Network { return h.p.Load() }

// Swap puts n in place of the network held. It refuses one of another shape, family or encoder.
func (h *Holder) Swap(n *Network) error {
	old := h.p.Load()
	if n.shape != old.shape {
		return fmt.Errorf("neural: network of shape %v: must be %v as the one it follows", n.shape, old.shape)
	}
	m, was := n.meta, old.meta
	if m.Family != was.Family || m.Encoder != was.Encoder || m.EncoderVersion != was.EncoderVersion {
		return fmt.Errorf("neural: network for %s with encoder %s version %d: must be for %s with %s version %d as the one it follows",
			m.Family, m.Encoder, m.EncoderVersion, was.Family, was.Encoder, was.EncoderVersion)
	}
	h.p.Store(n)
	return nil
}

// chunk is how many rows an Evaluator encodes before it runs the network on them.
const chunk = 4 * tile

// Evaluator is an agents.Evaluator by network. Like every Evaluator it is for one goroutine.
type Evaluator struct {
	h       *Holder
	enc     encode.Encoder
	actions int
	s       *Scratch
	indices []int32
	policy  []float32
	outcome []float32
}

var _ agents.Evaluator = (*Evaluator)(nil)

// NewEvaluator returns an Evaluator of the network in h for a variant. It refuses a network made for
// another family, number of actions or encoder; options of the variant may differ as long as these agree.
func NewEvaluator(h *Holder, info mancala.Info, enc encode.Encoder) (*Evaluator, error) {
	n := h.Network()
	m, s := n.meta, n.shape
	switch {
	case m.Family != info.Family:
		return nil, fmt.Errorf("neural: network for %s: the game is %s", m.Spec, info.Spec)
	case s.Actions != info.Actions:
		return nil, fmt.Errorf("neural: network for %s with %d actions: %s has %d", m.Spec, s.Actions, info.Spec, info.Actions)
	case m.Encoder != enc.Name() || m.EncoderVersion != enc.Version():
		return nil, fmt.Errorf("neural: network on encoder %s version %d: the encoder is %s version %d", m.Encoder, m.EncoderVersion, enc.Name(), enc.Version())
	case s.Inputs != enc.Size() || s.Active != enc.Active():
		return nil, fmt.Errorf("neural: network with %d inputs, %d active: encoder %s has %d and %d for %s", s.Inputs, s.Active, enc.Name(), enc.Size(), enc.Active(), info.Spec)
	}
	return &Evaluator{
		h: h, enc: enc, actions: info.Actions, s: NewScratch(s),
		indices: make([]int32, chunk*s.Active),
		policy:  make([]float32, chunk*s.Actions),
		outcome: make([]float32, chunk*Outcomes),
	}, nil
}

// Evaluate implements agents.Evaluator: the prior is the softmax of the policy logits over the legal actions, the
// value the mover's probability of a win less that of a loss. All rows of a call are of the same network.
// Seeds are not looked at. Nothing is allocated.
func (e *Evaluator) Evaluate(b *agents.Batch) error {
	rows := len(b.States)
	if len(b.Legal) != rows || len(b.Prior) != rows*e.actions || len(b.Value) != rows {
		return fmt.Errorf("neural: batch of %d states with %d masks, %d priors and %d values: must be one, %d and one a state",
			rows, len(b.Legal), len(b.Prior), len(b.Value), e.actions)
	}
	n := e.h.Network()
	active := n.shape.Active
	for at := 0; at < rows; at += chunk {
		k := min(chunk, rows-at)
		for r := range k {
			e.enc.Sparse(b.States[at+r], e.indices[r*active:(r+1)*active])
		}
		if err := n.Forward(e.s, k, e.indices[:k*active], e.policy[:k*e.actions], e.outcome[:k*Outcomes]); err != nil {
			return err
		}
		for r := range k {
			row := at + r
			prior := b.Prior[row*e.actions : (row+1)*e.actions]
			if err := softmax(prior, e.policy[r*e.actions:(r+1)*e.actions], b.Legal[row]); err != nil {
				return fmt.Errorf("neural: row %d: %w", row, err)
			}
			var p [Outcomes]float32
			if err := softmax(p[:], e.outcome[r*Outcomes:(r+1)*Outcomes], 1<<Outcomes-1); err != nil {
				return fmt.Errorf("neural: row %d: %w", row, err)
			}
			b.Value[row] = p[0] - p[2]
		}
	}
	return nil
}

var (
	errNoAction = errors.New("no legal action: a position that is over has no value to find")
	errIllegal  = errors.New("legal mask reaches beyond the logits")
	errInfinite = errors.New("logits are not finite: the weights are too large")
)

// softmax writes to p the probabilities that the logits give to the places in mask, and 0 elsewhere. p and
// logits are of one length, at most 64; mask has at least one place and none beyond.
func softmax(p, logits []float32, mask mancala.Mask) error {
	p = p[:len(logits)]
	if mask == 0 {
		return errNoAction
	}
	if len(logits) < 64 && mask>>len(logits) != 0 {
		return errIllegal
	}
	top := float32(math.Inf(-1))
	for m := mask; m != 0; m = m.WithoutFirst() {
		top = max(top, logits[m.First()]) // NaN if any is
	}
	if notFinite(top) {
		return errInfinite
	}
	clear(p)
	var e [64]float64
	var sum float64
	for m := mask; m != 0; m = m.WithoutFirst() {
		a := m.First()
		v := math.Exp(float64(logits[a] - top))
		e[a&63] = v
		sum += v
	}
	for m := mask; m != 0; m = m.WithoutFirst() {
		a := m.First()
		p[a] = float32(e[a&63] / sum)
	}
	return nil
}
