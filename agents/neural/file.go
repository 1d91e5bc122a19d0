package neural

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
)

// A weights file is, with all numbers little-endian:
//
//	8 bytes   magic
//	uint32    Version
//	uint32    length of the header
//	…         header: JSON, compact, in the order of the type header
//	…         the tensors in the order of the header, float32, row-major
//	32 bytes  SHA-256 of everything before
//
// There is exactly one file for given weights.
const (
	magic     = "mancnet\n"
	maxHeader = 1 << 16
)

// Version is the format's. A reader knows no other. Version 2 came with the margin head.
const Version = 2

type header struct {
	Meta
	Shape   Shape          `json:"shape"`
	Tensors []tensorHeader `json:"tensors"`
}

type tensorHeader struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Cols int    `json:"cols"`
}

func (w *Weights) header() ([]byte, error) {
	h := header{Meta: w.Meta, Shape: w.Shape}
	for _, t := range w.Tensors {
		h.Tensors = append(h.Tensors, tensorHeader{t.Name, t.Rows, t.Cols})
	}
	return json.Marshal(h)
}

// Write writes the file to f. Weights that Validate refuses are not written.
func (w *Weights) Write(f io.Writer) error {
	if err := w.Validate(); err != nil {
		return err
	}
	head, err := w.header()
	if err != nil {
		return fmt.Errorf("neural: header: %w", err)
	}
	sum := sha256.New()
	b := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<16)
	pre := append([]byte(magic), make([]byte, 8)...)
	binary.LittleEndian.PutUint32(pre[8:], Version)
	binary.LittleEndian.PutUint32(pre[12:], uint32(len(head)))
	b.Write(pre) // a bufio.Writer keeps its first error for Flush
	b.Write(head)
	var word [4]byte
	for _, t := range w.Tensors {
		for _, v := range t.Data {
			binary.LittleEndian.PutUint32(word[:], math.Float32bits(v))
			b.Write(word[:])
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("neural: writing weights: %w", err)
	}
	if _, err := f.Write(sum.Sum(nil)); err != nil {
		return fmt.Errorf("neural: writing weights: %w", err)
	}
	return nil
}

// Read reads a file that Write wrote, to the end of r. It refuses, with the reason, anything that is
// cut short, changed, followed by more, of another format or version, or not finite; it allocates
// in proportion to what it has read, whatever the header claims.
func Read(r io.Reader) (*Weights, error) {
	sum := sha256.New()
	in := bufio.NewReaderSize(r, 1<<16)
	t := io.TeeReader(in, sum)

	pre := make([]byte, len(magic)+8)
	if _, err := io.ReadFull(t, pre); err != nil {
		return nil, short("its first bytes", err)
	}
	if string(pre[:8]) != magic {
		return nil, fmt.Errorf("neural: weights begin with %q: must begin with %q", pre[:8], magic)
	}
	if v := binary.LittleEndian.Uint32(pre[8:]); v != Version {
		return nil, fmt.Errorf("neural: weights of format version %d: this program reads version %d", v, Version)
	}
	size := binary.LittleEndian.Uint32(pre[12:])
	if size == 0 || size > maxHeader {
		return nil, fmt.Errorf("neural: header of %d bytes: must be 1 to %d", size, maxHeader)
	}
	head := make([]byte, size)
	if _, err := io.ReadFull(t, head); err != nil {
		return nil, short("the header", err)
	}
	w, err := fromHeader(head)
	if err != nil {
		return nil, err
	}
	buf := make([]byte, 1<<16)
	for i := range w.Tensors {
		if err := w.Tensors[i].read(t, buf); err != nil {
			return nil, err
		}
	}
	want := sum.Sum(nil)
	got := buf[:len(want)]
	if _, err := io.ReadFull(in, got); err != nil {
		return nil, short("the checksum", err)
	}
	if !bytes.Equal(got, want) {
		return nil, errors.New("neural: weights do not have the checksum they end with: the file is damaged")
	}
	switch _, err := in.ReadByte(); {
	case err == nil:
		return nil, errors.New("neural: weights are followed by more bytes: the file must end with its checksum")
	case err != io.EOF:
		return nil, fmt.Errorf("neural: reading weights: %w", err)
	}
	if err := w.Validate(); err != nil {
		return nil, err
	}
	return w, nil
}

// fromHeader returns weights without data. The header must be the one that Write would write.
func fromHeader(head []byte) (*Weights, error) {
	var h header
	if err := json.Unmarshal(head, &h); err != nil {
		return nil, fmt.Errorf("neural: header of weights: %w", err)
	}
	if err := h.Meta.Validate(); err != nil {
		return nil, err
	}
	if err := h.Shape.Validate(); err != nil {
		return nil, err
	}
	w := &Weights{Meta: h.Meta, Shape: h.Shape, Tensors: h.Shape.layout()}
	want, err := w.header()
	if err != nil {
		return nil, fmt.Errorf("neural: header of weights: %w", err)
	}
	if !bytes.Equal(head, want) {
		return nil, fmt.Errorf("neural: header of weights: must list the tensors of shape %v and nothing else", h.Shape)
	}
	return w, nil
}

func (t *Tensor) read(r io.Reader, buf []byte) error {
	for left := t.Rows * t.Cols * 4; left > 0; {
		b := buf[:min(left, len(buf))]
		if _, err := io.ReadFull(r, b); err != nil {
			return short("tensor "+t.Name, err)
		}
		left -= len(b)
		for ; len(b) > 0; b = b[4:] {
			t.Data = append(t.Data, math.Float32frombits(binary.LittleEndian.Uint32(b)))
		}
	}
	return nil
}

func short(part string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("neural: weights end within %s: the file is cut short", part)
	}
	return fmt.Errorf("neural: reading weights: %w", err)
}

// Save writes the file to path as a whole or not at all: under a temporary name beside it, synced, then
// renamed over what was there.
func (w *Weights) Save(path string) (err error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "."
	}
	f, err := os.CreateTemp(dir, "."+base+".*.tmp")
	if err != nil {
		return fmt.Errorf("neural: weights %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			f.Close() // fails if already closed; the first error is the one to tell
			os.Remove(f.Name())
		}
	}()
	if err := w.Write(f); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return fmt.Errorf("neural: weights %s: %w", path, err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("neural: weights %s: %w", path, err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("neural: weights %s: %w", path, err)
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("neural: weights %s: %w", path, err)
	}
	return syncDir(dir)
}

// syncDir makes a rename in dir survive a crash of the machine. Windows has no such call.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("neural: folder of weights: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("neural: folder of weights: %w", err)
	}
	return nil
}

// Load reads the file at path.
func Load(path string) (*Weights, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("neural: %w", err)
	}
	w, err := Read(f)
	f.Close() // nothing was written
	if err != nil {
		return nil, fmt.Errorf("%w (%s)", err, path)
	}
	return w, nil
}
