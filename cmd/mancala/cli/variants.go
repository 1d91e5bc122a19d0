package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// variant is a family as "variants --json" prints it.
type variant struct {
	Family  string   `json:"family"`
	Version int      `json:"rules_version"`
	Rows    int      `json:"rows"`
	Pits    int      `json:"pits"` // of one player
	Seeds   int      `json:"seeds"`
	Actions int      `json:"actions"`
	Quiet   int      `json:"quiet"`
	Reasons []string `json:"reasons"` // why a game may end
	Options []choose `json:"options"`
}

// choose is an option.
type choose struct {
	Name    string `json:"name"`
	Allowed string `json:"allowed"`
	Default string `json:"default"`
}

func variantsCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "variants",
		Short: "List the variants and their options",
		Long: `List the families of variants with their boards and their options.

A spec is a family, or a family with options: urim:pits=7,seeds=4. The numbers are those of the default options.`,
		Example: "  mancala variants\n  mancala variants --json",
		Args:    arguments(0, 0, "", "flags only"),
		RunE: func(c *cobra.Command, _ []string) error {
			list, err := variants()
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(c.OutOrStdout(), list)
			}
			return printVariants(c.OutOrStdout(), list)
		},
	}
	jsonFlag(c, &asJSON, "a JSON array, one object a family,")
	return c
}

func variants() ([]variant, error) {
	var list []variant
	for _, name := range mancala.Variants() {
		r, err := mancala.Parse(name)
		if err != nil {
			return nil, err
		}
		i := r.Info()
		v := variant{
			Family: i.Family, Version: i.Version, Rows: i.Rows, Pits: i.Pits,
			Seeds: i.Seeds, Actions: i.Actions, Quiet: i.Quiet, Options: []choose{},
		}
		for _, why := range i.Reasons {
			v.Reasons = append(v.Reasons, why.String())
		}
		for _, o := range mancala.Options(name) {
			v.Options = append(v.Options, choose{o.Name, o.Allowed, o.Default})
		}
		list = append(list, v)
	}
	return list, nil
}

func printVariants(w io.Writer, list []variant) error {
	for i, v := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "%s: %d rows, %d pits a player, %d seeds, %d actions; rules version %d\n",
			v.Family, v.Rows, v.Pits, v.Seeds, v.Actions, v.Version)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		for _, o := range v.Options {
			fmt.Fprintf(t, "  %s\t%s\tdefault %s\n", o.Name, o.Allowed, o.Default)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// printJSON writes a value as indented JSON.
func printJSON(w io.Writer, value any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
