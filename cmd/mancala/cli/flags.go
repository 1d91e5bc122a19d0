package cli

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mancalagym/mancalagym/agents/catalog"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// The most that flags take.
const (
	maxGames   = 10_000_000
	maxPlies   = 1_000_000
	maxOpening = 1000
	maxWorkers = 1024
)

// allowed says what a flag takes.
func allowed(f *pflag.Flag) string {
	if v, ok := f.Value.(interface{ allowed() string }); ok {
		return v.allowed()
	}
	if f.Value.Type() == "bool" {
		return "true or false"
	}
	return strings.ReplaceAll(f.Usage, "`", "")
}

// number is a flag for a whole number from lo to hi.
type number struct {
	value  *int
	lo, hi int
	even   bool
}

func (n *number) String() string {
	if n.value == nil {
		return ""
	}
	return strconv.Itoa(*n.value)
}

func (n *number) Type() string { return "N" }

func (n *number) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil || v < n.lo || v > n.hi || n.even && v%2 != 0 {
		return fmt.Errorf("want %s", n.allowed())
	}
	*n.value = v
	return nil
}

func (n *number) allowed() string {
	kind := "a whole"
	if n.even {
		kind = "an even"
	}
	return fmt.Sprintf("%s number from %d to %d", kind, n.lo, n.hi)
}

// seed is a flag for the source of all chance.
type seed uint64

func (s *seed) String() string { return strconv.FormatUint(uint64(*s), 10) }
func (s *seed) Type() string   { return "N" }
func (s *seed) allowed() string {
	return "a whole number from 0 to 18446744073709551615"
}

func (s *seed) Set(text string) error {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return fmt.Errorf("want %s", s.allowed())
	}
	*s = seed(v)
	return nil
}

// choice is a flag for one of some words.
type choice struct {
	value *string
	words []string
}

func (c *choice) String() string {
	if c.value == nil {
		return ""
	}
	return *c.value
}

func (c *choice) Type() string    { return strings.Join(c.words, "|") }
func (c *choice) allowed() string { return strings.Join(c.words, " or ") }

func (c *choice) Set(text string) error {
	if !slices.Contains(c.words, text) {
		return fmt.Errorf("want %s", c.allowed())
	}
	*c.value = text
	return nil
}

// span is a flag for a duration from lo to hi.
type span struct {
	value  *time.Duration
	lo, hi time.Duration
}

func (s *span) String() string {
	if s.value == nil || *s.value == 0 {
		return ""
	}
	return s.value.String()
}

func (s *span) Type() string { return "DURATION" }
func (s *span) allowed() string {
	return fmt.Sprintf("a duration from %v to %v, such as %v", s.lo, s.hi, 3*s.lo)
}

func (s *span) Set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil || v < s.lo || v > s.hi {
		return fmt.Errorf("want %s", s.allowed())
	}
	*s.value = v
	return nil
}

// numberFlag adds a flag for a number; what is in value is the default.
func numberFlag(c *cobra.Command, value *int, name string, lo, hi int, usage string) {
	c.Flags().Var(&number{value: value, lo: lo, hi: hi}, name, usage)
}

func seedFlag(c *cobra.Command, value *seed) {
	*value = 1
	c.Flags().Var(value, "seed", "source of all chance: the same seed gives the same result")
}

func workersFlag(c *cobra.Command, value *int) {
	*value = min(runtime.GOMAXPROCS(0), maxWorkers)
	numberFlag(c, value, "workers", 1, maxWorkers, "goroutines that play; they change nothing but the time")
}

func jsonFlag(c *cobra.Command, value *bool, what string) {
	c.Flags().BoolVar(value, "json", false, "print "+what+" instead of text")
}

// arguments returns a check for at least so many arguments of the given name, and at most so many; most < 0 is no bound.
func arguments(least, most int, what, want string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return wrong("%s: %s is missing: want %s", name(c), what, want)
		case most >= 0 && len(args) > most:
			return wrong("%s: argument %q: want %s", name(c), args[most], want)
		}
		return nil
	}
}

// oneSpec is the check of a command that takes a variant.
func oneSpec() cobra.PositionalArgs {
	return arguments(1, 1, "SPEC", "one variant of "+strings.Join(mancala.Variants(), ", ")+", with options as in urim:pits=7, and flags")
}

// somePaths is the check of a command that takes datasets.
func somePaths() cobra.PositionalArgs {
	return arguments(1, -1, "PATH", "a Parquet file or a dataset directory")
}

// completeSpec offers the families to a shell.
func completeSpec(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return mancala.Variants(), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeWords offers words to a shell.
func completeWords(words ...string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return words, cobra.ShellCompDirectiveNoFileComp
	}
}

// parseSpec returns the rules of a spec.
func parseSpec(spec string) (mancala.Rules, error) {
	r, err := mancala.Parse(spec)
	if err != nil {
		return nil, misuse{err}
	}
	return r, nil
}

// parseAgent returns the agent of a flag's text.
func parseAgent(flag, text string, r mancala.Rules) (catalog.Entry, error) {
	e, err := catalog.Parse(text, r)
	if err != nil {
		return e, blame(err, fmt.Errorf("--%s: %s", flag, strings.TrimPrefix(err.Error(), "catalog: ")))
	}
	return e, nil
}

// blame makes told a wrong call, unless its cause is an agent's file that cannot be used.
func blame(cause, told error) error {
	if errors.As(cause, new(catalog.FileError)) {
		return told
	}
	return misuse{told}
}

// agentHelp lists the kinds of agents.
func agentHelp() string {
	var b strings.Builder
	b.WriteString("Agents:\n")
	for _, k := range catalog.Kinds() {
		fmt.Fprintf(&b, "  %-8s %s\n", k.Name, k.About)
		for _, key := range k.Keys {
			def := ""
			if key.Default != "" {
				def = " (" + key.Default + ")"
			}
			fmt.Fprintf(&b, "  %-8s   %s=%s%s\n", "", key.Name, key.Allowed, def)
		}
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// agentNames lists the kinds of agents for a shell.
func agentNames() []string {
	var names []string
	for _, k := range catalog.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// complete offers words for a flag to a shell.
func complete(c *cobra.Command, flag string, words ...string) {
	if err := c.RegisterFlagCompletionFunc(flag, completeWords(words...)); err != nil {
		panic(err) // there is no such flag: a mistake in this program
	}
}
