package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

func TestEpisodesComeBackAsWritten(t *testing.T) {
	for _, spec := range specs {
		for _, c := range []env.Scheme{env.Outcome, env.Margin, env.Points} {
			r := parse(t, spec)
			path := filepath.Join(t.TempDir(), "x.parquet")
			meta := Meta{Agents: [2]string{"net:weights=a", ""}, Seed: math.MaxUint64, Reward: c, Writer: "test"}
			want := playAll(r, 12, c)
			write(t, path, r, meta, want)
			got, err := read(path)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(want) {
				t.Fatalf("%s: %d episodes, want %d", spec, len(got), len(want))
			}
			for i := range want {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Fatalf("%s: episode %d differs:\n%+v\n%+v", spec, i, got[i], want[i])
				}
			}
			rd, err := Open(path)
			if err != nil {
				t.Fatal(err)
			}
			meta.Name = ""
			if rd.Meta() != meta || rd.Rules().Info().Spec != r.Info().Spec || rd.Path() != path {
				t.Errorf("%s: meta %+v, want %+v", spec, rd.Meta(), meta)
			}
			rd.Close()
		}
	}
}

func TestColumnsHoldWhatTheSchemaSays(t *testing.T) {
	r := parse(t, "urim")
	path := filepath.Join(t.TempDir(), "x.parquet")
	e := &env.Episode{Spec: "urim", Number: 7, Seed: 9, Agents: [2]string{"a", "b"}, Truncated: true}
	s := r.Start()
	for _, a := range []mancala.Action{3, 0} {
		e.Plies = append(e.Plies, env.Ply{State: s, Legal: r.Legal(s), Action: a})
		s = r.Next(s, a)
	}
	e.Plies[0].Opening = true
	e.Plies[1].Policy = []float32{.5, .25, .25, 0, 0, 0}
	e.Plies[1].Visits = []uint32{4, 2, 2, 0, 0, 0}
	e.Plies[1].Value = -.5
	e.Final = s
	write(t, path, r, Meta{}, []*env.Episode{e})

	rows, err := parquet.ReadFile[row](path)
	if err != nil {
		t.Fatal(err)
	}
	value := float32(-.5)
	want := []row{{
		Game: 7, Spec: "urim", Seed: 9, South: "a", North: "b", Plies: 2,
		PitsSouth: []uint16{3, 3, 3, 3, 3, 3}, PitsNorth: []uint16{3, 3, 3, 3, 3, 3},
		Legal: []uint16{0, 1, 2, 3, 4, 5}, Action: 3, Opening: true,
	}, {
		Game: 7, Spec: "urim", Seed: 9, South: "a", North: "b", Plies: 2, Ply: 1, Mover: 1, Quiet: 1,
		PitsSouth: []uint16{3, 3, 3, 0, 4, 4}, PitsNorth: []uint16{4, 3, 3, 3, 3, 3},
		Legal: []uint16{0, 1, 2, 3, 4, 5}, Truncated: true,
		Policy: []float32{.5, .25, .25, 0, 0, 0}, Visits: []uint32{4, 2, 2, 0, 0, 0}, Value: &value,
	}}
	if !reflect.DeepEqual(rows, want) {
		t.Errorf("rows\n%+v\nwant\n%+v", rows, want)
	}
}

func TestResultsAreOnEveryRow(t *testing.T) {
	r := parse(t, "modiar")
	path := filepath.Join(t.TempDir(), "x.parquet")
	e := play(r, 0, env.Outcome)
	write(t, path, r, Meta{}, []*env.Episode{e})
	rows, err := parquet.ReadFile[row](path)
	if err != nil {
		t.Fatal(err)
	}
	for n, x := range rows {
		points := r.Points(e.Final)
		margin := float32(e.Final.Store(mancala.South)-e.Final.Store(mancala.North)) / 42
		if *x.Reason != e.Final.Reason().String() || int(*x.OutcomeSouth) != e.Final.Returns()[0] || *x.MarginSouth != margin ||
			int(*x.PointsSouth) != points[0] || int(*x.PointsNorth) != points[1] || int(x.Plies) != len(rows) {
			t.Errorf("row %d has another result than the game: %+v", n, x)
		}
		last := n == len(rows)-1
		if x.Terminated != last || x.Truncated || (x.RewardSouth != 0) != (last && e.Final.Winner() != mancala.Nobody) {
			t.Errorf("row %d: terminated %t truncated %t reward %v", n, x.Terminated, x.Truncated, x.RewardSouth)
		}
	}
}

func TestColumnConstantsFollowTheSchema(t *testing.T) {
	fields := reflect.TypeFor[row]()
	if fields.NumField() != columns || len(schema.Fields()) != columns || len(schema.Columns()) != columns {
		t.Fatalf("%d fields, %d columns, %d leaves, want %d of each", fields.NumField(), len(schema.Fields()), len(schema.Columns()), columns)
	}
	for i, f := range schema.Fields() {
		tag, _, _ := strings.Cut(fields.Field(i).Tag.Get("parquet"), ",")
		if f.Name() != tag {
			t.Errorf("column %d is %s, the field's is %s", i, f.Name(), tag)
		}
	}
}

// A change of the columns is a change of Version: then write the golden file anew.
func TestSchemaHasTheColumnsOfItsVersion(t *testing.T) {
	golden := filepath.Join("testdata", fmt.Sprintf("schema-%d.txt", Version))
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got := schema.String() + "\n"; got != string(want) {
		t.Errorf("the columns are not those of %s:\n%s", golden, got)
	}
}

func TestEveryColumnAndKeyIsDocumented(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "docs", "schema.md"))
	if err != nil {
		t.Fatal(err)
	}
	names := []string{keySchema, keyVariant, keyRules, keySouth, keyNorth, keySeed, keyReward, keyWriter, keyDigest, keyChecksum}
	for _, f := range schema.Fields() {
		names = append(names, f.Name())
	}
	for _, n := range names {
		if !bytes.Contains(b, []byte("| `"+n+"` |")) {
			t.Errorf("docs/schema.md has no line for %s", n)
		}
	}
}

func TestFileWithoutEpisodesIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	write(t, path, parse(t, "modiar"), Meta{}, nil)
	if got, err := read(path); err != nil || len(got) != 0 {
		t.Errorf("%d episodes, %v", len(got), err)
	}
	if rep, err := Verify(context.Background(), path); err != nil || !rep.OK() || rep.Files != 1 {
		t.Errorf("Verify: %v, %v", rep, err)
	}
	if s, err := Statistics(context.Background(), path); err != nil || s.Games != 0 {
		t.Errorf("Statistics: %v, %v", s, err)
	}
}

func TestBytesDependOnTheEpisodesAlone(t *testing.T) {
	r := parse(t, "urim")
	list := playAll(r, 300, env.Outcome)
	var first []byte
	for _, procs := range []int{runtime.GOMAXPROCS(0), 1, 4} {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		path := filepath.Join(t.TempDir(), "x.parquet")
		write(t, path, r, Meta{Seed: 3}, list)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		}
		if !bytes.Equal(b, first) {
			t.Errorf("with GOMAXPROCS %d the file has other bytes", procs)
		}
	}
}

func TestRowGroupsAreShort(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a hundred thousand rows")
	}
	r := parse(t, "oware")
	path := filepath.Join(t.TempDir(), "x.parquet")
	list := playAll(r, 1500, env.Outcome)
	write(t, path, r, Meta{}, list)
	s, err := openShard(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	groups := s.pq.RowGroups()
	for _, g := range groups {
		if g.NumRows() > 100_000 {
			t.Errorf("a row group of %d rows", g.NumRows())
		}
	}
	if len(groups) < 2 {
		t.Fatalf("%d row groups of %d rows, want some", len(groups), s.left)
	}
	got, err := read(path)
	if err != nil || len(got) != len(list) || !reflect.DeepEqual(got[len(got)-1], list[len(list)-1]) {
		t.Errorf("reading over several row groups: %d episodes, %v", len(got), err)
	}
}

func TestDatasetIsPartitionedByFamily(t *testing.T) {
	dir := writeDataset(t)
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i], _ = filepath.Rel(dir, files[i])
		files[i] = filepath.ToSlash(files[i])
	}
	want := []string{
		"variant=hoyito2/part-3-00000.parquet", "variant=hoyito2/part-4-00000.parquet", "variant=modiar/part-2-00000.parquet",
		"variant=omweso/part-5-00000.parquet", "variant=omweso/part-6-00000.parquet", "variant=oware/part-7-00000.parquet",
		"variant=urim/part-0-00000.parquet", "variant=urim/part-1-00000.parquet",
	}
	if !slices.Equal(files, want) {
		t.Errorf("files %q\nwant %q", files, want)
	}
	got, err := read(dir)
	if err != nil || len(got) != 10*len(specs) {
		t.Errorf("%d episodes, %v", len(got), err)
	}
}

func TestTemporaryFilesAreIgnoredAndOverwritten(t *testing.T) {
	dir := t.TempDir()
	r := parse(t, "modiar")
	part := filepath.Join(dir, "variant=modiar")
	if err := os.MkdirAll(part, 0o777); err != nil {
		t.Fatal(err)
	}
	stale := filepath.Join(part, ".games-00000.parquet.tmp")
	if err := os.WriteFile(stale, bytes.Repeat([]byte("left by a killed process"), 10_000), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "no .parquet file") {
		t.Errorf("opening a directory with a temporary file alone: %v", err)
	}
	w, err := Create(dir, r, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(play(r, 1, env.Outcome)); err != nil {
		t.Fatal(err)
	}
	if got, _ := filepath.Glob(filepath.Join(part, "*.parquet")); len(got) != 0 {
		t.Errorf("before Close there is %q", got)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if names := ls(t, part); !slices.Equal(names, []string{"games-00000.parquet"}) {
		t.Errorf("after Close there is %q", names)
	}
	if got, err := read(dir); err != nil || len(got) != 1 {
		t.Errorf("%d episodes, %v", len(got), err)
	}
	if !slices.Equal(w.Files(), []string{filepath.Join(part, "games-00000.parquet")}) {
		t.Errorf("Files is %q", w.Files())
	}
}

func ls(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestAbortLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	r := parse(t, "modiar")
	for _, end := range []func(w *Writer){(*Writer).Abort, func(w *Writer) { w.Abort(); w.Close() }} {
		w, err := CreateFile(filepath.Join(dir, "x.parquet"), r, Meta{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Write(play(r, 1, env.Outcome)); err != nil {
			t.Fatal(err)
		}
		end(w)
		if names := ls(t, dir); len(names) != 0 {
			t.Errorf("after Abort there is %q", names)
		}
	}
	w, err := Create(dir, r, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if names := ls(t, filepath.Join(dir, "variant=modiar")); len(names) != 0 {
		t.Errorf("without an episode there is %q", names)
	}
}

func TestClosedWriterTakesNoMore(t *testing.T) {
	r := parse(t, "modiar")
	list := playAll(r, 3, env.Outcome)
	for _, end := range []func(w *Writer){func(w *Writer) { w.Close() }, (*Writer).Abort} {
		path := filepath.Join(t.TempDir(), "x.parquet")
		write(t, path, r, Meta{}, list)
		w, err := CreateFile(path, r, Meta{})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range list {
			if err := w.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		end(w)
		if err := w.Write(play(r, 9, env.Outcome)); err == nil || !strings.Contains(err.Error(), "closed") {
			t.Errorf("error %v", err)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if got, err := read(path); err != nil || !reflect.DeepEqual(got, list) {
			t.Errorf("%d episodes are left of %d, %v", len(got), len(list), err)
		}
	}
}

func TestFullShardIsFollowedByAnother(t *testing.T) {
	dir := t.TempDir()
	r := parse(t, "modiar")
	w, err := Create(dir, r, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	list := playAll(r, 3, env.Outcome)
	for _, e := range list {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
		if w.file != nil {
			w.file.rows = shardRows // as if so many had been written
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if names := ls(t, filepath.Join(dir, "variant=modiar")); len(names) != 2 || names[1] != "games-00001.parquet" {
		t.Errorf("files %q", names)
	}
	got, err := read(dir)
	if err != nil || !reflect.DeepEqual(got, list) {
		t.Errorf("read %d episodes over two shards: %v", len(got), err)
	}
}

func TestWrongPlacesAreRefusedAtOnce(t *testing.T) {
	dir := t.TempDir()
	r := parse(t, "modiar")
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, f := range []func() (*Writer, error){
		func() (*Writer, error) { return Create(file, r, Meta{}) },
		func() (*Writer, error) { return CreateFile(dir, r, Meta{}) },
		func() (*Writer, error) { return CreateFile(filepath.Join(dir, "none", "x.parquet"), r, Meta{}) },
		func() (*Writer, error) { return Create(dir, r, Meta{Name: "../x"}) },
		func() (*Writer, error) { return Create(dir, r, Meta{Name: ".x"}) },
		func() (*Writer, error) { return Create(dir, r, Meta{Reward: 9}) },
		func() (*Writer, error) { return Create(dir, r, Meta{Agents: [2]string{"a\x18"}}) },
	} {
		if w, err := f(); err == nil || w != nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "datasets: ") {
			t.Errorf("got %v", err)
		}
	}
	if names := ls(t, dir); !slices.Equal(names, []string{"file"}) {
		t.Errorf("left behind: %q", names)
	}
}

func TestWriterRefusesWhatTheRulesDoNotLeadTo(t *testing.T) {
	r := parse(t, "omweso")
	cases := map[string]func(e *env.Episode){
		"spec":        func(e *env.Episode) { e.Spec = "urim" },
		"plies":       func(e *env.Episode) { e.Plies = nil },
		"state":       func(e *env.Episode) { e.Plies[3].State = e.Plies[2].State },
		"legal":       func(e *env.Episode) { e.Plies[3].Legal |= 1 << 37 },
		"action":      func(e *env.Episode) { e.Plies[3].Action = 37 },
		"final":       func(e *env.Episode) { e.Final = e.Plies[0].State },
		"truncated":   func(e *env.Episode) { e.Truncated = !e.Truncated },
		"reward":      func(e *env.Episode) { e.Plies[0].Reward[0] = 1 },
		"policy":      func(e *env.Episode) { e.Plies[9].Policy = []float32{1} },
		"policy sum":  func(e *env.Episode) { e.Plies[9].Policy = make([]float32, 38) },
		"policy NaN":  func(e *env.Episode) { e.Plies[9].Policy[e.Plies[9].Action] = float32(math.NaN()) },
		"value":       func(e *env.Episode) { e.Plies[9].Value = float32(math.NaN()) },
		"visits":      func(e *env.Episode) { e.Plies[9].Visits = []uint32{1} },
		"visits only": func(e *env.Episode) { e.Plies[9].Policy = nil },
		"agents":      func(e *env.Episode) { e.Agents[0] = "\n" },
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	w, err := CreateFile(path, r, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() *env.Episode {
		e := play(r, 1, env.Outcome)
		rng := rand.New(rand.NewPCG(1, 2))
		search(rng, &e.Plies[9], 38)
		return e
	}
	for name, spoil := range cases {
		e := fresh()
		spoil(e)
		if err := w.Write(e); err == nil || !strings.HasPrefix(err.Error(), "datasets: game 1 ply ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	e := fresh()
	if err := w.Write(e); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(e); err == nil {
		t.Error("the same game twice is accepted")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := read(path); err != nil || len(got) != 1 || !reflect.DeepEqual(got[0], e) {
		t.Errorf("after refusals: %d episodes, %v", len(got), err)
	}
}

func TestZeroVisitsAreNull(t *testing.T) {
	r := parse(t, "modiar")
	e := play(r, 1, env.Outcome)
	rng := rand.New(rand.NewPCG(1, 2))
	search(rng, &e.Plies[5], 3)
	clear(e.Plies[5].Visits)
	path := filepath.Join(t.TempDir(), "x.parquet")
	write(t, path, r, Meta{}, []*env.Episode{e})
	got, err := read(path)
	if err != nil || got[0].Plies[5].Visits != nil || got[0].Plies[5].Policy == nil {
		t.Errorf("visits %v, %v", got[0].Plies[5].Visits, err)
	}
}

// TestDamageIsNoticed flips and cuts: a reader refuses the file or finds the same episodes.
func TestDamageIsNoticed(t *testing.T) {
	r := parse(t, "modiar")
	dir := t.TempDir()
	path := filepath.Join(dir, "x.parquet")
	want := playAll(r, 30, env.Outcome)
	write(t, path, r, Meta{Agents: [2]string{"a", "b"}}, want)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(dir, "bad.parquet")
	try := func(what string, b []byte) {
		t.Helper()
		if err := os.WriteFile(bad, b, 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := read(bad)
		if err == nil {
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: other episodes without an error", what)
			}
			return
		}
		if !strings.Contains(err.Error(), bad) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error does not name the file in one line: %v", what, err)
		}
		if rep, err := Verify(context.Background(), bad); err != nil || rep.OK() {
			t.Errorf("%s: refused by the reader, not by Verify: %v", what, err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 600 {
		b := bytes.Clone(whole)
		at := rng.IntN(len(b))
		if i%2 == 0 { // the footer is small: aim at it
			at = len(b) - 1 - rng.IntN(min(len(b), 4000))
		}
		b[at] ^= 1 << rng.IntN(8)
		try(fmt.Sprintf("bit flipped in byte %d", at), b)
	}
	for range 200 {
		n := rng.IntN(len(whole))
		try(fmt.Sprintf("cut to %d bytes", n), whole[:n])
	}
	try("empty", nil)
	try("doubled", append(bytes.Clone(whole), whole...))
	try("not Parquet", []byte("game,ply\n1,2\n, and so on"))
}

// reseal gives changed bytes a right checksum, so that they reach the Parquet library.
func reseal(b []byte) []byte {
	at, err := checksumAt(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return b
	}
	copy(b[at:], unsealed)
	sum := castagnoliOf(b)
	copy(b[at:], fmt.Sprintf("%08x", sum))
	return b
}

// TestForgedFilesDoNotPanic flips bytes behind the checksum's back.
func TestForgedFilesDoNotPanic(t *testing.T) {
	r := parse(t, "omweso")
	dir := t.TempDir()
	path := filepath.Join(dir, "x.parquet")
	write(t, path, r, Meta{}, playAll(r, 6, env.Outcome))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range 400 {
		b := bytes.Clone(whole)
		at := rng.IntN(len(b))
		if i%2 == 0 {
			at = len(b) - 1 - rng.IntN(6000)
		}
		b[at] ^= 1 << rng.IntN(8)
		if err := os.WriteFile(path, reseal(b), 0o666); err != nil {
			t.Fatal(err)
		}
		read(path)
		Verify(context.Background(), path)
		Load([]string{path}, Window{})
	}
}

func TestForeignAndOtherVersionsAreRefused(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.parquet")
	r := parse(t, "modiar")
	meta := func(key, value string) map[string]string {
		m := Meta{}
		if err := m.fill(); err != nil {
			t.Fatal(err)
		}
		p := m.pairs(r.Info())
		p[key] = value
		return p
	}
	type small struct {
		Game uint64 `parquet:"game,delta"`
	}
	seal := func(options ...parquet.WriterOption) {
		forge(t, path, []small{{1}}, options...)
	}
	cases := []struct {
		want  string
		write func()
	}{
		{"not written by mancalagym", func() {
			if err := parquet.WriteFile(path, []small{{1}}); err != nil {
				t.Fatal(err)
			}
		}},
		{`schema version "2": this program reads version 1`, func() { seal(kv(meta(keySchema, "2"))) }},
		{`schema version ""`, func() { seal() }},
		{`rules of modiar version "99"`, func() { seal(kv(meta(keyRules, "99"))) }},
		{`variant "chess"`, func() { seal(kv(meta(keyVariant, "chess"))) }},
		{`reward scheme "x"`, func() { seal(kv(meta(keyReward, "x"))) }},
		{"columns are not those of schema version 1", func() { seal(kv(meta(keySeed, "1"))) }},
	}
	for _, c := range cases {
		c.write()
		_, err := Open(path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("got %v, want %q", err, c.want)
		}
		if _, err := Load([]string{path}, Window{}); err == nil {
			t.Errorf("Load takes it: %q", c.want)
		}
		if _, err := Statistics(context.Background(), path); err == nil {
			t.Errorf("Statistics takes it: %q", c.want)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a path that is not there: %v", err)
	}
}

func kv(m map[string]string) parquet.WriterOption {
	return &parquet.WriterConfig{KeyValueMetadata: m}
}

// forge writes rows of any type under a right checksum.
func forge[T any](t *testing.T, path string, rows []T, options ...parquet.WriterOption) {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b, options...)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	w.SetKeyValueMetadata(keyChecksum, unsealed)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, reseal(b.Bytes()), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestReaderSaysWhichFileOfManyIsBad(t *testing.T) {
	dir := writeDataset(t)
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	bad := files[3]
	b, err := os.ReadFile(bad)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 1
	if err := os.WriteFile(bad, b, 0o666); err != nil {
		t.Fatal(err)
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; err == nil; n++ {
		_, err = r.Next()
	}
	if n-1 != 30 || !strings.Contains(err.Error(), bad) || !strings.Contains(err.Error(), "damaged") {
		t.Errorf("after %d episodes: %v", n-1, err)
	}
	if _, again := r.Next(); again != err || again == io.EOF {
		t.Errorf("the error does not stay: %v", again)
	}
	r.Meta()
	r.Close()
	rep, err := Verify(context.Background(), dir)
	if err != nil || rep.Bad != 1 || rep.Games != 70 || rep.Files != 8 {
		t.Errorf("Verify: %v, %v", rep, err)
	}
}
