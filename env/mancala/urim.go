package mancala

import "math/bits"

// Urim is the game of Brava in Cape Verde and of its emigrants in Angola, first described by E. R. Santos
// Silva in 1994. Two rows; one lap counter-clockwise that skips the origin; the last seed captures when it makes an
// opponent's pit 2 or 3, and with it the unbroken chain of 2, 3 and 4 before it. No pit holds more
// than 17. Who cannot move ends the game; three quarters of the seeds count double.
//
// Oware in its Abapa rules is the same family with a chain of 2 and 3 and without the cap.
var urimFamily = family{
	name: "urim",
	options: []option{
		words("pits", "6", "7"),
		words("seeds", "3", "4"),
		words("cap", "skip", "illegal", "off"),
		words("grandslam", "nocapture", "allowed"),
		words("cycle", "split", "owner"),
		number("quiet", 1, 60000, 100),
	},
	rules: func(f *family, o chosen) Rules {
		u := newUrim(f, o, o.number("pits"), o.number("seeds"))
		u.chain = 4
		u.capSkips, u.capForbids = o.is("cap", "skip"), o.is("cap", "illegal")
		u.slamTakes = o.is("grandslam", "allowed")
		u.graded = true
		return u
	},
}

var owareFamily = family{
	name: "oware",
	options: []option{
		words("cycle", "split", "owner"),
		number("quiet", 1, 60000, 100),
	},
	rules: func(f *family, o chosen) Rules {
		u := newUrim(f, o, 6, 4)
		u.chain = 3
		return u
	},
}

// pitCap is the most a pit may hold (U4).
const pitCap = 17

type urim struct {
	twoRow
	laps       *laps
	first      State
	chain      uint8 // the largest count the chain captures (U6)
	capSkips   bool  // U4: cap=skip
	capForbids bool  // U4: cap=illegal
	slamTakes  bool  // U7: grandslam=allowed
	graded     bool  // U10
}

func newUrim(f *family, o chosen, pits, seeds int) *urim {
	u := &urim{
		twoRow: twoRow{
			info: Info{
				Spec: f.spec(o), Family: f.name, Version: 1, Rows: 2, Pits: pits, Seeds: 2 * pits * seeds,
				Actions: pits, Quiet: o.number("quiet"), Stores: true, Reasons: []Reason{NoMoves, Cycle},
			},
			owner: o.is("cycle", "owner"),
		},
		laps: newLaps(pits, 2*pits*seeds),
	}
	u.first = u.start(seeds)
	return u
}

// lap is what sowing one handful adds to the rows.
type lap struct {
	own, opp uint64 // once the origin has been emptied
	last     uint64 // where the last seed falls: the lowest bit of its byte in the opponent's row, 64 if in the own row
}

// laps holds the lap of every pit and handful. The sizes are powers of two so that masking an index proves it in range.
type laps [8][64]lap

// newLaps tabulates sowing with n pits a row, in handfuls of at most seeds (U3).
func newLaps(n, seeds int) *laps {
	var t laps
	for origin := range n {
		rows, place := [2]uint64{}, origin
		for k := 1; k <= seeds; k++ {
			if place = (place + 1) % (2 * n); place == origin {
				place = (place + 1) % (2 * n)
			}
			rows[place/n] += 1 << (place % n * 8)
			t[origin][k] = lap{rows[0], rows[1], lastOf(uint(place), uint(n))}
		}
	}
	return &t
}

// lastOf returns lap.last for a place of the ring: 0 … n−1 in the mover's row, n … 2n−1 in the opponent's.
func lastOf(place, n uint) uint64 {
	if place < n {
		return 64
	}
	return uint64(place-n) * 8
}

func (u *urim) Start() State { return u.first }

func (u *urim) Legal(s State) Mask {
	if s.Over() {
		return 0
	}
	own, opp := s.side[0][0], s.side[1][0]
	legal := maskOf(atLeast(own, 1)) // U2
	if opp == 0 || u.capForbids {
		return u.restrict(own, opp, legal)
	}
	return legal
}

// restrict leaves out the plays that U4 (cap=illegal) and U8 forbid.
//
//go:noinline
func (u *urim) restrict(own, opp uint64, plays Mask) (legal Mask) {
	for a := range plays.All {
		if u.capForbids && u.overfills(own, opp, a) {
			continue
		}
		if _, left, _ := u.play(own, opp, a); opp != 0 || left != 0 {
			legal |= 1 << a
		}
	}
	return legal
}

func (u *urim) Next(s State, a Action) (n State) {
	n = s
	u.Advance(&n, a)
	return n
}

func (u *urim) Advance(s *State, a Action) Mask {
	if debug {
		mustBeLegal(u, *s, a)
	}
	own, opp, taken := u.play(s.side[0][0], s.side[1][0], a)
	s.answer(own, opp, taken)
	legal := maskOf(atLeast(opp, 1))
	if own == 0 || u.capForbids {
		legal = u.restrict(opp, own, legal)
	}
	switch {
	case legal == 0: // U9
		u.sweep(s)
	case s.quiet >= uint32(u.info.Quiet): // C1
		u.settle(s)
		return 0
	}
	return legal
}

// play sows pit a and captures. It returns the rows then and the seeds taken.
func (u *urim) play(own, opp uint64, a Action) (_, _, taken uint64) {
	pit := uint(a) & 7
	l := &u.laps[pit][own>>(pit*8)&63]
	sownOwn, sownOpp, last := own&^(0xff<<(pit*8))+l.own, opp+l.opp, l.last // U3
	if u.capSkips && (atLeast(sownOwn, pitCap+1)|atLeast(sownOpp, pitCap+1)) != 0 {
		sownOwn, sownOpp, last = u.sowUnderCap(own, opp, pit) // U4
	}
	own, opp = sownOwn, sownOpp
	if made := uint8(opp >> last); made != 2 && made != 3 { // U5
		return own, opp, 0
	}
	chain := runBefore(atLeast(opp, 2)&^atLeast(opp, u.chain+1), last) // U6
	rest := opp &^ chain
	if rest == 0 && !u.slamTakes { // U7
		return own, opp, 0
	}
	return own, rest, opp & chain
}

// runBefore covers the bytes of the unbroken run of tops that goes down from the byte whose lowest bit is at, and whose
// top is set.
func runBefore(tops, at uint64) uint64 {
	up := (56 - at) & 63
	n := uint(bits.LeadingZeros64(^(tops<<up | ^uint64(highs)))) / 8 * 8 // the run's length in bits
	return ^uint64(0) << ((64 - n) & 63) >> up
}

// sowUnderCap sows seed by seed, passing over the origin and every pit that holds 17 or more (U3, U4). The seeds of
// the variant always find a place, 56 being fewer than 11 pits of 17 hold; what finds none in an impossible position
// is lost.
func (u *urim) sowUnderCap(own, opp uint64, origin uint) (_, _ uint64, last uint64) {
	n := uint(u.info.Pits)
	rows := [2]uint64{own &^ (0xff << (origin * 8)), opp}
	hand := own >> (origin * 8) & 0xff
	last = 64
	for place, passed := origin, uint(0); hand > 0 && passed < 2*n; passed++ {
		place = (place + 1) % (2 * n)
		row, bit := &rows[place/n], place%n*8
		if place == origin || uint8(*row>>bit) >= pitCap {
			continue
		}
		*row += 1 << bit
		hand--
		last, passed = lastOf(place, n), 0
	}
	return rows[0], rows[1], last
}

// overfills reports whether sowing pit a would put a seed on 17 or more (U4, cap=illegal).
func (u *urim) overfills(own, opp uint64, a Action) bool {
	pit := uint(a) & 7
	l := &u.laps[pit][own>>(pit*8)&63]
	own = own&^(0xff<<(pit*8)) + l.own
	opp += l.opp
	return atLeast(own, pitCap+1)&atLeast(l.own, 1)|atLeast(opp, pitCap+1)&atLeast(l.opp, 1) != 0
}

func (u *urim) Settle(s State) State {
	if !s.Over() && u.Legal(s) == 0 {
		u.sweep(&s)
	}
	return s
}

func (u *urim) Points(s State) [2]int {
	points := onePoint(&s)
	if !u.graded {
		return points
	}
	for _, p := range []Player{South, North} { // U10
		switch held := s.Store(p); {
		case points[p] == 0:
		case 4*held >= 3*u.info.Seeds:
			points[p] = 2
		case 2*held <= u.info.Seeds:
			points[p] = 0
		}
	}
	return points
}
