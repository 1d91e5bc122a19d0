package tablebase

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Options say how a table is built. They change nothing in it.
type Options struct {
	Workers int            // goroutines; 0 is one a processor
	Memory  int64          // bytes to keep to, as far as what cannot be spared allows; 0 is DefaultMemory
	Told    func(Progress) // called now and then from the goroutine of Solve, if given
}

// DefaultMemory is the memory a solver keeps to unless told otherwise.
const DefaultMemory = 800 << 20

// Progress tells how far a solver is.
type Progress struct {
	Seeds       int    // on the board: the level at hand
	Stage       string // of the level
	Done, Steps int    // of the whole work: two steps a position, its value and its distance
}

// Plan is an estimate of a work.
type Plan struct {
	Spec      string        // without the quiet limit, of which tables know nothing
	Seeds     int           // the most on the board
	Positions int           // of all levels
	Memory    int64         // bytes
	Disk      int64         // bytes while it works
	File      int64         // bytes that stay
	Time      time.Duration // roughly, on this machine at this moment
	Warning   string        // one line, or empty
}

// ShortQuiet is the quiet limit below which Plan has a warning.
const ShortQuiet = 100

// DefaultSeeds is the most seeds on the board with which a table of r has no more than 20 million positions, and at least 1.
func DefaultSeeds(r mancala.Rules) int {
	const most = 20_000_000
	info := r.Info()
	x := newIndex(min(2*info.Pits, maxPits))
	seeds, n := 0, x.size(0)
	for seeds < min(info.Seeds, maxSeeds) {
		if n += x.size(seeds + 1); n > most {
			break
		}
		seeds++
	}
	return max(seeds, 1)
}

// NewPlan measures a table of all positions of r with at most so many seeds on the board before it is built. It fails for a variant
// that cannot be solved: one with four rows or without stores, with cycle=owner, or with too many positions.
func NewPlan(r mancala.Rules, seeds int, o Options) (Plan, error) {
	s, err := newSolver(r, seeds, o)
	if err != nil {
		return Plan{}, err
	}
	const program = 24 << 20
	top := int64(s.index.size(seeds))
	need := top * int64(s.width()) * int64(4+4*s.index.pits/3)
	room := int64(s.pages.limit) * pageWords * 4
	p := Plan{
		Spec: s.spec, Seeds: seeds, Positions: s.positions(),
		Memory: s.fixed() + min(need, room) + program,
		File:   2 * int64(s.positions()),
	}
	p.Disk = 2*p.File + int64(s.width()-1)*p.File
	// In expansions of all positions: two, the rounds over records, and those of the rounds for which there is no room.
	const kept, rounds = 8, 12
	times := kept + rounds*max(0, 1-float64(room)/float64(need))
	p.Time = time.Duration(times * float64(s.width()) * float64(s.positions()) / float64(min(s.workers, runtime.NumCPU())) * float64(s.sample()))
	if quiet := r.Info().Quiet; quiet < ShortQuiet {
		p.Warning = fmt.Sprintf("quiet=%d is short: a table knows no quiet limit, and its values may take more plies without a capture", quiet)
	}
	return p, nil
}

// sample is the time that the actions of a position take, about: that of the quickest of a few batches, since others may want
// the processor too.
func (s *solver) sample() time.Duration {
	const batches, positions = 16, 512
	size := s.index.size(s.seeds)
	best := time.Hour
	for i := range batches {
		n := min(positions, size)
		b := s.index.at(uint32((size-n)/batches*i), s.seeds)
		began := time.Now()
		for range n {
			p := s.index.state(&b)
			for a := range s.rules.Legal(p).All {
				t := s.rules.Next(p, a)
				s.index.number(&t)
			}
			s.index.next(&b)
		}
		best = min(best, time.Since(began)/time.Duration(n))
	}
	return best
}

func newSolver(r mancala.Rules, seeds int, o Options) (*solver, error) {
	info := r.Info()
	fail := func(format string, args ...any) (*solver, error) {
		return nil, fmt.Errorf("tablebase: %s: %s", info.Spec, fmt.Sprintf(format, args...))
	}
	if info.Rows != 2 || !info.Stores || 2*info.Pits > maxPits {
		return fail("%d rows, %d pits a player: want a variant of two rows with stores and at most %d pits a player", info.Rows, info.Pits, maxPits/2)
	}
	if slices.Contains(settings(info.Spec), "cycle=owner") {
		return fail("cycle=owner: want cycle=split, with which a position is worth the same however it was reached")
	}
	x := newIndex(2 * info.Pits)
	most := min(info.Seeds, maxSeeds)
	for x.size(most) > maxLevel {
		most--
	}
	if seeds < 1 || seeds > most {
		return fail("%d seeds on the board: want 1 to %d", seeds, most)
	}
	free, err := unlimited(r)
	if err != nil {
		return nil, fmt.Errorf("tablebase: %w", err)
	}
	s := &solver{
		ground: ground{rules: free, advancer: mancala.Advancing(free), index: x}, spec: free.Info().Spec, version: info.Version,
		seeds: seeds, endless: info.Laps > 0, workers: o.Workers, told: o.Told,
	}
	if s.workers <= 0 {
		s.workers = runtime.GOMAXPROCS(0)
	}
	for game := range s.known {
		s.known[game] = make([][]int8, seeds+1)
	}
	memory := o.Memory
	if memory <= 0 {
		memory = DefaultMemory
	}
	const least = 32 << 20
	s.pages.limit = int(max(memory-s.fixed(), least) / (pageWords * 4))
	return s, nil
}

// width is the most nodes a position has in a sweep.
func (s *solver) width() int {
	if s.endless {
		return 2
	}
	return 1
}

func (s *solver) positions() (n int) {
	for k := range s.seeds + 1 {
		n += s.index.size(k)
	}
	return n
}

// fixed is the memory without records, in bytes: the values of all levels and the cells of the largest.
func (s *solver) fixed() int64 {
	return int64(s.positions())*int64(2*s.width()-1) + 4*int64(s.index.size(s.seeds)*s.width())
}

// settings are the options of a spec as text.
func settings(spec string) []string {
	_, list, _ := strings.Cut(spec, ":")
	return strings.Split(list, ",")
}

// timeless is the spec without its quiet limit.
func timeless(spec string) string {
	name, _, _ := strings.Cut(spec, ":")
	list := slices.DeleteFunc(settings(spec), func(s string) bool { return s == "" || strings.HasPrefix(s, "quiet=") })
	if len(list) == 0 {
		return name
	}
	return name + ":" + strings.Join(list, ",")
}

// unlimited returns the rules with the default quiet limit, which is more than the one ply that is played from a position.
func unlimited(r mancala.Rules) (mancala.Rules, error) {
	spec := r.Info().Spec
	if free := timeless(spec); free != spec {
		return mancala.Parse(free)
	}
	return r, nil
}
