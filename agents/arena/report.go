package arena

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Text writes the report for a terminal: the standings, the cross table, in which the agents go by their ranks, and
// a line for every match.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d games a pairing, seed %d, %s", r.Variant, r.Games, r.Seed, r.openings())
	if r.MaxPlies > 0 {
		fmt.Fprintf(&b, ", at most %d plies", r.MaxPlies)
	}
	b.WriteByte('\n')
	if r.Stopped {
		b.WriteString("Stopped before the end: this is what had been played.\n")
	}
	zero := "the mean of all is 0"
	if r.Anchor != "" {
		zero = r.Anchor + " is 0"
	}
	fmt.Fprintf(&b, "\nRatings (%s) and scores, with 95 %% intervals over pairs of games\n\n", zero)

	rank := map[string]int{}
	t := table{{"rank", "<agent", "Elo", "±", "score %", "95 %", "games", "W", "D", "L"}}
	for _, s := range r.Standings {
		rank[s.Agent] = s.Rank
		t = append(t, []string{
			strconv.Itoa(s.Rank), s.Agent, fmt.Sprintf("%+.0f", math.Round(s.Elo)+0), fmt.Sprintf("%.0f", s.EloError),
			percent(s.Score.Value), s.Score.interval(), strconv.Itoa(s.Games),
			strconv.Itoa(s.Wins), strconv.Itoa(s.Draws), strconv.Itoa(s.Losses),
		})
	}
	t.write(&b)

	b.WriteString("\nCross table: score % of the row against the column, agents by rank\n\n")
	t = make(table, len(r.Standings)+1)
	for i := range t {
		t[i] = make([]string, len(t))
		if i > 0 {
			t[0][i], t[i][0], t[i][i] = strconv.Itoa(i), strconv.Itoa(i), "·"
		}
	}
	for _, m := range r.Matches {
		if m.Games > 0 {
			i, j := rank[m.Agents[0]], rank[m.Agents[1]]
			t[i][j], t[j][i] = m.cell(), m.swapped().cell()
		}
	}
	t.write(&b)

	b.WriteString("\nMatches, agents by rank; score, W, D and L are those of the first\n\n")
	t = table{{"match", "score %", "95 %", "W", "D", "L", "games", "distinct", "openings", "annulled", "truncated", "pairs left out"}}
	for _, m := range r.Matches {
		if rank[m.Agents[0]] > rank[m.Agents[1]] {
			m = m.swapped()
		}
		t = append(t, []string{
			fmt.Sprintf("%d–%d", rank[m.Agents[0]], rank[m.Agents[1]]), percent(m.Score.Value), m.Score.interval(),
			strconv.Itoa(m.Wins), strconv.Itoa(m.Draws), strconv.Itoa(m.Losses),
			strconv.Itoa(m.Games + 2*m.LeftOut), strconv.Itoa(m.DistinctGames), strconv.Itoa(m.DistinctOpenings),
			strconv.Itoa(m.Annulled), strconv.Itoa(m.Truncated), strconv.Itoa(m.LeftOut),
		})
	}
	t.write(&b)
	judged := 0
	for _, m := range r.Matches {
		judged += m.Adjudicated
	}
	if judged > 0 {
		fmt.Fprintf(&b, "\nAdjudicated as best play would end them: %d games\n", judged)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) openings() string {
	switch lo, hi := r.OpeningPlies[0], r.OpeningPlies[1]; {
	case hi == 0:
		return "no random opening plies"
	case lo == hi:
		return fmt.Sprintf("openings of %d random plies", hi)
	default:
		return fmt.Sprintf("openings of %d to %d random plies", lo, hi)
	}
}

// cell gives the score with half the width of its interval.
func (m Match) cell() string {
	return percent(m.Score.Value) + " ±" + percent((m.Score.High-m.Score.Low)/2)
}

func (e Estimate) interval() string { return percent(e.Low) + "–" + percent(e.High) }

func percent(x float64) string { return strconv.FormatFloat(100*x, 'f', 1, 64) }

// table is rows of cells, the head first; columns are two spaces apart. A head that starts with < has its
// column to the left, all others are to the right.
type table [][]string

func (t table) write(b *strings.Builder) {
	left := make([]bool, len(t[0]))
	width := make([]int, len(t[0]))
	for c, head := range t[0] {
		t[0][c], left[c] = strings.CutPrefix(head, "<")
		for _, row := range t {
			width[c] = max(width[c], utf8.RuneCountInString(row[c]))
		}
	}
	for _, row := range t {
		line := ""
		for c, cell := range row {
			pad := strings.Repeat(" ", width[c]-utf8.RuneCountInString(cell))
			if left[c] {
				line += "  " + cell + pad
			} else {
				line += "  " + pad + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
