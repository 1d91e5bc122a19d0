package datasets

import (
	"context"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/mancalagym/mancalagym/env"
)

func castagnoliOf(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

func TestVerifyAcceptsWhatWasWritten(t *testing.T) {
	dir := writeDataset(t)
	rep, err := Verify(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if !rep.OK() || rep.Games != 10*len(specs) || rep.Files != len(specs) {
		t.Errorf("%v\n%s", rep, strings.Join(rep.Faults, "\n"))
	}
	for _, c := range []env.Scheme{env.Margin, env.Points} {
		path := filepath.Join(t.TempDir(), "x.parquet")
		r := parse(t, "omweso")
		write(t, path, r, Meta{Reward: c}, playAll(r, 20, c))
		if rep, err := Verify(context.Background(), path); err != nil || !rep.OK() {
			t.Errorf("%v: %v %v", c, rep.Faults, err)
		}
	}
}

// spoiled writes a good file, changes its rows and gives them a right checksum and the old metadata.
func spoiled(t *testing.T, spec string, spoil func(rows []row) []row) *Report {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	r := parse(t, spec)
	write(t, path, r, Meta{}, playAll(r, 8, env.Outcome))
	s, err := openShard(path)
	if err != nil {
		t.Fatal(err)
	}
	meta := map[string]string{}
	for _, kv := range s.pq.Metadata().KeyValueMetadata {
		if kv.Key != keyChecksum {
			meta[kv.Key] = kv.Value
		}
	}
	s.close()
	rows, err := parquet.ReadFile[row](path)
	if err != nil {
		t.Fatal(err)
	}
	forge(t, path, spoil(rows), &parquet.WriterConfig{Schema: schema, KeyValueMetadata: meta})
	rep, err := Verify(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestUnspoiledRowsPass(t *testing.T) {
	for _, spec := range []string{"omweso", "urim"} {
		if rep := spoiled(t, spec, func(rows []row) []row { return rows }); !rep.OK() {
			t.Errorf("%s: %q", spec, rep.Faults)
		}
	}
}

// Without stores their columns are zeros, and without hands theirs: all other columns must be missed.
func TestNoColumnCanBeLost(t *testing.T) {
	always := map[string]bool{"store_south": true, "store_north": true}
	for c := range columns {
		name := schema.Fields()[c].Name()
		spec := "omweso"
		if always[name] {
			spec = "urim"
		}
		rep := spoiled(t, spec, func(rows []row) []row {
			for i := range rows {
				f := reflect.ValueOf(&rows[i]).Elem().Field(c)
				f.SetZero()
			}
			return rows
		})
		if rep.OK() {
			t.Errorf("%s: an empty column passes", name)
		}
	}
}

func TestEqualLooksAtEveryColumn(t *testing.T) {
	for c := range columns {
		var a, b row
		f := reflect.ValueOf(&a).Elem().Field(c)
		switch f.Kind() {
		case reflect.Slice:
			f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		case reflect.Pointer:
			f.Set(reflect.New(f.Type().Elem()))
		default:
			change(f)
		}
		if equal(&a, &b) || !equal(&a, &a) {
			t.Errorf("it does not look at %s", schema.Fields()[c].Name())
		}
	}
}

func TestNoSingleValueCanChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for c := range columns {
		name := schema.Fields()[c].Name()
		for range 3 {
			changed := ""
			rep := spoiled(t, "omweso", func(rows []row) []row {
				i := rng.IntN(len(rows))
				f := reflect.ValueOf(&rows[i]).Elem().Field(c)
				for f.Kind() == reflect.Slice && f.Len() == 0 || f.Kind() == reflect.Pointer && f.IsNil() {
					i = rng.IntN(len(rows))
					f = reflect.ValueOf(&rows[i]).Elem().Field(c)
				}
				if f.Kind() == reflect.Pointer { // rows may share what it points to
					own := reflect.New(f.Type().Elem())
					own.Elem().Set(f.Elem())
					f.Set(own)
					f = own.Elem()
				}
				if f.Kind() == reflect.Slice {
					f = f.Index(rng.IntN(f.Len()))
				}
				before := fmt.Sprint(f.Interface())
				change(f)
				changed = fmt.Sprintf("row %d: %s to %v", i, before, f.Interface())
				return rows
			})
			if rep.OK() {
				t.Errorf("%s: %s passes", name, changed)
			}
		}
	}
}

func change(f reflect.Value) {
	switch f.Kind() {
	case reflect.Bool:
		f.SetBool(!f.Bool())
	case reflect.String:
		f.SetString(f.String() + "x")
	case reflect.Float32:
		f.SetFloat(f.Float()/2 + .3)
	case reflect.Int8:
		f.SetInt((f.Int()+2)%3 - 1)
	default:
		f.SetUint(f.Uint() ^ 1)
	}
}

func TestFaultsSayWhere(t *testing.T) {
	rep := spoiled(t, "urim", func(rows []row) []row {
		rows[5].Quiet = 77
		return rows
	})
	if rep.Bad != 1 || !strings.Contains(rep.Faults[0], "x.parquet: game 0 ply 5: quiet: got 77 want 5") {
		t.Errorf("faults %q", rep.Faults)
	}
}

func TestLostAndRepeatedRowsAreNoticed(t *testing.T) {
	for name, spoil := range map[string]func(rows []row) []row{
		"first":    func(rows []row) []row { return rows[1:] },
		"last":     func(rows []row) []row { return rows[:len(rows)-1] },
		"middle":   func(rows []row) []row { return append(rows[:20], rows[21:]...) },
		"repeated": func(rows []row) []row { return append(rows[:20:20], rows[19:]...) },
		"swapped": func(rows []row) []row {
			rows[20], rows[21] = rows[21], rows[20]
			return rows
		},
		"all":          func(rows []row) []row { return rows[:0] },
		"a whole game": func(rows []row) []row { return rows[rows[0].Plies:] },
	} {
		if rep := spoiled(t, "modiar", spoil); rep.OK() {
			t.Errorf("%s: passes", name)
		}
	}
}

func TestGamesOfOneNumberAreNoticed(t *testing.T) {
	dir := writeDataset(t)
	files, err := Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(files[0]), "copy.parquet"), b, 0o666); err != nil {
		t.Fatal(err)
	}
	rep, err := Verify(context.Background(), dir)
	if err != nil || rep.Bad != 10 || !strings.Contains(rep.Faults[0], "got the number, seed and agents of a game in ") {
		t.Errorf("%d bad, %q, %v", rep.Bad, rep.Faults, err)
	}
}

func TestWrongPartitionIsNoticed(t *testing.T) {
	dir := writeDataset(t)
	if err := os.Rename(filepath.Join(dir, "variant=urim"), filepath.Join(dir, "variant=awari")); err != nil {
		t.Fatal(err)
	}
	rep, err := Verify(context.Background(), dir)
	if err != nil || rep.Bad != 2 || !strings.Contains(rep.Faults[0], `variant: got directory "awari" want "urim"`) {
		t.Errorf("%d bad, %q, %v", rep.Bad, rep.Faults, err)
	}
}
