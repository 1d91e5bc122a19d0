package mcts

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// solver knows the result of positions with few games left, by playing all of them.
type solver struct {
	rules mancala.Rules
	known map[mancala.State]int
	left  int // positions that may still be looked at
}

// value returns the result for South with best play; ok is false when the budget is used up.
func (v *solver) value(s mancala.State) (value int, ok bool) {
	if s.Over() {
		return s.Returns()[mancala.South], true
	}
	if value, ok := v.known[s]; ok {
		return value, true
	}
	if v.left--; v.left < 0 {
		return 0, false
	}
	best := -2
	player := 1
	if s.Mover() == mancala.North {
		player = -1
	}
	for a := range v.rules.Legal(s).All {
		x, ok := v.value(v.rules.Next(s, a))
		if !ok {
			return 0, false
		}
		best = max(best, x*player)
	}
	v.known[s] = best * player
	return best * player, true
}

// solve returns the exact result of every legal action for the mover.
func solve(r mancala.Rules, s mancala.State, budget int) (exact map[mancala.Action]int, ok bool) {
	v := &solver{r, map[mancala.State]int{}, budget}
	exact = map[mancala.Action]int{}
	for a := range r.Legal(s).All {
		x, ok := v.value(r.Next(s, a))
		if !ok {
			return nil, false
		}
		if s.Mover() == mancala.North {
			x = -x
		}
		exact[a] = x
	}
	return exact, true
}

// wins reports whether the mover of s can win with one action.
func wins(r mancala.Rules, s mancala.State) bool {
	for a := range r.Legal(s).All {
		if n := r.Next(s, a); n.Over() && n.Winner() == s.Mover() {
			return true
		}
	}
	return false
}

// loses reports whether action a of s loses at once or lets the opponent, next to move, win with one action.
func loses(r mancala.Rules, s mancala.State, a mancala.Action) bool {
	n := r.Next(s, a)
	if n.Over() {
		return n.Winner() == s.Mover().Opponent()
	}
	return n.Mover() != s.Mover() && wins(r, n)
}

// A quarry is where positions are found: random games of a variant, judged by a variant of the same family with so
// low a quiet limit that all games from a position can be played. The quiet count is drawn anew for it.
type quarry struct{ play, judge string }

var quarries = []quarry{
	{"urim", "urim:cycle=owner,quiet=3"},
	{"modiar", "modiar:cycle=owner,quiet=4"},
	{"hoyito2", "hoyito2:cycle=owner,quiet=3"},
	{"omweso", "omweso:quiet=2"},
	{"oware", "oware:cycle=owner,quiet=3"},
}

// find returns positions that may accepts and of which want accepts the exact action values. Half of them come from anywhere in a game, half
// from its last plies.
func (q quarry) find(t *testing.T, count int, may func(r mancala.Rules, s mancala.State) bool,
	want func(r mancala.Rules, s mancala.State, exact map[mancala.Action]int) bool,
) (r mancala.Rules, found []mancala.State) {
	t.Helper()
	play, r := rules(t, q.play), rules(t, q.judge)
	for game := uint64(0); len(found) < count; game++ {
		if game == 20000 {
			t.Fatalf("%s: only %d of %d positions found", q.judge, len(found), count)
		}
		c := rand.New(rand.NewPCG(game, 4))
		var line []mancala.State
		for s := play.Start(); !s.Over(); {
			line = append(line, s)
			m := play.Legal(s)
			s = play.Next(s, m.Nth(c.IntN(m.Len())))
		}
		place := c.IntN(len(line))
		if game%2 == 1 {
			place = max(0, len(line)-1-c.IntN(8))
		}
		p := line[place].Position()
		p.Quiet = uint32(c.IntN(r.Info().Quiet))
		s := p.State()
		if r.Legal(s).Len() < 2 || !may(r, s) {
			continue
		}
		if exact, ok := solve(r, s, 5000); ok && want(r, s, exact) {
			found = append(found, s)
		}
	}
	return r, found
}

// sure takes the noise from the root.
func sure(algorithm string, simulations int) Config {
	c := with(algorithm, simulations)
	c.GumbelScale = 0
	return c
}

// choices searches all positions at once and returns the chosen actions and their values.
func choices(t *testing.T, r mancala.Rules, c Config, positions []mancala.State) (actions []mancala.Action, q []float32) {
	t.Helper()
	s := searcher(t, r, agents.NewRollout(r), c)
	out := agents.NewResult(len(positions), s.actions)
	seeds := make([]uint64, len(positions))
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	if err := s.Search(positions, seeds, out); err != nil {
		t.Fatal(err)
	}
	for i, a := range out.Actions {
		q = append(q, out.Q[i*s.actions+int(a)])
	}
	return out.Actions, q
}

// TestSearchFindsTheWinInOne: in these positions the actions that win do so at once, and some other action exists.
func TestSearchFindsTheWinInOne(t *testing.T) {
	for _, quarry := range quarries {
		r, positions := quarry.find(t, 20, wins, func(r mancala.Rules, s mancala.State, exact map[mancala.Action]int) bool {
			other := 0
			for a, x := range exact {
				n := r.Next(s, a)
				switch {
				case x > 0 && !n.Over():
					return false
				case x <= 0:
					other++
				}
			}
			return other > 0
		})
		for _, algorithm := range algorithmNames {
			actions, q := choices(t, r, sure(algorithm, 200), positions)
			for i, s := range positions {
				if n := r.Next(s, actions[i]); !n.Over() || n.Winner() != s.Mover() || q[i] != 1 {
					t.Errorf("%s, %s: %s: plays %d, Q %v", quarry.judge, algorithm, mancala.FormatState(r, s), actions[i], q[i])
				}
			}
		}
	}
}

// TestSearchAvoidsTheLossInOne: in these positions some action loses by the next one, and some action does not lose.
func TestSearchAvoidsTheLossInOne(t *testing.T) {
	for _, quarry := range quarries {
		trap := func(r mancala.Rules, s mancala.State) bool {
			for a := range r.Legal(s).All {
				if loses(r, s, a) {
					return true
				}
			}
			return false
		}
		r, positions := quarry.find(t, 20, trap, func(_ mancala.Rules, _ mancala.State, exact map[mancala.Action]int) bool {
			return highest(exact) >= 0
		})
		for _, algorithm := range algorithmNames {
			actions, _ := choices(t, r, sure(algorithm, 400), positions)
			for i, s := range positions {
				if loses(r, s, actions[i]) {
					t.Errorf("%s, %s: %s: plays %d", quarry.judge, algorithm, mancala.FormatState(r, s), actions[i])
				}
			}
		}
	}
}

// highest returns the best of the values.
func highest(exact map[mancala.Action]int) int {
	return slices.Max(slices.Collect(maps.Values(exact)))
}

// TestSearchPlaysEndgamesExactly: with many simulations the chosen action keeps the result that playing all games gives.
func TestSearchPlaysEndgamesExactly(t *testing.T) {
	for _, quarry := range []quarry{{"modiar", "modiar"}, {"hoyito2", "hoyito2:quiet=4"}, {"urim", "urim:cycle=owner,quiet=3"}} {
		all := func(mancala.Rules, mancala.State) bool { return true }
		r, positions := quarry.find(t, 25, all, func(_ mancala.Rules, _ mancala.State, exact map[mancala.Action]int) bool {
			return slices.Min(slices.Collect(maps.Values(exact))) < highest(exact)
		})
		for _, algorithm := range []string{UCT, PUCT} {
			actions, _ := choices(t, r, with(algorithm, 10000), positions)
			for i, s := range positions {
				exact, _ := solve(r, s, 5000)
				if exact[actions[i]] != highest(exact) {
					t.Errorf("%s, %s: %s: plays %d of %v", quarry.judge, algorithm, mancala.FormatState(r, s), actions[i], exact)
				}
			}
		}
	}
}

// TestSearchSeesTheMoverMoveAgain: in these positions of hoyito2 every action that wins captures, so that the same
// player moves again, and wins with that second action. A search that took the second mover for the opponent
// would shun it.
func TestSearchSeesTheMoverMoveAgain(t *testing.T) {
	again := func(r mancala.Rules, s mancala.State) bool {
		for a := range r.Legal(s).All {
			if n := r.Next(s, a); !n.Over() && n.Mover() == s.Mover() && wins(r, n) {
				return !wins(r, s)
			}
		}
		return false
	}
	r, positions := quarry{"hoyito2", "hoyito2:cycle=owner,quiet=3"}.find(t, 15, again, func(r mancala.Rules, s mancala.State, exact map[mancala.Action]int) bool {
		won := 0
		for a, x := range exact {
			if x > 0 {
				n := r.Next(s, a)
				if n.Over() || n.Mover() != s.Mover() || !wins(r, n) {
					return false
				}
				won++
			}
		}
		return won > 0 && won < len(exact)
	})
	for _, algorithm := range algorithmNames {
		actions, q := choices(t, r, sure(algorithm, 400), positions)
		for i, s := range positions {
			if exact, _ := solve(r, s, 5000); exact[actions[i]] != 1 || q[i] < 0.5 {
				t.Errorf("%s: %s: plays %d, Q %v", algorithm, mancala.FormatState(r, s), actions[i], q[i])
			}
		}
	}
}
