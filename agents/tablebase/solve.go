package tablebase

import (
	"context"
	"fmt"
	"os"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// never is the distance byte of a position from which play goes round for ever, longestKept the largest that is kept.
const (
	never       = 255
	longestKept = 254
)

// Level is what is known of the positions with so many seeds on the board. Each counts as one, with the mover to move.
type Level struct {
	Seeds     int    `json:"seeds"`
	Positions int    `json:"positions"`
	Won       int    `json:"won"`    // value above 0
	Drawn     int    `json:"drawn"`  // value 0
	Lost      int    `json:"lost"`   // value below 0
	Round     int    `json:"round"`  // drawn, and play goes round for ever
	Marked    int    `json:"marked"` // an endless turn could be of use
	Longest   int    `json:"longest"`
	Quiet     int    `json:"quiet"`
	Checksum  uint32 `json:"crc32c"` // of the values, then the distances
}

// solver builds the levels of a table.
type solver struct {
	ground
	spec    string
	version int // of the rules
	seeds   int
	endless bool // the rules know endless turns
	annul   bool // a level solved so far has some
	workers int
	pages   pages
	cells   [2][]uint16
	told    func(Progress)
	done    int // of Progress
}

// Solve builds the table of all positions of r with at most so many seeds on the board and writes it to path, whole or not at all. Finished
// levels are kept in the directory Parts(path) on the way, and a call that finds some goes on from there. The file is a function of
// the rules and the number of seeds alone. It returns the numbers of each level. It fails where NewPlan does, for parts of another
// table, and with ctx's error when ctx ends.
func Solve(ctx context.Context, r mancala.Rules, seeds int, path string, o Options) ([]Level, error) {
	s, err := newSolver(r, seeds, o)
	if err != nil {
		return nil, err
	}
	return s.run(ctx, path)
}

func (s *solver) run(ctx context.Context, path string) (levels []Level, err error) {
	parts := Parts(path)
	if err := os.MkdirAll(parts, 0o777); err != nil {
		return nil, fmt.Errorf("tablebase: %w", err)
	}
	for k := range s.seeds + 1 {
		l, found, err := s.resume(parts, k)
		if err == nil && !found {
			l, err = s.solve(ctx, parts, k)
		}
		if err != nil {
			return nil, err
		}
		levels = append(levels, l)
	}
	s.tell(s.seeds, "file", 0)
	if err := s.assemble(parts, path, levels); err != nil {
		return nil, err
	}
	return levels, os.RemoveAll(parts)
}

// Parts is the directory in which a table that is to become path grows.
func Parts(path string) string { return path + ".part" }

func (s *solver) tell(k int, stage string, done int) {
	if s.told != nil {
		s.told(Progress{k, stage, s.done + done, 2 * s.positions()})
	}
}

// solve works out level k, against those below it, and writes it to parts.
func (s *solver) solve(ctx context.Context, parts string, k int) (Level, error) {
	if s.cells[0] == nil {
		n := s.index.size(s.seeds) * s.width()
		s.cells = [2][]uint16{make([]uint16, n), make([]uint16, n)}
	}
	size := s.index.size(k)
	l := Level{Seeds: k, Positions: size}

	limit := int8(k)
	w := s.sweep(k, 1, &bounds{})
	fill(w.now, cellOf(-limit, limit))
	err := s.settle(ctx, w, "values", func(round int, t tally) {
		if t.moved > 0 {
			l.Quiet = round
		}
		s.annul = s.annul || t.annul
	})
	if err != nil {
		return l, err
	}
	values := make([]int8, size)
	for i, cell := range w.now {
		values[i] = middle(cell)
	}
	s.known[plain][k], s.known[hope][k], s.known[threat][k] = values, values, values
	s.done += size

	if s.annul {
		w := s.sweep(k, 2, &bounds{pair: true})
		for i := range w.now {
			w.now[i] = cellOf(-limit, all)
			if i&1 == int(threat-hope) {
				w.now[i] = cellOf(-all, limit)
			}
		}
		if err := s.settle(ctx, w, "endless turns", nil); err != nil {
			return l, err
		}
		for game := hope; game <= threat; game++ {
			values := make([]int8, size)
			for i := range values {
				values[i] = middle(w.now[2*i+game-hope])
			}
			s.known[game][k] = values
		}
	}

	w = s.sweep(k, 1, &distances{values})
	fill(w.now, far)
	if err := s.settle(ctx, w, "distances", nil); err != nil {
		return l, err
	}
	s.done += size
	if err := l.count(s, w.now); err != nil {
		return l, err
	}
	return s.keep(parts, l, w.now)
}

func (s *solver) sweep(k, width int, j judge) *sweep {
	n := s.index.size(k) * width
	return &sweep{
		ground: &s.ground, seeds: k, width: width, size: n, judge: j,
		now: s.cells[0][:n], next: s.cells[1][:n], pages: &s.pages, workers: s.workers,
	}
}

func fill(cells []uint16, cell uint16) {
	for i := range cells {
		cells[i] = cell
	}
}

// settle goes round until nothing changes any more.
func (s *solver) settle(ctx context.Context, w *sweep, stage string, after func(round int, t tally)) error {
	defer w.done()
	for round := 1; ; round++ {
		t, err := w.round(ctx, round)
		if err != nil {
			return fmt.Errorf("tablebase: %s: level of %d seeds: %w", s.spec, w.seeds, err)
		}
		if after != nil {
			after(round, t)
		}
		s.tell(w.seeds, fmt.Sprintf("%s, round %d", stage, round), (w.size-t.open)/w.width)
		if t.changed == 0 || t.open == 0 {
			return nil
		}
	}
}

// count fills in the numbers of a level. distances are its cells.
func (l *Level) count(s *solver, distances []uint16) error {
	for i, v := range s.known[plain][l.Seeds] {
		switch {
		case v > 0:
			l.Won++
		case v < 0:
			l.Lost++
		default:
			l.Drawn++
		}
		if s.marked(l.Seeds, i) {
			l.Marked++
		}
		switch d := distances[i]; {
		case d != far:
			l.Longest = max(l.Longest, int(d))
		case v == 0:
			l.Round++
		default:
			return fmt.Errorf("tablebase: %s: %d seeds: position %d is worth %d but not decided: the rules change between calls", s.spec, l.Seeds, i, v)
		}
	}
	return nil
}

// marked reports whether an endless turn could be of use in a position.
func (s *solver) marked(k, i int) bool {
	v := s.known[plain][k][i]
	return s.known[hope][k][i] != v || s.known[threat][k][i] != v
}
