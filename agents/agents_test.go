package agents_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/agenttest"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/clock"
)

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

// walk returns the positions of random games, games of them, in which the game goes on.
func walk(r mancala.Rules, games int) (states []mancala.State) {
	for g := range games {
		c := rand.New(rand.NewPCG(uint64(g), 2))
		n := 0
		for s := r.Start(); !s.Over() && n < 400; n++ {
			states = append(states, s)
			m := r.Legal(s)
			s = r.Next(s, m.Nth(c.IntN(m.Len())))
		}
	}
	return states
}

func TestAgentsConform(t *testing.T) {
	for _, spec := range specs() {
		r := rules(t, spec)
		for name, construct := range map[string]func(mancala.Rules) (agents.Agent, error){
			"random": func(r mancala.Rules) (agents.Agent, error) { return agents.NewRandom(r), nil },
			"greedy": func(r mancala.Rules) (agents.Agent, error) { return agents.NewGreedy(r), nil },
			"evaluator": func(r mancala.Rules) (agents.Agent, error) {
				return agents.FromEvaluator(r, agents.NewUniform(r)), nil
			},
			"searcher": func(r mancala.Rules) (agents.Agent, error) {
				return agents.FromSearcher(r, last{r}), nil
			},
			"single": func(r mancala.Rules) (agents.Agent, error) {
				return oneByOne{agents.NewSingle(agents.NewGreedy(r))}, nil
			},
		} {
			if err := agenttest.Check(construct, r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestEvaluatorsConform(t *testing.T) {
	for _, spec := range specs() {
		r := rules(t, spec)
		for name, construct := range map[string]func(mancala.Rules) (agents.Evaluator, error){
			"uniform": func(r mancala.Rules) (agents.Evaluator, error) { return agents.NewUniform(r), nil },
			"rollout": func(r mancala.Rules) (agents.Evaluator, error) { return agents.NewRollout(r), nil },
		} {
			if err := agenttest.CheckEvaluator(construct, r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// last is a searcher that chooses the highest legal action.
type last struct{ rules mancala.Rules }

func (l last) Search(roots []mancala.State, _ []uint64, out *agents.Result) error {
	for i, s := range roots {
		m := l.rules.Legal(s)
		out.Actions[i] = m.Nth(m.Len() - 1)
	}
	return nil
}

// oneByOne turns a Single back into an Agent.
type oneByOne struct{ single *agents.Single }

func (o oneByOne) Act(states []mancala.State, seeds []uint64, actions []mancala.Action) (err error) {
	for i := range states {
		if actions[i], err = o.single.Act(states[i], seeds[i]); err != nil {
			return err
		}
	}
	return nil
}

// TestRandomIsUniform: 60,000 seeds in a row over 6 actions; each count has a standard deviation of 91.
func TestRandomIsUniform(t *testing.T) {
	r := rules(t, "urim")
	const n = 60000
	states, seeds, actions := make([]mancala.State, n), make([]uint64, n), make([]mancala.Action, n)
	for i := range states {
		states[i], seeds[i] = r.Start(), uint64(i)
	}
	if err := agents.NewRandom(r).Act(states, seeds, actions); err != nil {
		t.Fatal(err)
	}
	var count [6]int
	for _, a := range actions {
		count[a]++
	}
	for a, c := range count {
		if c < n/6-400 || c > n/6+400 {
			t.Errorf("action %d chosen %d times of %d", a, c, n)
		}
	}
}

// choices returns every action that the agent plays in s over 300 seeds.
func choices(t *testing.T, a agents.Agent, s mancala.State) (m mancala.Mask) {
	t.Helper()
	single := agents.NewSingle(a)
	for seed := range uint64(300) {
		x, err := single.Act(s, seed)
		if err != nil {
			t.Fatal(err)
		}
		m |= 1 << x
	}
	return m
}

// TestGreedyPlaysExactlyTheBest compares Greedy with its definition at every position of random games: all best
// actions are played under some seed, and no other.
func TestGreedyPlaysExactlyTheBest(t *testing.T) {
	for _, spec := range specs() {
		r := rules(t, spec)
		g := agents.NewGreedy(r)
		positions := walk(r, 3)
		for i := 0; i < len(positions); i += 1 + len(positions)/60 {
			s := positions[i]
			mover := s.Mover()
			var want mancala.Mask
			top := 0
			for a := range r.Legal(s).All {
				next := r.Next(s, a)
				rank := next.Store(mover) - s.Store(mover)
				if strings.HasPrefix(spec, "omweso") {
					rank = s.OnBoard(mover.Opponent()) - next.OnBoard(mover.Opponent())
				}
				switch {
				case next.Over() && next.Winner() == mover:
					rank += 1000
				case next.Over() && next.Winner() == mover.Opponent():
					rank -= 1000
				}
				if want == 0 || rank > top {
					top, want = rank, 0
				}
				if rank == top {
					want |= 1 << a
				}
			}
			got := choices(t, g, s)
			if got&^want != 0 || want.Len() <= 12 && got != want {
				t.Errorf("%s: %s: plays %b, best are %b", spec, mancala.FormatState(r, s), got, want)
			}
		}
	}
}

func TestGreedyPrefersAWinToACapture(t *testing.T) {
	r := rules(t, "oware:quiet=1")
	// With a quiet limit of 1 every action without a capture ends the game. South leads 20 to 10: action 1 ends it with a win;
	// action 5 captures two seeds and the game goes on.
	s := state(t, r, "0,1,0,0,0,1/1,0,0,3,4,8 20-10 S 0 40")
	if got := choices(t, agents.NewGreedy(r), s); got != 1<<1 {
		t.Errorf("plays %b, want action 1 alone", got)
	}
}

func TestGreedyAvoidsALossAtOnce(t *testing.T) {
	r := rules(t, "oware:quiet=1")
	// The same with South behind: now only the capture of action 5 does not lose.
	s := state(t, r, "0,1,0,0,0,1/1,0,0,3,4,8 10-20 S 0 40")
	if got := choices(t, agents.NewGreedy(r), s); got != 1<<5 {
		t.Errorf("plays %b, want action 5 alone", got)
	}
}

func TestAgentsRefuseWhatTheyCannotPlay(t *testing.T) {
	r := rules(t, "oware")
	over := state(t, r, "0,0,0,0,0,0/0,0,0,0,0,0 25-23 S 0 40 #nomoves:S")
	one, two := make([]uint64, 1), make([]mancala.Action, 2)
	for name, a := range map[string]agents.Agent{
		"random":    agents.NewRandom(r),
		"greedy":    agents.NewGreedy(r),
		"evaluator": agents.FromEvaluator(r, agents.NewUniform(r)),
		"searcher":  agents.FromSearcher(r, last{r}),
	} {
		err := a.Act([]mancala.State{r.Start()}, one, two)
		if want := "agents: " + name + ": 1 states, 1 seeds and 2 actions: must be of one length"; err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
		if name == "searcher" {
			continue
		}
		err = a.Act([]mancala.State{r.Start(), over}, make([]uint64, 2), two)
		if want := "agents: " + name + ": state 1 has no legal action: must be a game that goes on"; err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", name, err, want)
		}
	}
}

// fails is an Evaluator and a Searcher that fails.
type fails struct{}

var errFails = errors.New("no answer")

func (fails) Evaluate(*agents.Batch) error                           { return errFails }
func (fails) Search([]mancala.State, []uint64, *agents.Result) error { return errFails }

func TestAdaptersPassErrorsOn(t *testing.T) {
	r := rules(t, "modiar")
	for _, a := range []agents.Agent{agents.FromEvaluator(r, fails{}), agents.FromSearcher(r, fails{})} {
		if _, err := agents.NewSingle(a).Act(r.Start(), 1); !errors.Is(err, errFails) {
			t.Errorf("error %v, want %v", err, errFails)
		}
	}
}

// leaning is an Evaluator whose prior grows with the action, but for the last two, which are equal.
type leaning struct{ rules mancala.Rules }

func (e leaning) Evaluate(b *agents.Batch) error {
	n := e.rules.Info().Actions
	for i := range b.States {
		for a := range n {
			b.Prior[i*n+a] = float32(min(a+1, n-1))
		}
	}
	return nil
}

func TestFromEvaluatorPlaysTheHighestPriorAndTheLowestOfATie(t *testing.T) {
	r := rules(t, "urim")
	got, err := agents.NewSingle(agents.FromEvaluator(r, leaning{r})).Act(r.Start(), 1)
	if err != nil || got != 4 {
		t.Errorf("plays %d, %v; want 4", got, err)
	}
}

func TestUniformSpreadsThePriorOverLegalActions(t *testing.T) {
	r := rules(t, "modiar")
	s := state(t, r, "1,9,9/9,9,5 0-0 S 0 0") // a single seed may not be sown (M2)
	b := batch(r, []mancala.State{s}, []uint64{7})
	if err := agents.NewUniform(r).Evaluate(b); err != nil {
		t.Fatal(err)
	}
	if want := []float32{0, 0.5, 0.5}; !slices.Equal(b.Prior, want) || b.Value[0] != 0 {
		t.Errorf("prior %v and value %v, want %v and 0", b.Prior, b.Value[0], want)
	}
}

func batch(r mancala.Rules, states []mancala.State, seeds []uint64) *agents.Batch {
	b := &agents.Batch{
		States: states, Seeds: seeds, Legal: make([]mancala.Mask, len(states)),
		Prior: make([]float32, len(states)*r.Info().Actions), Value: make([]float32, len(states)),
	}
	for i, s := range states {
		b.Legal[i] = r.Legal(s)
	}
	return b
}

// TestRolloutSeesTheMover: with a quiet limit of 1 a ply without a capture ends the game, so who leads wins, and
// the value is the mover's whoever that is.
func TestRolloutSeesTheMover(t *testing.T) {
	r := rules(t, "oware:quiet=1")
	for text, want := range map[string]float32{
		"0,1,0,0,0,0/0,0,0,0,4,1 30-10 S 0 40": +1,
		"0,1,0,0,0,0/0,0,0,0,4,1 10-30 S 0 40": -1,
		"4,0,0,0,1,0/0,1,0,0,0,0 10-30 N 0 40": +1,
		"4,0,0,0,1,0/0,1,0,0,0,0 30-10 N 0 40": -1,
		"4,0,0,0,1,0/0,1,0,0,0,0 20-20 N 0 40": 0,
	} {
		b := batch(r, []mancala.State{state(t, r, text)}, []uint64{3})
		if err := agents.NewRollout(r).Evaluate(b); err != nil {
			t.Fatal(err)
		}
		if b.Value[0] != want {
			t.Errorf("%s: value %v, want %v", text, b.Value[0], want)
		}
	}
}

// TestRolloutMeanIsTheValueOfRandomPlay compares with random games played by Random: 4,000 of each from one
// position, whose outcomes have a standard deviation below 1, so the means differ by less than 0.1.
func TestRolloutMeanIsTheValueOfRandomPlay(t *testing.T) {
	for _, spec := range []string{"modiar", "hoyito2"} {
		r := rules(t, spec)
		root := walk(r, 1)[10]
		const n = 4000
		states, seeds := slices.Repeat([]mancala.State{root}, n), make([]uint64, n)
		for i := range seeds {
			seeds[i] = uint64(i)
		}
		b := batch(r, states, seeds)
		if err := agents.NewRollout(r).Evaluate(b); err != nil {
			t.Fatal(err)
		}
		random := agents.NewSingle(agents.NewRandom(r))
		c := rand.New(rand.NewPCG(9, 9))
		var rollouts, games float64
		for i := range n {
			rollouts += float64(b.Value[i])
			s := root
			for !s.Over() {
				a, err := random.Act(s, c.Uint64())
				if err != nil {
					t.Fatal(err)
				}
				s = r.Next(s, a)
			}
			games += float64(s.Returns()[root.Mover()])
		}
		if d := (rollouts - games) / n; d < -0.1 || d > 0.1 {
			t.Errorf("%s: mean of rollouts %.3f, of games %.3f", spec, rollouts/n, games/n)
		}
	}
}

// endless is a variant that never ends.
type endless struct{ mancala.Rules }

func (endless) Legal(mancala.State) mancala.Mask { return 3 }

func (endless) Next(s mancala.State, _ mancala.Action) mancala.State { return s }

func TestRolloutGivesUpAtItsLimit(t *testing.T) {
	r := endless{rules(t, "omweso")}
	b := batch(r, []mancala.State{r.Start()}, []uint64{1})
	if err := agents.NewRollout(r).Evaluate(b); err != nil || b.Value[0] != 0 {
		t.Errorf("value %v, %v; want 0", b.Value[0], err)
	}
}

func TestActAndEvaluateAllocateNothing(t *testing.T) {
	for _, spec := range specs() {
		r := rules(t, spec)
		states := walk(r, 1)
		states = states[:min(len(states), 16)]
		seeds, actions := make([]uint64, len(states)), make([]mancala.Action, len(states))
		for name, a := range map[string]agents.Agent{
			"random":    agents.NewRandom(r),
			"greedy":    agents.NewGreedy(r),
			"evaluator": agents.FromEvaluator(r, agents.NewUniform(r)),
			"searcher":  agents.FromSearcher(r, last{r}),
		} {
			if n := testing.AllocsPerRun(10, func() {
				if err := a.Act(states, seeds, actions); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s: %s: %v allocations", spec, name, n)
			}
		}
		b := batch(r, states, seeds)
		for name, e := range map[string]agents.Evaluator{"uniform": agents.NewUniform(r), "rollout": agents.NewRollout(r)} {
			if n := testing.AllocsPerRun(10, func() {
				if err := e.Evaluate(b); err != nil {
					t.Fatal(err)
				}
			}); n != 0 {
				t.Errorf("%s: %s: %v allocations", spec, name, n)
			}
		}
	}
}

// BenchmarkRollout plays random games from the start to the end.
func BenchmarkRollout(b *testing.B) {
	for _, spec := range mancala.Variants() {
		b.Run(spec, func(b *testing.B) {
			r := rules(b, spec)
			const n = 64
			states, seeds := slices.Repeat([]mancala.State{r.Start()}, n), make([]uint64, n)
			q := batch(r, states, seeds)
			e := agents.NewRollout(r)
			b.ReportAllocs()
			began := clock.Spent()
			for b.Loop() {
				for i := range seeds {
					seeds[i]++
				}
				if err := e.Evaluate(q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(n*b.N)/(clock.Spent()-began).Seconds(), "rollouts/s")
		})
	}
}
