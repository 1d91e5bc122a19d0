package datasets

import (
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Window says which plies Load takes.
type Window struct {
	Searched bool // only those with a policy target: openings chosen at random have none
	Last     int  // no more than so many of the last ones; 0 for all
}

// Sample is a position and what is to be learnt of it, all from its mover's side.
type Sample struct {
	State   mancala.State
	Legal   mancala.Mask
	Policy  []float32 // the target for the actions of Legal in ascending order, sum 1; nil without a search. Not to be changed
	Known   bool      // the game has a result; without one, Outcome and Margin mean nothing and must be masked
	Outcome int8      // +1 if the mover won the game, 0 a draw, −1 a loss
	Margin  float32   // of seeds, −1 … 1, as env.Margin
}

// Spread writes the policy target to dst, one entry an action, zeros for the illegal ones.
func (s *Sample) Spread(dst []float32) {
	clear(dst)
	m := s.Legal
	for _, p := range s.Policy {
		dst[m.First()] = p
		m = m.WithoutFirst()
	}
}

// Table holds the plies of files of one variant in memory. It does not change and may be shared between
// goroutines.
type Table struct {
	rules  mancala.Rules
	plies  []entry
	policy []float32
}

// entry is a Sample; its policy is Table.policy from at on, if it has one.
type entry struct {
	state    mancala.State
	legal    mancala.Mask
	at       int
	margin   float32
	outcome  int8
	known    bool
	searched bool
}

// Load reads files and dataset directories, in the order given, into a Table. All must be of one variant; an
// error names the file that cannot be used. It looks whether every Sample is in range, and does not replay the games:
// Verify does.
func Load(paths []string, w Window) (*Table, error) {
	if w.Last < 0 {
		return nil, fmt.Errorf("datasets: window of the last %d plies: 0 for all, or more", w.Last)
	}
	t := &Table{}
	for _, p := range paths {
		files, err := Files(p)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if err := t.load(f, w); err != nil {
				return nil, err
			}
		}
	}
	if n := len(t.plies) - w.Last; w.Last > 0 && n > 0 {
		t.plies = append([]entry(nil), t.plies[n:]...)
	}
	return t, nil
}

func (t *Table) load(path string, w Window) error {
	s, err := openShard(path)
	if err != nil {
		return err
	}
	defer s.close()
	if t.rules == nil {
		t.rules = s.rules
	} else if spec := t.rules.Info().Spec; s.info.Spec != spec {
		return s.errorf(fmt.Errorf("variant: got %s want %s as in the files before", s.info.Spec, spec))
	}
	for r := (row{}); ; {
		switch err := s.next(&r); {
		case err == io.EOF:
			return nil
		case err != nil:
			return s.errorf(err)
		}
		if w.Searched && r.Policy == nil {
			continue
		}
		e, err := s.entry(&r)
		if err != nil {
			return s.errorf(fmt.Errorf("game %d ply %d: %w", r.Game, r.Ply, err))
		}
		e.at = len(t.policy)
		t.policy = append(t.policy, r.Policy...)
		t.plies = append(t.plies, e)
	}
}

func (s *shard) entry(r *row) (e entry, err error) {
	if e.state, err = s.state(r); err != nil {
		return e, err
	}
	if e.legal, err = s.legal(r); err != nil {
		return e, err
	}
	if e.searched = r.Policy != nil; e.searched {
		if err := checkPolicy(r.Policy); err != nil {
			return e, err
		}
	}
	if r.OutcomeSouth == nil || r.MarginSouth == nil {
		return e, nil
	}
	if o := *r.OutcomeSouth; o < -1 || o > 1 {
		return e, fmt.Errorf("outcome_south: got %d want −1, 0 or 1", o)
	}
	if m := *r.MarginSouth; !(m >= -1 && m <= 1) {
		return e, fmt.Errorf("margin_south: got %v want −1 … 1", m)
	}
	e.known, e.outcome, e.margin = true, *r.OutcomeSouth, *r.MarginSouth
	if e.state.Mover() == mancala.North {
		e.outcome, e.margin = -e.outcome, 0-e.margin
	}
	return e, nil
}

// Rules returns the rules of the variant, nil for a Table of no files.
func (t *Table) Rules() mancala.Rules { return t.rules }

// Len returns the number of samples.
func (t *Table) Len() int { return len(t.plies) }

// At returns sample i, 0 ≤ i < Len. It allocates nothing.
func (t *Table) At(i int) Sample {
	e := &t.plies[i]
	s := Sample{State: e.state, Legal: e.legal, Known: e.known, Outcome: e.outcome, Margin: e.margin}
	if e.searched {
		n := e.at + e.legal.Len()
		s.Policy = t.policy[e.at:n:n]
	}
	return s
}

// Sample fills idx with indices of samples, each drawn evenly and independently of the others, so that one may come
// twice. The same generator gives the same indices. The Table must not be empty.
func (t *Table) Sample(rng *rand.Rand, idx []int) {
	for i := range idx {
		idx[i] = rng.IntN(len(t.plies))
	}
}
