package env

import "github.com/mancalagym/mancalagym/env/mancala"

// Stats sums up finished episodes.
type Stats struct {
	Episodes  int        // ended, by the rules or by a limit
	Truncated int        // of them, by a limit
	Wins      [2]int     // of South and North
	Draws     int        // by the rules; Episodes = Truncated + Wins + Draws
	Reasons   [32]int    // terminated episodes by mancala.Reason
	Plies     int        // of all, openings included
	Shortest  int        // in plies; 0 if there are no episodes
	Longest   int        // in plies
	Return    [2]float64 // of South and North, summed over the episodes
	Points    [2]int     // match points of South and North
}

// Counter wraps an Env and keeps the Stats of its episodes.
type Counter struct {
	Env
	stats Stats
	sum   [2]float64 // the return of the episode so far
}

// Count returns a Counter around e. Episodes that Reset drops before their end do not count; a time limit and a
// reward scheme belong inside.
func Count(e Env) *Counter { return &Counter{Env: e} }

// Stats returns what has been counted since Count.
func (w *Counter) Stats() Stats { return w.stats }

// Reset begins an episode.
func (w *Counter) Reset(seed uint64) (TimeStep, error) {
	t, err := w.Env.Reset(seed)
	if err != nil {
		return t, err
	}
	w.sum = [2]float64{}
	w.add(&t)
	return t, nil
}

// Step plays an action.
func (w *Counter) Step(a mancala.Action) (TimeStep, error) {
	t, err := w.Env.Step(a)
	if err != nil {
		return t, err
	}
	w.add(&t)
	return t, nil
}

func (w *Counter) add(t *TimeStep) {
	for p, x := range t.Reward {
		w.sum[p] += float64(x)
	}
	if !t.Ended() {
		return
	}
	c := &w.stats
	n := t.Info.Ply
	if c.Episodes == 0 || n < c.Shortest {
		c.Shortest = n
	}
	c.Longest = max(c.Longest, n)
	c.Plies += n
	c.Episodes++
	for p := range c.Return {
		c.Return[p] += w.sum[p]
		c.Points[p] += t.Info.Points[p]
	}
	if t.Truncated {
		c.Truncated++
		return
	}
	c.Reasons[int(t.Info.Reason)%len(c.Reasons)]++
	if t.Info.Winner == mancala.Nobody {
		c.Draws++
	} else {
		c.Wins[t.Info.Winner&1]++
	}
}
