package mancala

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

func TestNthIsThePlaceInAscendingOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 20_000 {
		m := Mask(rng.Uint64()) >> rng.IntN(64)
		for range rng.IntN(3) {
			m &= Mask(rng.Uint64())
		}
		i := 0
		for rest := m; rest != 0; rest &= rest - 1 {
			if got, want := m.Nth(i), Action(bits.TrailingZeros64(uint64(rest))); got != want {
				t.Fatalf("member %d of %b is %d, want %d", i, m, got, want)
			}
			i++
		}
	}
}
