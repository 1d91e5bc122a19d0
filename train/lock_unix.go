//go:build unix

package train

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile keeps other processes out until it is closed or the process ends, however it ends.
func lockFile(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		f.Close()
		if err == unix.EWOULDBLOCK {
			return nil, fmt.Errorf("another process is training here: want one at a time")
		}
		return nil, fmt.Errorf("%s: lock: %w", path, err)
	}
	return f, nil
}
