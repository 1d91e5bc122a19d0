package datasets

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/mancalagym/mancalagym/env"
)

// Report is what Verify found.
type Report struct {
	Path   string   `json:"path"`
	Files  int      `json:"files"`
	Games  int      `json:"games"`
	Plies  int      `json:"plies"`
	Bad    int      `json:"bad"`    // faults found
	Faults []string `json:"faults"` // the first 100 of them
}

const faultsKept = 100

// OK reports whether nothing is wrong.
func (r *Report) OK() bool { return r.Bad == 0 }

// String is the summary line: "F files, G games, P plies, B bad".
func (r *Report) String() string {
	return fmt.Sprintf("%d %s, %d games, %d plies, %d bad", r.Files, Plural(r.Files, "file"), r.Games, r.Plies, r.Bad)
}

func (r *Report) add(format string, args ...any) {
	if r.Bad++; len(r.Faults) < faultsKept {
		r.Faults = append(r.Faults, fmt.Sprintf(format, args...))
	}
}

// Verify replays every row of a file or a dataset directory through the rules, and compares every column with what the rules
// say: position, legal actions, rewards, end and result. It looks at the sums and ranges of what searches said, that plies
// are in order and complete, that no two games of a variant have the same number, seed and agents, that the directory
// variant=FAMILY is the right one, and that nothing was lost between the writer and the file. A fault reads "file: game G ply N:
// column: got … want …". A damaged or foreign file is a fault too; the error is for a path that cannot be listed, and for the
// end of ctx, with the report so far.
func Verify(ctx context.Context, path string) (*Report, error) {
	files, err := Files(path)
	if err != nil {
		return nil, err
	}
	v := verifier{report: &Report{Path: path, Faults: []string{}}, seen: map[game]string{}}
	for _, f := range files {
		v.report.Files++
		if err := v.file(ctx, f); err != nil {
			return v.report, err
		}
	}
	return v.report, nil
}

// game identifies an episode in a dataset.
type game struct {
	spec string
	id
}

type verifier struct {
	report *Report
	shard  *shard
	seen   map[game]string // in which file
	rows   []row           // of one game
	want   []row
	arena  arena
	digest uint64
}

// file looks at one file. Its error is that of ctx.
func (v *verifier) file(ctx context.Context, path string) error {
	s, err := openShard(path)
	if err != nil {
		v.report.add("%s", strings.TrimPrefix(err.Error(), "datasets: "))
		return nil
	}
	defer s.close()
	v.shard, v.digest = s, 0
	before := v.report.Bad
	if family, ok := strings.CutPrefix(filepath.Base(filepath.Dir(path)), "variant="); ok && family != s.info.Family {
		v.report.add("%s: variant: got directory %q want %q", path, family, s.info.Family)
	}
	var r row
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := s.next(&r)
		if n := len(v.rows); n > 0 && (err != nil || !same(&v.rows[n-1], &r)) {
			v.game()
			v.rows = v.rows[:0]
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			v.report.add("%s: %v", path, err)
			return nil
		}
		v.rows = append(v.rows, keep(r))
	}
	if got := fmt.Sprintf("%016x", v.digest); got != s.digest && v.report.Bad == before {
		v.report.add("%s: digest of numbers, seeds, agents, actions, openings and searches: got %s want %s", path, got, s.digest)
	}
	return nil
}

// same reports whether two rows belong to one game.
func same(a, b *row) bool {
	return a.Game == b.Game && a.Seed == b.Seed && a.South == b.South && a.North == b.North
}

// keep copies a row from where the next one will be read.
func keep(r row) row {
	for _, l := range []*[]uint16{&r.PitsSouth, &r.PitsNorth, &r.Legal} {
		*l = slices.Clone(*l)
	}
	r.Policy = slices.Clone(r.Policy)
	r.Visits = slices.Clone(r.Visits)
	keepPointer(&r.Reason)
	keepPointer(&r.OutcomeSouth)
	keepPointer(&r.MarginSouth)
	keepPointer(&r.PointsSouth)
	keepPointer(&r.PointsNorth)
	keepPointer(&r.Value)
	return r
}

func keepPointer[T any](p **T) {
	if *p != nil {
		v := **p
		*p = &v
	}
}

// game looks at the rows of one game.
func (v *verifier) game() {
	s := v.shard
	v.report.Games++
	v.report.Plies += len(v.rows)
	fault := func(n int, format string, args ...any) {
		v.report.add("%s: game %d ply %d: %s", s.path, v.rows[0].Game, n, fmt.Sprintf(format, args...))
	}
	e := newEpisode(&v.rows[0])
	g := game{s.info.Spec, idOf(e)}
	if other, ok := v.seen[g]; ok {
		fault(0, "game: got the number, seed and agents of a game in %s want others", other)
	}
	v.seen[g] = s.path

	e.Plies = make([]env.Ply, len(v.rows))
	state := s.rules.Start()
	for n := range v.rows {
		p := &e.Plies[n]
		if err := s.ply(&v.rows[n], p); err != nil {
			fault(n, "%v", err)
			return
		}
		p.State = state
		if p.Legal = s.rules.Legal(state); !p.Legal.Has(p.Action) {
			fault(n, "action: got %d want one of %v", p.Action, list(p.Legal))
			return
		}
		if err := checkSearch(s.info.Actions, p); err != nil {
			fault(n, "%v", err)
		}
		state = s.rules.Next(state, p.Action)
		p.Reward = s.meta.Reward.Of(s.rules, state)
	}
	e.Final, e.Truncated = state, !state.Over()
	v.digest = digest(v.digest, e)

	v.arena.reset()
	v.want = appendRows(v.want[:0], &v.arena, s.rules, e)
	for n := range v.rows {
		compare(&v.rows[n], &v.want[n], func(column string, got, want any) {
			fault(n, "%s: got %v want %v", column, got, want)
		})
	}
}

// compare tells every column in which two rows differ.
func compare(got, want *row, differ func(column string, got, want any)) {
	if equal(got, want) {
		return
	}
	g, w := reflect.ValueOf(got).Elem(), reflect.ValueOf(want).Elem()
	for c := range g.NumField() {
		if !reflect.DeepEqual(g.Field(c).Interface(), w.Field(c).Interface()) {
			differ(schema.Fields()[c].Name(), shown(g.Field(c)), shown(w.Field(c)))
		}
	}
}

// shown is a column's value for a message.
func shown(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "null"
		}
		return v.Elem().Interface()
	case reflect.Slice:
		if v.IsNil() {
			return "null"
		}
	}
	return v.Interface()
}

// equal is what compare asks first, for speed; it must look at every column.
func equal(a, b *row) bool {
	return a.Game == b.Game && a.Ply == b.Ply && a.Spec == b.Spec && a.Seed == b.Seed &&
		a.South == b.South && a.North == b.North && a.Mover == b.Mover &&
		slices.Equal(a.PitsSouth, b.PitsSouth) && slices.Equal(a.PitsNorth, b.PitsNorth) &&
		a.StoreSouth == b.StoreSouth && a.StoreNorth == b.StoreNorth && a.Quiet == b.Quiet &&
		a.HandSeeds == b.HandSeeds && a.HandPit == b.HandPit && a.HandLaps == b.HandLaps && a.HandFlags == b.HandFlags &&
		a.History == b.History && slices.Equal(a.Legal, b.Legal) && a.Action == b.Action && a.Opening == b.Opening &&
		a.RewardSouth == b.RewardSouth && a.RewardNorth == b.RewardNorth &&
		a.Terminated == b.Terminated && a.Truncated == b.Truncated && alike(a.Reason, b.Reason) &&
		alike(a.OutcomeSouth, b.OutcomeSouth) && alike(a.MarginSouth, b.MarginSouth) &&
		alike(a.PointsSouth, b.PointsSouth) && alike(a.PointsNorth, b.PointsNorth) && a.Plies == b.Plies &&
		slices.Equal(a.Policy, b.Policy) && slices.Equal(a.Visits, b.Visits) && alike(a.Value, b.Value)
}

// alike reports whether both are nil or point to the same value.
func alike[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// Plural returns the noun, with an s unless there is one of it.
func Plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}
