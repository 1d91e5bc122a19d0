// Package progress tells a person how far a long work is: a bar on a terminal, a plain line every few seconds elsewhere.
package progress

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

const (
	redraw = 100 * time.Millisecond // between two states of a bar
	pause  = 5 * time.Second        // between two plain lines
)

// Bar shows how much of a work is done. Its methods may be called from any goroutine. What it writes is news for a
// person: errors of the writer are dropped.
type Bar struct {
	mu         sync.Mutex
	w          io.Writer
	bar        *progressbar.ProgressBar // nil without a terminal
	what, unit string
	done, all  int
	began      time.Time // of the part at hand
	told       time.Time
	shown      bool // anything of it
	closed     bool
	now        func() time.Time
}

// Terminal reports whether w is one.
func Terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// New begins to tell of a work of the given name on w, usually standard error: all steps of it, in the given unit. all
// is at least 1. A work shorter than five seconds is not told of without a terminal.
func New(w io.Writer, what, unit string, all int) *Bar {
	b := &Bar{w: w, now: time.Now, told: time.Now()}
	b.begin(what, unit, all)
	return b
}

// Start goes on with another part of the work: a bar of its own takes the place of the one before.
func (b *Bar) Start(what, unit string, all int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	if b.bar != nil {
		b.bar.Clear()
	}
	b.begin(what, unit, all)
}

func (b *Bar) begin(what, unit string, all int) {
	b.what, b.unit, b.done, b.all = what, unit, 0, max(all, 1)
	b.began = b.now()
	if Terminal(b.w) {
		b.bar = progressbar.NewOptions(b.all,
			progressbar.OptionSetWriter(b.w),
			progressbar.OptionSetWidth(24),
			progressbar.OptionSetPredictTime(false),
			progressbar.OptionSetElapsedTime(false),
			progressbar.OptionShowDescriptionAtLineEnd(),
			progressbar.OptionSetDescription(what),
			progressbar.OptionUseANSICodes(true),
		)
	}
}

// Set says that done steps of all are finished.
func (b *Bar) Set(done int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done = min(max(done, 0), b.all)
	b.tell()
}

// Print writes a line that stays, above the bar.
func (b *Bar) Print(line string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.bar != nil && !b.closed {
		b.bar.Clear()
	}
	fmt.Fprintln(b.w, line)
	if b.bar != nil && !b.closed {
		b.told = time.Time{}
		b.tell()
	}
}

// Close ends the telling, whether or not the work is finished. Only the first call does anything.
func (b *Bar) Close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.closed = true
	switch {
	case b.bar != nil:
		b.draw()
		fmt.Fprintln(b.w)
	case b.shown:
		fmt.Fprintln(b.w, b.line())
	}
}

// tell shows the state, unless it has just been shown.
func (b *Bar) tell() {
	now := b.now()
	switch {
	case b.closed:
	case b.bar != nil && now.Sub(b.told) >= redraw:
		b.told = now
		b.draw()
	case b.bar == nil && now.Sub(b.told) >= pause:
		b.told, b.shown = now, true
		fmt.Fprintln(b.w, b.line())
	}
}

// draw shows the bar. The library draws a full bar once and never again: so it is left to Close, with its last words
// set before; at any other state they are set after, to stand beside the new count.
func (b *Bar) draw() {
	switch {
	case b.done < b.all:
		b.bar.Set(b.done)
		b.bar.Describe(b.fit(b.line()))
	case b.closed:
		b.bar.Describe(b.fit(b.line()))
		b.bar.Set(b.done)
	}
}

// fit cuts a line to what the terminal has room for beside the percentage and the ends of the bar.
func (b *Bar) fit(text string) string {
	const beside = 12
	width, _, err := term.GetSize(int(b.w.(*os.File).Fd()))
	if r := []rune(text); err == nil && width > beside && len(r) > width-beside {
		return string(r[:width-beside])
	}
	return text
}

// line is "export: 37 of 100 games, 12.3/s, 5s left".
func (b *Bar) line() string {
	spent := b.now().Sub(b.began)
	var s strings.Builder
	fmt.Fprintf(&s, "%s: %d of %d %s", b.what, b.done, b.all, b.unit)
	if rate := float64(b.done) / spent.Seconds(); b.done > 0 && spent >= redraw {
		fmt.Fprintf(&s, ", %s/s", short(rate))
		if left := time.Duration(float64(b.all-b.done) / rate * float64(time.Second)); !b.closed {
			fmt.Fprintf(&s, ", %v left", left.Round(time.Second))
		}
	}
	if b.closed {
		fmt.Fprintf(&s, ", %v", spent.Round(100*time.Millisecond))
	}
	return s.String()
}

// short writes a rate with about three digits.
func short(x float64) string {
	switch {
	case x >= 100:
		return fmt.Sprintf("%.0f", x)
	case x >= 10:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}
