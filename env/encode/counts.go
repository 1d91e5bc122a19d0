package encode

import "github.com/mancalagym/mancalagym/env/mancala"

const countsVersion = 1

// counts writes every number as a share of the most it can be: pits, stores and hand of all seeds, quiet plies
// and laps of their limits (more than the limit counts as the limit); flags are 0 or 1; the reference pit has
// one place a pit. Positions that differ in what the rules look at differ here.
type counts struct {
	pits        int
	size        int
	quiet, laps int
	stores      bool
	hand        bool
	share       [256]float32 // n of all seeds
	calm        []float32    // n of the quiet limit
}

func newCounts(info mancala.Info) *counts {
	c := &counts{pits: info.Pits, quiet: info.Quiet, laps: info.Laps, stores: info.Stores, hand: info.Rows == 4}
	c.size = 2*c.pits + 2
	if c.stores {
		c.size += 2
	}
	if c.hand {
		c.size += 4 + 1 + c.pits + 1 + 4
	}
	for n := range c.share {
		c.share[n] = float32(min(n, info.Seeds)) / float32(info.Seeds)
	}
	c.calm = make([]float32, min(c.quiet, maxTable)+1)
	for n := range c.calm {
		c.calm[n] = part(n, c.quiet)
	}
	return c
}

// maxTable bounds the tables by quiet count.
const maxTable = 1 << 16

func (c *counts) Name() string { return "counts" }

func (c *counts) Version() int { return countsVersion }

func (c *counts) Size() int { return c.size }

func (c *counts) Active() int { return 0 }

func (c *counts) Sparse(mancala.State, []int32) { panic("encode: counts has no sparse form") }

func (c *counts) Dense(s mancala.State, dst []float32) {
	mover := s.Mover()
	other := mover.Opponent()
	own, opp := s.Pits(mover), s.Pits(other)
	dst = dst[:c.size]
	pits := dst[:2*c.pits]
	for i, n := range own[:c.pits] {
		pits[i] = c.share[n]
	}
	pits = pits[c.pits:]
	for i, n := range opp[:len(pits)] {
		pits[i] = c.share[n]
	}
	k := 2 * c.pits
	if c.stores {
		dst[k], dst[k+1] = c.share[uint8(s.Store(mover))], c.share[uint8(s.Store(other))]
		k += 2
	}
	dst[k], dst[k+1] = c.quietPart(s.Quiet()), bit(s.Ply() == 0)
	k += 2
	if !c.hand {
		return
	}
	for _, b := range history(&s) {
		dst[k] = float32(b)
		k++
	}
	h := s.Hand()
	dst[k] = c.share[h.Seeds]
	k++
	at := dst[k : k+c.pits]
	clear(at)
	if h != (mancala.Hand{}) && int(h.Pit) < c.pits {
		at[h.Pit] = 1
	}
	k += c.pits
	dst[k] = part(int(h.Laps), c.laps)
	for i := range 4 {
		dst[k+1+i] = float32(h.Flags >> i & 1)
	}
}

// history returns the four history bits as the mover sees them: the mover has finished a turn, the opponent
// has, the mover has captured in one, the opponent has.
func history(s *mancala.State) [4]uint8 {
	h := uint8(s.History())
	own := uint8(s.Mover())
	other := own ^ 1
	return [4]uint8{h >> own & 1, h >> other & 1, h >> (2 + own) & 1, h >> (2 + other) & 1}
}

func (c *counts) quietPart(n int) float32 {
	if n < len(c.calm) {
		return c.calm[n]
	}
	return part(n, c.quiet)
}

func part(n, limit int) float32 {
	if limit == 0 {
		return 0
	}
	return float32(min(n, limit)) / float32(limit)
}

func bit(b bool) float32 {
	if b {
		return 1
	}
	return 0
}
