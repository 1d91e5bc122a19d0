package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/catalog"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

const human = "human"

// errLeft ends a game that a person leaves.
var errLeft = errors.New("left")

func playCommand() *cobra.Command {
	var (
		names  = [2]string{human, "greedy"}
		random seed
		limit  limits
	)
	c := &cobra.Command{
		Use:   "play SPEC",
		Short: "Play a game in the terminal",
		Long: `Play a game in the terminal, a person or an agent on each side. The board is shown at every ply, North on top; a person
types the number of an action. The end of input (Ctrl-D) leaves the game.

With two agents the seed of an exported game gives that game again.

` + agentHelp() + "\n  human    asks a person",
		Example: "  mancala play oware\n" +
			"  mancala play urim:pits=7 --south mcts:sims=200 --north human\n" +
			"  mancala play modiar --south random --north greedy --seed 7",
		Args:              oneSpec(),
		ValidArgsFunction: completeSpec,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := parseSpec(args[0])
			if err != nil {
				return err
			}
			t := &table{
				pairing: pairing{rules: r, opening: limit.opening, maxPlies: limit.most(c, r)},
				out:     c.OutOrStdout(),
			}
			t.ask = reader(c.InOrStdin())
			for i, flag := range []string{"south", "north"} {
				if names[i] == human {
					t.agents[i] = catalog.Entry{Name: human}
					continue
				}
				if t.agents[i], err = parseAgent(flag, names[i], r); err != nil {
					if !strings.Contains(names[i], ":") {
						err = fmt.Errorf("%w, %s", err, human)
					}
					return err
				}
				if t.players[i], err = t.agents[i].New(); err != nil {
					return err
				}
			}
			return t.play(c.Context(), uint64(random))
		},
	}
	f := c.Flags()
	f.StringVar(&names[0], "south", names[0], "`AGENT` or human that plays South, who moves first")
	f.StringVar(&names[1], "north", names[1], "`AGENT` or human that plays North")
	seedFlag(c, &random)
	limit.flags(c, "random plies at the start")
	complete(c, "south", append(agentNames(), human)...)
	complete(c, "north", append(agentNames(), human)...)
	return c
}

// table is where a game is played.
type table struct {
	pairing
	players [2]agents.Agent // nil for a person
	out     io.Writer
	ask     func(ctx context.Context) (string, error)
}

// play shows a game to its end, or until a person leaves.
func (t *table) play(ctx context.Context, seed uint64) error {
	g, err := t.start(seed, 0)
	if err != nil {
		return err
	}
	fmt.Fprintf(t.out, "South is %s, North is %s; seed %d\n", g.Agents[0], g.Agents[1], seed)
	for {
		var last *env.Ply
		if n := len(g.Plies); n > 0 {
			last = &g.Plies[n-1]
		}
		if _, err := fmt.Fprintf(t.out, "\n%s", env.Text(t.rules, g.state, last)); err != nil {
			return err
		}
		if g.ended() {
			break
		}
		a, err := t.choose(ctx, g)
		if errors.Is(err, errLeft) {
			_, err = fmt.Fprintf(t.out, "\nThe game is left at ply %d; it has no result.\n", g.state.Ply())
			return err
		}
		if err != nil {
			return err
		}
		g.play(a)
	}
	_, err = fmt.Fprintln(t.out, t.result(g))
	return err
}

// choose returns the next action, of an agent or a person.
func (t *table) choose(ctx context.Context, g *game) (mancala.Action, error) {
	mover := g.state.Mover()
	chance := g.chance.Uint64()
	if player := t.players[mover]; player != nil {
		if ctx.Err() != nil {
			return 0, errLeft
		}
		var action [1]mancala.Action
		err := act(t.rules, t.agents[mover].Name, player, []mancala.State{g.state}, []uint64{chance}, action[:])
		return action[0], err
	}
	legal := t.rules.Legal(g.state)
	for {
		if _, err := fmt.Fprintf(t.out, "%v, your action: ", mover); err != nil {
			return 0, err
		}
		text, err := t.ask(ctx)
		if err != nil {
			return 0, err
		}
		n, err := strconv.ParseUint(text, 10, 8)
		if err == nil && legal.Has(mancala.Action(n)) {
			return mancala.Action(n), nil
		}
		fmt.Fprintf(t.out, "%q is not legal here: want one of %s\n", clip(text), list(legal))
	}
}

// result is the last line of a game.
func (t *table) result(g *game) string {
	if g.Truncated {
		return fmt.Sprintf("Truncated after %d plies: no result.", len(g.Plies))
	}
	returns, points := g.state.Returns(), t.rules.Points(g.state)
	return fmt.Sprintf("Result: South %+d, North %+d; reason %v; match points South %d, North %d; %d plies.",
		returns[0], returns[1], g.state.Reason(), points[0], points[1], len(g.Plies))
}

// reader returns a function that gives the next line of r without the spaces around it, and errLeft at the end of r and of the
// context. What is typed before it is asked for waits.
func reader(r io.Reader) func(ctx context.Context) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer)
	begin := func() {
		lines := bufio.NewScanner(r)
		for lines.Scan() {
			answers <- answer{text: strings.TrimSpace(lines.Text())}
		}
		err := lines.Err()
		if err == nil {
			err = errLeft
		} else {
			err = fmt.Errorf("standard input: %w", err)
		}
		answers <- answer{err: err}
	}
	began := false
	return func(ctx context.Context) (string, error) {
		if !began {
			began = true
			go begin()
		}
		select {
		case a := <-answers:
			return a.text, a.err
		case <-ctx.Done():
			return "", errLeft
		}
	}
}

// clip keeps an answer to one short line.
func clip(text string) string {
	if r := []rune(text); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return text
}

// list writes a set of actions as "0, 2, 5".
func list(m mancala.Mask) string {
	var words []string
	for a := range m.All {
		words = append(words, strconv.Itoa(int(a)))
	}
	return strings.Join(words, ", ")
}
