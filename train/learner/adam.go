package learner

import (
	"errors"
	"math"

	"gorgonia.org/gorgonia"

	"github.com/mancalagym/mancalagym/internal/kernel"
)

// adam is the solver: Adam with bias correction and decoupled weight decay. Its moments and step can be saved,
// and it clears the gradients it has used, which Gorgonia otherwise adds up from run to run.
type adam struct {
	k     *kernel.Kernel
	cfg   Config
	step  uint64      // steps made
	mean  [][]float32 // by tensor: decayed mean of the gradient
	power [][]float32 // by tensor: decayed mean of its square
}

var _ gorgonia.Solver = (*adam)(nil)

func newAdam(k *kernel.Kernel, cfg Config, sizes []int) *adam {
	a := &adam{k: k, cfg: cfg}
	for _, n := range sizes {
		a.mean, a.power = append(a.mean, make([]float32, n)), append(a.power, make([]float32, n))
	}
	return a
}

var errGradient = errors.New("gradient is not finite")

// Step implements gorgonia.Solver. If a gradient is not finite it changes no weight.
func (a *adam) Step(model []gorgonia.ValueGrad) error {
	grads := make([][]float32, len(model))
	for i, p := range model {
		g, err := p.Grad()
		if err != nil {
			return err
		}
		grads[i] = floats(g)
	}
	defer func() {
		for _, g := range grads {
			clear(g)
		}
	}()
	for _, g := range grads {
		if !a.k.Finite(g) {
			return errGradient
		}
	}
	a.step++
	t := float64(a.step)
	rate := a.cfg.LearningRate / (1 - math.Pow(a.cfg.Beta1, t))
	u := kernel.Adam{
		Beta1: float32(a.cfg.Beta1), Rest1: float32(1 - a.cfg.Beta1),
		Beta2: float32(a.cfg.Beta2), Rest2: float32(1 - a.cfg.Beta2),
		Rate: float32(rate), Root: float32(1 / math.Sqrt(1-math.Pow(a.cfg.Beta2, t))),
		Epsilon: float32(a.cfg.Epsilon),
	}
	for i, p := range model {
		u.Keep = 1
		if len(p.Value().Shape()) > 1 { // biases do not decay
			u.Keep = float32(1 - a.cfg.LearningRate*a.cfg.WeightDecay)
		}
		a.k.Step(&u, floats(p.Value()), grads[i], a.mean[i], a.power[i])
	}
	return nil
}
