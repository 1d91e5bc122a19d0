package mancala

// Hoyito II is played in the Dominican Republic and was recorded by V. Bautista i Roca in 2005. Two rows with four
// seeds in every pit; a lap that ends in an occupied pit relays, one that makes exactly four captures that pit and the
// unbroken chain of fours before it, on both sides, and the mover moves again. The game goes on until the
// board is empty; who has no seeds in the own row passes.
var hoyito2Family = family{
	name: "hoyito2",
	options: []option{
		words("pits", "6", "12"),
		words("direction", "cw", "ccw"),
		words("side", "both", "opponent"),
		words("cycle", "split", "owner"),
		{name: "quiet", lo: 1, hi: 60000, def: func(o chosen) int {
			if o.is("pits", "12") {
				return 300
			}
			return 100
		}},
		number("laps", 1, 60000, 10000),
	},
	rules: func(f *family, o chosen) Rules {
		pits := o.number("pits")
		h := &hoyito2{
			twoRow: twoRow{
				info: Info{
					Spec: f.spec(o), Family: f.name, Version: 1, Rows: 2, Pits: pits, Seeds: 8 * pits, Actions: pits + 1,
					Quiet: o.number("quiet"), Laps: o.number("laps"), Stores: true, Reasons: []Reason{Cleared, Cycle, Endless},
				},
				owner: o.is("cycle", "owner"),
			},
			pits:   uint(pits),
			ownToo: o.is("side", "both"),
		}
		h.tabulate(o.is("direction", "cw"))
		h.first = h.start(4)
		return h
	},
}

// casa is the count that captures (H6).
const casa = 4

// ring holds the pits of both rows as bytes in the order of the ring: the mover's 0 … n−1, then the opponent's.
type ring [4]uint64

func (r *ring) at(i uint) uint8 { return uint8(r[i>>3&3] >> (i & 7 * 8)) }

func (r *ring) clear(i uint) { r[i>>3&3] &^= 0xff << (i & 7 * 8) }

func (r *ring) sum() int { return sum8(r[0]) + sum8(r[1]) + sum8(r[2]) }

// ringLap is what one handful adds to the ring.
type ringLap struct {
	add  [3]uint64
	last uint8
}

type hoyito2 struct {
	twoRow
	pits   uint
	ownToo bool             // H6: side=both
	laps   [24][128]ringLap // by origin and handful
	back   [24]uint8        // the place before, against the sowing
	first  State
}

// tabulate works out every lap in the direction of play (H2, H4).
func (h *hoyito2) tabulate(clockwise bool) {
	n := 2 * h.pits
	step := uint(1)
	if clockwise {
		step = n - 1
	}
	for origin := range n {
		h.back[origin] = uint8((origin + n - step) % n)
		var l ringLap
		place := origin
		for k := 1; k <= h.info.Seeds; k++ {
			place = (place + step) % n
			l.add[place>>3] += 1 << (place & 7 * 8)
			l.last = uint8(place)
			h.laps[origin][k] = l
		}
	}
}

func (h *hoyito2) Start() State { return h.first }

func (h *hoyito2) Legal(s State) Mask {
	if s.Over() {
		return 0
	}
	return h.legal(&s.side[0], &s.side[1])
}

// legal returns what may be played with these rows.
func (h *hoyito2) legal(own, opp *side) Mask {
	legal := maskOf(atLeast(own[0], 1)) | maskOf(atLeast(own[1], 1))<<8 // H3
	if legal == 0 && !opp.empty() {
		return 1 << h.pits
	}
	return legal
}

func (h *hoyito2) Next(s State, a Action) (n State) {
	n = s
	h.play(&n, a)
	return n
}

func (h *hoyito2) Advance(s *State, a Action) Mask {
	h.play(s, a)
	if s.Over() {
		return 0
	}
	return h.legal(&s.side[0], &s.side[1])
}

// play plays a in place.
func (h *hoyito2) play(s *State, a Action) {
	if debug {
		mustBeLegal(h, *s, a)
	}
	took, ended := 0, true
	if uint(a) < h.pits {
		board := h.ring(s)
		if took, ended = h.turn(&board, uint(a)); ended {
			h.unring(s, &board)
		}
	}
	s.count(took > 0)
	switch {
	case !ended: // C3
		s.end(Endless, Nobody)
		return
	case took == 0:
		s.pass()
	default:
		s.store[0] += uint8(took) // H9: the mover moves again
		if s.side[0].empty() && s.side[1].empty() {
			s.byStores(Cleared) // H11
			return
		}
	}
	if s.quiet >= uint32(h.info.Quiet) { // C1
		h.settle(s)
	}
}

// turn sows from origin until a lap ends in an empty pit or captures. It returns the seeds captured, and
// false if the turn has no end (C3).
func (h *hoyito2) turn(board *ring, origin uint) (took int, ended bool) {
	for range h.info.Laps {
		l := &h.laps[origin%24][board.at(origin)&127]
		board.clear(origin)
		board[0] += l.add[0]
		board[1] += l.add[1]
		board[2] += l.add[2]
		origin = uint(l.last)
		switch made := board.at(origin); {
		case made == 1: // H5
			return 0, true
		case made == casa && (h.ownToo || origin >= h.pits): // H6
			return h.capture(board, origin), true
		} // H7
	}
	return 0, false
}

// capture takes the chain of fours that ends at place last, and the last four on the board (H6, H8, H10).
func (h *hoyito2) capture(board *ring, last uint) (took int) {
	for board.at(last) == casa && (h.ownToo || last >= h.pits) {
		board.clear(last)
		took += casa
		last = uint(h.back[last%24])
	}
	if board.sum() == casa {
		took += casa
		*board = ring{}
	}
	return took
}

// ring lays the rows of s one behind the other.
func (h *hoyito2) ring(s *State) ring {
	own, opp := &s.side[0], &s.side[1]
	if h.pits == 6 {
		return ring{own[0] | opp[0]<<48, opp[0] >> 16}
	}
	return ring{own[0], own[1] | opp[0]<<32, opp[0]>>32 | opp[1]<<32}
}

// unring puts the ring back into the rows of s.
func (h *hoyito2) unring(s *State, r *ring) {
	if h.pits == 6 {
		s.side = [2]side{{r[0] & (1<<48 - 1)}, {r[0]>>48 | r[1]<<16}}
		return
	}
	s.side = [2]side{{r[0], r[1] & (1<<32 - 1)}, {r[1]>>32 | r[2]<<32, r[2] >> 32}}
}

func (h *hoyito2) Settle(s State) State {
	if !s.Over() && h.Legal(s) == 0 {
		s.byStores(Cleared)
	}
	return s
}

func (h *hoyito2) Points(s State) [2]int { return onePoint(&s) }
