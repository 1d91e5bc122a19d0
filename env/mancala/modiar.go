package mancala

// Modiar is played in villages round Tangier in Morocco and was recorded by J. Climent in 2012. Two rows of three
// pits with seven seeds each; one lap counter-clockwise that begins in the emptied origin itself; the last seed captures
// when it makes its pit 2, 4 or 6 on either side, and with it the unbroken chain of such pits before it. A single
// seed may not be played. The first play of the game captures nothing.
var modiarFamily = family{
	name: "modiar",
	options: []option{
		words("grandslam", "illegal", "forced", "nocapture", "allowed"),
		words("cycle", "split", "owner"),
		number("quiet", 1, 60000, 100),
	},
	rules: func(f *family, o chosen) Rules {
		m := &modiar{
			twoRow: twoRow{
				info: Info{
					Spec: f.spec(o), Family: f.name, Version: 1, Rows: 2, Pits: modiarPits, Seeds: modiarSeeds,
					Actions: modiarPits, Quiet: o.number("quiet"), Stores: true, Reasons: []Reason{NoMoves, Cycle},
				},
				owner: o.is("cycle", "owner"),
			},
		}
		m.tabulate()
		switch {
		case o.is("grandslam", "illegal"):
			m.slam = slamIllegal
		case o.is("grandslam", "forced"):
			m.slam = slamForced
		case o.is("grandslam", "nocapture"):
			m.slam = slamTakesNothing
		case o.is("grandslam", "allowed"):
			m.slam = slamTakes
		}
		m.first = m.start(7)
		return m
	},
}

const (
	modiarPits  = 3
	modiarSeeds = 42
	modiarRow   = 8 * modiarPits // bits of a row

	opponents = (1<<modiarRow - 1) << modiarRow // the bytes of the opponent's row
	takeable  = 6 * ones                        // the bits of a pit with 2, 4 or 6
)

// slam is what becomes of a play that captures from the opponent's row and leaves it empty (M7).
type slam uint8

const (
	slamIllegal      slam = iota
	slamForced            // illegal as long as another play is legal; then it captures nothing
	slamTakesNothing      // legal, captures nothing
	slamTakes             // legal, captures
)

type modiar struct {
	twoRow
	laps  [4][64]modiarLap  // by pit and handful
	looks [4][64]modiarLook // the same
	first State
	slam  slam
}

// modiarLap is one handful on the ring: six bytes, the mover's pits and then the opponent's.
type modiarLap struct {
	add  uint64    // the seeds sown less the handful lifted
	run  [3]uint64 // covers the pit of the last seed; with the one before; with the two before
	twos uint64    // 2 in each of the two pits before
	last uint64    // the place of the last seed, 0 … 5
	_    [2]uint64 // a power of two in size is quicker to find
}

// modiarLook is what harmless asks of a handful.
type modiarLook struct {
	add uint64 // as in modiarLap
	odd uint64 // no bit of these is left by a play that captures and leaves the opponent only pits that chains take
}

// tabulate works out every lap (M3).
func (m *modiar) tabulate() {
	for origin := range modiarPits {
		var l modiarLap
		m.looks[origin] = [64]modiarLook{{1 << 62, 1 << 62}, {1 << 62, 1 << 62}} // no plays, marked
		for n := 1; n <= modiarSeeds; n++ {
			last := (origin + n - 1) % 6
			l.add += 1<<(last*8) - 1<<(origin*8)
			l.last = uint64(last)
			l.run[0] = 0xff << (last * 8)
			l.run[1] = l.run[0] | 0xff<<((last+5)%6*8)
			l.run[2] = l.run[1] | 0xff<<((last+4)%6*8)
			l.twos = (l.run[2] &^ l.run[0]) & (2 * ones)
			m.laps[origin][n] = l
			if n > 1 {
				m.looks[origin][n] = modiarLook{l.add, modiarOdd(last, n)}
			}
		}
	}
}

// modiarOdd returns modiarLook.odd for a handful of n whose last seed falls at place last.
func modiarOdd(last, n int) uint64 {
	const all = 1<<(2*modiarRow) - 1
	through := uint64(1)<<(8*last+8) - 1 // the places up to the last
	switch {
	case last < modiarPits: // the chain comes to the opponent's row through these
		return (opponents | through) &^ takeable
	case n <= 2*modiarPits: // the chain ends at the origin, where one seed lies: beyond the last nothing may be
		return opponents &^ (through & takeable)
	case last < 2*modiarPits-1: // there lie seeds beyond the last, and the chain must come round to them
		return all &^ takeable
	}
	return opponents &^ takeable
}

func (m *modiar) Start() State { return m.first }

func (m *modiar) Legal(s State) Mask {
	if s.Over() {
		return 0
	}
	return m.legal(s.side[0][0], s.side[1][0], s.ply)
}

// legal returns what may be played with these rows.
func (m *modiar) legal(own, opp uint64, ply uint32) Mask {
	plays := maskOf(atLeast(own, 2)) // M2
	ring := own | opp<<modiarRow
	if opp == 0 || (m.harmless(ring, 0)-1)|(m.harmless(ring, 1)-1)|(m.harmless(ring, 2)-1) >= 1<<63 {
		return m.examine(ring, ply, plays)
	}
	return plays
}

// harmless is not 0 if a play makes a pit that no chain takes: the last one, one before it in the own row, or one of the
// opponent's. So it is no slam. All three plays are asked in one: few positions have one to examine.
func (m *modiar) harmless(ring uint64, pit uint) uint64 {
	l := &m.looks[pit][ring>>(pit*8)&63]
	return (ring + l.add) & l.odd
}

// examine leaves out the plays that M7 and M8 forbid. Where the opponent has seeds, those that leave none are slams; where
// not, they do not feed.
//
//go:noinline
func (m *modiar) examine(ring uint64, ply uint32, plays Mask) Mask {
	var reach, leave Mask // the plays after which the opponent has seeds: before the capture, and after it
	for a := range Action(modiarPits) {
		l := &m.laps[a][ring>>(a*8)&63]
		sown := ring + l.add
		left := sown &^ modiarChain(sown, l.last)
		if ply == 0 { // M6
			left = sown
		}
		if sown&opponents != 0 {
			reach |= 1 << a
		}
		if left&opponents != 0 {
			leave |= 1 << a
		}
	}
	reach &= plays
	leave &= plays
	switch {
	case m.slam == slamTakesNothing, m.slam == slamForced && leave == 0:
		return reach
	case m.slam == slamTakes && ring&opponents != 0:
		return plays
	}
	return leave
}

func (m *modiar) Next(s State, a Action) (n State) {
	n = s
	own, opp := m.turn(&n, a)
	ring := own | opp<<modiarRow
	legal := Mask(m.harmless(ring, 0)|m.harmless(ring, 1)|m.harmless(ring, 2)) << 2 // without the mark of no plays
	if legal == 0 || opp == 0 {
		legal = m.legal(own, opp, n.ply) // else a play is legal, which is enough to go on
	}
	m.end(&n, legal)
	return n
}

func (m *modiar) Advance(s *State, a Action) Mask {
	own, opp := m.turn(s, a)
	return m.end(s, m.legal(own, opp, s.ply))
}

// turn plays a in place and returns the rows of the next mover and of the other.
//
// A third of all plies capture, and no processor foresees which: the first two pits of a run are taken without a branch.
func (m *modiar) turn(s *State, a Action) (own, opp uint64) {
	if debug {
		mustBeLegal(m, *s, a)
	}
	ring := s.side[0][0] | s.side[1][0]<<modiarRow
	pit := uint(a) & 3
	l := &m.laps[pit][ring>>(pit*8)&63]
	sown := ring + l.add       // M3
	spoil := ^uint64(takeable) // the bits of which a pit that is taken has none
	if s.ply == 0 {            // M6
		spoil = ^uint64(0)
	}
	odd := sown & spoil
	keep := ^uint64(0)
	if one := l.run[0]; odd&one == 0 { // M4
		keep = ^one
	}
	if two := l.run[1]; odd&two == 0 { // M5; of an empty pit before the last one nothing is taken
		keep = ^two
	}
	if odd&l.run[2]|l.twos&^(sown|sown>>1) == 0 { // both pits before have a 2 or a 4 in their counts
		keep = ^modiarChain(sown, l.last)
	}
	left := sown & keep
	if isSlam(sown, left) && m.slam != slamTakes { // M7
		left = sown
	}
	own, opp = left>>modiarRow, left&^opponents
	s.answer(opp, own, sown-left)
	return own, opp
}

// end ends the game if it is at an end, and returns what is legal then.
func (m *modiar) end(s *State, legal Mask) Mask {
	switch {
	case legal == 0: // M9
		m.sweep(s)
	case s.quiet >= uint32(m.info.Quiet): // C1
		m.settle(s)
		return 0
	}
	return legal
}

// isSlam reports whether a capture takes from the opponent's row and leaves it empty.
func isSlam(sown, left uint64) bool { return left&opponents == 0 && sown&opponents != 0 }

// modiarChain covers the bytes of the ring that are captured when the last seed falls at place last (M4, M5).
func modiarChain(sown uint64, last uint64) uint64 {
	even := atLeast(sown, 2) &^ atLeast(sown, 7) &^ (sown << 7)
	return modiarChains[maskOf(even)&63][last&7]
}

// modiarChains holds the bytes of the unbroken run of places in a set that goes backwards round the ring from a place.
var modiarChains = func() (t [1 << (2 * modiarPits)][8]uint64) {
	for set := range t {
		for last := range uint(2 * modiarPits) {
			place := last
			for range 2 * modiarPits {
				if set>>place&1 == 0 {
					break
				}
				t[set][last] |= 0xff << (place * 8)
				place = (place + 2*modiarPits - 1) % (2 * modiarPits)
			}
		}
	}
	return t
}()

func (m *modiar) Settle(s State) State {
	if !s.Over() && m.Legal(s) == 0 {
		m.sweep(&s)
	}
	return s
}

func (m *modiar) Points(s State) [2]int { return onePoint(&s) }
