package env

import (
	"fmt"
	"strings"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Text draws a position of r for a terminal: North on top and from right to left, as the players see the board.
// Pits carry their numbers, which are the actions that sow them, on the outward rim; a dot is an empty pit. An
// arrow points at the mover's rows; brackets mark the pit of the last ply, round ones the reference pit of a
// hand. last is the ply that led to s, nil for none. The text ends with a newline.
func Text(r mancala.Rules, s mancala.State, last *Ply) string {
	info := r.Info()
	rows := board(info)
	marks := map[spot]string{}
	if h := s.Hand(); h != (mancala.Hand{}) {
		marks[spot{s.Mover(), int(h.Pit)}] = "()"
	}
	if last != nil {
		marks[spot{last.State.Mover(), origin(info, &last.State, last.Action)}] = "[]"
	}

	var b strings.Builder
	fmt.Fprintf(&b, "%s  ply %d, quiet %d of %d\n\n", info.Spec, s.Ply(), s.Quiet(), info.Quiet)
	rim(&b, "┌┬┐", len(rows[0]), rows[0])
	for i, row := range rows {
		player := row[0].player
		outer := i == 0 || i == len(rows)-1
		b.WriteString(head(&s, player, outer))
		for _, p := range row {
			mark, ok := marks[p]
			if !ok {
				mark = "  "
			}
			n := "·"
			if k := s.Pit(p.player, p.pit); k > 0 {
				n = fmt.Sprint(k)
			}
			fmt.Fprintf(&b, "│%c%2s%c", mark[0], n, mark[1])
		}
		b.WriteString("│")
		if info.Stores {
			fmt.Fprintf(&b, " store %d", s.Store(player))
		}
		b.WriteByte('\n')
		switch {
		case i == len(rows)-1:
			rim(&b, "└┴┘", len(row), row)
		case i == len(rows)/2-1 && len(rows) == 4:
			fmt.Fprintf(&b, "%8s╞%s╡\n", "", strings.TrimSuffix(strings.Repeat("════╪", len(row)), "╪"))
		case i == len(rows)/2-1:
			rim(&b, "├┼┤", len(row), nil)
		case i == 0:
			rim(&b, "├┼┤", len(row), rows[1])
		default:
			rim(&b, "├┼┤", len(row), row)
		}
	}
	b.WriteByte('\n')
	if last != nil {
		fmt.Fprintf(&b, "%v: %s\n", last.State.Mover(), Words(r, last.State, last.Action))
	}
	if s.Over() {
		fmt.Fprintf(&b, "%s\n", verdict(r, &s))
		return b.String()
	}
	if h := holding(&s); h != "" {
		fmt.Fprintf(&b, "%v has %s\n", s.Mover(), h)
	}
	fmt.Fprintf(&b, "%v to move: %s\n", s.Mover(), choices(r, s))
	return b.String()
}

// head begins a line of pits: the player's name on the outer row, and an arrow if it is the mover.
func head(s *mancala.State, p mancala.Player, outer bool) string {
	name, arrow := "", " "
	if outer {
		name = p.String()
		if p == s.Mover() && !s.Over() {
			arrow = ">"
		}
	}
	return fmt.Sprintf("%s %-6s", arrow, name)
}

// rim draws a line over or under n pits, with their numbers in it if numbered is not nil.
func rim(b *strings.Builder, corners string, n int, numbered []spot) {
	c := []rune(corners)
	fmt.Fprintf(b, "%8s%c", "", c[0])
	for i := range n {
		if i > 0 {
			b.WriteRune(c[1])
		}
		number := ""
		if numbered != nil {
			number = fmt.Sprint(numbered[i].pit)
		}
		fmt.Fprintf(b, "%s%s─", strings.Repeat("─", 3-len(number)), number)
	}
	fmt.Fprintf(b, "%c\n", c[2])
}

// choices lists the legal actions, in words where the number is not that of a pit to sow.
func choices(r mancala.Rules, s mancala.State) string {
	legal := r.Legal(s)
	if legal == 0 {
		return "no legal action"
	}
	if s.Hand().Flags&mancala.HandArranging != 0 {
		return list(legal)
	}
	var words []string
	for a := range legal.All {
		if int(a) < r.Info().Pits {
			words = append(words, fmt.Sprint(a))
		} else {
			words = append(words, fmt.Sprintf("%d (%s)", a, Words(r, s, a)))
		}
	}
	return strings.Join(words, ", ")
}
