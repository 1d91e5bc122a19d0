package mancala

import (
	"fmt"
	"strconv"
	"strings"
)

// Position texts hold everything the rules look at, in one line:
//
//	3,3,3,3,3,3/3,3,3,3,3,3 0-0 S 0 0                                       two rows: rows, stores, mover, quiet, ply
//	4,4,…,0/4,4,…,0 - S - 0 0                                               four rows: pits, hand, mover, history, quiet, ply
//	… #nomoves:S                                                            a game that is over: reason and winner
//
// Parsing and printing are inverse to each other.

const (
	historyLetters = "snyz"
	playerLetters  = "SN="
)

// FormatState returns the position text of s.
func FormatState(r Rules, s State) string { return string(AppendState(nil, r, s)) }

// AppendState appends the position text of s to dst.
func AppendState(dst []byte, r Rules, s State) []byte {
	info := r.Info()
	for _, p := range []Player{South, North} {
		if p == North {
			dst = append(dst, '/')
		}
		for i := range info.Pits {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = strconv.AppendInt(dst, int64(s.Pit(p, i)), 10)
		}
	}
	dst = append(dst, ' ')
	if info.Stores {
		dst = strconv.AppendInt(dst, int64(s.Store(South)), 10)
		dst = append(dst, '-')
		dst = strconv.AppendInt(dst, int64(s.Store(North)), 10)
	} else {
		dst = appendHand(dst, s.Hand())
	}
	dst = append(dst, ' ', playerLetters[s.Mover()], ' ')
	if !info.Stores {
		dst = appendHistory(dst, s.History())
		dst = append(dst, ' ')
	}
	dst = strconv.AppendUint(dst, uint64(s.quiet), 10)
	dst = append(dst, ' ')
	dst = strconv.AppendUint(dst, uint64(s.ply), 10)
	if s.Over() {
		dst = append(dst, " #"...)
		dst = append(dst, s.Reason().String()...)
		dst = append(dst, ':', playerLetters[min(s.Winner(), Nobody)])
	}
	return dst
}

func appendHand(dst []byte, h Hand) []byte {
	if h == (Hand{}) {
		return append(dst, '-')
	}
	if h.Flags&HandArranging != 0 {
		dst = append(dst, 'a')
	}
	dst = strconv.AppendUint(dst, uint64(h.Seeds), 10)
	dst = append(dst, '@')
	dst = strconv.AppendUint(dst, uint64(h.Pit), 10)
	if h.Flags&HandArranging != 0 {
		return dst
	}
	dst = append(dst, '+')
	dst = strconv.AppendUint(dst, uint64(h.Laps), 10)
	for i, letter := range []byte("cLR") {
		if h.Flags>>i&1 != 0 {
			dst = append(dst, letter)
		}
	}
	return dst
}

func appendHistory(dst []byte, h History) []byte {
	if h == 0 {
		return append(dst, '-')
	}
	for i := range len(historyLetters) {
		if h>>i&1 != 0 {
			dst = append(dst, historyLetters[i])
		}
	}
	return dst
}

// ParseState reads a position text of the variant. Study positions pass: the seeds may be fewer than the
// variant has, never more. Parsing does not end a game that has no legal action; Settle does. Rules that have a method
// CheckPosition(Position) error are asked for what only they can know.
func ParseState(r Rules, text string) (State, error) {
	p, err := parsePosition(r.Info(), text)
	if err == nil {
		if c, ok := r.(interface{ CheckPosition(Position) error }); ok {
			err = c.CheckPosition(p)
		}
	}
	if err != nil {
		return State{}, fmt.Errorf("mancala: %s: position %q: %w", r.Info().Spec, clip(text), err)
	}
	return p.State(), nil
}

// clip keeps error messages to one short line whatever the input.
func clip(text string) string {
	if len(text) > 160 {
		return text[:160] + "…"
	}
	return text
}

func parsePosition(info Info, text string) (p Position, err error) {
	form := []string{"pits", "stores", "mover", "quiet", "ply"}
	if !info.Stores {
		form = []string{"pits", "hand", "mover", "history", "quiet", "ply"}
	}
	fields := strings.Split(text, " ")
	if len(fields) != len(form) && len(fields) != len(form)+1 {
		return p, fmt.Errorf("%d fields: want %s, and #reason:winner if it is over, one space between them", len(fields), strings.Join(form, ", "))
	}
	for i, field := range fields {
		name := "end"
		if i < len(form) {
			name = form[i]
		}
		if err := p.parseField(info, name, field); err != nil {
			return p, fmt.Errorf("%s %q: %w", name, clip(field), err)
		}
	}
	if n := p.seeds(); n > info.Seeds {
		return p, fmt.Errorf("%d seeds: want at most %d", n, info.Seeds)
	}
	return p, nil
}

// seeds counts the board, the stores and the hand.
func (p *Position) seeds() int {
	n := int(p.Store[South]) + int(p.Store[North]) + int(p.Hand.Seeds)
	for _, row := range p.Pits {
		for _, seeds := range row {
			n += int(seeds)
		}
	}
	return n
}

func (p *Position) parseField(info Info, name, field string) error {
	switch name {
	case "pits":
		south, north, ok := strings.Cut(field, "/")
		if !ok {
			return fmt.Errorf("want South's and North's with a / between them")
		}
		for player, row := range []string{south, north} {
			pits := strings.Split(row, ",")
			if len(pits) != info.Pits {
				return fmt.Errorf("%s has %d: want %d", Player(player), len(pits), info.Pits)
			}
			for i, pit := range pits {
				n, err := natural(pit, uint64(info.Seeds))
				if err != nil {
					return fmt.Errorf("%s's pit %d is %q: want 0–%d", Player(player), i, clip(pit), info.Seeds)
				}
				p.Pits[player][i] = uint8(n)
			}
		}
	case "stores":
		south, north, _ := strings.Cut(field, "-")
		for player, store := range []string{south, north} {
			n, err := natural(store, uint64(info.Seeds))
			if err != nil {
				return fmt.Errorf("want South-North, each 0–%d", info.Seeds)
			}
			p.Store[player] = uint8(n)
		}
	case "hand":
		return p.Hand.parse(field)
	case "mover":
		switch field {
		case "S":
			p.Mover = South
		case "N":
			p.Mover = North
		default:
			return fmt.Errorf("want S or N")
		}
	case "history":
		for i := range len(historyLetters) {
			if strings.IndexByte(field, historyLetters[i]) >= 0 {
				p.History |= 1 << i
			}
		}
		if string(appendHistory(nil, p.History)) != field {
			return fmt.Errorf("want letters of %s in this order, or -", historyLetters)
		}
	case "quiet", "ply":
		n, err := natural(field, maxCount)
		if err != nil {
			return fmt.Errorf("want 0–%d", uint32(maxCount))
		}
		if name == "quiet" {
			p.Quiet = uint32(n)
		} else {
			p.Ply = uint32(n)
		}
	case "end":
		return p.parseEnd(info, field)
	}
	return nil
}

func (h *Hand) parse(field string) error {
	form := fmt.Errorf("want -, seeds@pit+laps with c, L, R after it, or a then seeds@pit")
	if field == "-" {
		return nil
	}
	rest, arranging := strings.CutPrefix(field, "a")
	seeds, rest, ok := strings.Cut(rest, "@")
	n, err := natural(seeds, 255)
	if !ok || err != nil {
		return form
	}
	h.Seeds = uint8(n)
	if arranging {
		h.Flags = HandArranging
	} else {
		var sown string
		rest, sown, _ = strings.Cut(rest, "+")
		laps := strings.TrimRight(sown, "cLR")
		for i, letter := range "cLR" {
			if strings.ContainsRune(sown[len(laps):], letter) {
				h.Flags |= 1 << i
			}
		}
		n, err := natural(laps, 65535)
		if err != nil {
			return form
		}
		h.Laps = uint16(n)
	}
	n, err = natural(rest, MaxPits-1)
	if err != nil {
		return form
	}
	h.Pit = uint8(n)
	if string(appendHand(nil, *h)) != field {
		return form
	}
	return nil
}

func (p *Position) parseEnd(info Info, field string) error {
	why, winner, _ := strings.Cut(strings.TrimPrefix(field, "#"), ":")
	var allowed []string
	for _, r := range info.Reasons {
		allowed = append(allowed, r.String())
		if r.String() == why {
			p.Reason = r
		}
	}
	p.Winner = Player(strings.Index(playerLetters, winner))
	if !strings.HasPrefix(field, "#") || p.Reason == NotOver || len(winner) != 1 || p.Winner > Nobody {
		return fmt.Errorf("want #reason:winner with a reason of %s and a winner S, N or =", strings.Join(allowed, ", "))
	}
	drawn := p.Reason == Endless || p.Reason == Cycle && !info.Stores
	decided := !drawn && !info.Stores
	if drawn && p.Winner != Nobody || decided && p.Winner == Nobody {
		return fmt.Errorf("%s has the winner %s: want %s", p.Reason, winner, map[bool]string{true: "=", false: "S or N"}[drawn])
	}
	return nil
}
