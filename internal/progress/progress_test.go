package progress

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"
)

// clocked returns a Bar on a buffer whose clock the test moves.
func clocked(all int) (*Bar, *bytes.Buffer, *time.Time) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	b := New(&out, "export", "games", all)
	b.now = func() time.Time { return now }
	b.began, b.told = now, now
	return b, &out, &now
}

func TestPlainLinesKeepTheirDistance(t *testing.T) {
	b, out, now := clocked(100)
	for i := range 100 {
		*now = now.Add(100 * time.Millisecond)
		b.Set(i + 1)
	}
	b.Close()
	want := "export: 50 of 100 games, 10.0/s, 5s left\n" +
		"export: 100 of 100 games, 10.0/s, 0s left\n" +
		"export: 100 of 100 games, 10.0/s, 10s\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

func TestShortWorkIsSilentWithoutATerminal(t *testing.T) {
	b, out, _ := clocked(3)
	b.Set(3)
	b.Close()
	if out.Len() > 0 {
		t.Errorf("got %q", out)
	}
}

func TestPrintedLinesStay(t *testing.T) {
	b, out, now := clocked(8)
	b.Print("iteration 1 done")
	*now = now.Add(pause)
	b.Set(2)
	b.Close()
	b.Close()
	want := "iteration 1 done\n" +
		"export: 2 of 8 games, 0.40/s, 15s left\n" +
		"export: 2 of 8 games, 0.40/s, 5s\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

func TestPartsCountFromTheirOwnBeginning(t *testing.T) {
	b, out, now := clocked(8)
	*now = now.Add(4 * time.Second)
	b.Set(8)
	b.Start("fit", "steps", 100)
	*now = now.Add(2 * time.Second)
	b.Set(50)
	*now = now.Add(4 * time.Second)
	b.Set(60)
	b.Close()
	b.Start("late", "steps", 1)
	want := "fit: 50 of 100 steps, 25.0/s, 2s left\n" +
		"fit: 60 of 100 steps, 10.0/s, 6s\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out, want)
	}
}

func TestCountsOutOfRangeAreCut(t *testing.T) {
	for _, all := range []int{-1, 0, 5} {
		b, out, now := clocked(all)
		*now = now.Add(pause)
		b.Set(-3)
		b.Set(1 << 40)
		b.Close()
		if strings.Contains(out.String(), "-") {
			t.Errorf("all %d: got %q", all, out)
		}
	}
}

func TestManyGoroutinesMaySpeak(t *testing.T) {
	b := New(&bytes.Buffer{}, "work", "steps", 1000)
	var wait sync.WaitGroup
	for w := range 4 {
		wait.Go(func() {
			for i := range 250 {
				b.Set(250*w + i)
			}
		})
	}
	wait.Wait()
	b.Close()
}
