package tablebase

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Verify checks every position of the table against the rules: that its value and distance are those of the best of its actions, that
// every value but 0 has a distance, and that a mark has its reason. Together with the rules this proves the values and the distances (up to 254):
// whoever the value favours captures in time by always lessening the distance. It asks nothing of the code that
// built the table but the numbering of positions. told, if given, is called now and then with the number of positions checked.
func (t *Table) Verify(ctx context.Context, workers int, told func(done int)) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	const block = 1 << 14
	done := 0
	for k, values := range t.values {
		var (
			line  atomic.Int64
			group sync.WaitGroup
			mu    sync.Mutex
			worst = len(values) // the lowest position that is wrong
			why   error
		)
		for range min(workers, (len(values)+block-1)/block) {
			group.Go(func() {
				for ctx.Err() == nil {
					first := int(line.Add(block)) - block
					if first >= len(values) {
						return
					}
					n, err := t.check(k, first, min(first+block, len(values)))
					if err == nil {
						continue
					}
					mu.Lock()
					if n < worst {
						worst, why = n, err
					}
					mu.Unlock()
				}
			})
		}
		group.Wait()
		if why != nil {
			return why
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("tablebase: verify: level of %d seeds: %w", k, err)
		}
		done += len(values)
		if told != nil {
			told(done)
		}
	}
	return nil
}

// check checks positions first … last−1 of level k. It returns the first that is wrong.
func (t *Table) check(k, first, last int) (int, error) {
	b := t.index.at(uint32(first), k)
	var room [64]Choice
	for n := first; n < last; n++ {
		if n > first {
			t.index.next(&b)
		}
		s := t.index.state(&b)
		if err := t.verify(s, t.entry(k, uint32(n)), room[:0]); err != nil {
			return n, fmt.Errorf("tablebase: %s: %s: %w", t.spec, mancala.FormatState(t.free, s), err)
		}
	}
	return last, nil
}

func (t *Table) verify(s mancala.State, got Entry, room []Choice) error {
	if t.free.Legal(s) == 0 {
		end := t.free.Settle(s)
		if want := (Entry{Value: gain(&s, &end)}); got != want {
			return fmt.Errorf("%+v: want %+v", got, want)
		}
		return nil
	}
	list, ok := t.Choices(s, room)
	if !ok {
		return errors.New("an action leads out of the table")
	}
	want := Best(list)
	if want.Distance > longestKept {
		want.Distance = longestKept
	}
	if got.Value != want.Value || got.Distance != want.Distance {
		return fmt.Errorf("value %d, distance %d: the actions give %d, %d", got.Value, got.Distance, want.Value, want.Distance)
	}
	if got.Value != 0 && got.Distance == Never {
		return fmt.Errorf("value %d without a distance", got.Value)
	}
	if got.Marked && !want.Marked {
		return errors.New("marked, but no action is endless or leads to a mark")
	}
	for _, c := range list {
		if c.Endless && !got.Marked {
			return fmt.Errorf("action %d is endless: want a mark", c.Action)
		}
	}
	return nil
}
