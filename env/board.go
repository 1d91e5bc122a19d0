package env

import (
	"fmt"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// spot is a pit on the drawn board.
type spot struct {
	player mancala.Player
	pit    int
}

// board lists the pits as South sees them across the board, row by row from the top, each from left to right:
// North's rows first, and so from North's right to left.
func board(info mancala.Info) [][]spot {
	row := func(p mancala.Player, first, step, n int) []spot {
		spots := make([]spot, n)
		for i := range spots {
			spots[i] = spot{p, first + i*step}
		}
		return spots
	}
	n := info.Pits
	if info.Rows != 4 {
		return [][]spot{row(mancala.North, n-1, -1, n), row(mancala.South, 0, 1, n)}
	}
	h := n / 2
	return [][]spot{
		row(mancala.North, h-1, -1, h),
		row(mancala.North, h, 1, h),
		row(mancala.South, 2*h-1, -1, h),
		row(mancala.South, 0, 1, h),
	}
}

// origin returns the pit an action of s takes its seeds from or, while arranging, puts them into; −1 if none.
func origin(info mancala.Info, s *mancala.State, a mancala.Action) int {
	n, hand := int(a), s.Hand()
	switch {
	case hand.Flags&mancala.HandArranging != 0:
		return int(hand.Pit)
	case n < info.Pits:
		return n
	case info.Rows != 4 || info.Pits != 16 || n > 37:
		return -1
	case n < 20:
		return [4]int{0, 1, 14, 15}[n-16]
	case n < 36:
		return n - 20
	}
	return int(hand.Pit)
}

// Words says in a few words what an action of s does: "sow pit 3", "pass", "reverse from pit 14".
func Words(r mancala.Rules, s mancala.State, a mancala.Action) string {
	info := r.Info()
	pit, n := origin(info, &s, a), int(a)
	switch {
	case s.Hand().Flags&mancala.HandArranging != 0:
		return fmt.Sprintf("put %d into pit %d", n, pit)
	case n < info.Pits:
		return fmt.Sprintf("sow pit %d", pit)
	case pit < 0 && info.Rows == 2 && n == info.Pits:
		return "pass"
	case pit < 0:
		return fmt.Sprintf("action %d", n)
	case n < 20:
		return fmt.Sprintf("reverse from pit %d", pit)
	case n < 36:
		return fmt.Sprintf("three seeds from pit %d", pit)
	case n == 36:
		return "go on forward"
	}
	return "turn to reverse"
}

// verdict says how a game that is over went: "South wins by nomoves, 2 points", "draw by cycle".
func verdict(r mancala.Rules, s *mancala.State) string {
	w := s.Winner()
	if w == mancala.Nobody {
		return "draw by " + s.Reason().String()
	}
	points := "points"
	n := r.Points(*s)[w]
	if n == 1 {
		points = "point"
	}
	return fmt.Sprintf("%v wins by %v, %d %s", w, s.Reason(), n, points)
}

// holding says what the mover has in hand, "" if nothing: "5 in hand from pit 3, 2 laps sown".
func holding(s *mancala.State) string {
	h := s.Hand()
	switch {
	case h == mancala.Hand{}:
		return ""
	case h.Flags&mancala.HandArranging != 0:
		return fmt.Sprintf("%d to place, next into pit %d", h.Seeds, h.Pit)
	}
	laps := "laps"
	if h.Laps == 1 {
		laps = "lap"
	}
	return fmt.Sprintf("%d in hand from pit %d, %d %s sown", h.Seeds, h.Pit, h.Laps, laps)
}
