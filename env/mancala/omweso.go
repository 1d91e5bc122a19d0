package mancala

import (
	"fmt"
	"strconv"
)

// Omweso is the national game of Uganda: Shackell 1934, Braunholtz 1931, Nsimbi, and the International Omweso
// Society. Each player owns two rows of eight, sows round them, relays, and captures the two opposing pits of a
// column when a lap ends in an occupied pit of the own inner row. From the four pits on the left a lap may
// go in reverse if it captures at once. Seeds never leave play; who cannot move loses.
var omwesoFamily = family{
	name: "omweso",
	options: []option{
		words("setup", "outer4", "all2", "arrange"),
		number("pitcap", 2, 32, 10),
		words("reverse", "on", "off"),
		words("reverse-resow", "any", "reverse"),
		words("okwesera", "on", "off"),
		words("first-capture", "banned", "allowed"),
		words("emitwe", "on", "off"),
		words("akawumbi", "end", "both", "off"),
		words("frontrow", "on", "off"),
		words("akakyala", "off", "on"),
		number("quiet", 1, 60000, 100),
		number("laps", 1, 60000, 10000),
	},
	rules: func(f *family, o chosen) Rules {
		w := &omweso{
			info: Info{
				Spec: f.spec(o), Family: f.name, Version: 1, Rows: 4, Pits: 16, Seeds: 2 * omwesoSeeds, Actions: 38,
				Quiet: o.number("quiet"), Laps: o.number("laps"), Arrange: o.is("setup", "arrange"),
				Reasons: []Reason{Cycle, Endless, Akawumbi, Okutema, Akakyala, Bulijo},
			},
			pitCap:       o.number("pitcap"),
			reverse:      o.is("reverse", "on"),
			resowAny:     o.is("reverse-resow", "any"),
			okwesera:     o.is("okwesera", "on"),
			firstCapture: o.is("first-capture", "allowed"),
			emitwe:       o.is("emitwe", "on"),
			akawumbi:     !o.is("akawumbi", "off"),
			akawumbiBoth: o.is("akawumbi", "both"),
			frontRow:     o.is("frontrow", "on"),
			akakyala:     o.is("akakyala", "on"),
		}
		w.first = w.start(o)
		return w
	},
}

const (
	omwesoSeeds  = 32 // of each player
	goOn         = 36 // the action that sows the hand forward
	turnBack     = 37 // the action that sows it in reverse
	okweseraFrom = 20 // the okwesera action of pit 0
	reverseFrom  = 16 // the reverse action of the first reverse pit
)

// reversePits are the two leftmost columns (O13), in the order of their actions.
var reversePits = [4]uint8{0, 1, 14, 15}

// isReversePit has bit i set where pit i is a reverse pit.
const isReversePit = 1<<0 | 1<<1 | 1<<14 | 1<<15

type omweso struct {
	info                           Info
	first                          State
	pitCap                         int
	reverse, resowAny              bool // O13
	okwesera                       bool // O14
	firstCapture                   bool // O8
	emitwe, akawumbi, akawumbiBoth bool // O9
	frontRow                       bool // O10
	akakyala                       bool // O11
}

func (w *omweso) Info() Info { return w.info }

func (w *omweso) Start() State { return w.first }

// start sets up the board (O1).
func (w *omweso) start(o chosen) State {
	var p Position
	for i := range p.Pits[South] {
		switch {
		case o.is("setup", "all2"):
			p.Pits[South][i] = 2
		case o.is("setup", "outer4") && i < 8:
			p.Pits[South][i] = 4
		}
	}
	p.Pits[North] = p.Pits[South]
	if w.info.Arrange {
		p.Hand = Hand{Seeds: omwesoSeeds, Flags: HandArranging}
	}
	return p.State()
}

// sixteenths holds the seeds of a handful of less than 16 that starts after pit 0, as pits.
var sixteenths = func() (t [16]side) {
	for n := range t {
		for i := 1; i <= n; i++ {
			t[n].add(uint(i), 1)
		}
	}
	return t
}()

// round rotates the sixteen pits by one to fifteen places forward, or not at all.
func (p side) round(places uint) side {
	if places >= 8 {
		p[0], p[1] = p[1], p[0]
	}
	bits := places & 7 * 8
	if bits == 0 {
		return p
	}
	return side{p[0]<<bits | p[1]>>(64-bits), p[1]<<bits | p[0]>>(64-bits)}
}

// laps16 holds the pits that a handful of n%16 seeds sown forward from a pit falls into.
var laps16 = func() (t [16][16]side) {
	for pit := range t {
		for n := range t[pit] {
			t[pit][n] = sixteenths[n].round(uint(pit))
		}
	}
	return t
}()

// sow adds n seeds to the pits after from, round and round (O3); or before it, in reverse.
func (p *side) sow(from, n uint, reverse bool) (last uint) {
	last = (from + n) & 15
	if reverse {
		last = (from - n) & 15
		from = last - 1 // the same pits, seen from the other end
	}
	l := &laps16[from&15][n&15]
	all := uint64(n>>4) * ones
	p[0] += l[0] + all
	p[1] += l[1] + all
	return last
}

// facing returns the two pits of the opponent that inner pit i faces.
func facing(i uint) (outer, inner uint) { return (i - 8) & 15, (23 - i) & 15 }

// faces reports whether inner pit i faces two pits with seeds (O5).
func faces(opp *side, i uint) bool {
	outer, inner := facing(i)
	return i >= 8 && opp.at(outer) != 0 && opp.at(inner) != 0
}

// turns reports whether a reverse lap of n seeds from pit from would capture directly (O13). The seeds are in hand.
func turns(own, opp *side, from, n uint) bool {
	last := (from - n) & 15
	before := uint(own.at(last)) + (n-1)>>4 // seeds of the same lap that fall there first count too
	return last >= 8 && before > 0 && faces(opp, last)
}

// mayCapture reports whether the mover may capture in this turn (O8).
func (w *omweso) mayCapture(s *State) bool {
	return w.firstCapture || s.notes>>s.Mover()&1 != 0
}

// isReversible reports whether pit may start a reverse lap at all.
func (w *omweso) isReversible(pit uint) bool { return w.reverse && isReversePit>>pit&1 != 0 }

func (w *omweso) Legal(s State) Mask { return w.legal(&s) }

func (w *omweso) legal(s *State) Mask {
	switch {
	case s.Over():
		return 0
	case s.Hand().Flags&HandArranging != 0:
		return w.placements(s)
	case s.seeds != 0:
		return 1<<goOn | 1<<turnBack
	}
	own, opp := &s.side[0], &s.side[1]
	legal := maskOf(atLeast(own[0], 2)) | maskOf(atLeast(own[1], 2))<<8 // O2
	if w.reverse && legal&isReversePit != 0 && w.mayCapture(s) {
		for i, pit := range reversePits {
			n := uint(own.at(uint(pit)))
			if n < 2 {
				continue
			}
			lifted := *own
			lifted.clear(uint(pit))
			if turns(&lifted, opp, uint(pit), n) {
				legal |= 1 << (reverseFrom + i)
			}
		}
	}
	if w.okwesera && s.History()&(SouthCaptured|NorthCaptured) == 0 { // O14
		threes := maskOf(atLeast(own[0], 3)&^atLeast(own[0], 4)) | maskOf(atLeast(own[1], 3)&^atLeast(own[1], 4))<<8
		legal |= threes << okweseraFrom
	}
	return legal
}

// placements returns how many seeds may go into the next pit, so that the rest still fits (O1).
func (w *omweso) placements(s *State) (legal Mask) {
	left, pitsAfter := int(s.seeds), 15-int(s.ref)
	for k := 0; k <= min(left, w.pitCap); k++ {
		if left-k <= w.pitCap*pitsAfter {
			legal |= 1 << k
		}
	}
	return legal
}

func (w *omweso) Next(s State, a Action) (n State) {
	n = s
	w.play(&n, a)
	return n
}

func (w *omweso) Advance(s *State, a Action) Mask {
	w.play(s, a)
	return w.legal(s)
}

// play plays a in place.
func (w *omweso) play(s *State, a Action) {
	if debug {
		mustBeLegal(w, *s, a)
	}
	if s.Hand().Flags&HandArranging != 0 {
		w.place(s, uint8(a))
		return
	}
	before := *s
	s.count(false)
	var ended bool
	own := &s.side[0]
	switch pit := uint(a); {
	case a < reverseFrom:
		n := uint(own.at(pit))
		own.clear(pit)
		ended = w.turn(s, pit, n, false)
	case a < okweseraFrom:
		pit = uint(reversePits[a-reverseFrom])
		n := uint(own.at(pit))
		own.clear(pit)
		ended = w.turn(s, pit, n, true)
	case a < goOn: // O14
		pit -= okweseraFrom
		own.clear(pit)
		own.add((pit+1)&15, 2)
		own.add((pit+2)&15, 1)
		w.finish(s)
		ended = true
	default:
		ended = w.turn(s, uint(s.ref), uint(s.seeds), a == turnBack)
	}
	if !ended { // C3
		*s = before
		s.count(false)
		s.end(Endless, Nobody)
	}
}

// place puts k seeds into the next pit of the mover (O1).
func (w *omweso) place(s *State, k uint8) {
	s.ply = min(s.ply+1, maxCount)
	s.side[0].add(uint(s.ref), k)
	s.seeds -= k
	if s.ref++; s.ref < 16 {
		return
	}
	arrangedBoth := s.Mover() == North
	s.pass()
	s.seeds, s.ref = omwesoSeeds, 0
	if arrangedBoth {
		s.seeds = 0
		s.notes = 0
		if !canSow(&s.side[0]) { // O12, in a study position with fewer seeds
			s.end(Bulijo, North)
		}
	}
}

// turn sows n seeds from pit ref and goes on until the turn ends, the mover has a choice or the game is won. It returns
// false if the turn has no end (C3). The laps and notes of the hand in s are those of the turn so far.
func (w *omweso) turn(s *State, ref, n uint, reverse bool) (ended bool) {
	own, opp := &s.side[0], &s.side[1]
	mayCapture := w.mayCapture(s)
	laps := uint(s.laps)
	for {
		if laps >= uint(w.info.Laps) {
			return false
		}
		last := own.sow(ref, n, reverse)
		laps++
		if own.at(last) == 1 { // O4
			w.finish(s)
			return true
		}
		mayTurn := mayCapture
		if mayCapture && faces(opp, last) { // O5
			outer, inner := facing(last)
			n = uint(opp.at(outer) + opp.at(inner))
			opp.clear(outer)
			opp.clear(inner)
			s.quiet = 0
			s.note(HandCaptured)
			if w.wins(s, outer) { // O9
				s.hold(n, ref, laps)
				return true
			}
			mayTurn = w.resowAny || reverse // O6: ref stays
		} else { // O7
			n = uint(own.at(last))
			own.clear(last)
			ref = last
		}
		reverse = false
		if mayTurn && w.isReversible(ref) && turns(own, opp, ref, n) { // O13
			s.hold(n, ref, laps)
			return true
		}
	}
}

// note adds flags to the hand.
func (s *State) note(f HandFlags) { s.notes |= uint8(f) << 4 }

// hold keeps the seeds in hand within a turn.
func (s *State) hold(n, ref, laps uint) {
	s.seeds, s.ref, s.laps = uint8(n), uint8(ref), uint16(laps)
}

// wins notes a capture in an end column, the one of the opponent's outer pit, and ends the game if that wins (O9).
func (w *omweso) wins(s *State, outer uint) bool {
	switch outer {
	case 0:
		s.note(HandLeft)
	case 7:
		s.note(HandRight)
	default:
		return false
	}
	bothEnds := s.Hand().Flags&(HandLeft|HandRight) == HandLeft|HandRight
	switch {
	case w.akawumbi && (bothEnds || !w.akawumbiBoth) && s.side[1].empty():
		s.end(Akawumbi, s.Mover())
	case w.emitwe && bothEnds:
		s.end(Okutema, s.Mover())
	default:
		return false
	}
	return true
}

// finish ends the turn: history, the wins that follow a turn, the change of sides, and the ends for the next mover.
func (w *omweso) finish(s *State) {
	mover := s.Mover()
	captured := s.Hand().Flags&HandCaptured != 0
	capturedBefore := s.History()&(SouthCaptured<<mover) != 0
	s.laps, s.seeds, s.ref = 0, 0, 0
	s.notes = uint8(s.History() | SouthMoved<<mover)
	if captured {
		s.notes |= uint8(SouthCaptured << mover)
		if w.frontRow && s.side[1][1] == 0 { // O10
			s.end(Okutema, mover)
			return
		}
		if w.akakyala && capturedBefore && s.History()&(SouthCaptured<<mover.Opponent()) == 0 { // O11
			s.end(Akakyala, mover)
			return
		}
	}
	s.pass()
	switch {
	case !canSow(&s.side[0]): // O12
		s.end(Bulijo, mover)
	case s.quiet >= uint32(w.info.Quiet): // C1, C2
		s.end(Cycle, Nobody)
	}
}

// canSow reports whether a pit holds two seeds or more.
func canSow(p *side) bool { return atLeast(p[0], 2)|atLeast(p[1], 2) != 0 }

func (w *omweso) Settle(s State) State {
	if !s.Over() && w.Legal(s) == 0 {
		s.end(Bulijo, s.Mover().Opponent())
	}
	return s
}

func (w *omweso) Points(s State) (points [2]int) {
	if winner := s.Winner(); winner != Nobody {
		switch s.Reason() {
		case Akawumbi:
			points[winner] = 12
		case Okutema, Akakyala:
			points[winner] = 2
		case Bulijo:
			points[winner] = 1
		}
	}
	return points
}

// CheckPosition refuses hands that no play leads to.
func (w *omweso) CheckPosition(p Position) error {
	h, s := p.Hand, p.State()
	arranging := h.Flags&HandArranging != 0
	switch {
	case h == Hand{}:
		return nil
	case p.Reason != NotOver && p.Reason != Endless && p.Reason != Akawumbi && (p.Reason != Okutema || arranging):
		return fmt.Errorf("hand %q: want - in a game that ended by %s", appendHand(nil, h), p.Reason)
	case arranging:
		return w.checkArranging(&p)
	case h.Laps < 1 || int(h.Laps) > w.info.Laps:
		return fmt.Errorf("hand %q: %d laps: want 1–%d", appendHand(nil, h), h.Laps, w.info.Laps)
	case h.Flags&HandCaptured == 0 && h.Flags != 0:
		return fmt.Errorf("hand %q: want c before L and R", appendHand(nil, h))
	case p.Reason == Akawumbi || p.Reason == Okutema:
		if h.Flags&HandCaptured == 0 || h.Flags == HandCaptured || h.Seeds < 2 {
			return fmt.Errorf("hand %q: want the seeds of a capture in an end column", appendHand(nil, h))
		}
		return nil
	case h.Seeds < 2 || !w.mayCapture(&s) || !w.isReversible(uint(h.Pit)) || !turns(&s.side[0], &s.side[1], uint(h.Pit), uint(h.Seeds)):
		return fmt.Errorf("hand %q: want two seeds or more at a reverse pit from where a reverse lap captures", appendHand(nil, h))
	}
	return nil
}

func (w *omweso) checkArranging(p *Position) error {
	h := string(appendHand(nil, p.Hand))
	if !w.info.Arrange {
		return fmt.Errorf("hand %q: want setup=arrange", h)
	}
	if p.Reason != NotOver || p.History != 0 || p.Quiet != 0 {
		return fmt.Errorf("hand %q: want history -, quiet 0 and no end while arranging", h)
	}
	for player, row := range p.Pits {
		placed := 0
		for i, n := range row {
			later := Player(player) == p.Mover && i >= int(p.Hand.Pit) || Player(player) > p.Mover
			if later && n > 0 || int(n) > w.pitCap {
				return fmt.Errorf("hand %q: %s's pit %d holds %d: want %s", h, Player(player), i, n,
					map[bool]string{true: "0 before its turn", false: "at most the pitcap of " + strconv.Itoa(w.pitCap)}[later])
			}
			placed += int(n)
		}
		if Player(player) == p.Mover {
			placed += int(p.Hand.Seeds)
		}
		if placed > omwesoSeeds {
			return fmt.Errorf("hand %q: %s has %d seeds: want at most %d", h, Player(player), placed, omwesoSeeds)
		}
	}
	if s := p.State(); w.placements(&s) == 0 {
		return fmt.Errorf("hand %q: want no more than the pits that are left can hold", h)
	}
	return nil
}
