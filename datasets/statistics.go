package datasets

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Summary describes the episodes of a file or a dataset. All figures are exact counts and means of what is
// there, not estimates.
type Summary struct {
	Path     string           `json:"path"`
	Files    int              `json:"files"`
	Games    int              `json:"games"`
	Plies    int              `json:"plies"`
	Variants []VariantSummary `json:"variants"` // in the order of their specs
}

// VariantSummary describes the episodes of one variant.
type VariantSummary struct {
	Spec      string         `json:"spec"`
	Games     int            `json:"games"`
	Distinct  int            `json:"distinct"` // games, by their actions
	Plies     int            `json:"plies"`
	Searched  int            `json:"searched"` // plies that have a policy target
	South     int            `json:"south"`    // games won
	North     int            `json:"north"`    // games won
	Drawn     int            `json:"drawn"`    // not counting the annulled
	Annulled  int            `json:"annulled"`
	Truncated int            `json:"truncated"`    // games without a result
	Reasons   map[string]int `json:"reasons"`      // games by the reason of their end
	Mean      float64        `json:"mean_plies"`   // of a game
	Deviation float64        `json:"sd_plies"`     // standard deviation of the same
	Median    float64        `json:"median_plies"` // of the same
	Shortest  int            `json:"min_plies"`
	Longest   int            `json:"max_plies"`
	Branching float64        `json:"branching"` // mean number of legal actions
}

// Statistics reads all episodes of a file or a dataset and describes them.
func Statistics(ctx context.Context, path string) (*Summary, error) {
	files, err := Files(path)
	if err != nil {
		return nil, err
	}
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	tallies := map[string]*tally{}
	for e, err := range r.Episodes() {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return nil, err
		}
		t := tallies[e.Spec]
		if t == nil {
			t = &tally{VariantSummary: VariantSummary{Spec: e.Spec, Reasons: map[string]int{}}, games: map[[16]byte]struct{}{}}
			tallies[e.Spec] = t
		}
		t.add(e)
	}
	s := &Summary{Path: path, Files: len(files), Variants: []VariantSummary{}}
	for _, spec := range slices.Sorted(maps.Keys(tallies)) {
		v := tallies[spec].finish()
		s.Games += v.Games
		s.Plies += v.Plies
		s.Variants = append(s.Variants, v)
	}
	return s, nil
}

// tally counts the episodes of one variant.
type tally struct {
	VariantSummary
	games   map[[16]byte]struct{} // hashes of action sequences
	lengths []int
	legal   int
	actions []byte
}

func (t *tally) add(e *env.Episode) {
	t.actions = t.actions[:0]
	for i := range e.Plies {
		p := &e.Plies[i]
		t.actions = append(t.actions, byte(p.Action))
		t.legal += p.Legal.Len()
		if p.Policy != nil {
			t.Searched++
		}
	}
	sum := sha256.Sum256(t.actions)
	t.games[[16]byte(sum[:])] = struct{}{}
	t.lengths = append(t.lengths, len(e.Plies))
	switch {
	case e.Truncated:
		t.Truncated++
		return
	case e.Final.Reason() == mancala.Endless:
		t.Annulled++
	case e.Final.Winner() == mancala.South:
		t.South++
	case e.Final.Winner() == mancala.North:
		t.North++
	default:
		t.Drawn++
	}
	t.Reasons[e.Final.Reason().String()]++
}

func (t *tally) finish() VariantSummary {
	v := t.VariantSummary
	slices.Sort(t.lengths)
	v.Games, v.Distinct = len(t.lengths), len(t.games)
	v.Shortest, v.Longest = t.lengths[0], t.lengths[v.Games-1]
	v.Median = float64(t.lengths[(v.Games-1)/2]+t.lengths[v.Games/2]) / 2
	for _, n := range t.lengths {
		v.Plies += n
	}
	v.Mean = float64(v.Plies) / float64(v.Games)
	for _, n := range t.lengths {
		v.Deviation += (float64(n) - v.Mean) * (float64(n) - v.Mean)
	}
	v.Deviation = math.Sqrt(v.Deviation / float64(v.Games))
	v.Branching = float64(t.legal) / float64(v.Plies)
	return v
}

// Print writes a table with one column a variant.
func (s *Summary) Print(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(name string, value func(v *VariantSummary) any) {
		fmt.Fprint(t, name)
		for i := range s.Variants {
			fmt.Fprintf(t, "\t%v", value(&s.Variants[i]))
		}
		fmt.Fprintln(t)
	}
	share := func(n int, v *VariantSummary) string {
		return fmt.Sprintf("%d (%.1f %%)", n, 100*float64(n)/float64(v.Games))
	}
	line("variant", func(v *VariantSummary) any { return v.Spec })
	line("games", func(v *VariantSummary) any { return v.Games })
	line("distinct games", func(v *VariantSummary) any { return share(v.Distinct, v) })
	line("South wins", func(v *VariantSummary) any { return share(v.South, v) })
	line("North wins", func(v *VariantSummary) any { return share(v.North, v) })
	line("drawn", func(v *VariantSummary) any { return share(v.Drawn, v) })
	line("annulled", func(v *VariantSummary) any { return share(v.Annulled, v) })
	line("truncated", func(v *VariantSummary) any { return share(v.Truncated, v) })
	line("ended by", func(v *VariantSummary) any {
		var b []string
		for _, r := range slices.Sorted(maps.Keys(v.Reasons)) {
			b = append(b, fmt.Sprintf("%s %d", r, v.Reasons[r]))
		}
		return strings.Join(b, ", ")
	})
	line("plies", func(v *VariantSummary) any { return v.Plies })
	line("plies with a policy", func(v *VariantSummary) any { return v.Searched })
	line("plies a game, mean", func(v *VariantSummary) any { return fmt.Sprintf("%.2f", v.Mean) })
	line("  standard deviation", func(v *VariantSummary) any { return fmt.Sprintf("%.2f", v.Deviation) })
	line("  median", func(v *VariantSummary) any { return v.Median })
	line("  range", func(v *VariantSummary) any { return fmt.Sprintf("%d … %d", v.Shortest, v.Longest) })
	line("branching factor", func(v *VariantSummary) any { return fmt.Sprintf("%.3f", v.Branching) })
	return t.Flush()
}
