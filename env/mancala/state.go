// Package mancala is the rules kernel: positions, the rules of the variants and their texts.
//
// It knows nothing of episodes, rewards or agents. Everything in it is pure: a position is a plain
// value, and the rules of a variant map one value to the next without allocating. See the pages in
// docs/variants for the games and their clause numbers (U5, O13, …), which the comments here use.
package mancala

import "math/bits"

// Player is one of the two players. South moves first.
type Player uint8

// The players, and Nobody for a draw or a game that is not over.
const (
	South Player = iota
	North
	Nobody
)

// Opponent returns the other player; Nobody has none and is returned as is.
func (p Player) Opponent() Player {
	if p == Nobody {
		return Nobody
	}
	return p ^ 1
}

// String returns "South", "North" or "nobody".
func (p Player) String() string {
	return [...]string{"South", "North", "nobody"}[min(p, Nobody)]
}

// Action is the number of an action in the variant's action space, 0 … Info.Actions−1.
type Action uint8

// Mask is a set of actions: bit a stands for action a. No variant has more than 64.
type Mask uint64

// Has reports whether a is in the set.
func (m Mask) Has(a Action) bool { return a < 64 && m>>a&1 != 0 }

// Len returns the number of actions in the set.
func (m Mask) Len() int { return bits.OnesCount64(uint64(m)) }

// First returns the lowest action of a set that is not empty.
func (m Mask) First() Action { return Action(bits.TrailingZeros64(uint64(m))) }

// WithoutFirst returns the set without its lowest action.
func (m Mask) WithoutFirst() Mask { return m & (m - 1) }

// Nth returns the action that stands at place i (from 0) in ascending order; 0 ≤ i < Len.
func (m Mask) Nth(i int) Action {
	if m < 256 {
		return Action(places[m][i&7])
	}
	return m.nth(uint64(i))
}

// nth is Nth for any mask, without a branch: a random place is one that no processor foresees. Running totals of
// the members, a byte for each eight actions, tell which eight hold the one.
func (m Mask) nth(i uint64) Action {
	w := uint64(m)
	n := w - w>>1&0x5555555555555555
	n = n&0x3333333333333333 + n>>2&0x3333333333333333
	upTo := (n + n>>4) & 0x0f0f0f0f0f0f0f0f * ones // byte k: members among the first 8k+8 actions, at most 64
	eight := uint64(bits.OnesCount64((ones*(i|0x80)-upTo)&highs)) * 8
	return Action(eight) + Action(places[w>>(eight&63)&0xff][(i-upTo<<8>>(eight&63))&7])
}

// places holds the members of every set of eight actions, ascending.
var places = func() (t [256][8]uint8) {
	for m := range t {
		k := 0
		for a := range Mask(m).All {
			t[m][k] = uint8(a)
			k++
		}
	}
	return t
}()

// All ranges over the set in ascending order.
func (m Mask) All(yield func(Action) bool) {
	for ; m != 0; m &= m - 1 {
		if !yield(m.First()) {
			return
		}
	}
}

// Reason says which clause ended a game.
type Reason uint8

// The reasons; NotOver belongs to a game that goes on.
const (
	NotOver  Reason = iota
	NoMoves         // C4: the mover of a two-row game has no legal action
	Cycle           // C1: the quiet limit
	Endless         // C3: a turn without end; the game is annulled
	Cleared         // H11: the board is empty
	Akawumbi        // O9: the opponent has no seed left
	Okutema         // O9, O10: both end columns in one turn, or the front row cleared
	Akakyala        // O11: two capturing turns to none
	Bulijo          // O12: the mover has no pit with two seeds
	reasons
)

var reasonNames = [reasons]string{"", "nomoves", "cycle", "endless", "cleared", "akawumbi", "okutema", "akakyala", "bulijo"}

// String returns the reason's name in position texts, "" for NotOver.
func (r Reason) String() string {
	if r >= reasons {
		return "unknown"
	}
	return reasonNames[r]
}

// History holds what Omweso remembers of finished turns.
type History uint8

// The history bits, in the order of their letters in position texts.
const (
	SouthMoved    History = 1 << iota // s: South has finished a turn
	NorthMoved                        // n
	SouthCaptured                     // y: South has captured in a finished turn
	NorthCaptured                     // z
)

// HandFlags qualify a Hand.
type HandFlags uint8

// The hand flags.
const (
	HandCaptured  HandFlags = 1 << iota // c: this turn has captured
	HandLeft                            // L: in the opponent's left end column
	HandRight                           // R: in the opponent's right end column
	HandArranging                       // a: the seeds are still to be placed (O1)
)

// Hand is what an Omweso player holds within a turn or while arranging; the zero Hand is none.
type Hand struct {
	Seeds uint8     // in hand; while arranging, left to place
	Pit   uint8     // the reference pit (O6); while arranging, the next pit. In the mover's count
	Laps  uint16    // sown so far in this turn
	Flags HandFlags // zero together with Seeds, Pit and Laps when there is no hand
}

// MaxPits is the most pits a player has in any variant.
const MaxPits = 16

// State is one position: a plain value of 48 bytes. Assign it to branch, compare it with ==, use it as a
// map key. The zero State belongs to no variant; states come from Rules and from Position.State.
//
// Inside, the mover's pits come first, each side in its own count, so no rule asks whose turn it is.
// To the outside, the accessors speak of players.
type State struct {
	side   [2]side // 0 the mover's, 1 the opponent's
	ply    uint32
	quiet  uint32
	laps   uint16   // Hand.Laps
	store  [2]uint8 // as side
	status uint8    // mover | winner<<1 | reason<<3
	notes  uint8    // History | HandFlags<<4
	seeds  uint8    // Hand.Seeds
	ref    uint8    // Hand.Pit
}

// Mover returns the player who acts next; in a game that is over, who would have.
func (s *State) Mover() Player { return Player(s.status & 1) }

// Over reports whether the game has ended.
func (s *State) Over() bool { return s.status >= 1<<3 }

// Reason returns why the game ended, NotOver if it has not.
func (s *State) Reason() Reason { return Reason(s.status >> 3) }

// Winner returns who won; Nobody for a draw and for a game that is not over.
func (s *State) Winner() Player {
	if !s.Over() {
		return Nobody
	}
	return Player(s.status >> 1 & 3)
}

// Returns gives +1, −1 or 0 to South and North: the result of a game that is over, zeros before.
func (s *State) Returns() [2]int {
	switch s.Winner() {
	case South:
		return [2]int{1, -1}
	case North:
		return [2]int{-1, 1}
	}
	return [2]int{}
}

// Ply returns the number of actions played since the start.
func (s *State) Ply() int { return int(s.ply) }

// Quiet returns the number of plies since the last capture (C1).
func (s *State) Quiet() int { return int(s.quiet) }

// Store returns the seeds in p's store.
func (s *State) Store(p Player) int { return int(s.store[s.index(p)]) }

// Pit returns the seeds in p's pit i, counted from p's own left; 0 for a pit the variant does not have.
func (s *State) Pit(p Player, i int) int { return int(s.side[s.index(p)].at(uint(i) % MaxPits)) }

// Pits returns all of p's pits in p's own count; those the variant does not have are 0.
func (s *State) Pits(p Player) [MaxPits]uint8 { return s.side[s.index(p)].array() }

// OnBoard returns the number of seeds in p's pits.
func (s *State) OnBoard(p Player) int { return s.side[s.index(p)].sum() }

// History returns what Omweso remembers of finished turns; 0 in two-row games.
func (s *State) History() History { return History(s.notes & 15) }

// Hand returns what the mover holds within an Omweso turn.
func (s *State) Hand() Hand {
	return Hand{Seeds: s.seeds, Pit: s.ref, Laps: s.laps, Flags: HandFlags(s.notes >> 4)}
}

// index is 0 for the mover and 1 for the opponent.
func (s *State) index(p Player) uint8 { return (uint8(p) ^ s.status) & 1 }

// end marks the position as over. A winner of Nobody is a draw.
func (s *State) end(r Reason, winner Player) {
	s.status = s.status&1 | uint8(winner)<<1 | uint8(r)<<3
}

// maxCount bounds ply and quiet: a game that reaches it counts no further.
const maxCount = 4_000_000_000

// count counts a ply, which has captured or not (C1).
func (s *State) count(captured bool) {
	quiet := min(s.quiet+1, maxCount)
	if captured {
		quiet = 0
	}
	s.ply = min(s.ply+1, maxCount)
	s.quiet = quiet
}

// pass hands the move to the opponent: the sides change places.
func (s *State) pass() {
	own, opp := &s.side[0], &s.side[1]
	own[0], opp[0] = opp[0], own[0] // word by word: a wide load of words just written waits for them
	own[1], opp[1] = opp[1], own[1]
	s.store[0], s.store[1] = s.store[1], s.store[0]
	s.status ^= 1
}

// Position is a State laid open, in the players' own terms: for parsing, for setting up study
// positions and for variants written outside this package.
type Position struct {
	Pits    [2][MaxPits]uint8 // by player, in the player's own count
	Store   [2]uint8          // by player
	Mover   Player            // South or North
	Ply     uint32
	Quiet   uint32
	History History
	Hand    Hand
	Reason  Reason // NotOver if the game goes on
	Winner  Player // looked at only with a Reason
}

// State packs the position. It checks nothing; ParseState does.
func (p Position) State() State {
	m := p.Mover & 1
	s := State{
		side:   [2]side{sideOf(p.Pits[m]), sideOf(p.Pits[m^1])},
		ply:    p.Ply,
		quiet:  p.Quiet,
		laps:   p.Hand.Laps,
		store:  [2]uint8{p.Store[m], p.Store[m^1]},
		status: uint8(m),
		notes:  uint8(p.History&15) | uint8(p.Hand.Flags)<<4,
		seeds:  p.Hand.Seeds,
		ref:    p.Hand.Pit,
	}
	if p.Reason != NotOver {
		s.end(p.Reason, min(p.Winner, Nobody))
	}
	return s
}

// Position unpacks the state: the inverse of Position.State.
func (s *State) Position() Position {
	return Position{
		Pits:    [2][MaxPits]uint8{s.Pits(South), s.Pits(North)},
		Store:   [2]uint8{s.store[s.index(South)], s.store[s.index(North)]},
		Mover:   s.Mover(),
		Ply:     s.ply,
		Quiet:   s.quiet,
		History: s.History(),
		Hand:    s.Hand(),
		Reason:  s.Reason(),
		Winner:  s.Winner(),
	}
}
