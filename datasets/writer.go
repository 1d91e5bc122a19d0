package datasets

import (
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/whole"
)

const (
	groupRows = 1 << 16 // a row group's: readers in a browser choke on a million
	shardRows = 1 << 20 // a shard that has as many is finished with the episode at hand
)

// Writer writes episodes to Parquet files. It implements env.Sink and is not safe for concurrent use.
//
// A file is written under the name .NAME.tmp beside its place and renamed when it is complete and on the disk.
// What a killed process leaves under such a name is no part of a dataset, and is overwritten by the next
// Writer of the same name.
type Writer struct {
	rules  mancala.Rules
	meta   Meta
	path   string // of a single file; "" for shards
	dir    string // where shards go
	parent string // the dataset's directory, "" for a single file
	files  []string
	file   *file
	rows   []row
	arena  arena
	last   id // of the last episode written
	any    bool
	closed bool  // or aborted
	err    error // the first that left the file useless
}

var _ env.Sink = (*Writer)(nil)

// Create starts writing to the dataset directory dir, which is made if it does not exist: to shards
// dir/variant=FAMILY/NAME-00000.parquet and so on, of about a million rows each. Files of these names are replaced.
// No episode, no file.
func Create(dir string, r mancala.Rules, m Meta) (*Writer, error) {
	if err := m.fill(); err != nil {
		return nil, err
	}
	w := &Writer{rules: r, meta: m, parent: dir, dir: filepath.Join(dir, "variant="+r.Info().Family)}
	if err := os.MkdirAll(w.dir, 0o777); err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	return w.started()
}

// CreateFile starts writing to the single file path, in a directory that exists. A file of this name is
// replaced when the new one is complete. Without an episode it has no rows.
func CreateFile(path string, r mancala.Rules, m Meta) (*Writer, error) {
	if err := m.fill(); err != nil {
		return nil, err
	}
	if i, err := os.Stat(path); err == nil && !i.Mode().IsRegular() {
		return nil, fmt.Errorf("datasets: %s: is there and not a regular file", path)
	}
	w := &Writer{rules: r, meta: m, path: path}
	return w.started()
}

func (w *Writer) started() (*Writer, error) {
	if err := w.begin(); err != nil {
		return nil, err
	}
	return w, nil
}

// begin opens the next file.
func (w *Writer) begin() error {
	path := w.path
	if path == "" {
		path = filepath.Join(w.dir, fmt.Sprintf("%s-%05d.parquet", w.meta.Name, len(w.files)))
	}
	w.file, w.err = newFile(path, w.meta.pairs(w.rules.Info()))
	return w.err
}

// Write appends an episode. It replays it and refuses one that the rules do not lead to, that has no plies, is of
// another variant or has the id of the one before; a refused episode leaves no trace. Other errors are
// final: nothing further can be written, and the unfinished file is gone. After Close or Abort all are refused.
func (w *Writer) Write(e *env.Episode) error {
	if w.err != nil {
		return w.err
	}
	if w.closed {
		return fmt.Errorf("datasets: game %d: the writer is closed: want a new one", e.Number)
	}
	if w.file == nil {
		if err := w.begin(); err != nil {
			return err
		}
	}
	if err := check(w.rules, w.meta.Reward, e); err != nil {
		return fmt.Errorf("datasets: game %d %w", e.Number, err)
	}
	i := idOf(e)
	if w.any && i == w.last {
		return fmt.Errorf("datasets: game %d: the last one written has the same number, seed and agents", e.Number)
	}
	w.last, w.any = i, true
	w.arena.reset()
	w.rows = appendRows(w.rows[:0], &w.arena, w.rules, e)
	if err := w.file.write(w.rows); err != nil {
		return w.fail(err)
	}
	w.file.digest = digest(w.file.digest, e)
	if w.path == "" && w.file.rows >= shardRows {
		return w.finish()
	}
	return nil
}

// Close completes the last file. A Writer that has failed, or is closed, returns its error, or nil.
func (w *Writer) Close() error {
	w.closed = true
	if w.file == nil || w.err != nil {
		return w.err
	}
	if w.path == "" && w.file.rows == 0 {
		w.Abort()
		return nil
	}
	return w.finish()
}

// Abort removes the unfinished file; complete shards stay. After Close it does nothing.
func (w *Writer) Abort() {
	w.closed = true
	if w.file != nil {
		w.file.remove()
		w.file = nil
	}
}

// Files returns the paths of the complete files.
func (w *Writer) Files() []string { return w.files }

func (w *Writer) finish() error {
	if err := w.file.finish(); err != nil {
		return w.fail(err)
	}
	w.files = append(w.files, w.file.path)
	w.file = nil
	if w.parent != "" {
		if err := whole.SyncDir(w.parent); err != nil {
			return w.fail(err)
		}
	}
	return nil
}

func (w *Writer) fail(err error) error {
	w.Abort()
	w.err = fmt.Errorf("datasets: writing: %w", err)
	return w.err
}

// file is one Parquet file in the making.
type file struct {
	path   string // to be
	f      *os.File
	sum    hash.Hash32
	pq     *parquet.GenericWriter[row]
	rows   int
	digest uint64
}

func newFile(path string, meta map[string]string) (*file, error) {
	f, err := os.Create(whole.Temporary(path))
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	sum := crc32.New(castagnoli)
	pq := parquet.NewGenericWriter[row](io.MultiWriter(f, sum), &parquet.WriterConfig{
		Schema:             schema,
		CreatedBy:          "mancalagym", // the library's own depends on how the program was built
		Compression:        &zstd.Codec{Level: zstd.SpeedFastest},
		MaxRowsPerRowGroup: groupRows,
		KeyValueMetadata:   meta,
		DataPageVersion:    2,
		DataPageStatistics: true,
	})
	return &file{path: path, f: f, sum: sum, pq: pq}, nil
}

func (f *file) write(rows []row) (err error) {
	defer guard(&err)
	f.rows += len(rows)
	_, err = f.pq.Write(rows)
	return err
}

// finish puts the file in its place.
func (f *file) finish() error {
	if err := f.seal(); err != nil {
		return err
	}
	if err := f.f.Sync(); err != nil {
		return err
	}
	if err := f.f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.f.Name(), f.path); err != nil {
		return err
	}
	return whole.SyncDir(filepath.Dir(f.path))
}

// seal writes the footer and then the checksum into it.
func (f *file) seal() (err error) {
	defer guard(&err)
	f.pq.SetKeyValueMetadata(keyDigest, fmt.Sprintf("%016x", f.digest))
	f.pq.SetKeyValueMetadata(keyChecksum, unsealed)
	if err := f.pq.Close(); err != nil {
		return err
	}
	i, err := f.f.Stat()
	if err != nil {
		return err
	}
	at, err := checksumAt(f.f, i.Size())
	if err != nil {
		return err
	}
	_, err = f.f.WriteAt(fmt.Appendf(nil, "%08x", f.sum.Sum32()), at)
	return err
}

// remove takes the temporary file away. Its errors add nothing: the failure that led here is told.
func (f *file) remove() {
	f.f.Close()
	os.Remove(f.f.Name())
}

// guard turns a panic of the Parquet library into an error.
func guard(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the Parquet library failed: %v", p)
	}
}
