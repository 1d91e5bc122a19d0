package minimax

import (
	"math/bits"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// key holds everything of a position that its value d plies deep depends on, so two positions with equal keys have equal
// values; entries are compared by it in full, and a hash only says where to look.
//
// Ply is left out but for being 0, which is all that rules look at (M6). Quiet is left out where it cannot matter: with more
// than d plies to the limit no line of d plies reaches it (C1). Otherwise the number of plies to it is part of
// the key, at least 1: where the count has come to the limit within a turn of Omweso, which ends no game, the
// next ply is as the one before the limit.
type key [5]uint64

// key returns the key of s for a search of depth plies.
func (a *Agent) key(s *mancala.State, depth int) (k key) {
	k[0], k[1] = words(s, mancala.South)
	k[2], k[3] = words(s, mancala.North)
	h := s.Hand()
	k[4] = uint64(s.Mover()) | uint64(s.History())<<1 | uint64(h.Flags)<<5 | uint64(h.Pit)<<10 |
		uint64(h.Laps)<<15 | uint64(h.Seeds)<<31 | uint64(s.Store(mancala.South))<<39 | uint64(s.Store(mancala.North))<<47
	if s.Ply() == 0 {
		k[4] |= 1 << 9
	}
	if left := max(a.quiet-s.Quiet(), 1); left <= depth {
		k[4] |= uint64(left) << 55
	}
	return k
}

// hash mixes the words of a key. The odd constants are the fractional digits of π.
func (k *key) hash() uint64 {
	a, b := bits.Mul64(k[0]^0x243f6a8885a308d3, k[2]^0x13198a2e03707345)
	c, d := bits.Mul64(k[1]^0xa4093822299f31d1, k[3]^0x082efa98ec4e6c89)
	e, f := bits.Mul64(k[4]^0x452821e638d01377, a^b^0xbe5466cf34e90c6d)
	return e ^ f ^ bits.RotateLeft64(c^d, 23)
}

// bound says what a stored value is.
type bound uint8

const (
	exact bound = iota
	least       // the value is this or more
	most        // the value is this or less
)

// entry is what a search of depth plies found.
type entry struct {
	key    key
	value  int16 // a win or loss counts its plies from here, not from the root
	age    uint16
	depth  uint8
	bound  bound
	action mancala.Action // the best, or the one that proved the bound
}

// bucket holds two entries: the one of the greater depth, and the newest.
type bucket [2]entry

const bucketBytes = 96

// table is the transposition table. It is emptied by its age: entries of other ages are not there.
type table struct {
	buckets []bucket
	age     uint16
}

func newTable(n int) table { return table{buckets: make([]bucket, n)} }

// forget empties the table.
func (t *table) forget() {
	t.age++
	if t.age == 0 {
		clear(t.buckets)
		t.age = 1
	}
}

func (t *table) bucket(hash uint64) *bucket {
	i, _ := bits.Mul64(hash, uint64(len(t.buckets)))
	return &t.buckets[i]
}

// find returns the entry of k, nil if there is none.
func (t *table) find(k *key, hash uint64) *entry {
	b := t.bucket(hash)
	for i := range b {
		if b[i].age == t.age && b[i].key == *k {
			return &b[i]
		}
	}
	return nil
}

// put stores an entry. One of the same position goes; else the newest goes, unless the other is older or less deep.
func (t *table) put(e entry, hash uint64) {
	e.age = t.age
	b := t.bucket(hash)
	switch {
	case b[1].age == t.age && b[1].key == e.key:
		b[1] = e
	case b[0].age != t.age || b[0].key == e.key:
		b[0] = e
	case e.depth >= b[0].depth:
		b[0], b[1] = e, b[0]
	default:
		b[1] = e
	}
}
