package tablebase

import (
	"fmt"
	"testing"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// slow is a solver that shares no code with the package: all positions in one list, all of them computed again and again, the
// values as those of play of at most n plies more, for growing n.
type slow struct {
	rules mancala.Rules
	list  []mancala.State
	moves [][]option
	value []int // play that goes on counts 0
	hope  []int // endless turns are best for the mover
	fear  []int // and for the opponent
	away  []int // Never while unknown
}

const huge = 1000

// view is a position as a key: the board from the mover's side.
func view(s mancala.State) mancala.State {
	p := s.Position()
	m := p.Mover
	q := mancala.Position{Ply: 1}
	q.Pits[0], q.Pits[1] = p.Pits[m], p.Pits[m^1]
	return q.State()
}

// boards returns all positions with at most so many seeds.
func boards(r mancala.Rules, seeds int) (list []mancala.State) {
	n := r.Info().Pits
	var fill func(p mancala.Position, pit, left int)
	fill = func(p mancala.Position, pit, left int) {
		if pit == 2*n {
			list = append(list, p.State())
			return
		}
		for k := 0; k <= left; k++ {
			p.Pits[pit/n][pit%n] = uint8(k)
			fill(p, pit+1, left-k)
		}
	}
	fill(mancala.Position{Ply: 1}, 0, seeds)
	return list
}

// option is an action as seen by the mover.
type option struct {
	gain, taken   int
	over, endless bool
	next          int  // place in the list, if not over
	same          bool // the mover moves again
}

func options(r mancala.Rules, s mancala.State, place map[mancala.State]int) (list []option) {
	for a := range r.Legal(s).All {
		t := r.Next(s, a)
		o := option{
			gain: t.Store(0) - t.Store(1), taken: t.Store(0) + t.Store(1),
			over: t.Over(), endless: t.Reason() == mancala.Endless, same: t.Mover() == 0,
		}
		if !o.over {
			o.next = place[view(t)]
		}
		list = append(list, o)
	}
	return list
}

func solveSlowly(t *testing.T, spec string, seeds int) *slow {
	t.Helper()
	r := rules(t, spec)
	w := &slow{rules: r, list: boards(r, seeds)}
	n := len(w.list)
	w.value, w.hope, w.fear, w.away = make([]int, n), make([]int, n), make([]int, n), make([]int, n)
	place := map[mancala.State]int{}
	for i, s := range w.list {
		place[s], w.away[i] = i, Never
	}
	for _, s := range w.list {
		w.moves = append(w.moves, options(r, s, place))
	}
	for changed := true; changed; {
		changed = false
		value, hope, fear := make([]int, n), make([]int, n), make([]int, n)
		for i := range w.list {
			value[i], hope[i], fear[i] = w.best(i)
			changed = changed || value[i] != w.value[i] || hope[i] != w.hope[i] || fear[i] != w.fear[i]
		}
		w.value, w.hope, w.fear = value, hope, fear
	}
	for d := 0; ; d++ {
		var found []int
		for i := range w.list {
			if w.away[i] == Never && w.within(i, d) {
				found = append(found, i)
			}
		}
		if len(found) == 0 && d > 0 {
			return w
		}
		for _, i := range found {
			w.away[i] = d
		}
	}
}

func (w *slow) best(i int) (value, hope, fear int) {
	if len(w.moves[i]) == 0 {
		t := w.rules.Settle(w.list[i])
		v := t.Store(0) - t.Store(1)
		return v, v, v
	}
	value, hope, fear = -huge, -huge, -huge
	for _, o := range w.moves[i] {
		if o.endless {
			hope = huge
			continue
		}
		v, h, f := 0, 0, 0
		switch {
		case o.over:
		case o.same:
			v, h, f = w.value[o.next], w.hope[o.next], w.fear[o.next]
		default:
			v, h, f = -w.value[o.next], -w.fear[o.next], -w.hope[o.next]
		}
		value, hope, fear = max(value, o.gain+v), max(hope, o.gain+h), max(fear, o.gain+f)
	}
	if value == -huge {
		value = 0
	}
	return value, clamp(hope), clamp(fear)
}

// clamp: more than all else stays so.
func clamp(v int) int {
	if v > huge/2 {
		return huge
	}
	if v < -huge/2 {
		return -huge
	}
	return v
}

// within reports whether the distance is d, when those below d are known.
func (w *slow) within(i, d int) bool {
	if len(w.moves[i]) == 0 {
		return true
	}
	some, every := false, true
	for _, o := range w.moves[i] {
		if o.endless {
			continue
		}
		v := 0
		if !o.over {
			v = w.value[o.next]
			if !o.same {
				v = -v
			}
		}
		if o.gain+v != w.value[i] {
			continue
		}
		reached := d > 0 && (o.over || o.taken > 0)
		if d > 0 && !reached {
			reached = w.away[o.next] != Never
		}
		some, every = some || reached, every && reached
	}
	if !some && every { // all of them endless
		return d > 0
	}
	return some && (every || w.value[i] >= 0)
}

// quiet is the number of plies without a capture within which all values of a level are reached, if play that stops then counts 0 for
// the seeds left.
func (w *slow) quiet(seeds int) (last int) {
	end := w.value
	defer func() { w.value = end }()
	w.value = append([]int(nil), end...)
	var level []int
	for i, s := range w.list {
		if s.OnBoard(0)+s.OnBoard(1) != seeds {
			continue
		}
		level = append(level, i)
		if w.value[i] = 0; len(w.moves[i]) == 0 {
			w.value[i] = end[i]
		}
	}
	for n := 1; ; n++ {
		next := map[int]int{}
		for _, i := range level {
			if v, _, _ := w.best(i); v != w.value[i] {
				next[i] = v
			}
		}
		if len(next) == 0 {
			return last
		}
		last = n
		for i, v := range next {
			w.value[i] = v
		}
	}
}

// small are variants that the slow solver works out in moderate time up to so many seeds.
var small = []struct {
	spec  string
	seeds int
}{
	{"modiar", 10}, {"modiar:grandslam=forced", 10}, {"modiar:grandslam=nocapture", 10}, {"modiar:grandslam=allowed", 10},
	{"urim", 8}, {"urim:grandslam=allowed", 6}, {"urim:cap=illegal", 6}, {"urim:pits=7", 6}, {"urim:quiet=1", 5}, {"oware", 8},
	{"hoyito2", 8}, {"hoyito2:side=opponent", 7}, {"hoyito2:laps=2", 7}, {"hoyito2:laps=1,side=opponent", 6},
	{"hoyito2:direction=ccw,laps=3", 6}, {"hoyito2:pits=12", 4},
}

func TestTheTableAgreesWithASlowSolver(t *testing.T) {
	for _, c := range small {
		t.Run(fmt.Sprintf("%s/%d", c.spec, c.seeds), func(t *testing.T) {
			t.Parallel()
			w := solveSlowly(t, timeless(c.spec), c.seeds)
			table := solved(t, c.spec, c.seeds)
			for k, l := range table.Levels() {
				if got := w.quiet(k); got != l.Quiet {
					t.Errorf("%d seeds: quiet %d, want %d", k, l.Quiet, got)
				}
			}
			marks := 0
			for i, s := range w.list {
				want := Entry{w.value[i], w.away[i], w.hope[i] != w.value[i] || w.fear[i] != w.value[i]}
				got, ok := table.Lookup(s)
				if !ok || got != want {
					t.Fatalf("%s: %+v, %t, want %+v", mancala.FormatState(w.rules, s), got, ok, want)
				}
				if want.Marked {
					marks++
				}
			}
			t.Logf("%d positions, %d marked", len(w.list), marks)
		})
	}
}
