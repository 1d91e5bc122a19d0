package minimax

import "github.com/mancalagym/mancalagym/env/mancala"

// none is no action.
const none mancala.Action = 0xff

// unbounded is beyond every value.
const unbounded = 2 * Win

// frame is the storage of a search at one distance from the root.
type frame struct {
	children []mancala.State // by place of expansion
	order    []child         // the same in the order to search them
	n        int             // children there are
	line     []mancala.Action
}

// child is an action and where it leads.
type child struct {
	rank   int32
	place  uint8
	action mancala.Action
}

func newFrame(actions, depth int) frame {
	return frame{
		children: make([]mancala.State, actions),
		order:    make([]child, actions),
		line:     make([]mancala.Action, 0, depth+1),
	}
}

// expand adds the children of s by the actions of m, those of higher rank first.
func (a *Agent) expand(f *frame, s *mancala.State, m mancala.Mask) {
	mover := s.Mover()
	past := &a.past[mover]
	sorted := f.n
	for ; m != 0; m = m.WithoutFirst() {
		c := child{action: m.First(), place: uint8(f.n)}
		t := &f.children[f.n]
		*t = a.rules.Next(*s, c.action)
		rank := a.worth.rank(t, mover)
		if t.Over() {
			rank = a.worth.end(t, mover, 0)
		}
		c.rank = int32(rank)<<16 + int32(min(past[c.action], 1<<16-1))
		i := f.n
		for ; i > sorted && f.order[i-1].rank < c.rank; i-- {
			f.order[i] = f.order[i-1]
		}
		f.order[i] = c
		f.n++
		a.nodes++
	}
}

// lead moves an action to the front.
func (f *frame) lead(action mancala.Action) {
	for i := range f.order[:f.n] {
		if c := f.order[i]; c.action == action {
			copy(f.order[1:i+1], f.order[:i])
			f.order[0] = c
			return
		}
	}
}

// follow makes the line of f an action and the line of the next frame.
func (f *frame) follow(action mancala.Action, next *frame) {
	f.line = append(append(f.line[:0], action), next.line...)
}

// aspire searches the root around the value that the depth before had, in wider windows until the value is inside.
// The first action of the root's line is the lowest of the best.
func (a *Agent) aspire(s *mancala.State, depth, guess int) int {
	const width = 3
	low, high := -unbounded, unbounded
	if depth > 2 {
		low, high = guess-width, guess+width
	}
	for {
		v := a.root(s, depth, low, high)
		switch {
		case a.halted:
			return 0
		case v <= low:
			low = -unbounded
		case v >= high:
			high = unbounded
		default:
			return v
		}
	}
}

// root searches all actions. A value within low and high is exact, and the root's line then begins with the lowest action that
// has it: an action below the best so far takes its place with an equal value, one above needs a
// higher one. So every window but the first leaves open just what decides that, and the order of the
// actions, which is that of the search before, has no part in the choice.
func (a *Agent) root(s *mancala.State, depth, low, high int) int {
	f, next := &a.frames[0], &a.frames[1]
	mover := s.Mover()
	best, at := low, none
	for i := range f.n {
		c := f.order[i]
		t := &f.children[c.place]
		floor := best
		if at != none && c.action < at {
			floor--
		}
		next.line = next.line[:0]
		if at != none {
			if v := a.child(t, mover, depth-1, 1, floor, floor+1); v <= floor {
				continue
			}
		}
		v := a.child(t, mover, depth-1, 1, floor, high)
		if a.halted {
			return 0
		}
		if v <= floor {
			continue
		}
		best, at = v, c.action
		f.follow(at, next)
		if v >= high {
			break
		}
	}
	return best
}

// child returns the value for p of t, one of p's children, depth plies deep and ply plies from the root: exact
// between alpha and beta, else a bound on the same side.
func (a *Agent) child(t *mancala.State, p mancala.Player, depth, ply, alpha, beta int) int {
	switch {
	case t.Over():
		return a.worth.end(t, p, ply)
	case depth == 0:
		return a.worth.horizon(t, p)
	case t.Mover() == p:
		return a.search(t, depth, ply, alpha, beta)
	}
	return -a.search(t, depth, ply, -beta, -alpha)
}

// search returns the value of s for its mover, as child does. Where the value is exact it sets the line of its
// frame; so in an open window the table is asked for the action alone. A value from the table is taken only if it
// is of the same depth: plain minimax of another depth is another value.
func (a *Agent) search(s *mancala.State, depth, ply, alpha, beta int) int {
	if a.nodes >= a.check && a.halt() {
		return 0
	}
	top := unbounded
	if a.arrange {
		if top = a.worth.ceiling(s, depth); top <= alpha {
			return top
		}
	}
	if depth == 1 {
		return a.last(s, ply, alpha, beta)
	}
	f, next := &a.frames[ply], &a.frames[ply+1]
	f.line, f.n = f.line[:0], 0
	mover := s.Mover()
	rest := a.rules.Legal(*s)
	k := a.key(s, depth)
	hash := k.hash()
	if e := a.table.find(&k, hash); e != nil {
		if int(e.depth) == depth && beta == alpha+1 {
			v := a.worth.fromHere(int(e.value), ply)
			if e.bound != most && v >= beta || e.bound != least && v <= alpha {
				return v
			}
		}
		first := mancala.Mask(1) << e.action
		a.expand(f, s, first)
		rest &^= first
	}
	best, at, low := -unbounded, none, alpha
	for i := 0; ; i++ {
		if i == f.n {
			if rest == 0 {
				break
			}
			if a.nodes >= a.check && a.halt() {
				return 0
			}
			a.expand(f, s, rest)
			rest = 0
		}
		c := f.order[i]
		t := &f.children[c.place]
		next.line = next.line[:0]
		var v int
		if i > 0 {
			v = a.child(t, mover, depth-1, ply+1, low, low+1)
		}
		if i == 0 || v > low && v < beta {
			v = a.child(t, mover, depth-1, ply+1, low, beta)
		}
		if a.halted {
			return 0
		}
		if v <= best {
			continue
		}
		best, at = v, c.action
		if v <= low {
			continue
		}
		low = v
		if v >= beta {
			a.past[mover][at] += uint32(depth * depth)
			break
		}
		f.follow(at, next)
		if v >= top {
			break
		}
	}
	e := entry{key: k, value: int16(a.worth.fromRoot(best, ply)), depth: uint8(depth), action: at}
	switch {
	case best >= beta:
		e.bound = least
	case best <= alpha:
		e.bound = most
	}
	a.table.put(e, hash)
	return best
}

// last is search one ply deep: every child is a leaf.
func (a *Agent) last(s *mancala.State, ply, alpha, beta int) int {
	f := &a.frames[ply]
	f.line = f.line[:0]
	mover := s.Mover()
	best := -unbounded
	t := &f.children[0]
	for m := a.rules.Legal(*s); m != 0; m = m.WithoutFirst() {
		*t = a.rules.Next(*s, m.First())
		a.nodes++
		v := a.child(t, mover, 0, ply+1, 0, 0)
		if v <= best {
			continue
		}
		best = v
		if v >= beta {
			break
		}
		if v > alpha {
			f.line = append(f.line[:0], m.First())
		}
	}
	return best
}

// fromRoot turns a value whose win or loss counts plies from the root into one that counts them from ply.
func (w *worth) fromRoot(v, ply int) int {
	switch {
	case v >= Win-MaxDepth:
		return v + ply*w.late
	case v <= MaxDepth-Win:
		return v - ply*w.late
	}
	return v
}

// fromHere is the inverse of fromRoot.
func (w *worth) fromHere(v, ply int) int {
	switch {
	case v >= Win-MaxDepth:
		return v - ply*w.late
	case v <= MaxDepth-Win:
		return v + ply*w.late
	}
	return v
}
