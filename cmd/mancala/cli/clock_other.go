//go:build !unix

package cli

import "time"

// clock is what bench measures with.
const clock = "wall"

var began = time.Now()

// spent returns the time since the start.
func spent() time.Duration { return time.Since(began) }
