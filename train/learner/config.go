package learner

import "fmt"

// Config holds what a Learner is told once.
type Config struct {
	Batch        int     // rows of every batch
	LearningRate float64 // Adam's step size
	Beta1, Beta2 float64 // decay of the mean of gradients and of their squares, a step
	Epsilon      float64 // added to the root of the mean square
	WeightDecay  float64 // decoupled: matrices shrink by LearningRate·WeightDecay a step, biases do not; 0 for none
	ValueWeight  float64 // of the value loss in the total, the policy loss having 1
	MarginWeight float64 // of the margin loss; above 0 for networks with a margin head, 0 for all others
}

// DefaultConfig returns what small networks learn well with.
func DefaultConfig() Config {
	return Config{Batch: 256, LearningRate: 1e-3, Beta1: 0.9, Beta2: 0.999, Epsilon: 1e-8, WeightDecay: 1e-4, ValueWeight: 1}
}

// Validate returns an error that names the first value out of bounds.
func (c Config) Validate() error {
	if c.Batch < 1 || c.Batch > maxBatch {
		return fmt.Errorf("learner: batch %d: must be 1 to %d", c.Batch, maxBatch)
	}
	for _, f := range []struct {
		name    string
		v       float64
		ok      bool
		allowed string
	}{
		{"learning rate", c.LearningRate, c.LearningRate > 0 && c.LearningRate <= 1, "above 0, at most 1"},
		{"beta1", c.Beta1, c.Beta1 >= 0 && c.Beta1 < 1, "from 0, below 1"},
		{"beta2", c.Beta2, c.Beta2 >= 0 && c.Beta2 < 1, "from 0, below 1"},
		{"epsilon", c.Epsilon, c.Epsilon >= 1e-12 && c.Epsilon <= 1, "1e-12 to 1"},
		{"weight decay", c.WeightDecay, c.WeightDecay >= 0 && c.WeightDecay <= 1, "0 to 1"},
		{"value weight", c.ValueWeight, c.ValueWeight > 0 && c.ValueWeight <= 100, "above 0, at most 100"},
		{"margin weight", c.MarginWeight, c.MarginWeight >= 0 && c.MarginWeight <= 100, "0 to 100"},
	} {
		if !f.ok {
			return fmt.Errorf("learner: %s %v: must be %s", f.name, f.v, f.allowed)
		}
	}
	return nil
}

const maxBatch = 1 << 16
