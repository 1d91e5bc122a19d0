package neural

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func encoded(t testing.TB, w *Weights) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// sealed returns the file with the checksum that it should have.
func sealed(file []byte) []byte {
	body := file[:max(0, len(file)-sha256.Size)]
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

func TestFileRoundTrip(t *testing.T) {
	for _, s := range shapes {
		w := scrambled(t, s, 4)
		got, err := Read(iotest.HalfReader(bytes.NewReader(encoded(t, w))))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(w, got); d != "" {
			t.Fatalf("shape %v: %s", s, d)
		}
	}
}

func TestReadRefusesEveryCut(t *testing.T) {
	file := encoded(t, scrambled(t, bare, 1))
	for n := range file {
		if _, err := Read(bytes.NewReader(file[:n])); err == nil || !strings.Contains(err.Error(), "cut short") {
			t.Fatalf("%d of %d bytes: error %v", n, len(file), err)
		}
	}
}

func TestReadRefusesEveryFlippedBit(t *testing.T) {
	file := encoded(t, scrambled(t, bare, 1))
	for i := range len(file) * 8 {
		f := bytes.Clone(file)
		f[i/8] ^= 1 << (i % 8)
		if _, err := Read(bytes.NewReader(f)); err == nil {
			t.Fatalf("bit %d of byte %d flipped: no error", i%8, i/8)
		}
	}
}

func TestReadSaysWhy(t *testing.T) {
	file := encoded(t, scrambled(t, bare, 1))
	head := 16 + int(binary.LittleEndian.Uint32(file[12:]))
	for want, f := range map[string][]byte{
		"must begin with": append([]byte("PAR1PAR1"), file[8:]...),
		"format version 1: this program reads version 2": sealed(edit(file, 8, 1, 0, 0, 0)),
		"header of 0 bytes": edit(file, 12, 0, 0, 0, 0),
		"header of 4294":    edit(file, 12, 255, 255, 255, 255),
		"must be finite":    sealed(edit(file, head, 0, 0, 0xc0, 0x7f)),
		"is +Inf":           sealed(edit(file, head, 0, 0, 0x80, 0x7f)),
		"checksum":          edit(file, head, 1, 2, 3, 4),
		"followed by more":  append(bytes.Clone(file), 0),
		"inputs 99999999":   sealed(withHeader(file, `"inputs":9`, `"inputs":99999999`)),
		"header of weights": sealed(withHeader(file, `{"family"`, `{ "family"`)),
		"must list":         sealed(withHeader(file, `"first.w"`, `"first.v"`)),
		"family":            sealed(withHeader(file, `"family":"toy"`, `"family":""`)),
	} {
		_, err := Read(bytes.NewReader(f))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("error of more than a line: %v", err)
		}
	}
	broken := errors.New("disk on fire")
	if _, err := Read(io.MultiReader(bytes.NewReader(file[:60]), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Errorf("error %v, want the reader's", err)
	}
}

func edit(file []byte, at int, b ...byte) []byte {
	f := bytes.Clone(file)
	copy(f[at:], b)
	return f
}

func withHeader(file []byte, old, text string) []byte {
	size := binary.LittleEndian.Uint32(file[12:])
	head := strings.Replace(string(file[16:16+size]), old, text, 1)
	f := binary.LittleEndian.AppendUint32(bytes.Clone(file[:12]), uint32(len(head)))
	return append(append(f, head...), file[16+size:]...)
}

func TestReadAllocatesNoMoreThanItReads(t *testing.T) {
	// A header of a network of 200 MB, followed by nothing.
	s := Shape{Inputs: 1 << 15, Active: 1, Width: 1500, Blocks: 0, Actions: 1}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	w := &Weights{Meta: meta, Shape: s, Tensors: s.layout()}
	head, err := w.header()
	if err != nil {
		t.Fatal(err)
	}
	f := binary.LittleEndian.AppendUint32([]byte(magic), Version)
	f = append(binary.LittleEndian.AppendUint32(f, uint32(len(head))), head...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = Read(bytes.NewReader(f))
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("no error")
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes allocated for a file of %d", n, len(f))
	}
}

func TestSaveReplacesAsAWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "best.net")
	for seed := range uint64(2) {
		w := scrambled(t, odd, seed)
		if err := w.Save(path); err != nil {
			t.Fatal(err)
		}
		got, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(w, got); d != "" {
			t.Fatal(d)
		}
	}
	bad := scrambled(t, odd, 9)
	bad.Tensors[0].Data[0] = float32(math.NaN())
	if bad.Save(path) == nil {
		t.Error("NaN was saved")
	}
	if _, err := Load(path); err != nil {
		t.Errorf("a failed Save damaged the file: %v", err)
	}
	if names, _ := filepath.Glob(filepath.Join(dir, "*")); len(names) != 1 {
		t.Errorf("files left: %v", names)
	}
	if hidden, _ := filepath.Glob(filepath.Join(dir, ".*.tmp")); len(hidden) != 0 {
		t.Errorf("temporary files left: %v", hidden)
	}
}

func TestSaveAndLoadNameThePath(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "absent", "best.net")
	if err := scrambled(t, bare, 1).Save(path); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("Save: %v", err)
	}
	if _, err := Load(path); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("Load: %v", err)
	}
	foreign := filepath.Join(dir, "foreign")
	if err := os.WriteFile(foreign, []byte("this is no network"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(foreign); err == nil || !strings.Contains(err.Error(), foreign) {
		t.Errorf("Load of a foreign file: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	file := encoded(f, scrambled(f, bare, 1))
	f.Add(file)
	f.Add(file[:40])
	f.Add(withHeader(file, `"width":3`, `"width":4096`))
	f.Add(withHeader(file, `"width":3`, `"width":-3`))
	f.Add(withHeader(file, `"tensors"`, `"Tensors"`))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, d := range [][]byte{data, sealed(data)} {
			w, err := Read(bytes.NewReader(d))
			if err != nil {
				continue
			}
			if !bytes.Equal(encoded(t, w), d) {
				t.Error("a file that was read is written as another")
			}
			if _, err := NewNetwork(w); err != nil {
				t.Errorf("a file that was read makes no network: %v", err)
			}
		}
	})
}
