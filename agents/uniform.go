package agents

import "github.com/mancalagym/mancalagym/env/mancala"

// Uniform is the Evaluator that knows nothing: every legal action is equally likely and every position
// is worth 0. It allocates nothing and may be shared between goroutines.
type Uniform struct{ actions int }

// NewUniform returns a Uniform for the variant of r.
func NewUniform(r mancala.Rules) *Uniform { return &Uniform{r.Info().Actions} }

// Evaluate implements Evaluator. It never fails.
func (e *Uniform) Evaluate(b *Batch) error {
	for i, m := range b.Legal {
		spread(m, b.Prior[i*e.actions:(i+1)*e.actions])
		b.Value[i] = 0
	}
	return nil
}

// spread writes the uniform prior over m.
func spread(m mancala.Mask, prior []float32) {
	clear(prior)
	if m == 0 {
		return
	}
	p := 1 / float32(m.Len())
	for ; m != 0; m = m.WithoutFirst() {
		prior[m.First()] = p
	}
}
