package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/agents/tablebase"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/progress"
)

// maxTableMemory bounds --memory, in MB.
const maxTableMemory = 1 << 20

func solveCommand() *cobra.Command {
	var (
		seeds, workers int
		memory         = tablebase.DefaultMemory >> 20
		out, verify    string
		force, asJSON  bool
	)
	c := &cobra.Command{
		Use:   "solve SPEC --out FILE",
		Short: "Build the table of exact values of all positions with few seeds",
		Long: `Build the exact value of every position of a two-row variant with at most --max-seeds seeds on the board: the best store
difference the mover can still make, with the distance to the next capture. Play that goes round for ever counts 0 for the
seeds left (cycle=split); a quiet limit is not looked at. An estimate comes first.

FILE appears whole or not at all. Finished levels wait in FILE.part: the same command goes on after the last of them, even if
the program was killed. FILE is the same at any number of workers. What exists is not replaced without --force.

With --verify nothing is built: every position of the given file is checked against its actions, which proves the values.

At the end there is a line for each number of seeds: positions, how many are won, drawn and lost for the mover, how many of the
drawn go round for ever, how many are marked because an endless turn could be of use, the largest distance, and within how
many plies without a capture all values are decided.`,
		Example: "  mancala solve modiar --out modiar.table\n" +
			"  mancala solve urim --max-seeds 15 --out urim15.table\n" +
			"  mancala solve --verify modiar.table",
		Args: func(c *cobra.Command, args []string) error {
			if verify != "" {
				return arguments(0, 0, "", "--verify FILE alone: the file says of which variant it is")(c, args)
			}
			return oneSpec()(c, args)
		},
		ValidArgsFunction: completeSpec,
		RunE: func(c *cobra.Command, args []string) error {
			if verify != "" {
				return verifyTable(c, verify, workers, asJSON)
			}
			r, err := parseSpec(args[0])
			if err != nil {
				return err
			}
			if out == "" {
				return wrong("--out is missing: want a path for the table")
			}
			if seeds == 0 {
				seeds = tablebase.DefaultSeeds(r)
			}
			o := tablebase.Options{Workers: workers, Memory: int64(memory) << 20}
			plan, err := tablebase.NewPlan(r, seeds, o)
			if err != nil {
				return wrong("%s", strings.TrimPrefix(err.Error(), "tablebase: "))
			}
			if err := free(out, force); err != nil {
				return unwritable(out, err)
			}
			return buildTable(c, r, plan, out, o, asJSON)
		},
	}
	f := c.Flags()
	numberFlag(c, &seeds, "max-seeds", 1, 63, "most seeds on the board (default: the most with 20 million positions)")
	f.StringVar(&out, "out", "", "`FILE` to write the table to")
	f.StringVar(&verify, "verify", "", "`FILE` to check instead")
	f.BoolVar(&force, "force", false, "replace what exists at FILE")
	numberFlag(c, &memory, "memory", 1, maxTableMemory, "MB to keep to, as far as the least that is needed allows; less takes longer")
	workersFlag(c, &workers)
	jsonFlag(c, &asJSON, "a JSON object")
	return c
}

func buildTable(c *cobra.Command, r mancala.Rules, plan tablebase.Plan, out string, o tablebase.Options, asJSON bool) error {
	errs := c.ErrOrStderr()
	fmt.Fprintf(errs, "solve: %s, at most %d seeds on the board: %d positions; about %s of memory, %s of disk while it works, a file of %s, %v\n",
		plan.Spec, plan.Seeds, plan.Positions, size(plan.Memory), size(plan.Disk), size(plan.File), roughly(plan.Time))
	if plan.Warning != "" {
		fmt.Fprintln(errs, "solve: warning: "+plan.Warning)
	}
	bar := progress.New(errs, "solve", "steps", 2*plan.Positions)
	o.Told = func(p tablebase.Progress) { bar.Set(p.Done) }
	levels, err := tablebase.Solve(c.Context(), r, plan.Seeds, out, o)
	bar.Close()
	if interrupted(c, err) {
		return fmt.Errorf("solve: stopped: the finished levels are in %s: the same command goes on from there", tablebase.Parts(out))
	}
	if err != nil {
		return fmt.Errorf("solve: %s", strings.TrimPrefix(err.Error(), "tablebase: "))
	}
	return tellLevels(c.OutOrStdout(), plan.Spec, r.Info(), levels, asJSON)
}

// roughly is a duration with one or two digits.
func roughly(d time.Duration) time.Duration {
	switch {
	case d > 10*time.Minute:
		return d.Round(time.Minute)
	case d > time.Minute:
		return d.Round(10 * time.Second)
	case d > 10*time.Second:
		return d.Round(5 * time.Second)
	}
	return d.Round(time.Second)
}

// size is a number of bytes for people.
func size(n int64) string {
	switch {
	case n >= 10e9:
		return fmt.Sprintf("%.0f GB", float64(n)/1e9)
	case n >= 1e9:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f kB", float64(n)/1e3)
}

// openTable opens the table of a flag for the variant of r; nil takes it from the file.
func openTable(flag, path string, r mancala.Rules) (*tablebase.Table, error) {
	t, err := tablebase.Open(path, r)
	if err == nil {
		return t, nil
	}
	told := fmt.Errorf("--%s: %s", flag, strings.TrimPrefix(err.Error(), "tablebase: "))
	if errors.Is(err, tablebase.ErrVariant) {
		return nil, misuse{told}
	}
	return nil, told
}

func verifyTable(c *cobra.Command, path string, workers int, asJSON bool) error {
	t, err := openTable("verify", path, nil)
	if err != nil {
		return err
	}
	defer t.Close()
	all := 0
	for _, l := range t.Levels() {
		all += l.Positions
	}
	bar := progress.New(c.ErrOrStderr(), "verify", "positions", all)
	err = t.Verify(c.Context(), workers, bar.Set)
	bar.Close()
	if err != nil {
		return fmt.Errorf("--verify: %s: %s", path, strings.TrimPrefix(err.Error(), "tablebase: "))
	}
	if asJSON {
		return printLevels(c.OutOrStdout(), t.Spec(), t.Rules().Info(), t.Levels(), true)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %s, at most %d seeds on the board: all %d positions satisfy their equations\n", path, t.Spec(), t.Seeds(), all)
	return nil
}

// tellLevels reports on a table that has been built.
func tellLevels(w io.Writer, spec string, info mancala.Info, levels []tablebase.Level, asJSON bool) error {
	if err := printLevels(w, spec, info, levels, asJSON); err != nil || asJSON {
		return err
	}
	longest := levels[0]
	for _, l := range levels {
		if l.Quiet > longest.Quiet {
			longest = l
		}
	}
	var err error
	if longest.Quiet > info.Quiet {
		_, err = fmt.Fprintf(w, "With %d seeds a value may take %d plies without a capture: the quiet limit of %d can cut play off before.\n",
			longest.Seeds, longest.Quiet, info.Quiet)
	} else {
		_, err = fmt.Fprintf(w, "No value takes more than %d plies without a capture: the quiet limit of %d, counted from 0, changes none.\n",
			longest.Quiet, info.Quiet)
	}
	return err
}

func printLevels(w io.Writer, spec string, info mancala.Info, levels []tablebase.Level, asJSON bool) error {
	if asJSON {
		return printJSON(w, struct {
			Spec    string            `json:"spec"`
			Version int               `json:"rules_version"`
			Levels  []tablebase.Level `json:"levels"` // of 0, 1, … seeds
		}{spec, info.Version, levels})
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "seeds\tpositions\twon\tdrawn\tlost\tround\tmarked\tlongest\tquiet\t")
	for _, l := range levels {
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", l.Seeds, l.Positions, l.Won, l.Drawn, l.Lost, l.Round, l.Marked, l.Longest, l.Quiet)
	}
	return t.Flush()
}
