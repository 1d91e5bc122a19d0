package env

import (
	"testing"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// The interleavings that the clock seldom makes, by hand: a worker that wakes between two calls, or that read the number
// of a call long ago.
func TestLateWorkerTakesNothing(t *testing.T) {
	rules, err := mancala.Parse("modiar")
	if err != nil {
		t.Fatal(err)
	}
	v, err := NewVector(rules, 3*span, VectorOptions{Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	late := func() {
		call := v.call.Load()
		for w := range 3 {
			v.work(w)
		}
		for i := range v.spans {
			for number := range call + 1 {
				if v.take(i, number) != 0 || v.spans[i].Load() != call || v.left.Load() != 0 {
					t.Fatalf("after call %d a worker of call %d takes span %d", call, number, i)
				}
			}
		}
	}
	b := v.Batch()
	for seed := range uint64(4) {
		if err := v.Reset(seed, b); err != nil {
			t.Fatal(err)
		}
		late()
	}
}
