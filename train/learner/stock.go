package learner

import (
	"errors"
	"fmt"
	"strings"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/internal/kernel"
)

// Stock is the same network made of Gorgonia's own operations, its Adam and gonum's products, on the dense
// observation: a yardstick for benchmarks, no more. It needs logits of moderate size and batches without rows of weight 0,
// and knows no weight decay and no margin. It is for one goroutine, and no two may run at a time: the products behind
// Gorgonia are common to all graphs.
type Stock struct {
	rows   int
	shape  neural.Shape
	k      *kernel.Kernel // of the products; nil for gonum's
	vm     gorgonia.VM
	adam   gorgonia.Solver // nil without learning
	params gorgonia.Nodes

	input               []float32 // rows × Inputs
	lit                 []int32   // places of its ones, in all rows together
	mask, policy, value []float32 // rows × Actions: 0, or far below for illegal actions; targets

	logits, outcome, loss gorgonia.Value
}

// NewStock returns the network for batches of cfg.Batch rows. With learns it has gradients, and Step works.
func NewStock(w *neural.Weights, cfg Config, learns bool) (*Stock, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := w.Validate(); err != nil {
		return nil, err
	}
	n, sh := cfg.Batch, w.Shape
	if sh.MarginHead {
		return nil, fmt.Errorf("learner: stock graph of shape %v: must have no margin head", sh)
	}
	s := &Stock{
		rows: n, shape: sh,
		input: make([]float32, n*sh.Inputs), mask: make([]float32, n*sh.Actions),
		policy: make([]float32, n*sh.Actions), value: make([]float32, n*neural.Outcomes),
	}
	building.Lock()
	defer building.Unlock()
	if err := s.build(w.Clone(), cfg, learns); err != nil {
		return nil, fmt.Errorf("learner: stock graph of shape %v: %w", sh, err)
	}
	return s, nil
}

func (s *Stock) build(w *neural.Weights, cfg Config, learns bool) (err error) {
	g := gorgonia.NewGraph()
	input := func(name string, backing []float32, shape ...int) *gorgonia.Node {
		v := tensor.New(tensor.WithShape(shape...), tensor.WithBacking(backing))
		return gorgonia.NewTensor(g, tensor.Float32, len(shape), gorgonia.WithShape(shape...), gorgonia.WithName(name), gorgonia.WithValue(v))
	}
	param := func() *gorgonia.Node {
		t := w.Tensors[len(s.params)]
		shape := []int{t.Rows, t.Cols} // a bias is one row, which is added to all
		p := input(t.Name, t.Data, shape...)
		s.params = append(s.params, p)
		return p
	}
	do := func(n *gorgonia.Node, e error) *gorgonia.Node {
		if err == nil {
			err = e
		}
		return n
	}
	layer := func(x *gorgonia.Node) *gorgonia.Node {
		if err != nil {
			return nil
		}
		product := do(gorgonia.Mul(x, param()))
		if err != nil {
			return nil
		}
		return do(gorgonia.BroadcastAdd(product, param(), nil, []byte{0}))
	}
	relu := func(x *gorgonia.Node) *gorgonia.Node {
		if err != nil {
			return nil
		}
		return do(gorgonia.Rectify(x))
	}
	trunk := relu(layer(input("observation", s.input, s.rows, s.shape.Inputs)))
	for range s.shape.Blocks {
		inner := layer(relu(layer(trunk)))
		if err != nil {
			return err
		}
		trunk = relu(do(gorgonia.Add(inner, trunk)))
	}
	logits, head := layer(trunk), trunk
	if s.shape.ValueWidth > 0 {
		head = relu(layer(trunk))
	}
	outcome := layer(head)
	if err != nil {
		return err
	}
	gorgonia.Read(logits, &s.logits)
	gorgonia.Read(outcome, &s.outcome)
	if !learns {
		s.vm = gorgonia.NewTapeMachine(g)
		return nil
	}

	// −Σ target·logit + log Σ exp logit: Gorgonia's own softmax fails on masked rows.
	entropy := func(logits, target *gorgonia.Node) *gorgonia.Node {
		if err != nil {
			return nil
		}
		hit := do(gorgonia.HadamardProd(logits, target))
		power := do(gorgonia.Exp(logits))
		if err != nil {
			return nil
		}
		hits, powers := do(gorgonia.Sum(hit, 1)), do(gorgonia.Sum(power, 1))
		if err != nil {
			return nil
		}
		log := do(gorgonia.Log(powers))
		if err != nil {
			return nil
		}
		loss := do(gorgonia.Sub(log, hits))
		if err != nil {
			return nil
		}
		return do(gorgonia.Mean(loss))
	}
	masked := do(gorgonia.Add(logits, input("mask", s.mask, s.rows, s.shape.Actions)))
	policy := entropy(masked, input("policy", s.policy, s.rows, s.shape.Actions))
	value := entropy(outcome, input("value", s.value, s.rows, neural.Outcomes))
	if err != nil {
		return err
	}
	weighted := do(gorgonia.Mul(value, gorgonia.NewConstant(float32(cfg.ValueWeight))))
	if err != nil {
		return err
	}
	total := do(gorgonia.Add(policy, weighted))
	if err != nil {
		return err
	}
	if _, err := gorgonia.Grad(total, s.params...); err != nil {
		return err
	}
	gorgonia.Read(total, &s.loss)
	s.vm = gorgonia.NewTapeMachine(g, gorgonia.BindDualValues(s.params...))
	s.adam = gorgonia.NewAdamSolver(gorgonia.WithLearnRate(cfg.LearningRate), gorgonia.WithBeta1(cfg.Beta1), gorgonia.WithBeta2(cfg.Beta2), gorgonia.WithEps(cfg.Epsilon))
	return nil
}

// observe writes the dense observation.
func (s *Stock) observe(indices []int32) error {
	if len(indices) != s.rows*s.shape.Active {
		return fmt.Errorf("learner: stock graph with %d indices: must be %d rows of %d", len(indices), s.rows, s.shape.Active)
	}
	for _, i := range s.lit {
		s.input[i] = 0
	}
	s.lit = s.lit[:0]
	for k, i := range indices {
		if i < 0 || int(i) >= s.shape.Inputs {
			return fmt.Errorf("learner: active index %d: must be 0 to %d", i, s.shape.Inputs-1)
		}
		at := int32(k/s.shape.Active*s.shape.Inputs) + i
		s.input[at] = 1
		s.lit = append(s.lit, at)
	}
	return nil
}

func (s *Stock) run() error {
	use(s.k)
	err := s.vm.RunAll()
	s.vm.Reset()
	if err != nil {
		return fmt.Errorf("learner: running the stock graph: %w", err)
	}
	return nil
}

// Forward computes one batch: what neural.Network.Forward does.
func (s *Stock) Forward(indices []int32, policy, outcome []float32) error {
	if s.adam != nil {
		return errors.New("learner: a stock graph that learns does not play")
	}
	if err := s.observe(indices); err != nil {
		return err
	}
	if err := s.run(); err != nil {
		return err
	}
	copy(policy, floats(s.logits))
	copy(outcome, floats(s.outcome))
	return nil
}

// Step learns from one batch and returns the total loss before the update.
func (s *Stock) Step(b *Batch) (float32, error) {
	if s.adam == nil {
		return 0, errors.New("learner: a stock graph without learning has no steps")
	}
	if err := b.check(s.rows, s.shape); err != nil {
		return 0, err
	}
	if err := s.observe(b.Indices); err != nil {
		return 0, err
	}
	const far = -60 // exp of it is nothing beside 1
	for r, legal := range b.Legal {
		row := s.mask[r*s.shape.Actions : (r+1)*s.shape.Actions]
		for a := range row {
			row[a] = far * float32(1-legal>>a&1)
		}
	}
	copy(s.policy, b.Policy)
	copy(s.value, b.Value)
	if err := s.run(); err != nil {
		return 0, err
	}
	loss := s.loss.Data().(float32)
	return loss, s.adam.Step(gorgonia.NodesToValueGrads(s.params))
}

// Close gives the graph back.
func (s *Stock) Close() error { return s.vm.Close() }

// data returns the weights named name.
func (s *Stock) data(name string) []float32 {
	for _, p := range s.params {
		if strings.EqualFold(p.Name(), name) {
			return floats(p.Value())
		}
	}
	return nil
}
