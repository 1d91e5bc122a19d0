package cli

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/mancalagym/mancalagym/agents/arena"
	"github.com/mancalagym/mancalagym/agents/catalog"
	"github.com/mancalagym/mancalagym/agents/tablebase"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/progress"
)

// streamSample, plus the number of a sample, is the stream of rand.NewPCG(seed, stream) of its random game and place in it.
const streamSample = 0x73616d706c65 << 16

// exam holds the moves of an agent against a table.
type exam struct {
	rules                   mancala.Rules
	agent                   catalog.Entry
	table                   *tablebase.Table
	seed                    uint64
	limit                   limits
	games, samples, workers int
}

func (e *exam) flags(c *cobra.Command) {
	e.games, e.samples = 100, 1000
	numberFlag(c, &e.games, "games", 1, maxGames, "games of the agent against itself for --regret")
	numberFlag(c, &e.samples, "samples", 1, maxGames, "random games to take a position from for --regret")
	workersFlag(c, &e.workers)
}

// measured is a figure with its 95 % interval.
type measured struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// regrets is what was found in a number of games.
type regrets struct {
	Games     int      `json:"games"`     // with a position that counts
	Positions int      `json:"positions"` // that count
	Turned    measured `json:"turned"`    // share of moves that change the outcome
	Loss      measured `json:"loss"`      // seeds a move
	Wrong     measured `json:"wrong"`     // share of moves that lose anything
}

// ledger gathers verdicts by game: those of one game are not independent.
type ledger struct {
	n, turned, loss, wrong []float64 // by game
}

func (l *ledger) open() {
	l.n, l.turned, l.loss, l.wrong = append(l.n, 0), append(l.turned, 0), append(l.loss, 0), append(l.wrong, 0)
}

func (l *ledger) add(v tablebase.Verdict) {
	i := len(l.n) - 1
	l.n[i]++
	l.loss[i] += float64(v.Loss)
	if v.Turned {
		l.turned[i]++
	}
	if v.Loss > 0 {
		l.wrong[i]++
	}
}

func (l *ledger) close() {
	if i := len(l.n) - 1; l.n[i] == 0 {
		l.n, l.turned, l.loss, l.wrong = l.n[:i], l.turned[:i], l.loss[:i], l.wrong[:i]
	}
}

// sum is all there is, of a table of so many seeds.
func (l *ledger) sum(seeds int) regrets {
	r := regrets{Games: len(l.n), Turned: ratio(l.turned, l.n, 1), Loss: ratio(l.loss, l.n, float64(2*seeds)), Wrong: ratio(l.wrong, l.n, 1)}
	for _, n := range l.n {
		r.Positions += int(n)
	}
	return r
}

// ratio is the sum of x over the sum of n, where each of the n is at most most, with the interval of a ratio of sums over G independent
// games: Student's t times the root of Σ(x − p n)² G/(G−1) / (Σn)². If there was no case at all, a case was in at most a share of
// 1 − 0.05^(1/G).
func ratio(x, n []float64, most float64) (m measured) {
	games := float64(len(n))
	var sum, all float64
	for i := range n {
		sum, all = sum+x[i], all+n[i]
	}
	if all == 0 {
		return m
	}
	m.Value = sum / all
	m.Low, m.High = 0, most
	if games < 2 {
		return m
	}
	var square float64
	for i := range n {
		d := x[i] - m.Value*n[i]
		square += d * d
	}
	width := distuv.StudentsT{Sigma: 1, Nu: games - 1}.Quantile(0.975) * math.Sqrt(square*games/(games-1)) / all
	none := 1 - math.Pow(0.05, 1/games)
	m.Low, m.High = max(m.Value-width, 0), min(m.Value+width, most)
	if sum == 0 {
		m.High = none * most
	}
	if sum == all*most {
		m.Low = (1 - none) * most
	}
	return m
}

// run measures and reports.
func (e *exam) run(c *cobra.Command, asJSON bool) error {
	plies := e.limit.most(c, e.rules)
	if !c.Flags().Changed("opening-plies") {
		e.limit.opening = arena.Default(e.rules).OpeningPlies
	}
	bar := progress.New(c.ErrOrStderr(), "regret", "games", e.games+e.samples)
	defer bar.Close()
	own := &judging{exam: e}
	p := &pairing{rules: e.rules, agents: [2]catalog.Entry{e.agent, e.agent}, opening: e.limit.opening, maxPlies: plies}
	if _, err := p.record(c.Context(), e.seed, e.games, e.workers, own, bar.Set); err != nil {
		return e.stopped(c, err)
	}
	random, err := e.random(c.Context(), func(done int) { bar.Set(e.games + done) })
	if err != nil {
		return e.stopped(c, err)
	}
	bar.Close()
	if asJSON {
		return printJSON(c.OutOrStdout(), struct {
			Spec   string  `json:"spec"`
			Agent  string  `json:"agent"`
			Seeds  int     `json:"table_seeds"`
			Seed   uint64  `json:"seed"`
			Own    regrets `json:"own"`
			Random regrets `json:"random"`
		}{e.rules.Info().Spec, e.agent.Name, e.table.Seeds(), e.seed, own.ledger.sum(e.table.Seeds()), random.sum(e.table.Seeds())})
	}
	return e.print(c.OutOrStdout(), own.ledger.sum(e.table.Seeds()), random.sum(e.table.Seeds()))
}

func (e *exam) stopped(c *cobra.Command, err error) error {
	if interrupted(c, err) {
		return fmt.Errorf("analyze: stopped before the last game")
	}
	return fmt.Errorf("analyze: %w", err)
}

func (e *exam) print(out io.Writer, own, random regrets) error {
	fmt.Fprintf(out, "%s: %s against perfect play, at most %d seeds on the board, seed %d\n",
		e.rules.Info().Spec, e.agent.Name, e.table.Seeds(), e.seed)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "\tgames\tpositions\tchange the outcome, %\tlose seeds, %\tseeds lost a move")
	for _, x := range []struct {
		name string
		regrets
	}{{"own games", own}, {"random positions", random}} {
		fmt.Fprintf(w, "%s\t%d\t%d\t%s\t%s\t%s\n", x.name, x.Games, x.Positions, x.Turned.text(100), x.Wrong.text(100), x.Loss.text(1))
	}
	return w.Flush()
}

// text writes a figure and its interval.
func (m measured) text(factor float64) string {
	return fmt.Sprintf("%.2f (%.2f – %.2f)", m.Value*factor, m.Low*factor, m.High*factor)
}

// judging is a sink that judges the moves of agents.
type judging struct {
	exam   *exam
	ledger ledger
}

// Write implements env.Sink.
func (j *judging) Write(e *env.Episode) error {
	j.ledger.open()
	defer j.ledger.close()
	for i := range e.Plies {
		p := &e.Plies[i]
		if p.Opening {
			continue
		}
		v, ok, err := j.exam.table.Judge(p.State, p.Action)
		if err != nil {
			return err
		}
		if ok {
			j.ledger.add(v)
		}
	}
	return nil
}

// random judges the agent at a random position of each of many random games.
func (e *exam) random(ctx context.Context, told func(done int)) (*ledger, error) {
	const batch = 64
	var l ledger
	n := (e.samples + batch - 1) / batch
	parts := make([][]tablebase.Verdict, n)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(e.workers)
	done := make(chan int, n)
	for i := range n {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			var err error
			parts[i], err = e.batch(i*batch, min(batch, e.samples-i*batch))
			done <- i
			told(min(len(done)*batch, e.samples))
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	for _, part := range parts {
		for _, v := range part {
			l.open()
			l.add(v)
		}
	}
	return &l, nil
}

// batch judges samples first … first+n−1.
func (e *exam) batch(first, n int) ([]tablebase.Verdict, error) {
	agent, err := e.agent.New()
	if err != nil {
		return nil, err
	}
	var states []mancala.State
	var seeds []uint64
	for i := range n {
		p := rand.New(rand.NewPCG(e.seed, streamSample+uint64(first+i)))
		if s, ok, err := e.sample(p); err != nil {
			return nil, err
		} else if ok {
			states, seeds = append(states, s), append(seeds, p.Uint64())
		}
	}
	actions := make([]mancala.Action, len(states))
	if err := act(e.rules, e.agent.Name, agent, states, seeds, actions); err != nil {
		return nil, err
	}
	list := make([]tablebase.Verdict, 0, len(states))
	for i, s := range states {
		v, _, err := e.table.Judge(s, actions[i])
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// sample plays a random game and returns one of its positions that count, each with the same probability. There may be none.
func (e *exam) sample(p *rand.Rand) (chosen mancala.State, ok bool, err error) {
	found := 0
	s := e.rules.Start()
	for range 10_000 {
		legal := e.rules.Legal(s)
		if legal == 0 {
			break
		}
		a := legal.Nth(p.IntN(legal.Len()))
		_, counts, err := e.table.Judge(s, a)
		if err != nil {
			return s, false, err
		}
		if counts {
			if found++; p.IntN(found) == 0 {
				chosen = s
			}
		}
		s = e.rules.Next(s, a)
	}
	return chosen, found > 0, nil
}
