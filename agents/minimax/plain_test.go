package minimax

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// plain is minimax by its definition: no windows, no table, no order.
type plain struct {
	rules mancala.Rules
	leaf  func(s mancala.State) int // for South; nil is the static value
}

// value is for South.
func (p plain) value(s mancala.State, depth, ply int) int {
	info := p.rules.Info()
	if s.Over() {
		won := s.Returns()[mancala.South]
		if won == 0 {
			return 0
		}
		if info.Stores {
			return won*10000 + s.Store(mancala.South) - s.Store(mancala.North)
		}
		return won * (10000 - ply)
	}
	if depth == 0 {
		if p.leaf != nil {
			return p.leaf(s)
		}
		return staticForSouth(info, s)
	}
	best, sign := -20000, 1
	if s.Mover() == mancala.North {
		sign = -1
	}
	for a := range p.rules.Legal(s).All {
		best = max(best, sign*p.value(p.rules.Next(s, a), depth-1, ply+1))
	}
	return sign * best
}

func staticForSouth(info mancala.Info, s mancala.State) int {
	if info.Stores {
		return s.Store(mancala.South) - s.Store(mancala.North)
	}
	sum := 0
	for i := range info.Pits {
		for player, sign := range []int{1, -1} {
			n := s.Pit(mancala.Player(player), i)
			sum += sign * n
			if n >= 2 {
				sum += sign
			}
		}
	}
	hand := int(s.Hand().Seeds)
	if s.Mover() == mancala.North {
		hand = -hand
	}
	return sum + hand
}

// best returns the value for the mover and the lowest action that has it.
func (p plain) best(s mancala.State, depth int) (value int, action mancala.Action) {
	value = -20000
	for a := range p.rules.Legal(s).All {
		v := p.value(p.rules.Next(s, a), depth-1, 1)
		if s.Mover() == mancala.North {
			v = -v
		}
		if v > value {
			value, action = v, a
		}
	}
	return value, action
}

func rules(t testing.TB, spec string) mancala.Rules {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func state(t testing.TB, r mancala.Rules, text string) mancala.State {
	t.Helper()
	s, err := mancala.ParseState(r, text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func agent(t testing.TB, r mancala.Rules, c Config) *Agent {
	t.Helper()
	a, err := New(r, c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// to returns the configuration of a search of so many plies.
func to(depth int) Config {
	c := Default()
	c.Depth, c.TableMB = depth, 1
	return c
}

// positions returns n positions of random games that go on, as sample does, but not those in which the variant of r has no legal action.
func positions(t testing.TB, r mancala.Rules, n int, seed uint64) (list []mancala.State) {
	info := r.Info()
	options := ""
	if info.Arrange {
		options = ":setup=arrange"
	} else if info.Pits != rules(t, info.Family).Info().Pits {
		options = fmt.Sprintf(":pits=%d", info.Pits)
	}
	for _, s := range sample(rules(t, info.Family+options), n, info.Quiet, seed) {
		if r.Legal(s) != 0 {
			list = append(list, s)
		}
	}
	return list
}

// sample returns n positions of random games that go on: every third from the last plies of its game, and every second with a quiet
// count next to the limit. Where the limit is low, all have one below it.
func sample(r mancala.Rules, n, limit int, seed uint64) (list []mancala.State) {
	for game := uint64(0); len(list) < n; game++ {
		c := rand.New(rand.NewPCG(seed, game))
		var line []mancala.State
		for s := r.Start(); !s.Over() && len(line) < 600; {
			line = append(line, s)
			m := r.Legal(s)
			s = r.Next(s, m.Nth(c.IntN(m.Len())))
		}
		at := c.IntN(len(line))
		if game%3 == 0 {
			at = max(0, len(line)-1-c.IntN(6))
		}
		p := line[at].Position()
		if (game%2 == 0 || limit < 10) && p.Hand.Flags&mancala.HandArranging == 0 {
			p.Quiet = uint32(max(0, limit-1-c.IntN(5)))
		}
		list = append(list, p.State())
	}
	return list
}

// manySpecs are all families with the options that change what a search meets.
var manySpecs = []string{
	"urim", "urim:pits=7", "urim:cap=illegal,quiet=3", "urim:grandslam=allowed,cycle=owner,quiet=4",
	"modiar", "modiar:grandslam=forced", "modiar:grandslam=allowed,cycle=owner", "modiar:quiet=4", "modiar:quiet=2",
	"hoyito2", "hoyito2:pits=12", "hoyito2:side=opponent,quiet=4", "hoyito2:cycle=owner,laps=4",
	"omweso", "omweso:setup=all2,quiet=3", "omweso:akakyala=on,akawumbi=both,quiet=4", "omweso:laps=6,first-capture=allowed",
	"omweso:setup=arrange", "oware", "oware:quiet=4", "oware:cycle=owner,quiet=1",
}

// TestSearchIsPlainMinimax compares values and chosen actions at every depth from 1 to 5, as far as plain minimax gets in
// reasonable time.
func TestSearchIsPlainMinimax(t *testing.T) {
	for _, spec := range manySpecs {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			r := rules(t, spec)
			n := 1000
			if r.Info().Rows == 4 {
				n = 400
			}
			compare(t, r, positions(t, r, n, 1), nil)
		})
	}
}

// compare compares the answers about the positions, deep as long as plain minimax takes less than 20,000 positions or so.
func compare(t *testing.T, r mancala.Rules, list []mancala.State, change func(a *Agent)) {
	t.Helper()
	p := plain{rules: r}
	for depth := 1; depth <= 5; depth++ {
		a := agent(t, r, to(depth))
		if change != nil {
			change(a)
		}
		compared := 0
		for _, s := range list {
			if wide := r.Legal(s).Len(); wide*wide*wide > 2000 && depth > 3 || wide > 8 && depth > 4 && compared > 40 {
				continue
			}
			compared++
			got, err := a.Analyze(s)
			if err != nil {
				t.Fatal(err)
			}
			value, action := p.best(s, depth)
			if got.Value != value || got.Action != action || got.Depth != depth {
				t.Fatalf("depth %d: %s: value %d and action %d, depth %d; want %d and %d", depth, mancala.FormatState(r, s), got.Value, got.Action, got.Depth, value, action)
			}
			follows(t, r, s, got)
		}
		if compared < 20 {
			t.Fatalf("depth %d: %d positions compared", depth, compared)
		}
	}
}

// follows checks that the line is legal, begins with the action, has the depth or ends the game, and leads to the
// value.
func follows(t *testing.T, r mancala.Rules, s mancala.State, x Analysis) {
	t.Helper()
	root := s
	for _, a := range x.PV {
		if !r.Legal(s).Has(a) {
			t.Fatalf("%s: line %v: %d is not legal", mancala.FormatState(r, root), x.PV, a)
		}
		s = r.Next(s, a)
	}
	v := plain{rules: r}.value(s, 0, len(x.PV))
	if root.Mover() == mancala.North {
		v = -v
	}
	if len(x.PV) == 0 || x.PV[0] != x.Action || v != x.Value || len(x.PV) != x.Depth && !s.Over() {
		t.Fatalf("%s: line %v leads to %d after %d plies of %d; want %d", mancala.FormatState(r, root), x.PV, v, len(x.PV), x.Depth, x.Value)
	}
}

// TestDeepSearchIsPlainMinimax goes deeper where few actions or few seeds allow it, and there games come back to positions
// with other quiet counts.
func TestDeepSearchIsPlainMinimax(t *testing.T) {
	for _, c := range []struct {
		spec         string
		depth, seeds int // on the board at most
	}{
		{"modiar", 10, 42},
		{"modiar:quiet=6", 10, 42},
		{"modiar:grandslam=nocapture,cycle=owner,quiet=5", 10, 42},
		{"urim:quiet=5", 9, 5},
		{"oware:cycle=owner,quiet=6", 9, 5},
		{"oware", 9, 4},
		{"hoyito2", 9, 8},
		{"hoyito2:side=opponent,quiet=6", 8, 8},
		{"omweso:quiet=6", 4, 64},
	} {
		t.Run(c.spec, func(t *testing.T) {
			t.Parallel()
			r := rules(t, c.spec)
			p := plain{rules: r}
			a := agent(t, r, to(c.depth))
			compared := 0
			for _, s := range positions(t, r, 2000, 2) {
				if s.OnBoard(mancala.South)+s.OnBoard(mancala.North) > c.seeds || r.Legal(s).Len() > 5 {
					continue
				}
				got, err := a.Analyze(s)
				if err != nil {
					t.Fatal(err)
				}
				if value, action := p.best(s, c.depth); got.Value != value || got.Action != action {
					t.Fatalf("%s: value %d and action %d; want %d and %d", mancala.FormatState(r, s), got.Value, got.Action, value, action)
				}
				follows(t, r, s, got)
				if compared++; compared == 60 {
					break
				}
			}
			if compared < 30 {
				t.Fatalf("%d positions compared", compared)
			}
		})
	}
}

// TestTableSizeChangesNothing searches with tables in which nearly every entry drives out another.
func TestTableSizeChangesNothing(t *testing.T) {
	for _, spec := range []string{"modiar:quiet=4", "oware", "hoyito2", "omweso:quiet=4"} {
		r := rules(t, spec)
		compare(t, r, positions(t, r, 60, 5), func(a *Agent) { a.table = newTable(3) })
	}
}
