package minimax

import (
	"encoding/binary"
	"math/bits"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Win is more than every static value and every store difference: a value of Win − MaxDepth or more is a win by
// the rules, one of MaxDepth − Win or less a loss.
const Win = 10_000

// worth says what positions are worth.
type worth struct {
	stores bool
	late   int // what a ply takes from a win: 1 without stores, where nothing else tells two wins apart
	prober agents.Prober
}

// end is the value for p of a game that is over, ply plies from the root.
func (w *worth) end(s *mancala.State, p mancala.Player, ply int) int {
	won := s.Returns()[p&1]
	if w.stores {
		return won * (Win + won*difference(s, p))
	}
	return won * (Win - ply)
}

// horizon is the value for p of a position that is not looked beyond.
func (w *worth) horizon(s *mancala.State, p mancala.Player) int {
	if w.prober != nil {
		if v, ok := w.prober.Probe(*s); ok {
			if s.Mover() != p {
				v = -v
			}
			return decided(difference(s, p) + v)
		}
	}
	return w.static(s, p)
}

// decided is the value of a game that will end with a store difference of d.
func decided(d int) int {
	switch {
	case d > 0:
		return Win + d
	case d < 0:
		return d - Win
	}
	return 0
}

// static is the static value for p; for the other player it is the same with the sign turned.
func (w *worth) static(s *mancala.State, p mancala.Player) int {
	if w.stores {
		return difference(s, p)
	}
	return seeds(s, p) + mobility(s, p) - mobility(s, p^1)
}

// ceiling is a value that s, depth plies deep, cannot exceed for its mover. It is one only where all these plies place
// seeds (O1): each adds at most one pit with two seeds or more. As they are all by one player, no window would ever close.
func (w *worth) ceiling(s *mancala.State, depth int) int {
	h := s.Hand()
	if h.Flags&mancala.HandArranging == 0 || depth > mancala.MaxPits-int(h.Pit) {
		return unbounded
	}
	return w.static(s, s.Mover()) + depth
}

// rank is what the search sorts actions by: the static value without the mobility, which costs more than it sorts.
func (w *worth) rank(s *mancala.State, p mancala.Player) int {
	if w.stores {
		return difference(s, p)
	}
	return seeds(s, p)
}

// difference is how much more p has in store.
func difference(s *mancala.State, p mancala.Player) int { return s.Store(p) - s.Store(p^1) }

// seeds is how many more p has on the board; a hand is the mover's.
func seeds(s *mancala.State, p mancala.Player) int {
	hand := int(s.Hand().Seeds)
	if s.Mover() != p {
		hand = -hand
	}
	return s.OnBoard(p) - s.OnBoard(p^1) + hand
}

// mobility is the number of p's pits with two seeds or more.
func mobility(s *mancala.State, p mancala.Player) int {
	low, high := words(s, p)
	return bits.OnesCount64(twoOrMore(low)) + bits.OnesCount64(twoOrMore(high))
}

// words returns p's pits as the bytes of two words.
func words(s *mancala.State, p mancala.Player) (low, high uint64) {
	pits := s.Pits(p)
	return binary.LittleEndian.Uint64(pits[:8]), binary.LittleEndian.Uint64(pits[8:])
}

// twoOrMore has the top bit of every byte of w that is 2 or more; the bytes are below 128.
func twoOrMore(w uint64) uint64 {
	return (w + 126*0x0101010101010101) & 0x8080808080808080
}
