package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mancalagym/mancalagym/datasets"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/whole"
)

const outHelp = `PATH is where the games go, whole or not at all: a name that ends in .jsonl a file of JSON lines, in .parquet one Parquet file,
any other a dataset directory of Parquet files. What exists is not replaced without --force.`

// output is a place for games under a temporary name, until commit.
type output struct {
	sink   env.Sink
	commit func() error // puts all in its place
	abort  func()       // removes what was written; after commit it does nothing

	plies, truncated int // written so far, and games of that kind
}

// Write implements env.Sink.
func (o *output) Write(e *env.Episode) error {
	if err := o.sink.Write(e); err != nil {
		return err
	}
	o.plies += len(e.Plies)
	if e.Truncated {
		o.truncated++
	}
	return nil
}

// format returns the format that a path asks for by its name.
func format(path string) string {
	if path == "-" || filepath.Ext(path) == ".jsonl" {
		return "jsonl"
	}
	return "parquet"
}

// create prepares an output. stdout is what "-" means.
func create(path, format string, force bool, r mancala.Rules, m datasets.Meta, stdout io.Writer) (*output, error) {
	switch {
	case path == "-" && format == "jsonl":
		w := &jsonl{Writer: bufio.NewWriter(stdout), rules: r}
		return &output{sink: w, commit: w.Flush, abort: func() {}}, nil
	case path == "-":
		return nil, wrong("--out -: want a path, or --format jsonl: %s does not go to standard output", format)
	}
	path = filepath.Clean(path)
	if err := vacant(path, force); err != nil {
		return nil, unwritable(path, err)
	}
	var o *output
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	switch {
	case err != nil:
	case format == "jsonl":
		o, err = createJSON(path, r)
	case filepath.Ext(path) == ".parquet":
		o, err = createParquet(path, r, m)
	default:
		o, err = createDataset(path, r, m)
	}
	if err != nil {
		return nil, unwritable(path, err)
	}
	return o, nil
}

// unwritable is the error of an output.
func unwritable(path string, err error) error {
	want := ""
	if errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.LinkError)) {
		want = ": want a path that can be written"
	}
	return fmt.Errorf("--out %q: %s%s", path, strings.TrimPrefix(err.Error(), "datasets: "), want)
}

// vacant reports why nothing may be put at path.
func vacant(path string, force bool) error {
	i, err := os.Lstat(path)
	switch base := filepath.Base(path); {
	case base == "." || base == ".." || base == string(filepath.Separator):
		return errors.New("cannot be put in its place whole: want the name of a file or directory in it")
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case i.IsDir():
		if entries, err := os.ReadDir(path); err != nil || len(entries) == 0 {
			return err
		}
		if err := onlyDataset(path); err != nil {
			return err
		}
	case !i.Mode().IsRegular():
		return errors.New("is there and neither a regular file nor a directory: want another path, or - for standard output")
	}
	if !force {
		return errors.New("exists: want another path, or --force to replace it")
	}
	return nil
}

// free reports why a file may not be put at path.
func free(path string, force bool) error {
	i, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !i.Mode().IsRegular():
		return errors.New("is there and no regular file: want another path")
	case !force:
		return errors.New("exists: want another path, or --force to replace it")
	}
	return nil
}

// onlyDataset reports what in a directory is not part of a dataset, and so must not be replaced.
func onlyDataset(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		at := filepath.Base(filepath.Dir(path))
		if d.IsDir() && filepath.Dir(path) == dir && strings.HasPrefix(d.Name(), "variant=") ||
			!d.IsDir() && filepath.Ext(path) == ".parquet" && strings.HasPrefix(at, "variant=") {
			return nil
		}
		return fmt.Errorf("is a directory with other things than a dataset, such as %s: want another path", path)
	})
}

func createParquet(path string, r mancala.Rules, m datasets.Meta) (*output, error) {
	if i, err := os.Stat(path); err == nil && i.IsDir() {
		return nil, errors.New("is a directory: want a file, or a name without .parquet")
	}
	w, err := datasets.CreateFile(path, r, m)
	if err != nil {
		return nil, err
	}
	return &output{sink: w, commit: w.Close, abort: w.Abort}, nil
}

func createDataset(path string, r mancala.Rules, m datasets.Meta) (*output, error) {
	if i, err := os.Stat(path); err == nil && !i.IsDir() {
		return nil, errors.New("is a file: want a directory, or a name that ends in .parquet")
	}
	dir := whole.Temporary(path)
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	w, err := datasets.Create(dir, r, m)
	if err != nil {
		return nil, err
	}
	abort := func() {
		w.Abort()
		os.RemoveAll(dir)
	}
	commit := func() error {
		if err := w.Close(); err != nil {
			return err
		}
		if len(w.Files()) == 0 {
			return errors.New("no game was finished: nothing is written")
		}
		return swap(dir, path)
	}
	return &output{sink: w, commit: commit, abort: abort}, nil
}

// swap puts the directory dir in the place of path, what is there away first.
func swap(dir, path string) error {
	old := dir + ".old"
	if err := os.RemoveAll(old); err != nil {
		return err
	}
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.Rename(dir, path); err != nil {
		return errors.Join(err, os.Rename(old, path))
	}
	return errors.Join(os.RemoveAll(old), whole.SyncDir(filepath.Dir(path)))
}

func createJSON(path string, r mancala.Rules) (*output, error) {
	if i, err := os.Stat(path); err == nil && i.IsDir() {
		return nil, errors.New("is a directory: want a file for jsonl")
	}
	f, err := os.Create(whole.Temporary(path))
	if err != nil {
		return nil, err
	}
	w := &jsonl{Writer: bufio.NewWriter(f), rules: r}
	abort := func() {
		if f.Close() == nil {
			os.Remove(f.Name())
		}
	}
	commit := func() error {
		for _, step := range []func() error{
			w.Flush, f.Sync, f.Close,
			func() error { return os.Rename(f.Name(), path) },
			func() error { return whole.SyncDir(filepath.Dir(path)) },
		} {
			if err := step(); err != nil {
				os.Remove(f.Name())
				return err
			}
		}
		return nil
	}
	return &output{sink: w, commit: commit, abort: abort}, nil
}

// jsonl writes episodes as JSON lines.
type jsonl struct {
	*bufio.Writer
	rules mancala.Rules
}

// Write implements env.Sink.
func (w *jsonl) Write(e *env.Episode) error { return datasets.WriteJSON(w.Writer, e, w.rules) }
