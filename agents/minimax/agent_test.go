package minimax

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/agenttest"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// TestAgentConforms: among other things, an answer depends neither on the batch nor on the calls before, also where the nodes are
// limited, which a table that outlives a search would change.
func TestAgentConforms(t *testing.T) {
	for _, spec := range signed {
		for _, c := range []Config{to(1), to(4), {Depth: MaxDepth, Nodes: 3000, TableMB: 1}} {
			construct := func(r mancala.Rules) (agents.Agent, error) { return New(r, c) }
			if err := agenttest.Check(construct, rules(t, spec)); err != nil {
				t.Errorf("depth %d, %d nodes: %v", c.Depth, c.Nodes, err)
			}
		}
	}
}

// TestAnalysisIsTheSameInAnyOrder holds the node count to it too.
func TestAnalysisIsTheSameInAnyOrder(t *testing.T) {
	for _, spec := range mancala.Variants() {
		r := rules(t, spec)
		a := agent(t, r, to(6))
		list := SignaturePositions(r)
		analyze := func(s mancala.State) string {
			x, err := a.Analyze(s)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(x)
		}
		var want []string
		for _, s := range list {
			want = append(want, analyze(s))
		}
		c := rand.New(rand.NewPCG(1, 1))
		for range 3 {
			for _, i := range c.Perm(len(list)) {
				if got := analyze(list[i]); got != want[i] {
					t.Errorf("%s: %s: %s, at first %s", spec, mancala.FormatState(r, list[i]), got, want[i])
				}
			}
		}
	}
}

// TestEntriesOfOtherSearchesDoNotMislead keeps the table between searches: entries of other depths, and of positions at other
// distances from their root, are there to be found, and value and action stay those of plain minimax.
func TestEntriesOfOtherSearchesDoNotMislead(t *testing.T) {
	for _, spec := range []string{"urim", "modiar:quiet=4", "hoyito2", "omweso:quiet=4", "omweso"} {
		r := rules(t, spec)
		p := plain{rules: r}
		a := agent(t, r, to(7))
		a.table.forget()
		for _, s := range positions(t, r, 60, 6) {
			legal := r.Legal(s)
			if legal.Len() > 8 {
				continue
			}
			for _, depth := range []int{5, 3, 4} {
				a.config.Depth = depth
				for x := range legal.All {
					if next := r.Next(s, x); !next.Over() {
						a.deepen(next, r.Legal(next))
					}
				}
				a.config.Depth = 4
				got := a.deepen(s, legal)
				if value, action := p.best(s, 4); got.Value != value || got.Action != action {
					t.Fatalf("%s: %s: value %d and action %d, want %d and %d", spec, mancala.FormatState(r, s), got.Value, got.Action, value, action)
				}
			}
		}
	}
}

// TestStoredWinsCountFromTheirPosition: what is stored by one path is right for a longer one.
func TestStoredWinsCountFromTheirPosition(t *testing.T) {
	w := worth{late: 1}
	for _, c := range []struct{ root, ply, here int }{
		{Win - 9, 4, Win - 5}, {9 - Win, 4, 5 - Win}, {Win - 255, 254, Win - 1}, {37, 4, 37}, {-80, 200, -80}, {0, 3, 0},
	} {
		if got := w.fromRoot(c.root, c.ply); got != c.here {
			t.Errorf("%d from the root at ply %d: %d, want %d", c.root, c.ply, got, c.here)
		}
		if got := w.fromHere(c.here, c.ply); got != c.root {
			t.Errorf("%d from ply %d: %d, want %d", c.here, c.ply, got, c.root)
		}
	}
}

func TestTheTableForgets(t *testing.T) {
	x := newTable(1)
	x.age = math.MaxUint16 - 1
	for range 4 {
		x.forget()
		k := key{1}
		if x.find(&k, k.hash()) != nil {
			t.Fatalf("age %d: an entry of an age before", x.age)
		}
		x.put(entry{key: k}, k.hash())
		if x.find(&k, k.hash()) == nil {
			t.Fatalf("age %d: the entry is not there", x.age)
		}
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	for _, spec := range signed {
		r := rules(t, spec)
		c := to(5)
		c.Nodes = 1 << 20
		a := agent(t, r, c)
		list := SignaturePositions(r)
		seeds, actions := make([]uint64, len(list)), make([]mancala.Action, len(list))
		if n := testing.AllocsPerRun(3, func() {
			if err := a.Act(list, seeds, actions); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Analyze(list[3]); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", spec, n)
		}
	}
}

// TestNodesLimitTheSearch: the answer is that of the depth that was reached, and at most one expansion is too much.
func TestNodesLimitTheSearch(t *testing.T) {
	for _, spec := range signed {
		r := rules(t, spec)
		for _, nodes := range []uint64{1, 100, 1000, 20000} {
			a := agent(t, r, Config{Depth: MaxDepth, Nodes: nodes, TableMB: 1})
			for _, s := range SignaturePositions(r) {
				x, err := a.Analyze(s)
				if err != nil {
					t.Fatal(err)
				}
				most := nodes + uint64(r.Info().Actions) - 1
				if x.Depth < 1 || x.Nodes > most || x.Depth < MaxDepth && x.Nodes < nodes {
					t.Errorf("%s, %d nodes: %s: depth %d with %d nodes", spec, nodes, mancala.FormatState(r, s), x.Depth, x.Nodes)
				}
				full, err := agent(t, r, to(x.Depth)).Analyze(s)
				if err != nil || full.Value != x.Value || full.Action != x.Action || !slices.Equal(full.PV, x.PV) {
					t.Errorf("%s, %d nodes: %s: %+v, to depth %d: %+v", spec, nodes, mancala.FormatState(r, s), x, x.Depth, full)
				}
			}
		}
	}
}

func TestTimeLimitsTheSearch(t *testing.T) {
	r := rules(t, "oware")
	for _, limit := range []time.Duration{1, 5 * time.Millisecond} {
		x, err := agent(t, r, Config{Depth: MaxDepth, Time: limit, TableMB: 1}).Analyze(r.Start())
		if err != nil || x.Depth < 1 || x.Depth > 100 || !r.Legal(r.Start()).Has(x.Action) {
			t.Errorf("%v: %+v, %v", limit, x, err)
		}
	}
}

// TestArrangingIsPlainMinimax visits every ply of some arrangements and the first turns, with few enough choices for plain minimax.
func TestArrangingIsPlainMinimax(t *testing.T) {
	r := rules(t, "omweso:setup=arrange,pitcap=3,first-capture=allowed")
	p := plain{rules: r}
	a := agent(t, r, to(4))
	for game := range uint64(3) {
		c := rand.New(rand.NewPCG(game, 7))
		s := r.Start()
		for range 34 {
			for a.config.Depth = 1; a.config.Depth <= 4; a.config.Depth++ {
				got, err := a.Analyze(s)
				if err != nil {
					t.Fatal(err)
				}
				if value, action := p.best(s, got.Depth); got.Value != value || got.Action != action {
					t.Fatalf("depth %d: %s: value %d and action %d, want %d and %d", got.Depth, mancala.FormatState(r, s), got.Value, got.Action, value, action)
				}
				follows(t, r, s, got)
			}
			m := r.Legal(s)
			s = r.Next(s, m.Nth(c.IntN(m.Len())))
		}
	}
}

// TestArrangingIsQuick: the plies of an arrangement are all by one player, 11 actions each. Searching them one by one to depth 8 would
// be some 10⁸ nodes.
func TestArrangingIsQuick(t *testing.T) {
	r := rules(t, "omweso:setup=arrange")
	x, err := agent(t, r, to(8)).Analyze(r.Start())
	if err != nil || x.Nodes > 1000 || x.Value != 40 || x.Action != 2 {
		t.Errorf("%+v, %v: want fewer than 1000 nodes, and two seeds in each of the next eight pits", x, err)
	}
}

// oracle is a Prober that knows positions with an even number of seeds on the board.
type oracle struct{}

func (oracle) Probe(s mancala.State) (int, bool) {
	n := s.OnBoard(mancala.South) + s.OnBoard(mancala.North)
	return (s.Pit(s.Mover(), 0)*7+n)%5*2 - 4, n%2 == 0
}

// TestProberTakesTheHorizon compares with plain minimax whose horizon asks the same prober.
func TestProberTakesTheHorizon(t *testing.T) {
	for _, spec := range []string{"urim", "modiar", "hoyito2:cycle=owner", "oware:quiet=4"} {
		r := rules(t, spec)
		p := plain{rules: r}
		p.leaf = func(s mancala.State) int {
			d := s.Store(mancala.South) - s.Store(mancala.North)
			v, ok := oracle{}.Probe(s)
			if !ok {
				return d
			}
			if s.Mover() == mancala.North {
				v = -v
			}
			switch d += v; {
			case d > 0:
				return 10000 + d
			case d < 0:
				return d - 10000
			}
			return 0
		}
		c := to(3)
		c.Prober = oracle{}
		a := agent(t, r, c)
		for _, s := range positions(t, r, 200, 8) {
			got, err := a.Analyze(s)
			if err != nil {
				t.Fatal(err)
			}
			if value, action := p.best(s, 3); got.Value != value || got.Action != action {
				t.Fatalf("%s: %s: value %d and action %d, want %d and %d", spec, mancala.FormatState(r, s), got.Value, got.Action, value, action)
			}
		}
	}
}

// TestOmwesoWinsNowRatherThanLater: a player who can win at once does.
func TestOmwesoWinsNowRatherThanLater(t *testing.T) {
	r := rules(t, "omweso")
	a := agent(t, r, to(5))
	found := 0
	for _, s := range positions(t, r, 600, 9) {
		x, err := a.Analyze(s)
		if err != nil {
			t.Fatal(err)
		}
		now := false
		for y := range r.Legal(s).All {
			if n := r.Next(s, y); n.Over() && n.Winner() == s.Mover() {
				now = true
			}
		}
		if !now {
			continue
		}
		found++
		if n := r.Next(s, x.Action); !n.Over() || x.Value != Win-1 {
			t.Errorf("%s: plays %d, value %d", mancala.FormatState(r, s), x.Action, x.Value)
		}
	}
	if found < 20 {
		t.Errorf("%d positions with a win in one", found)
	}
}

// TestDeeperPlayersWin: pairs of games from random openings, both players in both seats.
func TestDeeperPlayersWin(t *testing.T) {
	for _, spec := range mancala.Variants() {
		r := rules(t, spec)
		deep, shallow := agents.NewSingle(agent(t, r, to(4))), agents.NewSingle(agents.NewGreedy(r))
		score, games := 0, 0
		for game := range uint64(40) {
			c := rand.New(rand.NewPCG(game/2, 10))
			s := r.Start()
			for range 6 {
				m := r.Legal(s)
				s = r.Next(s, m.Nth(c.IntN(m.Len())))
			}
			seat := mancala.Player(game % 2)
			for n := 0; !s.Over() && n < 1000; n++ {
				player := shallow
				if s.Mover() == seat {
					player = deep
				}
				x, err := player.Act(s, c.Uint64())
				if err != nil {
					t.Fatal(err)
				}
				s = r.Next(s, x)
			}
			score += s.Returns()[seat]
			games++
		}
		if score < games/3 {
			t.Errorf("%s: wins less losses of depth 4 against greedy: %d in %d games", spec, score, games)
		}
	}
}

func TestBadConfigsSayWhatIsAllowed(t *testing.T) {
	r := rules(t, "oware")
	for _, c := range []struct {
		rules  mancala.Rules
		change func(c *Config)
		want   string
	}{
		{nil, func(*Config) {}, "minimax: rules nil: must be given"},
		{r, func(c *Config) { c.Depth = 0 }, "minimax: depth 0: must be 1 to 255"},
		{r, func(c *Config) { c.Depth = 256 }, "minimax: depth 256: must be 1 to 255"},
		{r, func(c *Config) { c.TableMB = 0 }, "minimax: table 0 MB: must be 1 to 16384"},
		{r, func(c *Config) { c.TableMB = 1 << 20 }, "minimax: table 1048576 MB: must be 1 to 16384"},
		{r, func(c *Config) { c.Time = -1 }, "minimax: time -1ns: must be 0 (no limit) or more"},
		{rules(t, "omweso"), func(c *Config) { c.Prober = oracle{} }, "minimax: prober in omweso: must be a variant with stores"},
	} {
		config := Default()
		c.change(&config)
		if a, err := New(c.rules, config); err == nil || err.Error() != c.want || a != nil {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}

func TestAgentRefusesWhatItCannotPlay(t *testing.T) {
	r := rules(t, "oware")
	a := agent(t, r, to(2))
	over := state(t, r, "0,0,0,0,0,0/0,0,0,0,0,0 25-23 S 0 40 #nomoves:S")
	err := a.Act([]mancala.State{r.Start(), over}, make([]uint64, 2), make([]mancala.Action, 2))
	if want := "minimax: state 1 has no legal action: must be a game that goes on"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	err = a.Act([]mancala.State{r.Start()}, nil, make([]mancala.Action, 2))
	if want := "minimax: 1 states, 0 seeds and 2 actions: must be of one length"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	_, err = a.Analyze(over)
	if want := `minimax: state "0,0,0,0,0,0/0,0,0,0,0,0 25-23 S 0 40 #nomoves:S" has no legal action: must be a game that goes on`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

var update = flag.Bool("update", false, "rewrite the golden signatures")

// TestSignatures holds the node totals, which change with the behaviour of rules and search alone, and the answers for the fixed
// positions. Run with -update where a change is meant.
func TestSignatures(t *testing.T) {
	var got []byte
	for _, spec := range signed {
		r := rules(t, spec)
		nodes, err := Signature(r)
		if err != nil {
			t.Fatal(err)
		}
		got = fmt.Appendf(got, "%s %d\n", spec, nodes)
		a := agent(t, r, SignatureConfig())
		for _, s := range SignaturePositions(r) {
			x, err := a.Analyze(s)
			if err != nil {
				t.Fatal(err)
			}
			nodes -= x.Nodes
			got = fmt.Appendf(got, "  %s: action %d, value %d, line %d, %d nodes\n", mancala.FormatState(r, s), x.Action, x.Value, x.PV, x.Nodes)
		}
		if nodes != 0 {
			t.Errorf("%s: the positions differ from the signature by %d nodes", spec, nodes)
		}
	}
	name := filepath.Join("testdata", "signatures.txt")
	if *update {
		if err := errors.Join(os.MkdirAll("testdata", 0o777), os.WriteFile(name, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := slices.Collect(strings.Lines(string(want)))
	i := 0
	for line := range strings.Lines(string(got)) {
		if i >= len(lines) || line != lines[i] {
			t.Fatalf("line %d: %swant %s", i+1, line, lines[min(i, len(lines)-1)])
		}
		i++
	}
	if i != len(lines) {
		t.Fatalf("%d lines, want %d", i, len(lines))
	}
}
