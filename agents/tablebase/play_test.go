package tablebase

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/agenttest"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// endgames are tables of moderate size.
var endgames = []struct {
	spec  string
	seeds int
}{{"modiar", 20}, {"modiar:grandslam=forced", 14}, {"urim", 8}, {"hoyito2", 9}, {"hoyito2:laps=3", 7}, {"oware", 7}}

func TestEveryPositionSatisfiesItsEquation(t *testing.T) {
	for _, c := range endgames {
		if err := solved(t, c.spec, c.seeds).Verify(t.Context(), 2, nil); err != nil {
			t.Error(err)
		}
	}
}

func TestVerifyFindsEveryKindOfMistake(t *testing.T) {
	table := solved(t, "hoyito2:laps=3", 6)
	// The file is mapped for reading only: change a copy.
	for k := range table.values {
		table.values[k] = append([]byte(nil), table.values[k]...)
		table.away[k] = append([]byte(nil), table.away[k]...)
	}
	wrong := func(what string, ok func(e Entry) bool, change func(value, away *byte)) {
		t.Helper()
		for k := range table.values {
			for n := range table.values[k] {
				if !ok(table.entry(k, uint32(n))) {
					continue
				}
				value, away := &table.values[k][n], &table.away[k][n]
				v, d := *value, *away
				change(value, away)
				err := table.Verify(t.Context(), 2, nil)
				*value, *away = v, d
				if err == nil || strings.Contains(err.Error(), "\n") {
					t.Errorf("%s: %v", what, err)
				}
				return
			}
		}
		t.Errorf("%s: no such position", what)
	}
	wrong("a value", func(e Entry) bool { return e.Value == 4 }, func(v, _ *byte) { *v -= 2 })
	wrong("a draw for a win", func(e Entry) bool { return e.Value == 4 }, func(v, _ *byte) { *v &= 0x80 })
	wrong("a distance", func(e Entry) bool { return e.Distance == 4 }, func(_, d *byte) { *d++ })
	wrong("no way to a win", func(e Entry) bool { return e.Value > 0 && e.Distance > 2 }, func(_, d *byte) { *d = never })
	wrong("a way from a draw", func(e Entry) bool { return e.Distance == Never }, func(_, d *byte) { *d = 7 })
	wrong("a mark too many", func(e Entry) bool { return !e.Marked && e.Distance == 1 }, func(v, _ *byte) { *v |= 0x80 })
	if err := table.Verify(t.Context(), 1, nil); err != nil {
		t.Error(err)
	}
}

// random is a position with so many seeds on the board, with some stores, ply and quiet count.
func random(p *rand.Rand, x *index, seeds int) mancala.State {
	b := x.at(uint32(p.IntN(x.size(seeds))), seeds)
	s := x.state(&b)
	q := s.Position()
	q.Store, q.Ply, q.Quiet = [2]uint8{uint8(p.IntN(9)), uint8(p.IntN(9))}, 7, uint32(p.IntN(20))
	if p.IntN(2) == 1 {
		q.Mover = mancala.North
		q.Pits[0], q.Pits[1] = q.Pits[1], q.Pits[0]
	}
	return q.State()
}

// TestPerfectPlayRealisesTheValue plays the table against itself, without the quiet limit: play that goes round must do so for a value of 0.
func TestPerfectPlayRealisesTheValue(t *testing.T) {
	for _, c := range endgames {
		table := solved(t, c.spec, c.seeds)
		p := rand.New(rand.NewPCG(1, 2))
		for range 2000 {
			s := random(p, table.index, 1+p.IntN(c.seeds))
			begin := s
			e, ok := table.Lookup(s)
			if !ok {
				t.Fatalf("%s is not known", mancala.FormatState(table.rules, s))
			}
			made, quiet := 0, 0
			for {
				list, _ := table.Choices(s, nil)
				if len(list) == 0 {
					end := table.free.Settle(s)
					made += sign(begin, s) * gain(&s, &end)
					break
				}
				best := Play(list)
				a := best.Nth(p.IntN(best.Len()))
				next := table.free.Next(s, a)
				if next.Reason() == mancala.Endless {
					break
				}
				made += sign(begin, s) * gain(&s, &next)
				quiet++
				if taken(&s, &next) > 0 {
					quiet = 0
				}
				if next.Over() || quiet > 300 {
					break
				}
				q := next.Position()
				q.Quiet = 0
				s = q.State()
			}
			if !e.Marked && made != e.Value {
				t.Fatalf("%s: play makes %d, want %+v", mancala.FormatState(table.rules, begin), made, e)
			}
		}
	}
}

// sign is 1 if the same player moves in both positions, else −1.
func sign(a, b mancala.State) int {
	if a.Mover() == b.Mover() {
		return 1
	}
	return -1
}

// alphaBeta is the store difference that the mover of s can make in so many plies; then play stops.
func alphaBeta(r mancala.Rules, s mancala.State, depth, alpha, beta int) int {
	if s.Over() || depth == 0 {
		return 0
	}
	legal := r.Legal(s)
	if legal == 0 {
		end := r.Settle(s)
		return gain(&s, &end)
	}
	best := -huge
	for a := range legal.All {
		next := r.Next(s, a)
		if next.Reason() == mancala.Endless {
			continue
		}
		g := gain(&s, &next)
		if next.Mover() == s.Mover() {
			g += alphaBeta(r, next, depth-1, max(alpha, best)-g, beta-g)
		} else {
			g -= alphaBeta(r, next, depth-1, g-beta, g-max(alpha, best))
		}
		if best = max(best, g); best >= beta {
			break
		}
	}
	if best == -huge {
		return 0
	}
	return best
}

func TestDeeperSearchComesToTheTable(t *testing.T) {
	for _, c := range []struct {
		spec   string
		seeds  int
		depths []int
		end    bool // the last depth is deep enough for all
	}{{"modiar", 16, []int{1, 6, 14}, true}, {"urim", 8, []int{1, 6, 11}, false}, {"hoyito2", 9, []int{1, 6, 11}, false}} {
		table := solved(t, c.spec, c.seeds)
		p := rand.New(rand.NewPCG(3, 4))
		off := make([]int, len(c.depths)) // by how many seeds, in all
		for range 60 {
			s := random(p, table.index, c.seeds-p.IntN(3))
			q := s.Position()
			q.Quiet = 0
			s = q.State()
			value, ok := table.Probe(s)
			if !ok {
				continue // marked
			}
			for i, depth := range c.depths {
				found := alphaBeta(table.free, s, depth, -huge, huge)
				off[i] += max(value-found, found-value)
			}
		}
		t.Logf("%s: at depths %v off by %v", c.spec, c.depths, off)
		for i := range off[1:] {
			if off[i+1] >= off[i] {
				t.Errorf("%s: at depths %v off by %v", c.spec, c.depths, off)
			}
		}
		if last := off[len(off)-1]; c.end && last != 0 {
			t.Errorf("%s: off by %d at the last depth", c.spec, last)
		}
	}
}

func TestTheFirstPlyHasItsOwnRule(t *testing.T) {
	table := solved(t, "modiar", 12)
	r := table.Rules()
	differ := 0
	for _, text := range []string{"2,1,0/1,3,2 0-0 S 0 0", "3,2,1/1,2,3 0-0 S 0 0", "0,0,5/1,1,1 0-0 S 0 0", "0,2,2/0,4,0 0-0 S 0 0"} {
		s, err := mancala.ParseState(r, text)
		if err != nil {
			t.Fatal(err)
		}
		e, ok := table.Lookup(s)
		if want := alphaBeta(r, s, 18, -huge, huge); !ok || e.Value != want {
			t.Errorf("%s: %+v, %t, want value %d", text, e, ok, want)
		}
		if v, ok := table.Probe(s); !ok || v != e.Value {
			t.Errorf("%s: probe %d, %t, want %d", text, v, ok, e.Value)
		}
		p := s.Position()
		p.Ply = 2
		if later, _ := table.Lookup(p.State()); later.Value != e.Value {
			differ++
		}
	}
	if differ == 0 {
		t.Error("none of the positions is worth another value later")
	}
}

func TestWhatIsNotKnownIsNotProbed(t *testing.T) {
	table := solved(t, "hoyito2:laps=2", 5)
	r := table.Rules()
	state := func(text string) mancala.State {
		t.Helper()
		s, err := mancala.ParseState(r, text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if _, ok := table.Probe(state("1,1,1,1,1,1/0,0,0,0,0,0 0-0 S 0 9")); ok {
		t.Error("six seeds are known to a table of five")
	}
	if _, ok := table.Probe(r.Start()); ok {
		t.Error("the start is known")
	}
	if v, ok := table.Probe(state("0,0,0,0,0,0/0,0,0,0,0,0 28-20 S 0 11 #cleared:S")); !ok || v != 0 {
		t.Errorf("a game that is over: %d, %t", v, ok)
	}
	known, marked := 0, 0
	p := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		s := random(p, table.index, 5)
		e, ok := table.Lookup(s)
		if !ok {
			t.Fatal("five seeds are not known")
		}
		v, ok := table.Probe(s)
		if ok == e.Marked || v != e.Value {
			t.Errorf("probe %d, %t, entry %+v", v, ok, e)
		}
		known++
		if e.Marked {
			marked++
		}
	}
	if marked == 0 || marked == known {
		t.Errorf("%d of %d positions are marked", marked, known)
	}
}

func TestTheAgentPlaysTheTableAndLeavesTheRest(t *testing.T) {
	table := solved(t, "modiar", 20)
	r := table.Rules()
	if _, err := NewAgent(table, nil); err == nil || !strings.Contains(err.Error(), "20 of 42 seeds") {
		t.Errorf("without another agent: %v", err)
	}
	a, err := NewAgent(table, agents.NewGreedy(r))
	if err != nil {
		t.Fatal(err)
	}
	if err := agenttest.Check(func(mancala.Rules) (agents.Agent, error) { return NewAgent(table, agents.NewGreedy(r)) }, r); err != nil {
		t.Error(err)
	}
	p := rand.New(rand.NewPCG(7, 8))
	const n = 300
	states := make([]mancala.State, n)
	seeds := make([]uint64, n)
	actions := make([]mancala.Action, n)
	several := 0
	for i := range states {
		for r.Legal(states[i]) == 0 {
			states[i] = random(p, table.index, 20)
		}
	}
	chosen := make([]mancala.Mask, n)
	for range 40 {
		for i := range seeds {
			seeds[i] = p.Uint64()
		}
		if err := a.Act(states, seeds, actions); err != nil {
			t.Fatal(err)
		}
		for i := range actions {
			chosen[i] |= 1 << actions[i]
		}
	}
	for i, s := range states {
		list, _ := table.Choices(s, nil)
		if want := Play(list); chosen[i] != want {
			t.Errorf("%s: plays %b, want %b", mancala.FormatState(r, s), chosen[i], want)
		} else if want.Len() > 1 {
			several++
		}
	}
	if several == 0 {
		t.Error("no position has several best actions")
	}
	if m := testing.AllocsPerRun(20, func() { a.Act(states, seeds, actions) }); m != 0 {
		t.Errorf("%v allocations", m)
	}
	if err := a.Act(states, seeds[1:], actions); err == nil {
		t.Error("slices of different lengths are taken")
	}
	end, err := mancala.ParseState(r, "1,1,1/1,1,1 0-0 S 0 9")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Act([]mancala.State{end}, seeds[:1], actions[:1]); err == nil || !strings.Contains(err.Error(), "no legal action") {
		t.Errorf("a state without an action: %v", err)
	}
}

func TestProbingAllocatesNothing(t *testing.T) {
	table := solved(t, "urim", 6)
	p := rand.New(rand.NewPCG(9, 10))
	s := random(p, table.index, 6)
	q := s.Position()
	q.Ply = 0
	first := q.State()
	room := make([]Choice, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		table.Probe(s)
		table.Probe(first)
		table.Lookup(s)
		table.Choices(s, room)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestVerdictsAreDifferencesOfChoices(t *testing.T) {
	table := solved(t, "modiar", 14)
	r := table.Rules()
	p := rand.New(rand.NewPCG(11, 12))
	turned, nothing := 0, 0
	for range 500 {
		s := random(p, table.index, 14)
		list, _ := table.Choices(s, nil)
		for _, c := range list {
			v, ok, err := table.Judge(s, c.Action)
			if err != nil {
				t.Fatal(err)
			}
			e, _ := table.Lookup(s)
			same := true
			for _, d := range list {
				same = same && d.Value == c.Value
			}
			if ok == same {
				t.Errorf("%s: judged: %t, all the same: %t", mancala.FormatState(r, s), ok, same)
			}
			if !ok {
				nothing++
				continue
			}
			lead := s.Store(s.Mover()) - s.Store(s.Mover().Opponent())
			want := Verdict{e.Value - c.Value, (lead+e.Value > 0) != (lead+c.Value > 0) || (lead+e.Value < 0) != (lead+c.Value < 0)}
			if v != want {
				t.Errorf("%s: action %d: %+v, want %+v", mancala.FormatState(r, s), c.Action, v, want)
			}
			if v.Turned {
				turned++
			}
		}
		if _, _, err := table.Judge(s, 3); err == nil {
			t.Fatal("an action that is not legal is judged")
		}
	}
	if turned == 0 || nothing == 0 {
		t.Errorf("%d moves change the outcome, %d are not judged", turned, nothing)
	}
	if _, ok, err := table.Judge(r.Start(), 0); ok || err != nil {
		t.Errorf("the start, which is not known: %t, %v", ok, err)
	}
	if n := testing.AllocsPerRun(100, func() { table.Judge(r.Start(), 0) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTheLongestWayIsAsLongAsItSays(t *testing.T) {
	for _, c := range endgames[:5] {
		table := solved(t, c.spec, c.seeds)
		longest := 0
		for _, l := range table.Levels() {
			longest = max(longest, l.Longest)
		}
		s := table.Longest()
		quiet := 0
		for i, a := range table.Line(s) {
			q := s.Position()
			q.Quiet = 0
			s = q.State()
			next := table.free.Next(s, a)
			quiet = i + 1
			if taken(&s, &next) > 0 {
				break
			}
			s = next
		}
		if quiet != longest {
			t.Errorf("%s: %d plies to the capture, want %d", c.spec, quiet, longest)
		}
	}
}
