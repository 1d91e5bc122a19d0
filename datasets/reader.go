package datasets

import (
	"fmt"
	"io"
	"iter"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Reader reads episodes in the order of Files and, within a file, in that of writing. It is not safe for
// concurrent use.
type Reader struct {
	files []string // not yet opened
	shard *shard
	row   row
	err   error
}

// Open opens a file, or a dataset directory with everything under it. It looks at the first file at once and at
// the others when they come up. A file that is damaged, unfinished or foreign, or of another version of the schema
// or the rules, is refused with an error that names it and says why.
func Open(path string) (*Reader, error) {
	files, err := Files(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{files: files}
	if err := r.open(); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Reader) open() error {
	s, err := openShard(r.files[0])
	r.files = r.files[1:]
	if err != nil {
		r.err = err
		return err
	}
	r.Close()
	r.shard = s
	return nil
}

// Meta returns what the file of the last episode, or the first file, says of all its episodes.
func (r *Reader) Meta() Meta { return r.shard.meta }

// Rules returns the rules of that file.
func (r *Reader) Rules() mancala.Rules { return r.shard.rules }

// Path returns the path of that file.
func (r *Reader) Path() string { return r.shard.path }

// Close closes the open file.
func (r *Reader) Close() {
	if r.shard != nil {
		r.shard.close()
	}
}

// Next returns the next episode, which is the caller's, and io.EOF after the last one. Any error is final.
// It trusts the rows no further than to build the episode; Verify replays them.
func (r *Reader) Next() (*env.Episode, error) {
	for r.err == nil {
		e, err := r.shard.episode(&r.row)
		if err == nil {
			return e, nil
		}
		if err != io.EOF {
			r.err = r.shard.errorf(err)
		} else if len(r.files) == 0 {
			r.err = io.EOF
		} else {
			r.open()
		}
	}
	return nil, r.err
}

// Episodes ranges over the episodes that are left. An error comes last, with no episode.
func (r *Reader) Episodes() iter.Seq2[*env.Episode, error] {
	return func(yield func(*env.Episode, error) bool) {
		for {
			e, err := r.Next()
			if err == io.EOF || !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// episode gathers the rows of one episode.
func (s *shard) episode(r *row) (*env.Episode, error) {
	if err := s.next(r); err != nil {
		return nil, err
	}
	fault := func(n uint32, err error) (*env.Episode, error) {
		return nil, fmt.Errorf("game %d ply %d: %w", r.Game, n, err)
	}
	e := newEpisode(r)
	if n := r.Plies; n == 0 || int64(n)-1 > s.left {
		return fault(0, fmt.Errorf("plies: got %d want 1 … %d, the rows that are left", n, s.left+1))
	}
	e.Plies = make([]env.Ply, r.Plies)
	number, plies := r.Game, r.Plies
	for n := range e.Plies {
		if n > 0 {
			if err := s.next(r); err != nil {
				return nil, err
			}
		}
		if r.Game != number || r.Plies != plies || r.Ply != uint32(n) {
			return fault(uint32(n), fmt.Errorf("got ply %d of %d of game %d want ply %d of %d of game %d", r.Ply, r.Plies, r.Game, n, plies, number))
		}
		if err := s.ply(r, &e.Plies[n]); err != nil {
			return fault(uint32(n), err)
		}
	}
	if r.Terminated == r.Truncated {
		return fault(plies-1, fmt.Errorf("terminated: got %t, and truncated too, want one of them at the end", r.Terminated))
	}
	e.Truncated = r.Truncated
	var err error
	if e.Final, err = s.final(&e.Plies[plies-1]); err != nil {
		return fault(plies-1, err)
	}
	if e.Final.Over() != r.Terminated {
		return fault(plies-1, fmt.Errorf("terminated: got %t want %t by the rules", r.Terminated, e.Final.Over()))
	}
	return e, nil
}

// newEpisode takes from a row what all rows of an episode say.
func newEpisode(r *row) *env.Episode {
	return &env.Episode{Spec: r.Spec, Number: r.Game, Seed: r.Seed, Agents: [2]string{r.South, r.North}}
}

// final plays the last action. A position is checked first, for the rules take only their own.
func (s *shard) final(p *env.Ply) (mancala.State, error) {
	text := mancala.FormatState(s.rules, p.State)
	if t, err := mancala.ParseState(s.rules, text); err != nil || t != p.State {
		return mancala.State{}, fmt.Errorf("state: got %q want a position of %s", text, s.info.Spec)
	}
	if legal := s.rules.Legal(p.State); legal != p.Legal {
		return mancala.State{}, fmt.Errorf("legal: got %v want %v", list(p.Legal), list(legal))
	}
	return s.rules.Next(p.State, p.Action), nil
}
