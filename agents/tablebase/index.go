package tablebase

import (
	"math"

	"github.com/mancalagym/mancalagym/env/mancala"
)

const (
	maxPits  = 24      // of both rows
	maxSeeds = 63      // a value and its mark share a byte
	maxLevel = 1 << 30 // positions: twice that many nodes leave a bit of a word for a flag
)

// index numbers the boards of a level from 0, without gaps. A board is the mover's row and then the opponent's, each in its
// owner's count: n pits. With s(j) the seeds in the first j of them its number is the sum over j = 1 … n−1 of
//
//	C(s(j) + j − 1, j)
//
// which orders the boards of a level by their last pit, the fullest first, then by the one before it, and so on.
type index struct {
	pits int
	part [maxPits + 1][maxSeeds + 2]uint32 // C(s + j − 1, j) by j and s, capped
}

func newIndex(pits int) *index {
	x := &index{pits: pits}
	var c [maxSeeds + 2]uint64
	for s := range c {
		c[s] = 1
	}
	for j := 1; j <= pits; j++ {
		c[0] = 0
		for s := 1; s < len(c); s++ {
			c[s] = min(c[s]+c[s-1], math.MaxUint32)
			x.part[j][s] = uint32(c[s])
		}
	}
	return x
}

// size is the number of boards with k seeds; 2³²−1 stands for more, too.
func (x *index) size(k int) int { return int(x.part[x.pits-1][k+1]) }

// number returns the number of s among the boards with as many seeds.
func (x *index) number(s *mancala.State) uint32 {
	half := x.pits / 2
	mover := s.Mover()
	var n uint32
	sum := 0
	for i := range half {
		sum += s.Pit(mover, i)
		n += x.part[i+1][sum&63]
	}
	opponent := mover.Opponent()
	for i := range half - 1 {
		sum += s.Pit(opponent, i)
		n += x.part[half+i+1][sum&63]
	}
	return n
}

// board holds the mover's row, then the opponent's.
type board struct {
	pits [maxPits]uint8
}

// at returns the board with k seeds that has number n.
func (x *index) at(n uint32, k int) (b board) {
	above := k
	for j := x.pits - 1; j > 0; j-- {
		s := above
		for x.part[j][s] > n {
			s--
		}
		n -= x.part[j][s]
		b.pits[j] = uint8(above - s)
		above = s
	}
	b.pits[0] = uint8(above)
	return b
}

// next goes to the board of the next number; the last one stays.
func (x *index) next(b *board) {
	for j := 1; j < x.pits; j++ {
		if b.pits[j] == 0 {
			continue
		}
		first := b.pits[0]
		b.pits[j]--
		b.pits[0] = 0
		b.pits[j-1] = first + 1
		return
	}
}

// state is the board as a position of a game in progress, South to move, with empty stores.
func (x *index) state(b *board) mancala.State {
	p := mancala.Position{Ply: 1}
	half := x.pits / 2
	copy(p.Pits[mancala.South][:half], b.pits[:])
	copy(p.Pits[mancala.North][:half], b.pits[half:])
	return p.State()
}
