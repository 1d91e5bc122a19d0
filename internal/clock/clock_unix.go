//go:build unix

// Package clock is what benchmarks are timed with: processor time, where the system tells it. On a machine with other
// work it says more than a watch.
package clock

import (
	"syscall"
	"time"
)

// Name is what Spent counts.
const Name = "cpu"

// Spent returns the processor time that this process has used, in all its threads.
func Spent() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
