package learner

import (
	"errors"
	"math"

	"gorgonia.org/gorgonia"
)

// adam is the solver: Adam with bias correction and decoupled weight decay. Its moments and step can be saved,
// and it clears the gradients it has used, which Gorgonia otherwise adds up from run to run.
type adam struct {
	cfg   Config
	step  uint64      // steps made
	mean  [][]float32 // by tensor: decayed mean of the gradient
	power [][]float32 // by tensor: decayed mean of its square
}

var _ gorgonia.Solver = (*adam)(nil)

func newAdam(cfg Config, sizes []int) *adam {
	a := &adam{cfg: cfg}
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
		if !finite(g) {
			return errGradient
		}
	}
	a.step++
	t := float64(a.step)
	rate := a.cfg.LearningRate / (1 - math.Pow(a.cfg.Beta1, t))
	u := update{
		beta1: float32(a.cfg.Beta1), rest1: float32(1 - a.cfg.Beta1),
		beta2: float32(a.cfg.Beta2), rest2: float32(1 - a.cfg.Beta2),
		rate: float32(rate), root: float32(1 / math.Sqrt(1-math.Pow(a.cfg.Beta2, t))),
		epsilon: float32(a.cfg.Epsilon),
	}
	for i, p := range model {
		u.keep = 1
		if len(p.Value().Shape()) > 1 { // biases do not decay
			u.keep = float32(1 - a.cfg.LearningRate*a.cfg.WeightDecay)
		}
		u.apply(floats(p.Value()), grads[i], a.mean[i], a.power[i])
	}
	return nil
}

// update holds the numbers of one step.
type update struct{ beta1, rest1, beta2, rest2, rate, root, epsilon, keep float32 }

func (u update) apply(w, g, mean, power []float32) {
	g, mean, power = g[:len(w)], mean[:len(w)], power[:len(w)]
	for i := range w {
		m := u.beta1*mean[i] + u.rest1*g[i]
		p := u.beta2*power[i] + u.rest2*g[i]*g[i]
		mean[i], power[i] = m, p
		w[i] = u.keep*w[i] - u.rate*m/(float32(math.Sqrt(float64(p)))*u.root+u.epsilon)
	}
}

func finite(x []float32) bool {
	bad := uint32(0)
	for _, v := range x {
		// An exponent of all ones carries into the top bit.
		bad |= (math.Float32bits(v)&0x7fff_ffff + 0x0080_0000) & 0x8000_0000
	}
	return bad == 0
}
