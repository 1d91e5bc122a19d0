package neural

import (
	"math/rand/v2"
	"testing"

	"github.com/mancalagym/mancalagym/env/mancala"
)

var (
	small  = Shape{Inputs: 512, Active: 16, Width: 64, Blocks: 2, ValueWidth: 32, Actions: 16}
	medium = Shape{Inputs: 512, Active: 16, Width: 128, Blocks: 2, ValueWidth: 32, Actions: 16}
	wide   = Shape{Inputs: 80, Active: 4, Width: 256, Blocks: 1, ValueWidth: 5, Actions: 33}
	odd    = Shape{Inputs: 37, Active: 3, Width: 13, Blocks: 3, ValueWidth: 7, Actions: 5}
	bare   = Shape{Inputs: 9, Active: 2, Width: 3, Blocks: 0, ValueWidth: 0, Actions: 1}
	full   = Shape{Inputs: 37, Active: 3, Width: 40, Blocks: 1, ValueWidth: 9, Actions: 17, MarginHead: true}
	flat   = Shape{Inputs: 9, Active: 2, Width: 3, Blocks: 1, ValueWidth: 0, Actions: 4, MarginHead: true}
	shapes = []Shape{small, medium, wide, odd, bare, full, flat}
)

var meta = Meta{Family: "toy", Spec: "toy:pits=7", Encoder: "onehot", EncoderVersion: 3}

// scrambled returns weights whose biases and last layers are not near 0 as Init leaves them.
func scrambled(t testing.TB, s Shape, seed uint64) *Weights {
	t.Helper()
	w, err := Init(meta, s, seed)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(seed, 0xb1a5))
	for _, m := range w.Tensors {
		for i := range m.Data {
			m.Data[i] += float32(r.NormFloat64()) * 0.1
		}
	}
	return w
}

func network(t testing.TB, w *Weights) *Network {
	t.Helper()
	n, err := NewNetwork(w)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// rowsOf returns active indices for n rows: ascending, distinct, at random.
func rowsOf(s Shape, n int, seed uint64) []int32 {
	r := rand.New(rand.NewPCG(seed, 0x1d5))
	var idx []int32
	for range n {
		for j := range s.Active {
			low, up := j*s.Inputs/s.Active, (j+1)*s.Inputs/s.Active
			idx = append(idx, int32(low+r.IntN(up-low)))
		}
	}
	return idx
}

// pits is an encoder for tests: each of 16 pits one of 32 counts.
type pits struct{ name string }

func (e pits) Name() string { return e.name }
func (pits) Version() int   { return 3 }
func (pits) Size() int      { return 512 }
func (pits) Active() int    { return 16 }

func (e pits) Dense(s mancala.State, dst []float32) {
	var idx [16]int32
	e.Sparse(s, idx[:])
	clear(dst)
	for _, i := range idx {
		dst[i] = 1
	}
}

func (pits) Sparse(s mancala.State, dst []int32) {
	for i := range 8 {
		dst[i] = int32(32*i + s.Pit(s.Mover(), i)%32)
		dst[8+i] = int32(256 + 32*i + s.Pit(s.Mover().Opponent(), i)%32)
	}
}

// states returns n positions of the toy game with their legal masks of 16 actions.
func states(n int, seed uint64) ([]mancala.State, []mancala.Mask) {
	r := rand.New(rand.NewPCG(seed, 0x57a7e))
	s, m := make([]mancala.State, n), make([]mancala.Mask, n)
	for i := range s {
		p := mancala.Position{Mover: mancala.Player(r.IntN(2))}
		for j := range 8 {
			p.Pits[0][j], p.Pits[1][j] = uint8(r.IntN(12)), uint8(r.IntN(12))
		}
		s[i], m[i] = p.State(), mancala.Mask(1+r.IntN(1<<16-1))
	}
	return s, m
}
