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
		laps: newLaps(pits, 2*pits*seeds, 1, true),
	}
	u.first = u.start(seeds)
	return u
}

func (u *urim) Start() State { return u.first }

func (u *urim) Legal(s State) Mask {
	if s.Over() {
		return 0
	}
	legal := maskOf(atLeast(s.side[0][0], 1)) // U2
	if u.capForbids || s.side[1].empty() {
		return u.restrict(&s, legal)
	}
	return legal
}

// restrict leaves out the plays that U4 (cap=illegal) and U8 forbid.
func (u *urim) restrict(s *State, plays Mask) (legal Mask) {
	hungry := s.side[1].empty()
	for a := range plays.All {
		if u.capForbids && u.overfills(s, a) {
			continue
		}
		t := *s
		u.play(&t, a)
		if !hungry || !t.side[1].empty() {
			legal |= 1 << a
		}
	}
	return legal
}

func (u *urim) Next(s State, a Action) State {
	if debug {
		mustBeLegal(u, s, a)
	}
	took := u.play(&s, a)
	s.count()
	if took {
		s.quiet = 0
	}
	s.pass()
	switch {
	case u.Legal(s) == 0: // U9
		u.sweep(&s)
	case s.quiet >= uint32(u.info.Quiet): // C1
		u.settle(&s)
	}
	return s
}

// play sows pit a and captures; it reports whether it captured.
func (u *urim) play(s *State, a Action) (took bool) {
	pit := uint(a) & 7
	l := &u.laps[pit][s.side[0].at(pit)&63]
	last := l.last
	own := s.side[0][0]&^(0xff<<(pit*8)) + l.own // U3
	opp := s.side[1][0] + l.opp
	if u.capSkips && (atLeast(own, pitCap+1)|atLeast(opp, pitCap+1)) != 0 {
		own, opp, last = u.sowUnderCap(s, pit) // U4
	}
	n := uint8(u.info.Pits)
	s.side[0][0], s.side[1][0] = own, opp
	if last < n {
		return false
	}
	landing := uint(last-n) & 7
	if made := s.side[1].at(landing); made != 2 && made != 3 { // U5
		return false
	}
	chain := runBefore(atLeast(opp, 2)&^atLeast(opp, u.chain+1), landing) // U6
	rest := opp &^ chain
	if rest == 0 && !u.slamTakes { // U7
		return false
	}
	s.side[1][0] = rest
	s.store[0] += uint8(sum8(opp & chain))
	return true
}

// runBefore covers the bytes of the unbroken run of tops that ends at byte i, whose top is set, and
// goes down from there.
func runBefore(tops uint64, i uint) uint64 {
	up := (7 - i) * 8
	n := uint(bits.LeadingZeros64(^(tops<<up | ^uint64(highs)))) / 8 * 8 // the run's length in bits
	return ^uint64(0) << ((64 - n) & 63) >> up
}

// sowUnderCap sows seed by seed, passing over the origin and every pit that holds 17 or more (U3, U4). The seeds of
// the variant always find a place, 56 being fewer than 11 pits of 17 hold; what finds none in an impossible position
// is lost.
func (u *urim) sowUnderCap(s *State, origin uint) (own, opp uint64, last uint8) {
	n := uint(u.info.Pits)
	board := s.side
	hand := board[0].at(origin)
	board[0].clear(origin)
	for place, passed := origin, uint(0); hand > 0 && passed < 2*n; passed++ {
		place = (place + 1) % (2 * n)
		row := &board[place/n]
		if place == origin || row.at(place%n) >= pitCap {
			continue
		}
		row.add(place%n, 1)
		hand--
		last, passed = uint8(place), 0
	}
	return board[0][0], board[1][0], last
}

// overfills reports whether sowing pit a would put a seed on 17 or more (U4, cap=illegal).
func (u *urim) overfills(s *State, a Action) bool {
	pit := uint(a) & 7
	l := &u.laps[pit][s.side[0].at(pit)&63]
	own := s.side[0][0]&^(0xff<<(pit*8)) + l.own
	opp := s.side[1][0] + l.opp
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
