// Package neural is the network for playing: weights and their file, an immutable snapshot packed for speed,
// and the agents.Evaluator around it. There are no gradients here; package train/learner makes the weights.
//
// The network is a residual perceptron on a sparse one-hot observation:
//
//	t ← relu(first.b + Σ rows of first.w at the active indices)
//	t ← relu(t + out.b + out.wᵀ·relu(in.b + in.wᵀ·t))    in each block
//	policy  = policy.b + policy.wᵀ·t               logits of the actions
//	outcome = outcome.b + outcome.wᵀ·relu(value.b + value.wᵀ·t)
//
// outcome holds the logits of the mover's win, draw and loss, in this order. With Shape.MarginHead there is a third
// output beside it, the margin of seeds for the mover: margin.b + margin.wᵀ·(what outcome.w is multiplied with). Without a
// hidden value layer (Shape.ValueWidth 0) both stand on t. Illegal actions are masked when the logits become
// probabilities, never in the network.
//
// Networks are computed by a kernel: assembly for processors with AVX-512 or AVX2, plain Go for all others. It is
// chosen when the program begins; the environment variable MANCALA_KERNEL, one of avx512, avx2 and go, chooses another.
package neural
