package mcts

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/agenttest"
	"github.com/mancalagym/mancalagym/env/mancala"
)

var algorithmNames = []string{Gumbel, PUCT, UCT}

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

// specs are the default variants and those with other action spaces.
func specs() []string {
	return append(slices.Clone(mancala.Variants()), "urim:pits=7", "hoyito2:pits=12", "omweso:setup=arrange")
}

// with returns the default configuration with another algorithm and number of simulations.
func with(algorithm string, simulations int) Config {
	c := Default()
	c.Algorithm, c.Simulations = algorithm, simulations
	return c
}

func searcher(t testing.TB, r mancala.Rules, e agents.Evaluator, c Config) *Searcher {
	t.Helper()
	s, err := New(r, e, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// search searches one root.
func search(t testing.TB, s *Searcher, root mancala.State, seed uint64) *agents.Result {
	t.Helper()
	out := agents.NewResult(1, s.actions)
	if err := s.Search([]mancala.State{root}, []uint64{seed}, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// wander plays at most that many random plies from the start and stops before the game is over.
func wander(r mancala.Rules, seed uint64, plies int) mancala.State {
	c := rand.New(rand.NewPCG(seed, 1))
	s := r.Start()
	for range plies {
		m := r.Legal(s)
		next := r.Next(s, m.Nth(c.IntN(m.Len())))
		if next.Over() {
			break
		}
		s = next
	}
	return s
}

// opinion stands for a network: an Evaluator with a firm but arbitrary prior and value for every position.
type opinion struct{ actions int }

func newOpinion(r mancala.Rules) agents.Evaluator { return opinion{r.Info().Actions} }

func (o opinion) Evaluate(b *agents.Batch) error {
	for i, s := range b.States {
		p := s.Position()
		var h uint64
		for _, side := range p.Pits {
			for _, n := range side {
				h = h*0x9e3779b97f4a7c15 + uint64(n) + 1
			}
		}
		h = h*0x9e3779b97f4a7c15 + uint64(p.Mover)<<32 + uint64(p.Quiet)<<16 + uint64(p.Store[0])<<8 + uint64(p.Hand.Seeds)
		c := rand.NewPCG(h, 3)
		row := b.Prior[i*o.actions : (i+1)*o.actions]
		clear(row)
		sum := float32(0)
		for a := range b.Legal[i].All {
			row[a] = float32(c.Uint64()>>40+1) / (1 << 24)
			row[a] *= row[a]
			sum += row[a]
		}
		for a := range b.Legal[i].All {
			row[a] /= sum
		}
		b.Value[i] = float32(c.Uint64()>>40)/(1<<24) - 0.5
	}
	return nil
}

func TestSearchConforms(t *testing.T) {
	for _, spec := range specs() {
		r := rules(t, spec)
		for _, algorithm := range algorithmNames {
			c := with(algorithm, 24)
			c.NoiseWeight = 0.25
			for name, e := range map[string]agents.Evaluator{"opinion": newOpinion(r), "rollout": agents.NewRollout(r)} {
				if err := agenttest.CheckSearcher(func(r mancala.Rules) (agents.Searcher, error) { return New(r, e, c) }, r); err != nil {
					t.Errorf("%s, %s: %v", algorithm, name, err)
				}
			}
		}
	}
}

func TestAgentConforms(t *testing.T) {
	for _, spec := range mancala.Variants() {
		err := agenttest.Check(func(r mancala.Rules) (agents.Agent, error) {
			s, err := New(r, agents.NewRollout(r), with(UCT, 12))
			if err != nil {
				return nil, err
			}
			return NewAgent(s), nil
		}, rules(t, spec))
		if err != nil {
			t.Error(err)
		}
	}
}

func TestSearchAllocatesNothing(t *testing.T) {
	for _, spec := range specs() {
		r := rules(t, spec)
		for _, algorithm := range algorithmNames {
			c := with(algorithm, 40)
			c.NoiseWeight = 0.25
			s := searcher(t, r, agents.NewRollout(r), c)
			roots, seeds := opening(r, 5)
			out := agents.NewResult(5, r.Info().Actions)
			for _, n := range []int{5, 3, 5, 1} { // AllocsPerRun makes a first call that does not count
				if got := testing.AllocsPerRun(3, func() {
					if err := s.Search(roots[:n], seeds[:n], out); err != nil {
						t.Fatal(err)
					}
				}); got != 0 {
					t.Errorf("%s, %s: %v allocations with %d roots", spec, algorithm, got, n)
				}
			}
		}
	}
}

func TestVisitsSumToSimulations(t *testing.T) {
	for _, spec := range specs() {
		r := rules(t, spec)
		for _, algorithm := range algorithmNames {
			for _, simulations := range []int{1, 2, 3, 7, 50} {
				s := searcher(t, r, newOpinion(r), with(algorithm, simulations))
				for seed := range uint64(10) {
					out := search(t, s, wander(r, seed, 4*int(seed)), seed)
					sum := uint32(0)
					for _, v := range out.Visits {
						sum += v
					}
					if sum != uint32(simulations) {
						t.Errorf("%s, %s: %d visits of %d simulations", spec, algorithm, sum, simulations)
					}
				}
			}
		}
	}
}

// TestOneLegalActionIsSearchedAll: modiar may only sow pits with two seeds or more (M2).
func TestOneLegalActionIsSearchedAll(t *testing.T) {
	r := rules(t, "modiar")
	root := state(t, r, "1,5,1/6,7,8 4-10 S 3 12")
	for _, algorithm := range algorithmNames {
		out := search(t, searcher(t, r, newOpinion(r), with(algorithm, 20)), root, 1)
		if out.Actions[0] != 1 || out.Visits[1] != 20 || out.Policy[1] != 1 || out.Q[1] == 0 || out.Value[0] != out.Q[1] {
			t.Errorf("%s: %+v", algorithm, *out)
		}
	}
}

func TestOneSimulationPlaysTheBestPrior(t *testing.T) {
	r := rules(t, "oware")
	for seed := range uint64(20) {
		root := wander(r, seed, 10)
		b := agents.Batch{
			States: []mancala.State{root}, Legal: []mancala.Mask{r.Legal(root)}, Seeds: []uint64{0},
			Prior: make([]float32, 6), Value: make([]float32, 1),
		}
		if err := newOpinion(r).Evaluate(&b); err != nil {
			t.Fatal(err)
		}
		best := mancala.Action(slices.Index(b.Prior, slices.Max(b.Prior)))
		for _, algorithm := range []string{Gumbel, PUCT} {
			c := with(algorithm, 1)
			c.GumbelScale = 0
			if out := search(t, searcher(t, r, newOpinion(r), c), root, seed); out.Actions[0] != best {
				t.Errorf("%s: plays %d, want %d of prior %v", algorithm, out.Actions[0], best, b.Prior)
			}
		}
	}
}

func TestUCTVisitsEveryActionFirst(t *testing.T) {
	r := rules(t, "oware")
	root := r.Start()
	for n := 1; n <= 6; n++ {
		out := search(t, searcher(t, r, newOpinion(r), with(UCT, n)), root, 1)
		for a, v := range out.Visits {
			if want := uint32(min(1, max(0, n-a))); v != want {
				t.Errorf("%d simulations: action %d has %d visits, want %d", n, a, v, want)
			}
		}
	}
}

// constant is worth the same to South everywhere.
type constant struct {
	agents.Evaluator
	south float32
}

func (e constant) Evaluate(b *agents.Batch) error {
	if err := e.Evaluator.Evaluate(b); err != nil {
		return err
	}
	for i := range b.States {
		b.Value[i] = e.south
		if b.States[i].Mover() == mancala.North {
			b.Value[i] = -e.south
		}
	}
	return nil
}

// TestValuesBelongToPlayers: where South is always worth 0.5, so is every action, to South, and −0.5 to North, however often
// a mover moves again. A search that changed the sign every ply would mix the two. The quiet limit is out of
// reach and no game ends within the trees.
func TestValuesBelongToPlayers(t *testing.T) {
	for _, spec := range []string{"hoyito2", "omweso", "omweso:setup=arrange", "oware"} {
		r := rules(t, spec)
		again := 0
		for seed := range uint64(12) {
			root := wander(r, seed, 5)
			want := float32(0.5)
			if root.Mover() == mancala.North {
				want = -0.5
			}
			for _, algorithm := range algorithmNames {
				s := searcher(t, r, constant{agents.NewUniform(r), 0.5}, with(algorithm, 60))
				out := search(t, s, root, seed)
				over := false
				for i, n := range s.trees[0].nodes {
					over = over || n.over
					if i > 0 && n.arrival != 0 && n.mover == s.trees[0].nodes[n.parent].mover {
						again++
					}
				}
				if over {
					continue
				}
				for a := range r.Legal(root).All {
					if out.Q[a] != want {
						t.Errorf("%s, %s: Q of action %d is %v, want %v", spec, algorithm, a, out.Q[a], want)
					}
				}
			}
		}
		if spec != "oware" && again == 0 {
			t.Errorf("%s: no mover moves again in any tree", spec)
		}
	}
}

// watch checks what the search asks of its Evaluator.
type watch struct {
	agents.Evaluator
	t     *testing.T
	rules mancala.Rules
	rows  []int
}

func (w *watch) Evaluate(b *agents.Batch) error {
	w.rows = append(w.rows, len(b.States))
	for i, s := range b.States {
		if s.Over() || b.Legal[i] == 0 || b.Legal[i] != w.rules.Legal(s) {
			w.t.Errorf("asked for %s with mask %b", mancala.FormatState(w.rules, s), b.Legal[i])
		}
	}
	return w.Evaluator.Evaluate(b)
}

func TestEachTickAsksOneLeafATree(t *testing.T) {
	r := rules(t, "oware")
	w := &watch{Evaluator: agents.NewUniform(r), t: t, rules: r}
	s := searcher(t, r, w, with(PUCT, 30))
	roots, seeds := opening(r, 7)
	if err := s.Search(roots, seeds, agents.NewResult(7, 6)); err != nil {
		t.Fatal(err)
	}
	if want := slices.Repeat([]int{7}, 31); !slices.Equal(w.rows, want) {
		t.Errorf("asked for batches of %v, want 31 of 7", w.rows)
	}
}

func TestGamesThatEndAreNotAskedFor(t *testing.T) {
	// With a quiet limit of 1 only captures lead on.
	r := rules(t, "oware:quiet=1")
	w := &watch{Evaluator: agents.NewUniform(r), t: t, rules: r}
	root := state(t, r, "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S 0 0")
	out := search(t, searcher(t, r, w, with(PUCT, 50)), root, 1)
	if !slices.Equal(w.rows, []int{1}) {
		t.Errorf("asked for batches of %v, want the root alone", w.rows)
	}
	for a, q := range out.Q {
		if q != 0 || out.Visits[a] == 0 {
			t.Errorf("action %d: Q %v and %d visits of a sure draw", a, q, out.Visits[a])
		}
	}
}

// TestQuietCountIsPartOfANode: the same board at the quiet limit and far from it. At the limit every action but the capture
// ends the game, South leading, and the search knows it exactly; far from it nothing ends.
func TestQuietCountIsPartOfANode(t *testing.T) {
	r := rules(t, "oware")
	board := "0,1,0,2,0,1/1,0,3,3,4,3 20-10 S %d 140"
	for _, algorithm := range algorithmNames {
		s := searcher(t, r, agents.NewUniform(r), with(algorithm, 60))
		near := search(t, s, state(t, r, fmt.Sprintf(board, 99)), 1)
		far := search(t, s, state(t, r, fmt.Sprintf(board, 0)), 1)
		for _, a := range []int{1, 3} {
			if near.Q[a] != 1 || far.Q[a] == 1 {
				t.Errorf("%s: Q of action %d is %v at the limit, %v far from it", algorithm, a, near.Q[a], far.Q[a])
			}
		}
	}
}

// TestSearchersOnTwoGoroutinesAgreeWithOne: two searchers that share rules and evaluator, each with half of the roots.
func TestSearchersOnTwoGoroutinesAgreeWithOne(t *testing.T) {
	r := rules(t, "hoyito2")
	e := agents.NewRollout(r)
	roots, seeds := opening(r, 8)
	whole := agents.NewResult(8, r.Info().Actions)
	if err := searcher(t, r, e, with(UCT, 100)).Search(roots, seeds, whole); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var halves [2]*agents.Result
	for i := range halves {
		s := searcher(t, r, e, with(UCT, 100))
		halves[i] = agents.NewResult(4, r.Info().Actions)
		wait.Go(func() {
			if err := s.Search(roots[4*i:4*i+4], seeds[4*i:4*i+4], halves[i]); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if got := slices.Concat(halves[0].Visits, halves[1].Visits); !slices.Equal(got, whole.Visits) {
		t.Errorf("visits %v, want %v", got, whole.Visits)
	}
	if got := slices.Concat(halves[0].Q, halves[1].Q); !slices.Equal(got, whole.Q) {
		t.Errorf("Q %v, want %v", got, whole.Q)
	}
}

func TestNewRefusesUnfitConfigurations(t *testing.T) {
	r := rules(t, "oware")
	e := agents.NewUniform(r)
	for want, change := range map[string]func(c *Config){
		`mcts: algorithm "minimax": must be gumbel, puct or uct`: func(c *Config) { c.Algorithm = "minimax" },
		"mcts: simulations 0: must be 1 to 1048576":              func(c *Config) { c.Simulations = 0 },
		"mcts: simulations 1048577: must be 1 to 1048576":        func(c *Config) { c.Simulations = MaxSimulations + 1 },
		"mcts: considered 65: must be 1 to 64":                   func(c *Config) { c.Considered = 65 },
		"mcts: c_visit -1: must be 0 to 1e+06":                   func(c *Config) { c.CVisit = -1 },
		"mcts: c_scale NaN: must be 0 to 1000":                   func(c *Config) { c.CScale = math.NaN() },
		"mcts: gumbel_scale -1: must be 0 to 1000":               func(c *Config) { c.GumbelScale = -1 },
		"mcts: c_puct +Inf: must be 0 to 1000":                   func(c *Config) { c.CPuct = math.Inf(1) },
		"mcts: fpu 3: must be 0 to 2":                            func(c *Config) { c.FPU = 3 },
		"mcts: noise_weight 1.1: must be 0 to 1":                 func(c *Config) { c.NoiseWeight = 1.1 },
		"mcts: noise_alpha 0: must be 0.001 to 1000":             func(c *Config) { c.NoiseAlpha = 0 },
		"mcts: c_uct -0.5: must be 0 to 1000":                    func(c *Config) { c.CUct = -0.5 },
	} {
		c := Default()
		change(&c)
		if _, err := New(r, e, c); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := New(r, nil, Default()); err == nil {
		t.Error("no error without an evaluator")
	}
	if _, err := New(nil, e, Default()); err == nil {
		t.Error("no error without rules")
	}
	for _, algorithm := range algorithmNames {
		if err := with(algorithm, 1).Validate(); err != nil {
			t.Error(err)
		}
	}
}

// answers is an Evaluator with one answer for all.
type answers struct {
	prior, value float32
	err          error
}

func (a answers) Evaluate(b *agents.Batch) error {
	for i := range b.Prior {
		b.Prior[i] = a.prior
	}
	for i := range b.Value {
		b.Value[i] = a.value
	}
	return a.err
}

func TestSearchRefusesWhatItCannotSearch(t *testing.T) {
	r := rules(t, "oware")
	nan := float32(math.NaN())
	lost := errors.New("connection lost")
	going, over := r.Start(), state(t, r, "0,0,0,0,0,0/0,0,0,0,0,0 25-23 S 0 40 #nomoves:S")
	stuck := state(t, r, "0,0,0,0,0,0/4,4,4,4,4,4 0-0 S 0 4")
	for _, c := range []struct {
		e     agents.Evaluator
		roots []mancala.State
		seeds int
		out   *agents.Result
		want  string
	}{
		{answers{}, []mancala.State{going, over}, 2, agents.NewResult(2, 6), "root 1 has no legal action: must be a game that goes on"},
		{answers{}, []mancala.State{stuck}, 1, agents.NewResult(1, 6), "root 0 has no legal action: must be a game that goes on"},
		{answers{}, []mancala.State{going}, 2, agents.NewResult(1, 6), "1 roots and 2 seeds: must be of one length"},
		{answers{}, []mancala.State{going}, 1, nil, "result nil: must be given"},
		{answers{}, []mancala.State{going}, 1, agents.NewResult(1, 5), "result: must have storage for 1 rows of 6 actions"},
		{answers{}, []mancala.State{going}, 1, agents.NewResult(1, 6), "evaluator: prior: must sum to 1 over the legal actions"},
		{answers{prior: nan}, []mancala.State{going}, 1, agents.NewResult(1, 6), "evaluator: prior: must sum to 1 over the legal actions"},
		{answers{prior: 1. / 6, value: nan}, []mancala.State{going}, 1, agents.NewResult(1, 6), "evaluator: value NaN: must be -1 to 1"},
		{answers{prior: 1. / 6, value: 1.5}, []mancala.State{going}, 1, agents.NewResult(1, 6), "evaluator: value 1.5: must be -1 to 1"},
		{answers{err: lost}, []mancala.State{going}, 1, agents.NewResult(1, 6), "evaluator: connection lost"},
	} {
		s := searcher(t, r, c.e, Default())
		err := s.Search(c.roots, make([]uint64, c.seeds), c.out)
		if err == nil || err.Error() != "mcts: "+c.want {
			t.Errorf("error %v, want mcts: %s", err, c.want)
		}
		if c.want == "evaluator: connection lost" && !errors.Is(err, lost) {
			t.Errorf("%v does not wrap the evaluator's error", err)
		}
	}
}

func TestSearchWorksAfterAnError(t *testing.T) {
	r := rules(t, "oware")
	e := &fickle{Evaluator: newOpinion(r)}
	s := searcher(t, r, e, with(Gumbel, 20))
	want := search(t, s, r.Start(), 1)
	e.fail = 10
	out := agents.NewResult(1, 6)
	if err := s.Search([]mancala.State{r.Start()}, []uint64{1}, out); err == nil || !strings.Contains(err.Error(), "fickle") {
		t.Fatalf("error %v", err)
	}
	if got := search(t, s, r.Start(), 1); !slices.Equal(got.Visits, want.Visits) || !slices.Equal(got.Policy, want.Policy) {
		t.Errorf("%+v after an error, %+v before", *got, *want)
	}
}

// fickle fails once after some calls.
type fickle struct {
	agents.Evaluator
	fail int
}

func (e *fickle) Evaluate(b *agents.Batch) error {
	if e.fail > 0 {
		if e.fail--; e.fail == 0 {
			return errors.New("fickle")
		}
	}
	return e.Evaluator.Evaluate(b)
}

func TestNodesAndEdgesStayCompact(t *testing.T) {
	if n, s, e := unsafe.Sizeof(node{}), unsafe.Sizeof(mancala.State{}), unsafe.Sizeof(edge{}); n+s != 80 || e != 16 {
		t.Errorf("a node has %d + %d bytes, an edge %d; MaxSimulations says 80 and 16", n, s, e)
	}
}
