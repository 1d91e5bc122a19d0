package mancala

import "encoding/binary"

// side holds the pits of one player as bytes of two machine words: pit i is byte i of the sixteen. Sowing
// is then an addition, and a question about all pits at once is one addition and a mask. No pit can
// hold more than the 96 seeds of the largest game, so a byte never overflows into its neighbour.
type side [2]uint64

const (
	ones  = 0x0101010101010101 // 1 in every byte
	highs = 0x8080808080808080 // the top bit of every byte
)

func (p *side) at(i uint) uint8 { return uint8(p[i>>3&1] >> (i & 7 * 8)) }

func (p *side) clear(i uint) { p[i>>3&1] &^= 0xff << (i & 7 * 8) }

func (p *side) add(i uint, n uint8) { p[i>>3&1] += uint64(n) << (i & 7 * 8) }

func (p *side) sum() int { return sum8(p[0]) + sum8(p[1]) }

func (p *side) empty() bool { return p[0]|p[1] == 0 }

func (p *side) array() (a [MaxPits]uint8) {
	binary.LittleEndian.PutUint64(a[:8], p[0])
	binary.LittleEndian.PutUint64(a[8:], p[1])
	return a
}

func sideOf(a [MaxPits]uint8) (p side) {
	for i, n := range a {
		p.add(uint(i), n)
	}
	return p
}

// sum8 adds the bytes of w; their sum must be below 256.
func sum8(w uint64) int { return int(w * ones >> 56) }

// atLeast has the top bit of every byte of w that is n or more. The bytes are below 128 and 1 ≤ n ≤ 128.
func atLeast(w uint64, n uint8) uint64 { return (w + ones*uint64(128-n)) & highs }

// maskOf turns the top bits of w's bytes into a set of their places 0 … 7.
func maskOf(tops uint64) Mask { return Mask(tops * 0x0002040810204081 >> 56) }
