//go:build !unix

package clock

import "time"

// Name is what Spent counts.
const Name = "wall"

var began = time.Now()

// Spent returns the time since the start of the process.
func Spent() time.Duration { return time.Since(began) }
