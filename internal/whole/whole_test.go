package whole

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestFailureLeavesTheOldFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := Write(path, func(w io.Writer) error {
		w.Write(make([]byte, 1<<17))
		return broken
	})
	if !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("file holds %d bytes, want the old ones", len(b))
	}
	if list, _ := os.ReadDir(dir); len(list) != 1 {
		t.Errorf("%d files left, want 1", len(list))
	}
}

func TestStaleTemporaryIsOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(Temporary(path), []byte("half of something longer"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(path); string(b) != "new" {
		t.Errorf("file holds %q", b)
	}
	if _, err := os.Stat(Temporary(path)); !errors.Is(err, os.ErrNotExist) {
		t.Error("the temporary file is still there")
	}
}
