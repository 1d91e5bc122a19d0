package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/datasets"
)

// unreadable is the error of a path that is not a dataset.
func unreadable(c *cobra.Command, err error) error {
	return fmt.Errorf("%s: %s: want a Parquet file or a dataset directory", name(c), strings.TrimPrefix(err.Error(), "datasets: "))
}

const pathHelp = `A PATH is a Parquet file or a dataset directory, which holds Parquet files under variant=FAMILY/.`

func dataCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "data",
		Short:   "Check and describe datasets",
		Example: "  mancala data verify runs/first\n  mancala data stats runs/first",
	}
	c.AddCommand(verifyCommand(), statsCommand())
	return c
}

func verifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify PATH…",
		Short: "Replay every row of a dataset through the rules",
		Long: `Replay every row of datasets through the rules and compare every column, and check the files' checksums, versions and metadata.
A fault is told as FILE: game G ply N: column: got … want …; the exit status is then 1. The last line for each PATH counts.

` + pathHelp,
		Example: "  mancala data verify runs/first",
		Args:    somePaths(),
		RunE: func(c *cobra.Command, args []string) error {
			bad := 0
			for _, path := range args {
				r, err := datasets.Verify(c.Context(), path)
				if c.Context().Err() != nil {
					return errors.New("data verify: stopped before the end")
				}
				if err != nil {
					return unreadable(c, err)
				}
				tell(c.OutOrStdout(), r)
				fmt.Fprintf(c.OutOrStdout(), "%s: %v\n", path, r)
				bad += r.Bad
			}
			if bad > 0 {
				return fmt.Errorf("data verify: %d bad, told above: want 0", bad)
			}
			return nil
		},
	}
}

func statsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "stats PATH…",
		Short: "Count the games, plies, results and endings of a dataset",
		Long: `Describe datasets: games, distinct games, results, endings, lengths, branching. The figures are exact counts and means of what is
there, not estimates.

` + pathHelp,
		Example: "  mancala data stats runs/first\n  mancala data stats --json games.parquet",
		Args:    somePaths(),
		RunE: func(c *cobra.Command, args []string) error {
			for i, path := range args {
				s, err := datasets.Statistics(c.Context(), path)
				if c.Context().Err() != nil {
					return errors.New("data stats: stopped before the end")
				}
				if err != nil {
					return unreadable(c, err)
				}
				switch {
				case asJSON:
					err = printJSON(c.OutOrStdout(), s)
				case i > 0:
					fmt.Fprintln(c.OutOrStdout())
					fallthrough
				default:
					fmt.Fprintf(c.OutOrStdout(), "%s: %d %s, %d games, %d plies\n", path, s.Files, datasets.Plural(s.Files, "file"), s.Games, s.Plies)
					err = s.Print(c.OutOrStdout())
				}
				if err != nil {
					return err
				}
			}
			return nil
		},
	}
	jsonFlag(c, &asJSON, "a JSON object for each PATH")
	return c
}
