//go:build unix

package cli

import (
	"syscall"
	"time"
)

// clock is what bench measures with.
const clock = "cpu"

// spent returns the processor time that this process has used: on a machine with other work it says more than a watch.
func spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
