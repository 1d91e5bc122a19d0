// Package catalog makes agents from text: random, minimax:depth=8, mcts:sims=400, net:weights=runs/a/best,sims=64. It is the one place that
// knows all kinds.
package catalog

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/mcts"
	"github.com/mancalagym/mancalagym/agents/minimax"
	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/agents/tablebase"
	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Entry is an agent ready to be made, one a goroutine.
type Entry struct {
	Name string // canonical text: keys in the order of the kind; of the defaults only depth and sims
	New  func() (agents.Agent, error)
}

// Kind describes one kind of agent, for people.
type Kind struct {
	Name, About string
	Keys        []Key
}

// Key describes one key of a kind.
type Key struct {
	Name    string
	Allowed string // for example "1–1048576" or "puct, gumbel"
	Default string // "" for a key that must be given

	words  []string
	free   bool // may be left out
	lo, hi int
}

var kinds = []Kind{
	{Name: "random", About: "plays every legal action with the same probability"},
	{Name: "greedy", About: "captures the most now; ties at random"},
	{
		Name: "minimax", About: "alpha-beta: the best against the best reply, depth plies ahead",
		Keys: []Key{
			number("depth", 1, minimax.MaxDepth, "8"),
			number("nodes", 0, math.MaxInt32, "0"),
			number("tt", 1, minimax.MaxTableMB, "16"),
			tableKey,
		},
	},
	{
		Name: "mcts", About: "tree search without a network",
		Keys: []Key{
			number("sims", 1, mcts.MaxSimulations, "100"),
			choice("search", mcts.UCT, mcts.PUCT, mcts.Gumbel),
			choice("eval", "rollout", "uniform"),
			tableKey,
		},
	},
	{
		Name: "net", About: "a trained network, alone (sims=0) or with tree search",
		Keys: []Key{
			{Name: "weights", Allowed: "a weights file"},
			number("sims", 0, mcts.MaxSimulations, "64"),
			choice("search", mcts.PUCT, mcts.Gumbel),
			tableKey,
		},
	},
	{
		Name: "table", About: "plays perfectly what a table of mancala solve knows; else alpha-beta that probes it",
		Keys: []Key{
			{Name: "path", Allowed: "a table file"},
			number("depth", 1, minimax.MaxDepth, "8"),
		},
	},
}

// tableKey names a table that a search probes.
var tableKey = Key{Name: "table", Allowed: "a table file", free: true}

func number(name string, lo, hi int, def string) Key {
	return Key{Name: name, Allowed: fmt.Sprintf("%d–%d", lo, hi), Default: def, lo: lo, hi: hi}
}

func choice(name string, words ...string) Key {
	return Key{Name: name, Allowed: strings.Join(words, " or "), Default: words[0], words: words}
}

// FileError is the error of Parse for a file that cannot be used whatever the variant: missing, damaged or foreign.
type FileError struct{ error }

func (e FileError) Unwrap() error { return e.error }

// Kinds returns the kinds of agents there are. The list is the caller's.
func Kinds() []Kind {
	list := slices.Clone(kinds)
	for i := range list {
		list[i].Keys = slices.Clone(list[i].Keys)
	}
	return list
}

// Parse returns the agent of a text, kind or kind:key=value,key=value, for the variant of r. Weights are
// read and matched with the variant here, once. The error of an unknown kind, key or value says what is allowed.
func Parse(text string, r mancala.Rules) (Entry, error) {
	name, list, listed := strings.Cut(text, ":")
	i := slices.IndexFunc(kinds, func(k Kind) bool { return k.Name == name })
	if i < 0 {
		var names []string
		for _, k := range kinds {
			names = append(names, k.Name)
		}
		return Entry{}, fmt.Errorf("catalog: agent %q: want one of %s", text, strings.Join(names, ", "))
	}
	values, err := kinds[i].parse(list, listed)
	if err != nil {
		return Entry{}, fmt.Errorf("catalog: agent %q: %w", text, err)
	}
	e := Entry{Name: kinds[i].text(values)}
	switch name {
	case "random":
		e.New = func() (agents.Agent, error) { return agents.NewRandom(r), nil }
	case "greedy":
		e.New = func() (agents.Agent, error) { return agents.NewGreedy(r), nil }
	case "minimax":
		e.New, err = lookahead(r, values)
	case "mcts":
		e.New, err = search(r, values, 0, func() (agents.Evaluator, error) {
			if values["eval"] == "uniform" {
				return agents.NewUniform(r), nil
			}
			return agents.NewRollout(r), nil
		})
	case "net":
		e.New, err = net(r, values)
	case "table":
		e.New, err = table(r, values)
	}
	if err != nil {
		return Entry{}, fmt.Errorf("catalog: agent %q: %w", text, err)
	}
	return e, nil
}

// lookahead returns the maker of a minimax.
func lookahead(r mancala.Rules, values map[string]string) (func() (agents.Agent, error), error) {
	c := minimax.Default()
	c.Depth, _ = strconv.Atoi(values["depth"])
	c.TableMB, _ = strconv.Atoi(values["tt"])
	c.Nodes, _ = strconv.ParseUint(values["nodes"], 10, 64)
	var err error
	if c.Prober, err = prober(r, values); err != nil {
		return nil, err
	}
	return func() (agents.Agent, error) {
		a, err := minimax.New(r, c)
		if err != nil {
			return nil, err
		}
		return a, nil
	}, c.Validate()
}

// openTable opens a table for the variant of r.
func openTable(path string, r mancala.Rules) (*tablebase.Table, error) {
	t, err := tablebase.Open(path, r)
	if err != nil && !errors.Is(err, tablebase.ErrVariant) {
		err = FileError{err}
	}
	return t, err
}

// prober returns the table that the key table names, nil if it is not given.
func prober(r mancala.Rules, values map[string]string) (agents.Prober, error) {
	if values["table"] == "" {
		return nil, nil
	}
	t, err := openTable(values["table"], r)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// table returns the maker of an agent that plays from a table, which all of them share, and beyond it looks ahead.
func table(r mancala.Rules, values map[string]string) (func() (agents.Agent, error), error) {
	t, err := openTable(values["path"], r)
	if err != nil {
		return nil, err
	}
	c := minimax.Default()
	c.Depth, _ = strconv.Atoi(values["depth"])
	c.Prober = t
	return func() (agents.Agent, error) {
		if t.Seeds() == r.Info().Seeds {
			return tablebase.NewAgent(t, nil)
		}
		beyond, err := minimax.New(r, c)
		if err != nil {
			return nil, err
		}
		return tablebase.NewAgent(t, beyond)
	}, nil
}

// Net returns the agent that plays the network of h with PUCT, sims simulations a move, for a caller that holds the
// network in memory.
func Net(name string, r mancala.Rules, h *neural.Holder, sims int) (Entry, error) {
	maker, err := netSearch(r, h, map[string]string{"sims": strconv.Itoa(sims), "search": mcts.PUCT})
	return Entry{Name: name, New: maker}, err
}

func net(r mancala.Rules, values map[string]string) (func() (agents.Agent, error), error) {
	w, err := neural.Load(values["weights"])
	if err != nil {
		return nil, FileError{err}
	}
	n, err := neural.NewNetwork(w)
	if err != nil {
		return nil, err
	}
	return netSearch(r, neural.NewHolder(n), values)
}

func netSearch(r mancala.Rules, h *neural.Holder, values map[string]string) (func() (agents.Agent, error), error) {
	enc, err := encode.New(h.Network().Meta().Encoder, r.Info())
	if err != nil {
		return nil, err
	}
	evaluator := func() (agents.Evaluator, error) { return neural.NewEvaluator(h, r.Info(), enc) }
	if _, err := evaluator(); err != nil {
		return nil, err
	}
	if values["sims"] == "0" && values["table"] != "" {
		return nil, fmt.Errorf("table: sims is 0: want 1 or more to probe it")
	}
	if values["sims"] == "0" {
		return func() (agents.Agent, error) {
			e, err := evaluator()
			if err != nil {
				return nil, err
			}
			return agents.FromEvaluator(r, e), nil
		}, nil
	}
	return search(r, values, h.Network().Meta().Margin, evaluator)
}

// search returns the maker of a tree search for match play: no noise at the root.
func search(r mancala.Rules, values map[string]string, margin float64, evaluator func() (agents.Evaluator, error)) (func() (agents.Agent, error), error) {
	c := mcts.Default()
	c.Algorithm = values["search"]
	c.Simulations, _ = strconv.Atoi(values["sims"])
	c.GumbelScale = 0
	c.Margin = margin
	var err error
	if c.Prober, err = prober(r, values); err != nil {
		return nil, err
	}
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return func() (agents.Agent, error) {
		e, err := evaluator()
		if err != nil {
			return nil, err
		}
		s, err := mcts.New(r, e, c)
		if err != nil {
			return nil, err
		}
		return searching{mcts.NewAgent(s), s}, nil
	}, nil
}

// searching is an Agent that also tells what it thinks of the actions.
type searching struct {
	agents.Agent
	agents.Searcher
}

func (k *Kind) parse(list string, listed bool) (map[string]string, error) {
	values := map[string]string{}
	if listed && list == "" {
		return nil, fmt.Errorf("empty list of keys: want key=value, or no colon")
	}
	for _, item := range strings.Split(list, ",") {
		if !listed {
			break
		}
		name, value, _ := strings.Cut(item, "=")
		i := slices.IndexFunc(k.Keys, func(key Key) bool { return key.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("key %q: %s has %s", name, k.Name, k.keys())
		}
		if _, twice := values[name]; twice {
			return nil, fmt.Errorf("key %s given twice: want it once", name)
		}
		if !k.Keys[i].accepts(value) {
			return nil, fmt.Errorf("%s %q: want %s", name, value, k.Keys[i].Allowed)
		}
		values[name] = value
	}
	for _, key := range k.Keys {
		if _, ok := values[key.Name]; ok {
			continue
		}
		if key.Default == "" && !key.free {
			return nil, fmt.Errorf("%s is missing: want %s=%s", key.Name, key.Name, key.Allowed)
		}
		values[key.Name] = key.Default
	}
	return values, nil
}

func (k *Kind) keys() string {
	if len(k.Keys) == 0 {
		return "no keys"
	}
	var names []string
	for _, key := range k.Keys {
		names = append(names, key.Name)
	}
	return strings.Join(names, ", ")
}

// text prints the values in the order of the kind: how far the agent looks, and what is not at its default.
func (k *Kind) text(values map[string]string) string {
	var list []string
	for _, key := range k.Keys {
		if v := values[key.Name]; v != key.Default || key.Name == "sims" || key.Name == "depth" {
			list = append(list, key.Name+"="+v)
		}
	}
	if list == nil {
		return k.Name
	}
	return k.Name + ":" + strings.Join(list, ",")
}

func (k *Key) accepts(value string) bool {
	switch {
	case k.words != nil:
		return slices.Contains(k.words, value)
	case k.Default == "": // a file
		return value != ""
	}
	n, err := strconv.Atoi(value)
	return err == nil && strconv.Itoa(n) == value && k.lo <= n && n <= k.hi
}
