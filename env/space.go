package env

import (
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Discrete is the space of the actions 0 … N−1.
type Discrete struct{ N int }

// Contains reports whether a is in the space.
func (d Discrete) Contains(a mancala.Action) bool { return int(a) < d.N }

// Sample draws one of the actions that are both in the space and in m, all alike. It reports false if there is none.
func (d Discrete) Sample(rng *rand.Rand, m mancala.Mask) (mancala.Action, bool) {
	m &= d.All()
	if m == 0 {
		return 0, false
	}
	return m.Nth(rng.IntN(m.Len())), true
}

// All returns the whole space as a mask. A space of more than 64 actions is cut there.
func (d Discrete) All() mancala.Mask {
	if d.N >= 64 {
		return ^mancala.Mask(0)
	}
	return 1<<max(d.N, 0) - 1
}

// Box is the space of arrays whose values lie between two bounds, both included. Arrays are held flat, the last
// index running fastest.
type Box struct {
	Low, High float32
	Shape     []int
}

// Size returns the number of values in an array.
func (b Box) Size() int {
	n := 1
	for _, d := range b.Shape {
		n *= d
	}
	return n
}

// Contains reports whether x is a flat array of the space; an array with a NaN is not.
func (b Box) Contains(x []float32) bool {
	if len(x) != b.Size() {
		return false
	}
	for _, v := range x {
		if !(v >= b.Low && v <= b.High) {
			return false
		}
	}
	return true
}

// Sample draws an array with each value evenly between the bounds.
func (b Box) Sample(rng *rand.Rand) []float32 {
	x := make([]float32, max(b.Size(), 0))
	for i := range x {
		x[i] = min(b.Low+rng.Float32()*(b.High-b.Low), b.High)
	}
	return x
}
