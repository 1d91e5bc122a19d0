package env_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// positions calls draw with positions of random games, each with the ply that led to it.
func positions(t *testing.T, draw func(r mancala.Rules, s mancala.State, last *env.Ply)) {
	for _, spec := range append(mancala.Variants(), "urim:pits=7", "hoyito2:pits=12", "omweso:setup=arrange") {
		r := parse(t, spec)
		rng := rand.New(rand.NewPCG(1, 2))
		for range 3 {
			s := r.Start()
			draw(r, s, nil)
			for legal := r.Legal(s); legal != 0; legal = r.Legal(s) {
				last := &env.Ply{State: s, Action: legal.Nth(rng.IntN(legal.Len()))}
				s = r.Next(s, last.Action)
				draw(r, s, last)
			}
		}
	}
}

func TestTextIsABoxOfEvenWidth(t *testing.T) {
	positions(t, func(r mancala.Rules, s mancala.State, last *env.Ply) {
		text := env.Text(r, s, last)
		if text != env.Text(r, s, last) || !strings.HasSuffix(text, "\n") {
			t.Fatalf("not the same twice, or no newline at the end:\n%s", text)
		}
		width := 0
		for line := range strings.Lines(text) {
			i := strings.LastIndexAny(line, "┐│┤╡┘")
			if i < 0 {
				continue
			}
			n := utf8.RuneCountInString(line[:i])
			if width == 0 {
				width = n
			}
			if n != width {
				t.Fatalf("the board's lines differ in width:\n%s", text)
			}
		}
	})
}

func TestTextShowsTheFourRowsAsSouthSeesThem(t *testing.T) {
	s := state(t, "omweso", "0,1,2,3,4,5,0,0,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,7,8,0,0,0,0,0,0,2 - N sn 3 9")
	want := `omweso  ply 9, quiet 3 of 100

        ┌──7─┬──6─┬──5─┬──4─┬──3─┬──2─┬──1─┬──0─┐
> North │  7 │  · │  · │  · │  · │  · │  · │  · │
        ├──8─┼──9─┼─10─┼─11─┼─12─┼─13─┼─14─┼─15─┤
        │  8 │  · │  · │  · │  · │  · │  · │  2 │
        ╞════╪════╪════╪════╪════╪════╪════╪════╡
        │  · │  · │  · │  · │  · │  · │  · │  · │
        ├─15─┼─14─┼─13─┼─12─┼─11─┼─10─┼──9─┼──8─┤
  South │  · │  1 │  2 │  3 │  4 │  5 │  · │  · │
        └──0─┴──1─┴──2─┴──3─┴──4─┴──5─┴──6─┴──7─┘

North to move: 7, 8, 15
`
	if got := env.Text(parse(t, "omweso"), s, nil); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestWordsOfActions(t *testing.T) {
	omweso := "4,4,4,4,4,4,4,4,0,0,0,0,0,0,0,0/4,4,4,4,4,4,4,4,0,0,0,0,0,0,0,0 - S - 0 0"
	for _, c := range []struct {
		spec, text string
		action     mancala.Action
		want       string
	}{
		{"urim", "3,3,3,3,3,3/3,3,3,3,3,3 0-0 S 0 0", 4, "sow pit 4"},
		{"hoyito2", "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S 0 0", 6, "pass"},
		{"omweso", omweso, 11, "sow pit 11"},
		{"omweso", omweso, 16, "reverse from pit 0"},
		{"omweso", omweso, 18, "reverse from pit 14"},
		{"omweso", omweso, 20, "three seeds from pit 0"},
		{"omweso", omweso, 35, "three seeds from pit 15"},
		{"omweso", omweso, 36, "go on forward"},
		{"omweso", omweso, 37, "turn to reverse"},
		{"omweso", omweso, 255, "action 255"},
		{"modiar", "7,7,7/7,7,7 0-0 S 0 0", 9, "action 9"},
		{"omweso:setup=arrange", "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 a32@0 S - 0 0", 5, "put 5 into pit 0"},
	} {
		if got := env.Words(parse(t, c.spec), state(t, c.spec, c.text), c.action); got != c.want {
			t.Errorf("%s action %d: %q, want %q", c.spec, c.action, got, c.want)
		}
	}
}

func TestSVGIsValidXMLWithASeedForASeed(t *testing.T) {
	positions(t, func(r mancala.Rules, s mancala.State, last *env.Ply) {
		svg := env.SVG(r, s, last)
		if svg != env.SVG(r, s, last) {
			t.Fatal("not the same twice")
		}
		seeds, pits := 0, 0
		d := xml.NewDecoder(strings.NewReader(svg))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v\n%s", err, svg)
			}
			if e, ok := token.(xml.StartElement); ok {
				for _, a := range e.Attr {
					if a.Name.Local == "class" && a.Value == "seed" {
						seeds++
					}
					if a.Name.Local == "class" && a.Value == "pit" && e.Name.Local == "circle" {
						pits++
					}
				}
			}
		}
		want := s.OnBoard(mancala.South) + s.OnBoard(mancala.North) + s.Store(mancala.South) + s.Store(mancala.North)
		if seeds != want || pits != 2*r.Info().Pits {
			t.Fatalf("%d seeds in %d pits, want %d in %d: %s", seeds, pits, want, 2*r.Info().Pits, mancala.FormatState(r, s))
		}
	})
}

// named is a variant under another name.
type named struct {
	mancala.Rules
	name string
}

func (n named) Info() mancala.Info {
	info := n.Rules.Info()
	info.Spec = n.name
	return info
}

func TestSVGEscapesTheSpec(t *testing.T) {
	r := named{parse(t, "urim"), `<b>&"`}
	svg := env.SVG(r, r.Start(), nil)
	if strings.Contains(svg, "<b>") || !strings.Contains(svg, "&lt;b&gt;&amp;&#34;") {
		t.Error("the spec is not escaped")
	}
}

func TestNonsenseCanBeDrawn(t *testing.T) {
	p := mancala.Position{Quiet: 1 << 31, Ply: 1 << 31, Store: [2]uint8{255, 255}, History: 255, Mover: 1}
	p.Hand = mancala.Hand{Seeds: 255, Pit: 255, Laps: 65535, Flags: 7}
	for i := range p.Pits[0] {
		p.Pits[0][i], p.Pits[1][i] = 127, 100
	}
	q := p
	q.Reason, q.Winner = 31, 2
	for _, spec := range mancala.Variants() {
		r := parse(t, spec)
		for _, s := range []mancala.State{p.State(), q.State(), {}} {
			for _, a := range []mancala.Action{0, 36, 255} {
				text, svg := env.Text(r, s, &env.Ply{State: s, Action: a}), env.SVG(r, s, &env.Ply{State: s, Action: a})
				if text == "" || xml.Unmarshal([]byte(svg), new(struct{})) != nil {
					t.Errorf("%s: %v", spec, s.Position())
				}
			}
		}
	}
}

func ExampleText() {
	r, _ := mancala.Parse("urim")
	start := r.Start()
	s := r.Next(start, 2)
	fmt.Print(env.Text(r, s, &env.Ply{State: start, Action: 2}))
	// Output:
	// urim  ply 1, quiet 1 of 100
	//
	//         ┌──5─┬──4─┬──3─┬──2─┬──1─┬──0─┐
	// > North │  3 │  3 │  3 │  3 │  3 │  3 │ store 0
	//         ├────┼────┼────┼────┼────┼────┤
	//   South │  3 │  3 │[ ·]│  4 │  4 │  4 │ store 0
	//         └──0─┴──1─┴──2─┴──3─┴──4─┴──5─┘
	//
	// South: sow pit 2
	// North to move: 0, 1, 2, 3, 4, 5
}

func ExampleSVG() {
	r, _ := mancala.Parse("modiar")
	svg := env.SVG(r, r.Start(), nil)
	first, _, _ := strings.Cut(svg, "\n")
	fmt.Println(first)
	fmt.Println(strings.Count(svg, `class="seed"`), "seeds")
	// Output:
	// <svg xmlns="http://www.w3.org/2000/svg" class="mg" role="img" viewBox="0 0 548 342" width="548" height="342">
	// 42 seeds
}

func ExampleWords() {
	r, _ := mancala.Parse("omweso")
	s := r.Start()
	fmt.Println(env.Words(r, s, 3))
	fmt.Println(env.Words(r, s, 18))
	// Output:
	// sow pit 3
	// reverse from pit 14
}
