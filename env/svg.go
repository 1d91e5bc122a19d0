package env

import (
	"fmt"
	"html"
	"math"
	"strings"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Measures of the drawing, in user units.
const (
	cellWide = 84
	cellHigh = 104
	pitSize  = 35 // radius
	storeGap = 104
	edge     = 22 // between the board's rim and its pits
	headHigh = 44 // the line of text over the board
	footHigh = 58 // and the one under it
)

const svgStyle = `<style>
.mg{font-family:"Source Sans 3","Segoe UI","Helvetica Neue",Arial,sans-serif}
.mg .page{fill:#f7f1e5}.mg .wood{fill:url(#mg-wood);stroke:#4a2c16;stroke-width:2}
.mg .seam{stroke:#4a2c16;stroke-width:3;opacity:.55}.mg .pit{fill:url(#mg-pit);stroke:#3c2312;stroke-width:1.5}
.mg .legal{fill:none;stroke:#ffe3a3;stroke-width:2.5}.mg .last{fill:none;stroke:#ff9d3b;stroke-width:3.5;stroke-dasharray:7 5}
.mg .ref{fill:none;stroke:#9fe0c0;stroke-width:3.5}.mg .seed{fill:url(#mg-seed);stroke:#3f463c;stroke-width:.8}
.mg .count{font-size:19px;font-weight:700;fill:#fff6e0;text-anchor:middle}.mg .none{opacity:.4}
.mg .number{font-size:12px;fill:#ffe9c4;opacity:.8;text-anchor:middle}
.mg .who{font-size:15px;font-weight:600;fill:#ffe9c4;text-anchor:middle}
.mg .head{font-size:18px;font-weight:600;fill:#3c2312}.mg .side{font-size:15px;fill:#6b4a2c;text-anchor:end}.mg .foot{font-size:15px;fill:#6b4a2c}.mg .spec{font-size:13px;fill:#8a6a4a}
</style>
<defs>
<linearGradient id="mg-wood" x1="0" y1="0" x2="0" y2="1"><stop offset="0" stop-color="#a9713f"/><stop offset=".5" stop-color="#935c30"/><stop offset="1" stop-color="#7c4a25"/></linearGradient>
<radialGradient id="mg-pit" cx=".5" cy=".38" r=".68"><stop offset="0" stop-color="#4a2b15"/><stop offset=".75" stop-color="#5f3a1e"/><stop offset="1" stop-color="#7a4d2a"/></radialGradient>
<radialGradient id="mg-seed" cx=".36" cy=".32" r=".75"><stop offset="0" stop-color="#f3f4ea"/><stop offset=".45" stop-color="#b9c2ab"/><stop offset="1" stop-color="#76806c"/></radialGradient>
</defs>
`

// SVG draws a position of r for a page, as a whole SVG document: the board as in Text, North's store to the
// left and South's to the right. Pits the mover may sow have a light ring, the pit of the last ply a dashed
// one, the reference pit of a hand a green one. last is the ply that led to s, nil for none. The same arguments
// give the same bytes.
func SVG(r mancala.Rules, s mancala.State, last *Ply) string {
	info := r.Info()
	rows := board(info)
	left := edge
	if info.Stores {
		left += storeGap
	}
	boardWide := 2*left + cellWide*len(rows[0])
	boardHigh := 2*edge + cellHigh*len(rows) - 12
	wide, high := boardWide+2*edge, boardHigh+headHigh+footHigh

	d := drawing{}
	d.put(`<svg xmlns="http://www.w3.org/2000/svg" class="mg" role="img" viewBox="0 0 %d %d" width="%d" height="%d">`, wide, high, wide, high)
	title := headline(r, &s)
	d.put("\n<title>%s</title>\n%s", html.EscapeString(info.Spec+": "+title), svgStyle)
	d.put(`<rect class="page" width="%d" height="%d" rx="14"/>`+"\n", wide, high)
	d.put(`<text class="head" x="%d" y="29">%s</text>`, edge, html.EscapeString(title))
	d.put(`<text class="side" x="%d" y="29">%s</text>`+"\n", wide-edge, html.EscapeString(fmt.Sprintf("ply %d · quiet %d of %d", s.Ply(), s.Quiet(), info.Quiet)))
	d.put(`<rect class="wood" x="%d" y="%d" width="%d" height="%d" rx="34"/>`+"\n", edge, headHigh, boardWide, boardHigh)
	middle := headHigh + boardHigh/2
	d.put(`<path class="seam" d="M%d %dH%d"/>`+"\n", edge+left, middle, edge+left+cellWide*len(rows[0]))
	if info.Stores {
		d.store(mancala.North, s.Store(mancala.North), edge+left/2+4, middle, boardHigh)
		d.store(mancala.South, s.Store(mancala.South), edge+boardWide-left/2-4, middle, boardHigh)
	}

	rings := rings(r, &s, last)
	for i, row := range rows {
		// Each player's writing is on the player's side of the pit.
		y := headHigh + edge - 6 + cellHigh*i + cellHigh - pitSize - 8
		text := y - pitSize - 9
		if row[0].player == mancala.South {
			y = headHigh + edge - 6 + cellHigh*i + pitSize + 8
			text = y + pitSize + 22
		}
		for j, p := range row {
			x := edge + left + cellWide*j + cellWide/2
			d.pit(x, y, s.Pit(p.player, p.pit))
			for _, class := range rings[p] {
				d.put(`<circle class="%s" cx="%d" cy="%d" r="%d"/>`, class, x, y, pitSize+2)
			}
			d.count(x, text, s.Pit(p.player, p.pit))
			d.put(`<text class="number" x="%d" y="%d">%d</text>`+"\n", x-cellWide/2+15, text-1, p.pit)
		}
	}
	d.put(`<text class="spec" x="%d" y="%d">%s</text>`, edge, high-14, html.EscapeString(info.Spec))
	d.put(`<text class="foot" x="%d" y="%d">%s</text>`+"\n</svg>\n", edge, high-35, html.EscapeString(footline(r, &s, last)))
	return d.String()
}

func headline(r mancala.Rules, s *mancala.State) string {
	if s.Over() {
		v := verdict(r, s)
		return strings.ToUpper(v[:1]) + v[1:]
	}
	return s.Mover().String() + " to move"
}

func footline(r mancala.Rules, s *mancala.State, last *Ply) string {
	var parts []string
	if last != nil {
		parts = append(parts, fmt.Sprintf("%v: %s", last.State.Mover(), Words(r, last.State, last.Action)))
	}
	if h := holding(s); h != "" {
		parts = append(parts, fmt.Sprintf("%v has %s", s.Mover(), h))
	}
	return strings.Join(parts, " · ")
}

// rings lists the classes of the rings round each pit that has any.
func rings(r mancala.Rules, s *mancala.State, last *Ply) map[spot][]string {
	info := r.Info()
	m := map[spot][]string{}
	if hand := s.Hand(); hand != (mancala.Hand{}) {
		p := spot{s.Mover(), int(hand.Pit)}
		m[p] = append(m[p], "ref")
	} else {
		for a := range r.Legal(*s).All {
			p := spot{s.Mover(), origin(info, s, a)}
			if m[p] == nil {
				m[p] = []string{"legal"}
			}
		}
	}
	if last != nil {
		p := spot{last.State.Mover(), origin(info, &last.State, last.Action)}
		m[p] = append(m[p], "last")
	}
	return m
}

type drawing struct{ strings.Builder }

func (d *drawing) put(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *drawing) count(x, y, n int) {
	class := "count"
	if n == 0 {
		class = "count none"
	}
	d.put(`<text class="%s" x="%d" y="%d">%d</text>`, class, x, y, n)
}

func (d *drawing) pit(x, y, seeds int) {
	d.put(`<circle class="pit" cx="%d" cy="%d" r="%d"/>`, x, y, pitSize)
	d.seeds(x, y, pitSize, pitSize, seeds)
}

func (d *drawing) store(p mancala.Player, seeds, x, middle, boardHigh int) {
	half := boardHigh/2 - 44
	d.put(`<rect class="pit" x="%d" y="%d" width="72" height="%d" rx="36"/>`, x-36, middle-half, 2*half)
	d.seeds(x, middle, 36, half, seeds)
	name, number := middle-half-12, middle+half+25
	d.put(`<text class="who" x="%d" y="%d">%v</text>`, x, name, p)
	d.count(x, number, seeds)
	d.put("\n")
}

// seeds lays n seeds in an oval of the given half axes: on a spiral that turns by the golden angle from one to
// the next, which fills it evenly for any n.
func (d *drawing) seeds(x, y, across, down, n int) {
	const golden = 2.399963229728653 // π(3 − √5)
	size := min(7.5, 0.80*math.Sqrt(float64((across-6)*(down-6))/float64(max(n, 1))))
	for i := range n {
		far := math.Sqrt((float64(i) + 0.5) / float64(n))
		if n == 1 {
			far = 0
		}
		near := min(1, 0.38*math.Sqrt(float64(n))) // few seeds huddle together
		sin, cos := math.Sincos(float64(i) * golden)
		px := float64(x) + far*near*cos*(float64(across)-size-3)
		py := float64(y) + far*near*sin*(float64(down)-size-3)
		d.put(`<circle class="seed" cx="%.1f" cy="%.1f" r="%.1f"/>`, px, py, size)
	}
}
