// Package cli is the program mancala: one file a subcommand.
//
// Every error is one line on standard error that begins with "mancala: ", names what is wrong and says what is allowed. The exit
// status is 0 for success, 2 for a wrong call and 1 for any other failure. Standard output carries results only; progress goes to
// standard error.
package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// commands lists the subcommands.
func commands() []*cobra.Command {
	return []*cobra.Command{
		variantsCommand(),
		playCommand(),
		exportCommand(),
		trainCommand(),
		tournamentCommand(),
		modelCommand(),
		solveCommand(),
		analyzeCommand(),
		dataCommand(),
		replayCommand(),
		perftCommand(),
		benchCommand(),
	}
}

// Main runs the program with the arguments and streams of the process, and ends the process. An interrupt or a request to
// terminate ends long work cleanly with what there is; a second one ends the process.
func Main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// Run runs the program and returns its exit status.
func Run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	out := &checked{Writer: stdout}
	root := program()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if out.err != nil {
		err = failure{fmt.Errorf("standard output: %w", out.err)}
	}
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "mancala: %s\n", line(err))
	if errors.As(err, new(failure)) {
		return 1
	}
	return 2
}

// program returns the root command.
func program() *cobra.Command {
	root := &cobra.Command{
		Use:   "mancala",
		Short: "Play, record and measure games of the mancala family",
		Long: `Mancala plays the games of the mancala family exactly: urim, modiar, hoyito2, omweso and oware.

A variant is given by its spec, a family with options: urim, or urim:pits=7,seeds=4; "mancala variants" lists them.
An agent is given by its text: random, greedy or mcts:sims=400; "mancala play --help" lists them.`,
		Example:       "  mancala play oware --north mcts:sims=400",
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.AddCommand(commands()...)
	group(root)
	root.InitDefaultCompletionCmd()
	root.SetHelpCommand(helpCommand())
	root.SetFlagErrorFunc(flagError)
	for _, c := range root.Commands() {
		judge(c)
		if c.HasSubCommands() {
			group(c)
		}
	}
	return root
}

// version is that of the module the program was built from, "(devel)" for a working tree.
func version() string {
	if b, ok := debug.ReadBuildInfo(); ok {
		return b.Main.Version
	}
	return "unknown"
}

// failure is an error that is not the caller's fault: exit status 1.
type failure struct{ error }

func (f failure) Unwrap() error { return f.error }

// misuse is a wrong call: exit status 2.
type misuse struct{ error }

func (m misuse) Unwrap() error { return m.error }

// wrong returns the error of a wrong call.
func wrong(format string, args ...any) error { return misuse{fmt.Errorf(format, args...)} }

// interrupted reports whether the error says that the command was asked to stop.
func interrupted(c *cobra.Command, err error) bool {
	stop := c.Context().Err()
	return stop != nil && errors.Is(err, stop)
}

// judge makes failures of the errors of a command at work, unless they are wrong calls. Those found
// before it is at work are wrong calls all.
func judge(c *cobra.Command) {
	if work := c.RunE; work != nil {
		c.RunE = func(c *cobra.Command, args []string) error {
			err := work(c, args)
			if err == nil || errors.As(err, new(misuse)) {
				return err
			}
			return failure{err}
		}
	}
	for _, sub := range c.Commands() {
		judge(sub)
	}
}

// group makes c a command that needs one of its subcommands.
func group(c *cobra.Command) {
	c.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return wrong("%s: no command: want one of %s; --help tells more", name(c), subcommands(c))
		}
		return wrong("%s: command %q: want one of %s", name(c), args[0], subcommands(c))
	}
	c.RunE = func(*cobra.Command, []string) error { return nil }
}

// name is the command as it is called, without the program: "data stats".
func name(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
}

func subcommands(c *cobra.Command) string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return strings.Join(names, ", ")
}

func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]",
		Short:   "Tell about a command",
		Example: "  mancala help export",
		RunE: func(c *cobra.Command, args []string) error {
			target, rest, err := c.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return wrong("help: command %q: want one of %s", strings.Join(args, " "), subcommands(c.Root()))
			}
			target.InitDefaultHelpFlag()
			return target.Help()
		},
	}
}

// flagError says of a wrong flag what is allowed.
func flagError(c *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		empty   *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		flag := "--" + unknown.GetSpecifiedName()
		if short := unknown.GetSpecifiedShortnames(); short != "" {
			flag = "-" + short
		}
		return wrong("%s: flag %s: want one of %s", name(c), flag, flags(c))
	case errors.As(err, &empty):
		return wrong("--%s: no value: want %s", empty.GetFlag().Name, allowed(empty.GetFlag()))
	case errors.As(err, &invalid):
		return wrong("--%s %q: want %s", invalid.GetFlag().Name, invalid.GetValue(), allowed(invalid.GetFlag()))
	}
	return misuse{err}
}

func flags(c *cobra.Command) string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return strings.Join(names, ", ")
}

// line is the text of an error in one line. The kernel's errors begin with the program's own name.
func line(err error) string {
	text := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, err.Error())
	return strings.TrimPrefix(text, "mancala: ")
}

// checked remembers the first error of a writer: no result is lost in silence.
type checked struct {
	io.Writer
	err error
}

func (w *checked) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}
