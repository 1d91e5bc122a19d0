// Package encode turns positions into observations for networks. Encoders are versioned and chosen by
// name; the perspective is always the mover's, and what an encoder shows makes the position Markov.
package encode

import "github.com/mancalagym/mancalagym/env/mancala"

// Encoder writes the observation of a position of one variant. It is immutable and may be shared
// between goroutines; it allocates nothing.
type Encoder interface {
	// Name is the encoder's name, for example "onehot".
	Name() string
	// Version changes whenever the observation of any position changes.
	Version() int
	// Size is the length of the dense observation.
	Size() int
	// Active is the number of indices Sparse writes, always exactly so many; 0 for an encoder without sparse form.
	Active() int
	// Dense writes the observation into dst, Size values in [0, 1].
	Dense(s mancala.State, dst []float32)
	// Sparse writes the ascending places of the ones in the dense observation, Active of them. Encoders without
	// sparse form panic.
	Sparse(s mancala.State, dst []int32)
}
