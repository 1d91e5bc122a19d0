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
			laps: newLaps(modiarPits, modiarSeeds, 0, false),
		}
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
	laps  *laps
	first State
	slam  slam
}

// sown is what a play leaves: the rows before and after its captures.
type sown struct {
	own, opp         uint64 // after sowing
	ownRest, oppRest uint64 // after capturing
	slam             bool   // the capture takes from the opponent's row and leaves it empty
}

func (m *modiar) Start() State { return m.first }

func (m *modiar) Legal(s State) Mask {
	if s.Over() {
		return 0
	}
	plays := maskOf(atLeast(s.side[0][0], 2)) // M2
	hungry := s.side[1].empty()
	if !hungry && m.slam >= slamTakesNothing {
		return plays
	}
	var legal, slams Mask
	for rest := plays; rest != 0; rest = rest.WithoutFirst() {
		a := rest.First()
		pit := uint(a) & 3
		if opp := s.side[1][0] + m.laps[pit][s.side[0].at(pit)&63].opp; opp&ones != 0 {
			legal |= 1 << a // feeds, and is no slam: an odd pit is never captured
			continue
		}
		p := m.sow(&s, a)
		switch {
		case p.slam && m.slam <= slamForced: // M7
			slams |= 1 << a
		case hungry && m.left(&p) == 0: // M8
		default:
			legal |= 1 << a
		}
	}
	if legal == 0 && m.slam == slamForced {
		return slams // a slam that captures nothing leaves the opponent what it would have taken
	}
	return legal
}

// left returns the opponent's row after the play.
func (m *modiar) left(p *sown) uint64 {
	if p.slam && m.slam != slamTakes {
		return p.opp
	}
	return p.oppRest
}

func (m *modiar) Next(s State, a Action) State {
	if debug {
		mustBeLegal(m, s, a)
	}
	p := m.sow(&s, a)
	if p.slam && m.slam != slamTakes {
		p.ownRest, p.oppRest = p.own, p.opp
	}
	taken := sum8(p.own) + sum8(p.opp) - sum8(p.ownRest) - sum8(p.oppRest)
	s.side[0][0], s.side[1][0] = p.ownRest, p.oppRest
	s.store[0] += uint8(taken)
	s.count()
	if taken > 0 {
		s.quiet = 0
	}
	s.pass()
	switch {
	case m.Legal(s) == 0: // M9
		m.sweep(&s)
	case s.quiet >= uint32(m.info.Quiet): // C1
		m.settle(&s)
	}
	return s
}

// sow plays pit a without looking at what is done about slams.
func (m *modiar) sow(s *State, a Action) sown {
	pit := uint(a) & 3
	l := &m.laps[pit][s.side[0].at(pit)&63]
	p := sown{own: s.side[0][0]&^(0xff<<(pit*8)) + l.own, opp: s.side[1][0] + l.opp} // M3
	p.ownRest, p.oppRest = p.own, p.opp
	if s.ply == 0 { // M6
		return p
	}
	ring := p.own | p.opp<<(8*modiarPits)
	chain := modiarChain(ring, uint(l.last)) // M4, M5
	ring &^= chain
	p.ownRest = ring & (1<<(8*modiarPits) - 1)
	p.oppRest = ring >> (8 * modiarPits)
	p.slam = p.oppRest == 0 && p.opp != 0
	return p
}

// modiarChain covers the bytes of the ring that are captured when the last seed falls at place last.
func modiarChain(ring uint64, last uint) uint64 {
	even := atLeast(ring, 2) &^ atLeast(ring, 7) &^ (ring << 7)
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
