package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/minimax"
	"github.com/mancalagym/mancalagym/agents/tablebase"
	"github.com/mancalagym/mancalagym/env/mancala"
)

func analyzeCommand() *cobra.Command {
	var (
		a               analysis
		position, from  string
		table, agent    string
		endless, regret bool
		longest         bool
		asJSON          bool
		random          seed
		e               exam
		limit           limits
	)
	c := &cobra.Command{
		Use:   "analyze SPEC --position TEXT",
		Short: "Tell what each action of a position is worth, and how good an agent is",
		Long: `Tell what each legal action of a position is worth to the mover, best first.

With --table the values are exact: the store difference the mover still makes with the action and best play after it, and the
plies to the next capture or to the end ("round" where play goes round for ever). An asterisk marks values that an endless turn
could change. With --agent they are what the search of a minimax, mcts, net or table agent says, on its own scale.

With --positions the positions of a file are taken, one a line, "-" for standard input; --json prints a line for each:
{"position":…,"value":…,"actions":{"3":-1,…}}, with null for an action whose turn has no end.

With --line best play from the position is shown, of equal actions the lowest, with the seeds that each takes from the board; and
--longest takes the position of the table from which the next capture is farthest away.

With --endless the actions are listed whose turn has no end.

With --regret the moves of an agent are held against a table, in its games against itself and at random positions, one from each
of --samples random games. Positions count in which at least one action loses something and no endless turn is of use. Three
figures come with 95 % intervals: the share of moves that change the outcome (won, drawn, lost) under perfect play, the share
that lose seeds, and the mean loss of store difference.

` + agentHelp(),
		Example: "  mancala analyze modiar --table modiar.table --position '7,7,7/7,7,7 0-0 S 0 0'\n" +
			"  mancala analyze urim --table urim15.table --positions positions.txt --json\n" +
			"  mancala analyze oware --agent minimax:depth=12 --position '4,4,4,4,4,4/4,4,4,4,4,4 0-0 S 0 0'\n" +
			"  mancala analyze omweso --endless --position '0,1,1,0,0,0,0,0,0,0,0,0,0,3,2,1/0,0,0,2,0,0,2,0,0,3,0,0,0,0,0,0 - N sny 1 6'\n" +
			"  mancala analyze modiar --regret --agent minimax:depth=6 --table modiar.table",
		Args:              oneSpec(),
		ValidArgsFunction: completeSpec,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := parseSpec(args[0])
			if err != nil {
				return err
			}
			given := func(names ...string) (list []string) {
				for _, name := range names {
					if c.Flags().Changed(name) {
						list = append(list, "--"+name)
					}
				}
				return list
			}
			if regret {
				if list := given("position", "positions", "longest", "endless", "line"); list != nil {
					return wrong("%s: not with --regret: want --regret --agent AGENT --table FILE", list[0])
				}
				if agent == "" || table == "" {
					return wrong("--regret: want an --agent and a --table to hold it against")
				}
				if e.agent, err = parseAgent("agent", agent, r); err != nil {
					return err
				}
				if e.table, err = openTable("table", table, r); err != nil {
					return err
				}
				defer e.table.Close()
				e.rules, e.seed, e.limit = r, uint64(random), limit
				return e.run(c, asJSON)
			}
			if list := given("games", "samples", "opening-plies", "max-plies", "workers"); list != nil {
				return wrong("%s: only with --regret", list[0])
			}
			if len(given("position", "positions", "longest")) != 1 {
				return wrong("--position, --positions, --longest: want one of them, or --regret")
			}
			if len(given("table", "agent", "endless")) != 1 {
				return wrong("--table, --agent, --endless: want one of them")
			}
			if list := given("longest", "line"); list != nil && table == "" {
				return wrong("%s: want a --table", list[0])
			}
			if list := given("line"); list != nil && asJSON {
				return wrong("--line: not with --json: want one of them")
			}
			a.rules, a.seed, a.json, a.endless = r, uint64(random), asJSON, endless
			switch {
			case table != "":
				if a.table, err = openTable("table", table, r); err != nil {
					return err
				}
				defer a.table.Close()
			case agent != "":
				if err := a.use(agent); err != nil {
					return err
				}
			case r.Info().Laps == 0:
				return wrong("--endless: %s: every turn ends: want a variant with relays", args[0])
			}
			a.out = bufio.NewWriter(c.OutOrStdout())
			switch {
			case longest:
				s := a.table.Longest()
				err = a.tell(s, mancala.FormatState(r, s))
			case from != "":
				return a.file(c.Context(), from, c.InOrStdin())
			default:
				s, err := mancala.ParseState(r, position)
				if err != nil {
					return wrong("--position: %s", strings.TrimPrefix(err.Error(), "mancala: "))
				}
				if err := a.tell(s, position); err != nil {
					return fmt.Errorf("--position: %w", err)
				}
			}
			return errors.Join(err, a.out.Flush())
		},
	}
	f := c.Flags()
	f.StringVar(&position, "position", "", "position `TEXT` to analyze")
	f.StringVar(&from, "positions", "", "`FILE` with a position text a line, or - for standard input")
	f.StringVar(&table, "table", "", "`FILE` of mancala solve with exact values")
	f.StringVar(&agent, "agent", "", "`AGENT` whose search gives the values, or whose regret is measured")
	f.BoolVar(&a.line, "line", false, "show best play")
	f.BoolVar(&longest, "longest", false, "analyze the position of the table with the largest distance")
	f.BoolVar(&endless, "endless", false, "list the actions whose turn has no end")
	f.BoolVar(&regret, "regret", false, "measure how much an agent gives away")
	e.flags(c)
	limit.flags(c, "random plies at the start of each game of --regret (default: by the variant)")
	seedFlag(c, &random)
	jsonFlag(c, &asJSON, "a JSON object a line")
	complete(c, "agent", agentNames()...)
	return c
}

// analysis tells of positions.
type analysis struct {
	rules   mancala.Rules
	table   *tablebase.Table
	agent   agents.Agent
	name    string // of the agent
	seed    uint64
	endless bool
	json    bool
	line    bool
	out     *bufio.Writer
	told    int

	room   []tablebase.Choice
	result *agents.Result
}

// use prepares an agent that has values to tell.
func (a *analysis) use(text string) error {
	e, err := parseAgent("agent", text, a.rules)
	if err != nil {
		return err
	}
	if a.agent, err = e.New(); err != nil {
		return fmt.Errorf("--agent: %w", err)
	}
	switch x := a.agent.(type) {
	case *tablebase.Agent:
		a.table, a.agent = x.Table(), nil
	case *minimax.Agent, agents.Searcher:
	default:
		return wrong("--agent %q: has no values to tell: want minimax, mcts, net with simulations, or table", text)
	}
	a.name = e.Name
	return nil
}

// file tells of the positions of a file.
func (a *analysis) file(ctx context.Context, path string, stdin io.Reader) error {
	in := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return fmt.Errorf("--positions: %w", err)
		}
		defer f.Close()
		in = f
	}
	lines := bufio.NewScanner(in)
	for n := 1; lines.Scan(); n++ {
		if ctx.Err() != nil {
			a.out.Flush()
			return fmt.Errorf("analyze: stopped before line %d", n)
		}
		s, err := mancala.ParseState(a.rules, lines.Text())
		if err == nil {
			err = a.tell(s, lines.Text())
		}
		if err != nil {
			a.out.Flush()
			return fmt.Errorf("--positions: %s:%d: %s", path, n, strings.TrimPrefix(err.Error(), "mancala: "))
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("--positions: %s: %w", path, err)
	}
	return a.out.Flush()
}

// worth is what is told of an action.
type worth struct {
	action  mancala.Action
	endless bool // there is no value
	value   float64
	note    string
}

// tell tells of one position.
func (a *analysis) tell(s mancala.State, text string) error {
	if a.endless {
		return a.tellEndless(s, text)
	}
	value, list, err := a.values(s)
	if err != nil {
		return err
	}
	if a.json {
		return a.jsonLine(text, value, list)
	}
	if a.told++; a.told > 1 {
		fmt.Fprintln(a.out)
	}
	fmt.Fprintln(a.out, text)
	what := "exact value"
	if a.table == nil {
		what = "value by " + a.name
	}
	fmt.Fprintf(a.out, "%s %s for %v", what, signed(value), s.Mover())
	if a.table != nil && !s.Over() {
		total := s.Store(s.Mover()) - s.Store(s.Mover().Opponent()) + int(value)
		fmt.Fprintf(a.out, "; with the stores %s, %s", signed(float64(total)), [...]string{"lost", "drawn", "won"}[compare(total)+1])
	}
	fmt.Fprintln(a.out)
	if len(list) == 0 {
		fmt.Fprintln(a.out, "no legal action")
		return nil
	}
	slices.SortStableFunc(list, func(x, y worth) int {
		switch {
		case x.endless != y.endless:
			return map[bool]int{true: 1, false: -1}[x.endless]
		case x.value > y.value:
			return -1
		case x.value < y.value:
			return 1
		}
		return 0
	})
	w := tabwriter.NewWriter(a.out, 0, 0, 2, ' ', 0)
	for _, x := range list {
		if x.endless {
			fmt.Fprintf(w, "  %d\tendless\t%s\n", x.action, x.note)
		} else {
			fmt.Fprintf(w, "  %d\t%s\t%s\n", x.action, signed(x.value), x.note)
		}
	}
	if err := w.Flush(); err != nil || !a.line {
		return err
	}
	fmt.Fprintln(a.out, "best play:"+a.play(s))
	return nil
}

// play is best play from s to the end, as text: "N1x6" for North's action 1 that takes six seeds from the board.
func (a *analysis) play(s mancala.State) string {
	var b strings.Builder
	for _, action := range a.table.Line(s) {
		p := s.Position()
		p.Quiet = 0
		s = p.State()
		next := a.rules.Next(s, action)
		fmt.Fprintf(&b, " %c%d", s.Mover().String()[0], action)
		if taken := s.OnBoard(mancala.South) + s.OnBoard(mancala.North) - next.OnBoard(mancala.South) - next.OnBoard(mancala.North); taken > 0 {
			fmt.Fprintf(&b, "x%d", taken)
		}
		s = next
	}
	return b.String()
}

// compare is −1, 0 or 1.
func compare(n int) int { return min(max(n, -1), 1) }

// signed writes a value with its sign: whole numbers whole, others to three places.
func signed(v float64) string {
	if v == float64(int(v)) {
		return fmt.Sprintf("%+d", int(v))
	}
	return fmt.Sprintf("%+.3f", v)
}

// jsonLine prints a position as JSON.
func (a *analysis) jsonLine(text string, value float64, list []worth) error {
	quoted, err := json.Marshal(text)
	if err != nil {
		return err
	}
	b := append([]byte(`{"position":`), quoted...)
	b = append(b, `,"value":`...)
	b = strconv.AppendFloat(b, value, 'g', 6, 64)
	b = append(b, `,"actions":{`...)
	for i, x := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendUint(b, uint64(x.action), 10)
		b = append(b, `":`...)
		if x.endless {
			b = append(b, "null"...)
		} else {
			b = strconv.AppendFloat(b, x.value, 'g', 6, 64)
		}
	}
	_, err = a.out.Write(append(b, "}}\n"...))
	return err
}

// values returns what a position and its actions are worth to the mover, in ascending order of actions.
func (a *analysis) values(s mancala.State) (value float64, list []worth, err error) {
	switch x := a.agent.(type) {
	case nil:
		return a.exact(s)
	case *minimax.Agent:
		return a.lookahead(x, s)
	case agents.Searcher:
		return a.search(x, s)
	}
	return 0, nil, nil
}

func (a *analysis) exact(s mancala.State) (float64, []worth, error) {
	e, known := a.table.Lookup(s)
	var ok bool
	if a.room, ok = a.table.Choices(s, a.room[:0]); !ok {
		return 0, nil, fmt.Errorf("%d seeds on the board: the table knows at most %d", s.OnBoard(mancala.South)+s.OnBoard(mancala.North), a.table.Seeds())
	}
	if !known {
		e = tablebase.Best(a.room)
	}
	list := make([]worth, 0, 8)
	for _, c := range a.room {
		note := fmt.Sprintf("%d plies", c.Distance)
		switch c.Distance {
		case tablebase.Never:
			note = "round"
		case 1:
			note = "1 ply"
		}
		if c.Marked {
			note += " *"
		}
		if c.Endless {
			note = ""
		}
		list = append(list, worth{c.Action, c.Endless, float64(c.Value), note})
	}
	return float64(e.Value), list, nil
}

// lookahead asks minimax about the position after each action.
func (a *analysis) lookahead(m *minimax.Agent, s mancala.State) (value float64, list []worth, err error) {
	for action := range a.rules.Legal(s).All {
		next := a.rules.Next(s, action)
		var v int
		note := ""
		if next.Over() {
			v = minimax.Win * next.Returns()[s.Mover()]
			if a.rules.Info().Stores && v != 0 {
				v += next.Store(s.Mover()) - next.Store(s.Mover().Opponent())
			}
		} else {
			x, err := m.Analyze(next)
			if err != nil {
				return 0, nil, err
			}
			if v = x.Value; next.Mover() != s.Mover() {
				v = -v
			}
			note = fmt.Sprintf("%d plies", x.Depth+1)
		}
		if len(list) == 0 || float64(v) > value {
			value = float64(v)
		}
		list = append(list, worth{action, next.Reason() == mancala.Endless, float64(v), note})
	}
	return value, list, nil
}

// search asks a tree search.
func (a *analysis) search(m agents.Searcher, s mancala.State) (float64, []worth, error) {
	legal := a.rules.Legal(s)
	if legal == 0 {
		return 0, nil, nil
	}
	n := a.rules.Info().Actions
	if a.result == nil {
		a.result = agents.NewResult(1, n)
	}
	if err := m.Search([]mancala.State{s}, []uint64{a.seed}, a.result); err != nil {
		return 0, nil, err
	}
	var list []worth
	for action := range legal.All {
		list = append(list, worth{action, false, float64(a.result.Q[action]), fmt.Sprintf("%d visits", a.result.Visits[action])})
	}
	return float64(a.result.Value[0]), list, nil
}

// How a turn ends.
const (
	ends    = iota // whatever its choices
	depends        // on the choices within it
	endless        // whatever its choices
	unknown        // there are too many choices to look at
)

// mostChoices bounds the choices looked at within a turn.
const mostChoices = 1 << 14

// ending follows all choices within the turn that begins with an action. left is how many may still be looked at.
func ending(r mancala.Rules, s mancala.State, action mancala.Action, left *int) int {
	next := r.Next(s, action)
	if next.Reason() == mancala.Endless {
		return endless
	}
	if next.Over() || next.Hand() == (mancala.Hand{}) || next.Hand().Flags&mancala.HandArranging != 0 {
		return ends
	}
	found := -1
	for a := range r.Legal(next).All {
		if *left--; *left < 0 {
			return unknown
		}
		switch e := ending(r, next, a, left); {
		case e == unknown:
			return unknown
		case found < 0:
			found = e
		case e != found:
			found = depends
		}
	}
	return max(found, ends)
}

// tellEndless lists the actions whose turn has no end.
func (a *analysis) tellEndless(s mancala.State, text string) error {
	found := map[int][]int{}
	for action := range a.rules.Legal(s).All {
		left := mostChoices
		e := ending(a.rules, s, action, &left)
		found[e] = append(found[e], int(action))
	}
	if a.json {
		e := json.NewEncoder(a.out)
		e.SetEscapeHTML(false)
		list := func(kind int) []int { return append([]int{}, found[kind]...) }
		return e.Encode(struct {
			Position string `json:"position"`
			Endless  []int  `json:"endless"`
			Depends  []int  `json:"depends"`
			Unknown  []int  `json:"unknown"`
		}{text, list(endless), list(depends), list(unknown)})
	}
	if a.told++; a.told > 1 {
		fmt.Fprintln(a.out)
	}
	fmt.Fprintln(a.out, text)
	for _, line := range []struct {
		kind int
		text string
	}{
		{endless, "without end: "}, {depends, "without end by some of the choices within the turn: "},
		{unknown, "too many choices to tell: "}, {ends, "with an end: "},
	} {
		if list := found[line.kind]; list != nil {
			fmt.Fprintln(a.out, "  "+line.text+strings.Trim(strings.ReplaceAll(fmt.Sprint(list), " ", ", "), "[]"))
		}
	}
	return nil
}
