package learner

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/internal/kernel"
)

// Learner is a network in the making, with its optimiser. It is for one goroutine; several Learners may work
// at a time.
type Learner struct {
	k       *kernel.Kernel
	cfg     Config
	weights *neural.Weights // the graph computes on its numbers, in place
	adam    *adam
	vm      gorgonia.VM // nil when closed
	params  []gorgonia.ValueGrad

	// What the graph reads, in place, laid out as in Batch.
	indices                                  []int32
	legal                                    []uint64
	policy, policyWeight, value, valueWeight []float32
	margin                                   []float32 // empty without a margin head

	policyLoss, valueLoss, marginLoss, logits, outcomeOut, marginOut gorgonia.Value // what it gave
}

// Loss holds means over all rows of a batch, those of weight 0 included. Policy and Value are cross-entropies
// in nats; the policy's cannot fall below the mean entropy of its targets. Margin is a square, 0 without a margin head.
type Loss struct {
	Policy, Value, Margin float32
	// Total is Policy + Config.ValueWeight·Value + Config.MarginWeight·Margin: what is made smaller.
	Total float32
}

// building guards New: Gorgonia keeps constants and counters common to all graphs.
var building sync.Mutex

// New returns a Learner that starts from a copy of w, with fresh moments. It computes with the kernel that neural.Kernel
// names.
func New(w *neural.Weights, cfg Config) (*Learner, error) {
	k, err := kernel.Chosen()
	if err != nil {
		return nil, fmt.Errorf("learner: %w", err)
	}
	return newOn(k, w, cfg)
}

func newOn(k *kernel.Kernel, w *neural.Weights, cfg Config) (*Learner, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := w.Validate(); err != nil {
		return nil, err
	}
	n, s := cfg.Batch, w.Shape
	if s.MarginHead != (cfg.MarginWeight > 0) {
		return nil, fmt.Errorf("learner: margin weight %v: must be above 0 for a network with a margin head and 0 for others, as is %v", cfg.MarginWeight, s)
	}
	l := &Learner{
		k: k, cfg: cfg, weights: w.Clone(),
		indices: make([]int32, n*s.Active), legal: make([]uint64, n),
		policy: make([]float32, n*s.Actions), policyWeight: make([]float32, n),
		value: make([]float32, n*neural.Outcomes), valueWeight: make([]float32, n),
	}
	if s.MarginHead {
		l.margin = make([]float32, n)
	}
	l.adam = newAdam(k, cfg, sizes(w))
	building.Lock()
	defer building.Unlock()
	if err := l.build(); err != nil {
		return nil, fmt.Errorf("learner: graph of shape %v: %w", s, err)
	}
	return l, nil
}

// sizes returns the number of weights of each tensor.
func sizes(w *neural.Weights) []int {
	var n []int
	for _, t := range w.Tensors {
		n = append(n, len(t.Data))
	}
	return n
}

// build makes graph and machine.
func (l *Learner) build() error {
	g := gorgonia.NewGraph()
	n, s := l.cfg.Batch, l.weights.Shape

	input := func(name string, backing any, shape ...int) *gorgonia.Node {
		v := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
		return gorgonia.NewTensor(g, v.Dtype(), len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name), gorgonia.WithValue(v))
	}
	var params gorgonia.Nodes
	param := func() *gorgonia.Node {
		t := l.weights.Tensors[len(params)]
		shape := []int{t.Rows, t.Cols}
		if strings.HasSuffix(t.Name, ".b") {
			shape = shape[1:]
		}
		p := input(t.Name, t.Data, shape...)
		params = append(params, p)
		return p
	}
	var err error
	apply := func(op gorgonia.Op, in ...*gorgonia.Node) *gorgonia.Node {
		if err != nil {
			return nil
		}
		var out *gorgonia.Node
		out, err = gorgonia.ApplyOp(op, in...)
		return out
	}

	trunk := apply(newGather(l.k, n, s), input("indices", l.indices, n, s.Active), param(), param())
	for range s.Blocks {
		inner := apply(newLinear(l.k, n, s.Width, s.Width, false, true), trunk, param(), param())
		trunk = apply(newLinear(l.k, n, s.Width, s.Width, true, true), inner, param(), param(), trunk)
	}
	logits := apply(newLinear(l.k, n, s.Width, s.Actions, false, false), trunk, param(), param())
	head, width := trunk, s.Width
	if s.ValueWidth > 0 {
		head, width = apply(newLinear(l.k, n, s.Width, s.ValueWidth, false, true), trunk, param(), param()), s.ValueWidth
	}
	outcome := apply(newLinear(l.k, n, width, neural.Outcomes, false, false), head, param(), param())
	var margin, marginLoss *gorgonia.Node
	valueWeight := input("value weight", l.valueWeight, n)
	if s.MarginHead {
		margin = apply(newLinear(l.k, n, width, 1, false, false), head, param(), param())
		marginLoss = apply(newSquare(n, l.cfg.MarginWeight), margin, input("margin", l.margin, n), valueWeight)
	}

	every := make([]uint64, n)
	for i := range every {
		every[i] = 1<<neural.Outcomes - 1
	}
	policy := apply(newEntropy(n, s.Actions, 1), logits,
		input("legal", l.legal, n), input("policy", l.policy, n, s.Actions), input("policy weight", l.policyWeight, n))
	value := apply(newEntropy(n, neural.Outcomes, l.cfg.ValueWeight), outcome,
		input("outcomes", every, n), input("value", l.value, n, neural.Outcomes), valueWeight)
	if err != nil {
		return err
	}
	total, err := gorgonia.Add(policy, value)
	if err != nil {
		return err
	}
	if s.MarginHead {
		if total, err = gorgonia.Add(total, marginLoss); err != nil {
			return err
		}
		gorgonia.Read(marginLoss, &l.marginLoss)
		gorgonia.Read(margin, &l.marginOut)
	}
	if _, err := gorgonia.Grad(total, params...); err != nil {
		return err
	}
	gorgonia.Read(policy, &l.policyLoss)
	gorgonia.Read(value, &l.valueLoss)
	gorgonia.Read(logits, &l.logits)
	gorgonia.Read(outcome, &l.outcomeOut)
	l.vm = gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(params...))
	l.params = gorgonia.NodesToValueGrads(params)
	return nil
}

// Step learns from one batch and returns its loss before the update. A batch that does not fit, or a loss or
// gradient that is not finite, is an error that leaves weights and moments as they were.
func (l *Learner) Step(b *Batch) (Loss, error) {
	loss, err := l.run(b)
	if err != nil {
		return Loss{}, err
	}
	if !l.k.Finite([]float32{loss.Policy, loss.Value, loss.Margin, loss.Total}) {
		l.forget()
		return loss, fmt.Errorf("learner: step %d: policy loss %v, value loss %v, margin loss %v: must be finite; the weights are those after step %d",
			l.adam.step+1, loss.Policy, loss.Value, loss.Margin, l.adam.step)
	}
	if err := l.adam.Step(l.params); err != nil {
		return loss, fmt.Errorf("learner: step %d: %w; the weights are those after step %d", l.adam.step+1, err, l.adam.step)
	}
	return loss, nil
}

// Measure returns the loss of a batch without learning from it. Unlike Step it takes losses that are not finite.
func (l *Learner) Measure(b *Batch) (Loss, error) {
	loss, err := l.run(b)
	if err != nil {
		return Loss{}, err
	}
	l.forget()
	return loss, nil
}

var errClosed = errors.New("learner: closed: make another")

// run computes loss and gradients of b.
func (l *Learner) run(b *Batch) (Loss, error) {
	if l.vm == nil {
		return Loss{}, errClosed
	}
	if err := b.check(l.cfg.Batch, l.weights.Shape); err != nil {
		return Loss{}, err
	}
	copy(l.indices, b.Indices)
	for i, m := range b.Legal {
		l.legal[i] = uint64(m)
	}
	copy(l.policy, b.Policy)
	copy(l.policyWeight, b.PolicyWeight)
	copy(l.value, b.Value)
	copy(l.valueWeight, b.ValueWeight)
	copy(l.margin, b.Margin)
	err := l.vm.RunAll()
	l.vm.Reset() // or the next run does nothing
	if err != nil {
		l.forget()
		return Loss{}, fmt.Errorf("learner: running the graph: %w", err)
	}
	policy, value := l.policyLoss.Data().(float32), l.valueLoss.Data().(float32)
	loss := Loss{Policy: policy, Value: float32(float64(value) / l.cfg.ValueWeight), Total: policy + value}
	if l.marginLoss != nil {
		margin := l.marginLoss.Data().(float32)
		loss.Margin = float32(float64(margin) / l.cfg.MarginWeight)
		loss.Total += margin
	}
	return loss, nil
}

// forget clears the gradients.
func (l *Learner) forget() {
	for _, p := range l.params {
		if g, err := p.Grad(); err == nil { // there is none before the first run
			clear(floats(g))
		}
	}
}

// Outputs writes what the graph computed in the last Step or Measure, with the weights before the update:
// policy logits, Batch × Actions, and logits of the mover's win, draw and loss, Batch × 3.
func (l *Learner) Outputs(policy, outcome []float32) error {
	if l.logits == nil {
		return errors.New("learner: no outputs: Step or Measure must come first")
	}
	p, o := floats(l.logits), floats(l.outcomeOut)
	if len(policy) != len(p) || len(outcome) != len(o) {
		return fmt.Errorf("learner: room for %d policy and %d outcome logits: must be %d and %d", len(policy), len(outcome), len(p), len(o))
	}
	copy(policy, p)
	copy(outcome, o)
	return nil
}

// Weights returns a copy of the weights.
func (l *Learner) Weights() *neural.Weights { return l.weights.Clone() }

// Steps returns the number of updates made, those before a checkpoint included.
func (l *Learner) Steps() uint64 { return l.adam.step }

// Config returns the configuration.
func (l *Learner) Config() Config { return l.cfg }

// SetLearningRate changes the step size of the updates to come, for schedules. It is no part of a checkpoint.
func (l *Learner) SetLearningRate(rate float64) error {
	c := l.cfg
	c.LearningRate = rate
	if err := c.Validate(); err != nil {
		return err
	}
	l.cfg, l.adam.cfg = c, c
	return nil
}

// Close gives the graph back. Weights and Save still work, Step and Measure do not.
func (l *Learner) Close() error {
	if l.vm == nil {
		return nil
	}
	err := l.vm.Close()
	l.vm, l.params = nil, nil
	if err != nil {
		return fmt.Errorf("learner: closing: %w", err)
	}
	return nil
}
