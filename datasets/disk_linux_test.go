package datasets

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mancalagym/mancalagym/env"
)

// TestFullDiskLeavesNothing runs itself in a process whose files may have no more than 4096 bytes.
func TestFullDiskLeavesNothing(t *testing.T) {
	if dir := os.Getenv("DATASETS_FULL_DISK"); dir != "" {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: 4096}); err != nil {
			t.Fatal(err)
		}
		fill(t, dir)
		return
	}
	dir := t.TempDir()
	c := exec.Command(os.Args[0], "-test.run=^TestFullDiskLeavesNothing$")
	c.Env = append(os.Environ(), "DATASETS_FULL_DISK="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if names := ls(t, dir); len(names) != 1 || names[0] != "old.parquet" {
		t.Errorf("left behind: %q", names)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "old.parquet")); err != nil || string(b) != "old" {
		t.Errorf("the file that was there is %q, %v", b, err)
	}
}

func fill(t *testing.T, dir string) {
	path := filepath.Join(dir, "old.parquet")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	r := parse(t, "urim")
	w, err := CreateFile(path, r, Meta{})
	if err != nil {
		t.Fatal(err)
	}
	for n := uint64(0); n < 2000 && err == nil; n++ {
		err = w.Write(play(r, n, env.Outcome))
	}
	if err == nil {
		err = w.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "file too large") {
		t.Fatalf("writing to a full disk: %v", err)
	}
	if again := w.Write(play(r, 0, env.Outcome)); again != err {
		t.Errorf("the error does not stay: %v", again)
	}
	if again := w.Close(); again != err {
		t.Errorf("the error does not stay: %v", again)
	}
}
