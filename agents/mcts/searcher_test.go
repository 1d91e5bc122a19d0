package mcts

import (
	"math/rand/v2"
	"testing"

	"github.com/mancalagym/mancalagym/env/mancala"
)

func rules(t testing.TB, spec string) mancala.Rules {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wander plays at most that many random plies from the start and stops before the game is over.
func wander(r mancala.Rules, seed uint64, plies int) mancala.State {
	c := rand.New(rand.NewPCG(seed, 1))
	s := r.Start()
	for range plies {
		m := r.Legal(s)
		next := r.Next(s, m.Nth(c.IntN(m.Len())))
		if next.Over() {
			break
		}
		s = next
	}
	return s
}
