package encode

import (
	"math/bits"

	"github.com/mancalagym/mancalagym/env/mancala"
)

const onehotVersion = 1

const (
	quietBuckets = 16 // of equal width; the last takes the limit and more
	lapBuckets   = 16 // by length in binary: 0, 1, 2–3, 4–7, … , 16384 and more
	handBuckets  = 34 // 0 … 32, the seeds a player arranges, and more
	maxActive    = 2*mancala.MaxPits + 2 + 2 + 4 + 3 + 4
)

// onehot gives every number a group of places of which one is 1. A pit has a place for each count from 0 and a
// last one for all larger counts: with about 300 places for all the pits, but at least 17 a pit, modiar's pits
// are exact, those of 6 pits a row share from 24 seeds on, 7 from 20, 12 and four-row games from 16. Stores are
// exact.
type onehot struct {
	pits   int
	pit    int32 // places of one
	store  int32 // places of one; 0 where there are no stores
	hand   int32 // places of the hand's seeds; 0 in two-row games
	quiet  int
	size   int
	active int
	calm   []uint8 // the bucket of a quiet count below the limit
}

func newOnehot(info mancala.Info) *onehot {
	o := &onehot{
		pits:  info.Pits,
		pit:   int32(min(info.Seeds+1, max(300/(2*info.Pits), 17))),
		quiet: info.Quiet,
	}
	o.size = 2*o.pits*int(o.pit) + quietBuckets + 2
	o.active = 2*o.pits + 2
	if info.Stores {
		o.store = int32(info.Seeds + 1)
		o.size += 2 * int(o.store)
		o.active += 2
	}
	if info.Rows == 4 {
		o.hand = int32(min(info.Seeds+1, handBuckets))
		o.size += 4*2 + int(o.hand) + (o.pits + 1) + lapBuckets + 4*2
		o.active += 4 + 3 + 4
	}
	o.calm = make([]uint8, min(o.quiet, maxTable))
	for n := range o.calm {
		o.calm[n] = uint8(n * quietBuckets / o.quiet)
	}
	return o
}

func (o *onehot) Name() string { return "onehot" }

func (o *onehot) Version() int { return onehotVersion }

func (o *onehot) Size() int { return o.size }

func (o *onehot) Active() int { return o.active }

func (o *onehot) Dense(s mancala.State, dst []float32) {
	var at [maxActive]int32
	o.Sparse(s, at[:])
	dst = dst[:o.size]
	clear(dst)
	for _, i := range at[:o.active] {
		dst[i] = 1
	}
}

func (o *onehot) Sparse(s mancala.State, dst []int32) {
	dst = dst[:o.active]
	mover := s.Mover()
	other := mover.Opponent()
	own, opp := s.Pits(mover), s.Pits(other)
	base, most := int32(0), o.pit-1
	pits := dst[:2*o.pits]
	for i, n := range own[:o.pits] {
		pits[i] = base + min(int32(n), most)
		base += o.pit
	}
	pits = pits[o.pits:]
	for i, n := range opp[:len(pits)] {
		pits[i] = base + min(int32(n), most)
		base += o.pit
	}
	k := 2 * o.pits
	if o.store != 0 {
		dst[k] = base + min(int32(s.Store(mover)), o.store-1)
		dst[k+1] = base + o.store + min(int32(s.Store(other)), o.store-1)
		base += 2 * o.store
		k += 2
	}
	dst[k] = base + o.bucket(s.Quiet())
	base += quietBuckets
	dst[k+1] = base + int32(bit(s.Ply() == 0))
	base += 2
	k += 2
	if o.hand == 0 {
		return
	}
	for _, b := range history(&s) {
		dst[k] = base + int32(b)
		base += 2
		k++
	}
	h := s.Hand()
	dst[k] = base + min(int32(h.Seeds), o.hand-1)
	base += o.hand
	dst[k+1] = base // no hand
	if h != (mancala.Hand{}) {
		dst[k+1] += 1 + min(int32(h.Pit), int32(o.pits-1))
	}
	base += int32(o.pits + 1)
	dst[k+2] = base + int32(min(bits.Len16(h.Laps), lapBuckets-1))
	base += lapBuckets
	k += 3
	for i := range 4 {
		dst[k+i] = base + int32(h.Flags>>i&1)
		base += 2
	}
}

func (o *onehot) bucket(quiet int) int32 {
	if quiet < len(o.calm) {
		return int32(o.calm[quiet])
	}
	return int32(min(quiet*quietBuckets/o.quiet, quietBuckets-1))
}
