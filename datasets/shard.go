package datasets

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Files lists the Parquet files of a dataset directory and everything under it in lexical order; of a file, itself.
// Names that begin with "." or "_" are passed over, as other readers of such directories do. A directory without
// a Parquet file is an error.
func Files(path string) ([]string, error) {
	i, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	if !i.IsDir() {
		return []string{path}, nil
	}
	var files []string
	err = filepath.WalkDir(path+string(filepath.Separator), func(p string, d fs.DirEntry, err error) error {
		hidden := strings.HasPrefix(d.Name(), ".") || strings.HasPrefix(d.Name(), "_")
		switch {
		case err != nil:
			return err
		case hidden && filepath.Clean(p) != filepath.Clean(path) && d.IsDir():
			return filepath.SkipDir
		case !hidden && !d.IsDir() && filepath.Ext(p) == ".parquet":
			files = append(files, p)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("datasets: %s: no .parquet file in it", path)
	}
	return files, nil
}

// shard is one file open for reading.
type shard struct {
	path   string
	f      *os.File
	pq     *parquet.File
	meta   Meta
	digest string
	rules  mancala.Rules
	info   mancala.Info
	left   int64 // rows not yet read
	cols   [columns]column
	null   nullables
}

// nullables are what the pointers of the row last read point to.
type nullables struct {
	reason                     string
	outcome                    int8
	margin, value              float32
	pointsSouth, pointsNorth   uint8
	pitsSouth, pitsNorth, list []uint16
	policy                     []float32
	visits                     []uint32
}

// openShard opens a file after looking at all of its bytes. Errors name the file.
func openShard(path string) (*shard, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("datasets: %w", err)
	}
	s := &shard{path: path, f: f}
	if err := s.open(); err != nil {
		f.Close()
		return nil, s.errorf(err)
	}
	return s, nil
}

func (s *shard) errorf(err error) error { return fmt.Errorf("datasets: %s: %w", s.path, err) }

func (s *shard) open() (err error) {
	defer guard(&err)
	i, err := s.f.Stat()
	if err != nil {
		return err
	}
	if !i.Mode().IsRegular() {
		return errors.New("not a regular file")
	}
	if err := checkSeal(s.f, i.Size()); err != nil {
		return err
	}
	s.pq, err = parquet.OpenFile(s.f, i.Size(), parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return err
	}
	if err := s.readMeta(); err != nil {
		return err
	}
	if s.pq.Schema().String() != schema.String() {
		return fmt.Errorf("its columns are not those of schema version %d", Version)
	}
	s.left = s.pq.NumRows()
	for c := range s.cols {
		s.cols[c] = column{file: s.pq, index: c}
	}
	return nil
}

func (s *shard) readMeta() error {
	value := func(key string) string {
		v, _ := s.pq.Lookup(key)
		return v
	}
	if v := value(keySchema); v != strconv.Itoa(Version) {
		return fmt.Errorf("schema version %q: this program reads version %d", v, Version)
	}
	var err error
	if s.rules, err = mancala.Parse(value(keyVariant)); err != nil {
		return err
	}
	s.info = s.rules.Info()
	if v := value(keyRules); v != strconv.Itoa(s.info.Version) {
		return fmt.Errorf("rules of %s version %q: this program plays version %d", s.info.Spec, v, s.info.Version)
	}
	s.meta.Agents = [2]string{value(keySouth), value(keyNorth)}
	s.meta.Writer = value(keyWriter)
	s.digest = value(keyDigest)
	if s.meta.Seed, err = strconv.ParseUint(value(keySeed), 10, 64); err != nil {
		return err
	}
	s.meta.Reward, err = env.ParseScheme(value(keyReward))
	return err
}

func (s *shard) close() {
	for c := range s.cols {
		s.cols[c].close()
	}
	s.f.Close()
}

// next reads a row. What it points to lasts until the next call. At the end the error is io.EOF.
func (s *shard) next(r *row) (err error) {
	defer guard(&err)
	if s.left == 0 {
		return io.EOF
	}
	s.left--
	c := &s.cols
	n := &s.null
	r.Game = c[colGame].number()
	r.Ply = uint32(c[colPly].number())
	r.Spec = c[colSpec].text()
	r.Seed = c[colSeed].number()
	r.South = c[colSouth].text()
	r.North = c[colNorth].text()
	r.Mover = uint8(c[colMover].number())
	r.PitsSouth = c[colPitsSouth].small(&n.pitsSouth)
	r.PitsNorth = c[colPitsNorth].small(&n.pitsNorth)
	r.StoreSouth = uint8(c[colStoreSouth].number())
	r.StoreNorth = uint8(c[colStoreNorth].number())
	r.Quiet = uint32(c[colQuiet].number())
	r.HandSeeds = uint8(c[colHandSeeds].number())
	r.HandPit = uint8(c[colHandPit].number())
	r.HandLaps = uint16(c[colHandLaps].number())
	r.HandFlags = uint8(c[colHandFlags].number())
	r.History = uint8(c[colHistory].number())
	r.Legal = c[colLegal].small(&n.list)
	r.Action = uint8(c[colAction].number())
	r.Opening = c[colOpening].flag()
	r.RewardSouth = c[colRewardSouth].float()
	r.RewardNorth = c[colRewardNorth].float()
	r.Terminated = c[colTerminated].flag()
	r.Truncated = c[colTruncated].flag()
	r.Reason = nullable(&c[colReason], &n.reason, (*column).text)
	r.OutcomeSouth = nullable(&c[colOutcomeSouth], &n.outcome, func(c *column) int8 { return int8(c.number()) })
	r.MarginSouth = nullable(&c[colMarginSouth], &n.margin, (*column).float)
	r.PointsSouth = nullable(&c[colPointsSouth], &n.pointsSouth, func(c *column) uint8 { return uint8(c.number()) })
	r.PointsNorth = nullable(&c[colPointsNorth], &n.pointsNorth, func(c *column) uint8 { return uint8(c.number()) })
	r.Plies = uint32(c[colPlies].number())
	r.Policy = c[colPolicy].floats(&n.policy)
	r.Visits = c[colVisits].counts(&n.visits)
	r.Value = nullable(&c[colValue], &n.value, (*column).float)
	for i := range c {
		if c[i].err != nil {
			return fmt.Errorf("column %s: %w", schema.Fields()[i].Name(), c[i].err)
		}
	}
	return nil
}

// column walks over the values of one column. Its first error stays, and zeros follow it.
type column struct {
	file   *parquet.File
	index  int
	group  int // the next one
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buf    []parquet.Value
	at, n  int // of buf
	last   string
	err    error
}

const columnBuffer = 512 // values

// peek returns the next value, nil at the end or after an error.
func (c *column) peek() *parquet.Value {
	for c.at == c.n {
		if c.err != nil || !c.fill() {
			return nil
		}
	}
	return &c.buf[c.at]
}

// fill reads ahead; it returns false at the end of the file or with an error.
func (c *column) fill() bool {
	if c.buf == nil {
		c.buf = make([]parquet.Value, columnBuffer)
	}
	c.at, c.n = 0, 0
	if c.values != nil {
		n, err := c.values.ReadValues(c.buf)
		c.n = n
		if err == io.EOF {
			c.values, err = nil, nil
		}
		c.err = err
		return err == nil
	}
	parquet.Release(c.page)
	c.page = nil
	if c.pages == nil {
		groups := c.file.RowGroups()
		if c.group == len(groups) {
			return false
		}
		c.pages = groups[c.group].ColumnChunks()[c.index].Pages()
		c.group++
	}
	page, err := c.pages.ReadPage()
	if err == io.EOF {
		c.err = c.pages.Close()
		c.pages = nil
		return c.err == nil
	}
	if err != nil {
		c.err = err
		return false
	}
	c.page, c.values = page, page.Values()
	return true
}

func (c *column) close() {
	parquet.Release(c.page)
	c.page, c.values = nil, nil
	if c.pages != nil {
		c.pages.Close()
		c.pages = nil
	}
}

var errShort = errors.New("it is shorter than the others")

// next returns the next value of a column with one value a row.
func (c *column) next() *parquet.Value {
	if v := c.peek(); v != nil {
		c.at++
		return v
	}
	if c.err == nil {
		c.err = errShort
	}
	return &parquet.Value{}
}

func (c *column) number() uint64 {
	v := c.next()
	if v.Kind() == parquet.Int32 {
		return uint64(uint32(v.Int32()))
	}
	return v.Uint64()
}

func (c *column) float() float32 { return c.next().Float() }
func (c *column) flag() bool     { return c.next().Boolean() }

// text returns a string of its own, the last one if it is the same.
func (c *column) text() string {
	if b := c.next().ByteArray(); string(b) != c.last {
		c.last = string(b)
	}
	return c.last
}

// nullable reads into *p and returns p, or nil for null.
func nullable[T any](c *column, p *T, read func(*column) T) *T {
	if v := c.peek(); v != nil && v.IsNull() {
		c.at++
		return nil
	}
	*p = read(c)
	return p
}

// each calls f for the elements of a list; it returns whether the list is not null. An optional list has one
// definition level more.
func (c *column) each(optional int, f func(v *parquet.Value)) bool {
	v := c.next()
	if c.err != nil || v.DefinitionLevel() < optional {
		return false
	}
	if v.DefinitionLevel() == optional {
		return true // empty
	}
	f(v)
	for {
		v := c.peek()
		if v == nil || v.RepetitionLevel() == 0 {
			return true
		}
		f(v)
		c.at++
	}
}

func (c *column) small(buf *[]uint16) []uint16 {
	*buf = (*buf)[:0]
	c.each(0, func(v *parquet.Value) { *buf = append(*buf, uint16(v.Int32())) })
	return *buf
}

func (c *column) floats(buf *[]float32) []float32 {
	*buf = (*buf)[:0]
	if !c.each(1, func(v *parquet.Value) { *buf = append(*buf, v.Float()) }) {
		return nil
	}
	return slices.Clip(*buf)
}

func (c *column) counts(buf *[]uint32) []uint32 {
	*buf = (*buf)[:0]
	if !c.each(1, func(v *parquet.Value) { *buf = append(*buf, uint32(v.Int32())) }) {
		return nil
	}
	return slices.Clip(*buf)
}

// state is the position of a row. The error names the column.
func (s *shard) state(r *row) (mancala.State, error) {
	p := mancala.Position{
		Store:   [2]uint8{r.StoreSouth, r.StoreNorth},
		Mover:   mancala.Player(r.Mover),
		Ply:     r.Ply,
		Quiet:   r.Quiet,
		History: mancala.History(r.History),
		Hand:    mancala.Hand{Seeds: r.HandSeeds, Pit: r.HandPit, Laps: r.HandLaps, Flags: mancala.HandFlags(r.HandFlags)},
	}
	if p.Mover > mancala.North {
		return mancala.State{}, fmt.Errorf("mover: got %d want 0 or 1", r.Mover)
	}
	for i, pits := range [2][]uint16{r.PitsSouth, r.PitsNorth} {
		if len(pits) != s.info.Pits {
			return mancala.State{}, fmt.Errorf("%s: got %d pits want %d", [2]string{"pits_south", "pits_north"}[i], len(pits), s.info.Pits)
		}
		for k, seeds := range pits {
			p.Pits[i][k] = uint8(seeds)
		}
	}
	return p.State(), nil
}

// legal is the set of legal actions of a row, which holds its action.
func (s *shard) legal(r *row) (mancala.Mask, error) {
	var m mancala.Mask
	for _, a := range r.Legal {
		if int(a) >= s.info.Actions || m>>a != 0 {
			return 0, fmt.Errorf("legal: got %v want ascending actions below %d", r.Legal, s.info.Actions)
		}
		m |= 1 << a
	}
	if !m.Has(mancala.Action(r.Action)) {
		return 0, fmt.Errorf("action: got %d want one of %v", r.Action, r.Legal)
	}
	if r.Policy != nil && len(r.Policy) != len(r.Legal) {
		return 0, fmt.Errorf("policy: got %d entries want %d", len(r.Policy), len(r.Legal))
	}
	if r.Visits != nil && len(r.Visits) != len(r.Legal) {
		return 0, fmt.Errorf("visits: got %d entries want %d", len(r.Visits), len(r.Legal))
	}
	return m, nil
}

// ply turns a row into the ply it was made from.
func (s *shard) ply(r *row, p *env.Ply) error {
	var err error
	if r.Spec != s.info.Spec {
		return fmt.Errorf("spec: got %q want %q", r.Spec, s.info.Spec)
	}
	if p.State, err = s.state(r); err != nil {
		return err
	}
	if p.Legal, err = s.legal(r); err != nil {
		return err
	}
	p.Action = mancala.Action(r.Action)
	p.Opening = r.Opening
	p.Reward = [2]float32{r.RewardSouth, r.RewardNorth}
	if r.Policy != nil {
		p.Policy = spread(s.info.Actions, r.Legal, r.Policy)
		if r.Visits != nil {
			p.Visits = spread(s.info.Actions, r.Legal, r.Visits)
		}
		if r.Value == nil {
			return errors.New("value: got null want a number beside a policy")
		}
		p.Value = *r.Value
	} else if r.Visits != nil || r.Value != nil {
		return errors.New("policy: got null want one beside visits and value")
	}
	return nil
}

// spread is the inverse of pick.
func spread[T any](n int, legal []uint16, list []T) []T {
	all := make([]T, n)
	for i, a := range legal {
		all[a] = list[i]
	}
	return all
}
