package train

import (
	"context"
	"fmt"

	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/datasets"
	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/train/learner"
)

// window holds the searched positions of the last iterations.
type window struct {
	tables []*datasets.Table
	total  int
}

// add loads the games of an iteration and lets go of those before the last keep iterations.
func (w *window) add(path string, keep int) error {
	t, err := datasets.Load([]string{path}, datasets.Window{Searched: true})
	if err != nil {
		return fmt.Errorf("train: window: %w", err)
	}
	w.tables = append(w.tables, t)
	w.tables = w.tables[max(0, len(w.tables)-keep):]
	w.total = 0
	for _, t := range w.tables {
		w.total += t.Len()
	}
	return nil
}

func (w *window) len() int { return w.total }

// at returns sample i, 0 ≤ i < len, the oldest first.
func (w *window) at(i int) datasets.Sample {
	for _, t := range w.tables {
		if i < t.Len() {
			return t.At(i)
		}
		i -= t.Len()
	}
	panic("train: sample out of the window")
}

// fit learns Steps batches from the window, drawn evenly by the iteration's generator. It returns the mean losses.
func fit(ctx context.Context, c *Config, s neural.Shape, enc encode.Encoder, l *learner.Learner, w *window, iteration int, progress func(done, total int)) (mean learner.Loss, err error) {
	if w.len() == 0 {
		return mean, fmt.Errorf("train: iteration %d: no positions to learn from: all games ended within their opening", iteration)
	}
	rng := newRand(c.Seed, streamSample, iteration)
	b := learner.NewBatch(c.Fit.Batch, s)
	for step := range c.Fit.Steps {
		if err := ctx.Err(); err != nil {
			return mean, err
		}
		for row := range c.Fit.Batch {
			p := w.at(rng.IntN(w.len()))
			enc.Sparse(p.State, b.Indices[row*s.Active:(row+1)*s.Active])
			b.Legal[row] = p.Legal
			p.Spread(b.Policy[row*s.Actions : (row+1)*s.Actions])
			b.PolicyWeight[row] = 1
			outcome := b.Value[row*neural.Outcomes : (row+1)*neural.Outcomes]
			share := float32(c.Fit.Margin) / 2
			outcome[0], outcome[1], outcome[2] = share*(1+p.Margin), 0, share*(1-p.Margin)
			outcome[1-p.Outcome] += 1 - 2*share // win, draw, loss of the mover
			b.ValueWeight[row] = 0
			if p.Known {
				b.ValueWeight[row] = 1
			}
			if s.MarginHead {
				b.Margin[row] = p.Margin
			}
		}
		loss, err := l.Step(b)
		if err != nil {
			return mean, fmt.Errorf("train: iteration %d, step %d: %w", iteration, step+1, err)
		}
		n := float32(c.Fit.Steps)
		mean.Policy += loss.Policy / n
		mean.Value += loss.Value / n
		mean.Total += loss.Total / n
		progress(step+1, c.Fit.Steps)
	}
	return mean, nil
}
