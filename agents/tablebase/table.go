package tablebase

import (
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"slices"

	"github.com/edsrzf/mmap-go"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Never is the Entry.Distance of a position from which play goes round for ever.
const Never = -1

// Entry is what a table knows of a position.
type Entry struct {
	Value int // the best store difference the mover can still make
	// Distance is the number of plies to the next capture or to the end under best play, 0 where there is no action; 254
	// stands for more, too, and Never for none.
	Distance int
	Marked   bool // an endless turn (C3) could be of use to one of the players
}

// ErrVariant is what an error of Open wraps when the file is in order but does not serve the rules.
var ErrVariant = errors.New("a table of another variant")

// Table is a file of solved positions, mapped into memory. It implements agents.Prober. Any number of goroutines may
// use it until Close.
type Table struct {
	rules  mancala.Rules
	free   mancala.Rules // without a quiet limit that one ply reaches
	index  *index
	spec   string
	levels []Level
	file   mmap.MMap
	values [][]byte // by seeds
	away   [][]byte // distances
}

// Open maps the table in a file and checks it from end to end. r are the rules it is to serve: its own variant, with any
// quiet limit; nil takes them from the file. It fails, with the reason, for a file that is damaged, cut short, of another format or
// variant, or of another version of the rules.
func Open(path string, r mancala.Rules) (*Table, error) {
	t, err := open(path, r)
	if err != nil {
		if p := new(os.PathError); errors.As(err, &p) {
			return nil, fmt.Errorf("tablebase: %w", err)
		}
		return nil, fmt.Errorf("tablebase: %s: %w", path, err)
	}
	return t, nil
}

func open(path string, r mancala.Rules) (t *Table, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if i, err := f.Stat(); err != nil || !i.Mode().IsRegular() {
		return nil, errors.Join(err, errors.New("no regular file: want one that mancala solve has written"))
	}
	h, start, err := readHeader(f, tableMagic)
	if err != nil {
		return nil, err
	}
	if r == nil {
		if r, err = mancala.Parse(h.Spec); err != nil {
			return nil, err
		}
	}
	t = &Table{rules: r, spec: h.Spec, levels: h.Levels}
	if t.free, err = unlimited(r); err != nil {
		return nil, err
	}
	if want := t.free.Info(); h.Spec != want.Spec || h.Version != want.Version {
		return nil, fmt.Errorf("%w: %s, rules version %d: want %s, version %d", ErrVariant, h.Spec, h.Version, want.Spec, want.Version)
	}
	if err := t.layOut(&h); err != nil {
		return nil, err
	}
	size := start
	for _, l := range t.levels {
		size += 2 * l.Positions
	}
	if i, err := f.Stat(); err != nil || i.Size() != int64(size) {
		return nil, errors.Join(err, fmt.Errorf("damaged: %d bytes: want %d", i.Size(), size))
	}
	if t.file, err = mmap.Map(f, mmap.RDONLY, 0); err != nil {
		return nil, err
	}
	rest := []byte(t.file)[start:]
	for k, l := range t.levels {
		n := l.Positions
		if crc32.Checksum(rest[:2*n], castagnoli) != l.Checksum {
			t.Close()
			return nil, fmt.Errorf("damaged: the checksum of the level of %d seeds is wrong", k)
		}
		t.values = append(t.values, rest[:n:n])
		t.away = append(t.away, rest[n:2*n:2*n])
		rest = rest[2*n:]
	}
	return t, nil
}

// layOut checks the levels of a header.
func (t *Table) layOut(h *header) error {
	info := t.free.Info()
	wrong := errors.New("damaged: the header does not fit the variant")
	if 2*info.Pits > maxPits || h.Seeds < 1 || h.Seeds > min(info.Seeds, maxSeeds) || len(h.Levels) != h.Seeds+1 {
		return wrong
	}
	t.index = newIndex(2 * info.Pits)
	for k, l := range h.Levels {
		if l.Seeds != k || l.Positions != t.index.size(k) || l.Positions > maxLevel {
			return wrong
		}
	}
	return nil
}

// Close ends the mapping. The table must not be used any more.
func (t *Table) Close() error {
	if t.file == nil {
		return nil
	}
	if err := t.file.Unmap(); err != nil {
		return fmt.Errorf("tablebase: %w", err)
	}
	return nil
}

// Spec is the variant of the table, without a quiet limit.
func (t *Table) Spec() string { return t.spec }

// Rules are the rules the table serves.
func (t *Table) Rules() mancala.Rules { return t.rules }

// Seeds is the most seeds on the board that the table knows.
func (t *Table) Seeds() int { return len(t.levels) - 1 }

// Levels are the numbers of each level, by seeds on the board.
func (t *Table) Levels() []Level { return slices.Clone(t.levels) }

// Bytes is the size of the file.
func (t *Table) Bytes() int { return len(t.file) }

// Probe implements agents.Prober: the best store difference the mover of s can still make, 0 if s is over. It does not know positions with
// more seeds on the board than the table, and marked ones. It does not look at the quiet count. It allocates nothing.
func (t *Table) Probe(s mancala.State) (value int, ok bool) {
	if s.Over() {
		return 0, true
	}
	if s.Ply() == 0 {
		e, ok := t.Lookup(s)
		return e.Value, ok && !e.Marked
	}
	k := s.OnBoard(mancala.South) + s.OnBoard(mancala.North)
	if k >= len(t.values) {
		return 0, false
	}
	b := t.values[k][t.index.number(&s)]
	return int(int8(b<<1) >> 1), b < 0x80
}

// Lookup returns what the table knows of s. It fails for positions with more seeds on the board, and at ply 0 for those of which an action leads
// to such. A position that is over has value and distance 0.
func (t *Table) Lookup(s mancala.State) (e Entry, ok bool) {
	if s.Ply() == 0 && !s.Over() {
		return t.first(s)
	}
	return t.later(s)
}

func (t *Table) later(s mancala.State) (e Entry, ok bool) {
	if s.Over() {
		return e, true
	}
	k := s.OnBoard(mancala.South) + s.OnBoard(mancala.North)
	if k >= len(t.values) {
		return e, false
	}
	return t.entry(k, t.index.number(&s)), true
}

func (t *Table) entry(k int, n uint32) Entry {
	b, d := t.values[k][n], int(t.away[k][n])
	if d == never {
		d = Never
	}
	return Entry{Value: int(int8(b<<1) >> 1), Distance: d, Marked: b >= 0x80}
}

// Choice is a legal action and what it is worth.
type Choice struct {
	Action  mancala.Action
	Endless bool // it annuls the game; the rest is 0
	// Value is the store difference that the mover still makes with this action and best play after it.
	Value    int
	Distance int  // plies to the next capture or to the end, this one included; Never
	Marked   bool // an endless turn could be of use after it
}

// Choices appends the legal actions of s to list, in ascending order. It fails where an action leads to a position
// that the table does not know. It allocates nothing if list has room.
func (t *Table) Choices(s mancala.State, list []Choice) (_ []Choice, ok bool) {
	if s.Quiet() > 0 {
		p := s.Position()
		p.Quiet = 0
		s = p.State()
	}
	begin := len(list)
	for legal := t.free.Legal(s); legal != 0; legal = legal.WithoutFirst() {
		a := legal.First()
		next := t.free.Next(s, a)
		if next.Reason() == mancala.Endless {
			list = append(list, Choice{Action: a, Endless: true})
			continue
		}
		e, ok := t.later(next)
		if !ok {
			return list[:begin], false
		}
		c := Choice{Action: a, Value: gain(&s, &next), Distance: 1, Marked: e.Marked}
		if next.Mover() == s.Mover() {
			c.Value += e.Value
		} else {
			c.Value -= e.Value
		}
		if !next.Over() && taken(&s, &next) == 0 {
			if c.Distance += e.Distance; e.Distance == Never {
				c.Distance = Never
			}
		}
		list = append(list, c)
	}
	return list, true
}

// gain is the store difference that the mover of s makes on the way to t.
func gain(s, t *mancala.State) int {
	m := s.Mover()
	o := m.Opponent()
	return t.Store(m) - t.Store(o) - s.Store(m) + s.Store(o)
}

// taken is the number of seeds that leave the board between s and t.
func taken(s, t *mancala.State) int {
	return t.Store(mancala.South) + t.Store(mancala.North) - s.Store(mancala.South) - s.Store(mancala.North)
}

// first looks one ply ahead from ply 0, and back into the table if it finds nothing else than there.
func (t *Table) first(s mancala.State) (e Entry, ok bool) {
	p := s.Position()
	p.Ply = 1
	later := p.State()
	e, known := t.later(later)
	var room, spare [64]Choice
	list, ok := t.Choices(s, room[:0])
	if !ok || len(list) == 0 {
		return e, known
	}
	if usual, _ := t.Choices(later, spare[:0]); known && slices.Equal(list, usual) {
		return e, true
	}
	return Best(list), true
}

// Best is the entry of a position with these choices: the highest value, and the distance of best play. A mark is that of any
// choice.
func Best(list []Choice) (e Entry) {
	found := false
	for _, c := range list {
		e.Marked = e.Marked || c.Marked || c.Endless
		if c.Endless || found && c.Value < e.Value {
			continue
		}
		if !found || c.Value > e.Value || better(c.Distance, e.Distance, c.Value) {
			e.Value, e.Distance, found = c.Value, c.Distance, true
		}
	}
	if !found && len(list) > 0 {
		e.Distance = 1
	}
	return e
}

// better reports whether distance a is better play than b for the mover of a position of this value.
func better(a, b, value int) bool {
	if value < 0 {
		return a > b
	}
	return a != Never && (b == Never || a < b)
}
