package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/env/envtest"
)

// maxDepth is beyond what can be counted in a lifetime.
const maxDepth = 30

func perftCommand() *cobra.Command {
	depth := 6
	c := &cobra.Command{
		Use:   "perft SPEC",
		Short: "Count the action sequences of each length from the start",
		Long: `Count the action sequences of exactly 1, 2, … plies from the start of a variant, one line "d nodes" a depth. A game that ended
earlier counts nothing. The counts are a fingerprint of the rules, to be compared with other programs.`,
		Example:           "  mancala perft urim --depth 6",
		Args:              oneSpec(),
		ValidArgsFunction: completeSpec,
		RunE: func(c *cobra.Command, args []string) error {
			r, err := parseSpec(args[0])
			if err != nil {
				return err
			}
			for d := 1; d <= depth; d++ {
				counted := make(chan uint64, 1)
				go func() { counted <- envtest.Perft(r, d)[d-1] }()
				select {
				case n := <-counted:
					fmt.Fprintf(c.OutOrStdout(), "%d %d\n", d, n)
				case <-c.Context().Done():
					return fmt.Errorf("perft: stopped at depth %d of %d", d, depth)
				}
			}
			return nil
		},
	}
	numberFlag(c, &depth, "depth", 1, maxDepth, "plies to count to")
	return c
}
