package tablebase

import (
	"context"
	"sync"
	"sync/atomic"
)

// A level is worked out in rounds. Each node, which is a position or a position in one of two games, has a cell. In
// a round the cells of all open nodes are computed from the cells of the round before, so that neither the number of goroutines nor
// their order matters. What a node depends on is its record; records are kept in memory as long as there is room, and else made from
// the rules in every round.

// record is what the cell of a node is computed from.
type record struct {
	base     int8     // what is known of it without the children
	children []uint32 // nodes, with stays; a judge may shorten it
}

// judge says how.
type judge interface {
	// open reports whether a node with this cell may still change.
	open(cell uint16) bool
	// begin makes the record of a node, in r.children[:0]. It may answer at once, for good: then settled is true.
	begin(node int, f *fan, r *record) (cell uint16, settled bool)
	// step computes a cell of the round. It may leave out children that do not matter any more.
	step(r *record, cells []uint16, round int) (cell uint16)
	// moves reports whether a change of a cell counts.
	moves(before, after uint16) bool
}

const (
	blockNodes = 1 << 16
	pageWords  = 1 << 13
)

// page holds records: a word with the place of the node in its block, the number of children and the base, then the children.
type page struct {
	used  int
	words [pageWords]uint32
}

// block is a range of nodes that a goroutine takes at a time.
type block struct {
	kept  bool // pages hold the records of all open nodes
	pages []*page
	open  int  // nodes
	still bool // nothing changed in the last round
}

// pages lends pages, up to a number.
type pages struct {
	mu    sync.Mutex
	free  []*page
	lent  int
	limit int
}

func (p *pages) take() *page {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		got := p.free[n-1]
		p.free = p.free[:n-1]
		got.used = 0
		return got
	}
	if p.lent == p.limit {
		return nil
	}
	p.lent++
	return new(page)
}

func (p *pages) give(list []*page) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, list...)
}

// sweep is the work on one level with one judge.
type sweep struct {
	ground  *ground
	seeds   int
	width   int // nodes a position: node / width is the position
	size    int // nodes
	judge   judge
	now     []uint16 // cells of the last round
	next    []uint16
	blocks  []block
	pages   *pages
	workers int
}

// tally is what a round did.
type tally struct {
	changed, moved, open int
	annul                bool // an action is endless
}

func (t *tally) add(u *tally) {
	t.changed += u.changed
	t.moved += u.moved
	t.open += u.open
	t.annul = t.annul || u.annul
}

// hand is what a goroutine works with.
type hand struct {
	fan    fan
	record record
	room   [64]uint32
	tally  tally // of a block
}

// round works out one round.
func (w *sweep) round(ctx context.Context, round int) (t tally, err error) {
	if w.blocks == nil {
		w.blocks = make([]block, (w.size+blockNodes-1)/blockNodes)
	}
	var (
		line  atomic.Int64
		group sync.WaitGroup
		mu    sync.Mutex
	)
	for range min(w.workers, len(w.blocks)) {
		group.Go(func() {
			var h hand
			var own tally
			for ctx.Err() == nil {
				i := int(line.Add(1)) - 1
				if i >= len(w.blocks) {
					break
				}
				h.tally = tally{}
				w.block(i, round, &h)
				own.add(&h.tally)
			}
			mu.Lock()
			t.add(&own)
			mu.Unlock()
		})
	}
	group.Wait()
	w.now, w.next = w.next, w.now
	return t, ctx.Err()
}

// block works out one block.
func (w *sweep) block(i, round int, h *hand) {
	b := &w.blocks[i]
	if b.still && b.open == 0 {
		return // both arrays hold the same
	}
	first := i * blockNodes
	last := min(first+blockNodes, w.size)
	copy(w.next[first:last], w.now[first:last])
	if b.kept {
		w.again(b, first, round, h)
	} else {
		w.fresh(b, first, last, round, h)
	}
	b.open = h.tally.open
	b.still = h.tally.changed == 0
}

// set writes a cell and reports whether the node is still open.
func (w *sweep) set(node int, cell uint16, t *tally) bool {
	if old := w.now[node]; cell != old {
		w.next[node] = cell
		t.changed++
		if w.judge.moves(old, cell) {
			t.moved++
		}
	}
	if !w.judge.open(cell) {
		return false
	}
	t.open++
	return true
}

// fresh works out a block from the rules, and keeps the records if there is room.
func (w *sweep) fresh(b *block, first, last, round int, h *hand) {
	f, r, t := &h.fan, &h.record, &h.tally
	keep := writer{pages: w.pages}
	x := w.ground.index
	place := x.at(uint32(first/w.width), w.seeds)
	for node := first; node < last; node += w.width {
		if node > first {
			x.next(&place)
		}
		expanded := false
		for side := range w.width {
			if !w.judge.open(w.now[node+side]) {
				continue
			}
			if !expanded {
				w.ground.expand(x.state(&place), w.seeds, f)
				t.annul = t.annul || f.annul
				expanded = true
			}
			r.children = h.room[:0]
			if cell, settled := w.judge.begin(node+side, f, r); settled {
				w.next[node+side] = cell
				t.changed++
				continue
			}
			if w.set(node+side, w.judge.step(r, w.now, round), t) {
				keep.put(node+side-first, r)
			}
		}
	}
	b.pages, b.kept = keep.end()
}

// again works out a block from its records, and keeps those of the nodes that are still open.
func (w *sweep) again(b *block, first, round int, h *hand) {
	r := &h.record
	keep := writer{list: b.pages, within: true}
	for _, p := range b.pages {
		used := p.used
		for at := 0; at < used; {
			head := p.words[at]
			n := int(head >> 8 & 0xff)
			r.base, r.children = int8(head), p.words[at+1:at+1+n:at+1+n]
			at += 1 + n
			node := first + int(head>>16)
			if w.set(node, w.judge.step(r, w.now, round), &h.tally) {
				keep.put(node-first, r)
			}
		}
	}
	var spare []*page
	b.pages, spare = keep.cut()
	w.pages.give(spare)
}

// writer puts records into pages: into those of a list, from the beginning, if within, else into pages it takes. Within a list it
// never gets ahead of a reader of the same records, since none of them grows.
type writer struct {
	pages  *pages
	within bool
	list   []*page
	page   int // place in list
	used   int // words of it
	full   bool
}

// put adds a record. One that finds no room makes all in vain: see end.
func (w *writer) put(place int, r *record) {
	need := 1 + len(r.children)
	if !w.within && len(w.list) == 0 && !w.full {
		w.more()
	}
	if w.full {
		return
	}
	if w.used+need > pageWords {
		w.list[w.page].used = w.used
		if w.within {
			w.page++
		} else {
			w.more()
		}
		w.used = 0
		if w.full {
			return
		}
	}
	words := w.list[w.page].words[w.used:]
	copy(words[1:], r.children)
	words[0] = uint32(place)<<16 | uint32(len(r.children))<<8 | uint32(uint8(r.base))
	w.used += need
}

func (w *writer) more() {
	p := w.pages.take()
	if p == nil {
		w.full = true
		return
	}
	w.list = append(w.list, p)
	w.page = len(w.list) - 1
}

// end returns the pages, or gives them back if there was no room for all.
func (w *writer) end() (list []*page, kept bool) {
	if w.full {
		w.pages.give(w.list)
		return nil, false
	}
	if len(w.list) > 0 {
		w.list[w.page].used = w.used
	}
	return w.list, true
}

// cut returns the pages that hold records, and the others.
func (w *writer) cut() (list, spare []*page) {
	if len(w.list) == 0 {
		return nil, nil
	}
	n := w.page
	if w.used > 0 {
		w.list[w.page].used = w.used
		n++
	}
	return w.list[:n], w.list[n:]
}

// done gives all pages back.
func (w *sweep) done() {
	for i := range w.blocks {
		w.pages.give(w.blocks[i].pages)
	}
	w.blocks = nil
}
