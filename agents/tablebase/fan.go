package tablebase

import "github.com/mancalagym/mancalagym/env/mancala"

// The three games that are solved. They differ in what an endless turn is worth.
const (
	plain  = iota // nothing: it is never chosen
	hope          // more than all else to the mover of the position
	threat        // more than all else to the opponent of the mover
	games
)

const (
	none = -128 // no action
	all  = 127  // more than all else
)

// stays flags a child whose mover is the mover of the position it comes from.
const stays = 1 << 31

// fan is what the actions of a position lead to.
type fan struct {
	ended bool        // there is no action
	annul bool        // some action is endless
	leave [games]int8 // the best of the actions that capture or end the game, by game; none
	n     int
	child [64]uint32 // n positions with as many seeds: their numbers, with stays

	next mancala.State // room for a position that is played on in place
}

// levels holds the values of all levels solved so far, by game, seeds and number. Where no endless turn can be reached
// the three games share their values.
type levels [games][][]int8

// ground expands positions.
type ground struct {
	rules    mancala.Rules
	advancer mancala.Advancer
	index    *index
	known    levels
}

// expand fills f for a position with k seeds on the board, South to move and empty stores.
func (g *ground) expand(s mancala.State, k int, f *fan) {
	f.n, f.ended, f.annul = 0, false, false
	f.leave = [games]int8{none, none, none}
	legal := g.rules.Legal(s)
	if legal == 0 {
		s = g.rules.Settle(s)
		f.ended = true
		f.add(lead(&s), 0, 0, 0)
		return
	}
	for ; legal != 0; legal = legal.WithoutFirst() {
		t := &f.next
		*t = s
		g.advancer.Advance(t, legal.First())
		if t.Over() {
			if t.Reason() == mancala.Endless {
				f.annul = true
			} else {
				f.add(lead(t), 0, 0, 0)
			}
			continue
		}
		left := k - t.Store(mancala.South) - t.Store(mancala.North)
		n := g.index.number(t)
		same := t.Mover() == mancala.South
		switch {
		case left == k && same:
			f.child[f.n] = n | stays
			f.n++
		case left == k:
			f.child[f.n] = n
			f.n++
		case same:
			f.add(lead(t), g.known[plain][left][n], g.known[hope][left][n], g.known[threat][left][n])
		default:
			f.add(lead(t), -g.known[plain][left][n], -g.known[threat][left][n], -g.known[hope][left][n])
		}
	}
	if f.annul {
		if f.n == 0 && f.leave[plain] == none {
			f.leave[plain], f.leave[threat] = 0, -all
		}
		f.leave[hope] = all
	}
}

// lead is what South has more than North.
func lead(s *mancala.State) int { return s.Store(mancala.South) - s.Store(mancala.North) }

// add counts an action that captures gain more than it gives away and is then worth so much in each game.
func (f *fan) add(gain int, value, best, worst int8) {
	f.leave[plain] = max(f.leave[plain], value+int8(gain))
	if best < all {
		best += int8(gain)
	}
	if worst > -all {
		worst += int8(gain)
	}
	f.leave[hope] = max(f.leave[hope], best)
	f.leave[threat] = max(f.leave[threat], worst)
}
