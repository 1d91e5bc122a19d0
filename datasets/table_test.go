package datasets

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// samples is what a Table of the episodes must hold.
func samples(r mancala.Rules, list []*env.Episode, searched bool) []Sample {
	var all []Sample
	for _, e := range list {
		for _, p := range e.Plies {
			if searched && p.Policy == nil {
				continue
			}
			s := Sample{State: p.State, Legal: p.Legal, Known: !e.Truncated}
			for a := range p.Legal.All {
				if p.Policy != nil {
					s.Policy = append(s.Policy, p.Policy[a])
				}
			}
			if s.Known {
				m := p.State.Mover()
				s.Outcome, s.Margin = int8(e.Final.Returns()[m]), env.Margin.Of(r, e.Final)[m]
			}
			all = append(all, s)
		}
	}
	return all
}

func TestTableHoldsTheMoversView(t *testing.T) {
	for _, spec := range specs {
		r := parse(t, spec)
		dir := t.TempDir()
		paths := []string{filepath.Join(dir, "b.parquet"), filepath.Join(dir, "a.parquet")}
		list := playAll(r, 12, env.Outcome)
		write(t, paths[0], r, Meta{}, list[:6])
		write(t, paths[1], r, Meta{}, list[6:])
		for _, w := range []Window{{}, {Searched: true}, {Last: 50}, {Searched: true, Last: 1 << 40}} {
			want := samples(r, list, w.Searched)
			if w.Last > 0 && w.Last < len(want) {
				want = want[len(want)-w.Last:]
			}
			table, err := Load(paths, w)
			if err != nil {
				t.Fatal(err)
			}
			if table.Len() != len(want) || table.Rules().Info().Spec != spec {
				t.Fatalf("%s %+v: %d samples, want %d", spec, w, table.Len(), len(want))
			}
			for i := range want {
				if got := table.At(i); !reflect.DeepEqual(got, want[i]) {
					t.Fatalf("%s %+v: sample %d is\n%+v want\n%+v", spec, w, i, got, want[i])
				}
			}
		}
	}
}

// A learner may index by the outcome and sum the targets: what is out of range must not come through.
func TestLoadRefusesWhatIsOutOfRange(t *testing.T) {
	r := parse(t, "modiar")
	path := filepath.Join(t.TempDir(), "x.parquet")
	nan := float32(math.NaN())
	for want, change := range map[string]func(x *row){
		"outcome_south: got 2 want":  func(x *row) { o := int8(2); x.OutcomeSouth = &o },
		"outcome_south: got -2 want": func(x *row) { o := int8(-2); x.OutcomeSouth = &o },
		"margin_south: got NaN want": func(x *row) { x.MarginSouth = &nan },
		"policy: got NaN want":       func(x *row) { x.Policy[0] = nan },
		"policy: got the sum":        func(x *row) { clear(x.Policy) },
	} {
		w, err := CreateFile(path, r, Meta{})
		if err != nil {
			t.Fatal(err)
		}
		var a arena
		rows := appendRows(nil, &a, r, play(r, 1, env.Outcome))
		for i := range rows {
			if rows[i].Policy != nil {
				change(&rows[i])
				break
			}
		}
		if err := w.file.write(rows); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := Load([]string{path}, Window{Searched: true}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestSpreadPutsThePolicyOnItsActions(t *testing.T) {
	s := Sample{Legal: 0b101001, Policy: []float32{.5, .25, .25}}
	dst := []float32{9, 9, 9, 9, 9, 9}
	s.Spread(dst)
	if want := []float32{.5, 0, 0, .25, 0, .25}; !slices.Equal(dst, want) {
		t.Errorf("got %v want %v", dst, want)
	}
	(&Sample{Legal: 3}).Spread(dst)
	if !slices.Equal(dst, make([]float32, 6)) {
		t.Errorf("without a search: %v", dst)
	}
}

func TestSamplingIsAFunctionOfTheSeed(t *testing.T) {
	r := parse(t, "modiar")
	path := filepath.Join(t.TempDir(), "x.parquet")
	write(t, path, r, Meta{}, playAll(r, 20, env.Outcome))
	table, err := Load([]string{path}, Window{})
	if err != nil {
		t.Fatal(err)
	}
	draw := func(seed uint64) []int {
		idx := make([]int, 20*table.Len())
		table.Sample(rand.New(rand.NewPCG(seed, 0)), idx)
		return idx
	}
	if !slices.Equal(draw(1), draw(1)) || slices.Equal(draw(1), draw(2)) {
		t.Error("the indices do not follow the seed")
	}
	seen := make([]bool, table.Len())
	for _, i := range draw(1) {
		seen[i] = true
	}
	if slices.Contains(seen, false) {
		t.Error("some sample never comes")
	}
}

func TestSamplesAllocateNothing(t *testing.T) {
	r := parse(t, "omweso")
	path := filepath.Join(t.TempDir(), "x.parquet")
	write(t, path, r, Meta{}, playAll(r, 20, env.Outcome))
	table, err := Load([]string{path}, Window{})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 0))
	idx, dst := make([]int, 64), make([]float32, 38)
	if n := testing.AllocsPerRun(100, func() {
		table.Sample(rng, idx)
		for _, i := range idx {
			s := table.At(i)
			s.Spread(dst)
		}
	}); n != 0 {
		t.Errorf("%v allocations a batch", n)
	}
}

func TestTableOfTwoVariantsIsRefused(t *testing.T) {
	dir := writeDataset(t)
	if _, err := Load([]string{dir}, Window{}); err == nil || !strings.Contains(err.Error(), "as in the files before") {
		t.Errorf("got %v", err)
	}
	if _, err := Load(nil, Window{Last: -1}); err == nil {
		t.Error("a negative window is accepted")
	}
	if table, err := Load(nil, Window{}); err != nil || table.Len() != 0 || table.Rules() != nil {
		t.Errorf("of no files: %v", err)
	}
}
