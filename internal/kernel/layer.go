package kernel

import (
	"math"
	"unsafe"
)

// Layer is a matrix with a bias, laid out for a kernel. It does not change.
//
// For assembly the matrix lies in panels, one after the other: the rows of two vectors of columns each. Columns that
// fill up the last panel are 0, and so are the biases there: what is computed from them is 0. After the last panel there is one
// more row, since the place after the last is looked up, too.
type Layer struct {
	k           *Kernel
	in, out     int
	w, b, floor []float32
	relu        int // first column with one
	vectors     int // in a row of the result
}

// NewLayer lays out a matrix of in × out, neither of them 0, and a bias of out. All numbers must be finite, since products
// with 0 may be left out. The columns from relu on have a floor of 0.
func (k *Kernel) NewLayer(in, out int, w, b []float32, relu int) *Layer {
	l := &Layer{k: k, in: in, out: out, b: make([]float32, k.Width(out)), relu: relu}
	copy(l.b, b)
	if k.loops == nil {
		l.w = append(l.w, w[:in*out]...)
		return l
	}
	l.vectors = len(l.b) / k.loops.lanes
	l.floor = make([]float32, len(l.b))
	for i := range min(relu, len(l.b)) {
		l.floor[i] = lowest
	}
	panel := k.loops.panel()
	l.w = make([]float32, in*up(out, panel)+panel)
	for j := 0; j < out; j += panel {
		pack(l.w[in*j:], panel, Matrix{w, out, false}, 0, in, j, min(j+panel, out))
	}
	return l
}

var lowest = float32(math.Inf(-1))

// Lists is working memory of one goroutine: which inputs are not 0.
type Lists struct {
	width int
	index []int32 // width a group of rows
	n     []int32 // a group
	terms uint64
}

// Terms returns how many products of numbers have been made with the lists so far. Those with the fill of panels, and with
// what follows on a list, are not counted.
func (s *Lists) Terms() uint64 { return s.terms }

// nothings is how often the place after the last follows on a list, so that two lists can be walked side by side.
const nothings = 32

// NewLists returns working memory for up to so many rows of up to width inputs.
func NewLists(rows, width int) *Lists {
	width += 15 + nothings // whole vectors, and what follows
	return &Lists{width: width, index: make([]int32, rows*width), n: make([]int32, rows)}
}

// Product writes bias + x·w, or at least the floor, to the rows of y; with keep it adds to what is there. Rows begin xs
// and ys apart and take up Width numbers. Those of x have one more if they fill that: a 0 must follow. What fills up the rows of y
// is 0 afterwards, whatever x holds; with keep it must be so before.
//
// Behind a relu half of x is 0. So rows go in pairs, and only the places where one of the two is not 0 are
// multiplied. What is left out are products with 0, which change no sum but the sign of a zero, and that is always made
// positive: a row does not depend on the other.
func (l *Layer) Product(s *Lists, rows int, x []float32, xs int, keep bool, y []float32, ys int) {
	if l.k.loops == nil {
		l.plain(s, rows, x, xs, keep, y, ys)
		return
	}
	done := 0
	for _, group := range [...]int{4, 2, 1} {
		if n := (rows - done) / group; n > 0 && l.k.loops.width[group] > 0 {
			l.some(s, group, n, x[done*xs:], xs, keep, y[done*ys:], ys)
			done += n * group
		}
	}
	if l.out == len(l.b) {
		return
	}
	for r := range rows {
		if fill := y[r*ys+l.out : r*ys+len(l.b)]; fill[0] != 0 {
			clear(fill) // these are NaN: something that is not finite, times 0
		}
	}
}

// some is Product for some groups of one, two or four rows.
func (l *Layer) some(s *Lists, group, groups int, x []float32, xs int, keep bool, y []float32, ys int) {
	loops, wide := l.k.loops, l.k.Width(l.in)
	rows, pair := group*groups, min(group, 2)
	x, y = x[:(rows-1)*xs+max(wide, l.in+1)], y[:(rows-1)*ys+len(l.b)]
	index, n := s.index[:rows/pair*s.width], s.n[:rows/pair]
	if s.width < wide+nothings || xs < max(wide, l.in+1) {
		panic("kernel: lists are too short, or rows too close")
	}
	loops.list[pair](len(n), wide, l.in, &x[0], 4*xs, &index[0], 4*s.width, &n[0])
	listed := 0
	for _, k := range n {
		listed += int(k)
	}
	s.terms += uint64(pair * listed * l.out)
	panel, most := loops.panel(), loops.width[group]
	for j, left := 0, l.vectors; left > 0; {
		passes, vectors := 0, min(left, most)
		for ; left >= vectors; left -= vectors {
			passes++
		}
		var skip *float32
		if keep {
			skip = &y[j]
		}
		loops.picked[group][vectors](passes, groups, &n[0], &index[0], 4*s.width, &x[0], 4*xs,
			&l.w[j*l.in], 4*panel*l.in, &l.b[j], &l.floor[j], skip, &y[j], 4*ys)
		j += passes * vectors * loops.lanes
	}
}

// stripe is some rows that are computed together.
type stripe struct{ from, rows int }

// stripes divides rows into as few stripes of nearly equal size as most allows.
func stripes(rows, most int) func(yield func(stripe) bool) {
	return func(yield func(stripe) bool) {
		n := (rows + most - 1) / most
		for i := range n {
			from, end := i*rows/n, (i+1)*rows/n
			if !yield(stripe{from, end - from}) {
				return
			}
		}
	}
}

// Gather writes relu(bias + the sum of the listed rows of w) to each row of y. A row has active places in index, which must all
// be within w: nothing checks them. Rows of w begin ws apart, those of y begin ys apart, and all are as long as the bias.
func (k *Kernel) Gather(rows, active int, index []int32, w []float32, ws int, bias, y []float32, ys int) {
	if rows == 0 {
		return
	}
	width := len(bias)
	if k.loops == nil || active == 0 {
		for r := range rows {
			gather(index[r*active:(r+1)*active], w, ws, bias, y[r*ys:r*ys+width])
		}
		return
	}
	index, y = index[:rows*active], y[:(rows-1)*ys+width]
	k.loops.vectors(width, func(n, at int) {
		k.loops.gather[n](rows, active, &index[0], &w[at], 4*ws, &bias[at], &y[at], 4*ys)
	})
	from := width / k.loops.lanes * k.loops.lanes
	if from == width {
		return
	}
	for r := range rows { // one after the other, as above
		yr := y[r*ys+from : r*ys+width]
		copy(yr, bias[from:])
		for _, i := range index[r*active : (r+1)*active] {
			add(yr, w[int(i)*ws+from:])
		}
		positive(yr)
	}
}

// Scatter adds each row of y to the listed rows of w: what Gather is for the gradient.
func (k *Kernel) Scatter(rows, active int, index []int32, w []float32, ws int, y []float32, ys, width int) {
	if rows == 0 {
		return
	}
	from := 0
	if k.loops != nil && active > 0 {
		index, y = index[:rows*active], y[:(rows-1)*ys+width]
		k.loops.vectors(width, func(n, at int) {
			k.loops.scatter[n](rows, active, &index[0], &w[at], 4*ws, &y[at], 4*ys)
		})
		from = width / k.loops.lanes * k.loops.lanes
	}
	if from == width {
		return
	}
	for r := range rows {
		for _, i := range index[r*active : (r+1)*active] {
			add(w[int(i)*ws+from:int(i)*ws+width], y[r*ys+from:])
		}
	}
}

// vectors calls f for runs of 8, 4, 2 or 1 vectors that make up all whole ones of a row.
func (l *loops) vectors(width int, f func(n, at int)) {
	at := 0
	for _, n := range []int{8, 4, 2, 1} {
		for ; at+n*l.lanes <= width; at += n * l.lanes {
			f(n, at)
		}
	}
}

// Add adds x to y, which may be shorter.
func (k *Kernel) Add(y, x []float32) {
	x = x[:len(y)]
	if k.loops != nil {
		if n := len(y) / k.loops.lanes; n > 0 {
			k.loops.add(n, unsafe.SliceData(x), unsafe.SliceData(y))
			x, y = x[n*k.loops.lanes:], y[n*k.loops.lanes:]
		}
	}
	add(y, x)
}

// Gate writes x to z where y is not 0, and 0 elsewhere; all are as long as z.
func (k *Kernel) Gate(z, y, x []float32) {
	x, y = x[:len(z)], y[:len(z)]
	if k.loops != nil {
		if n := len(z) / k.loops.lanes; n > 0 {
			k.loops.gate(n, unsafe.SliceData(x), unsafe.SliceData(y), unsafe.SliceData(z))
			done := n * k.loops.lanes
			x, y, z = x[done:], y[done:], z[done:]
		}
	}
	gate(z, y, x)
}

// Finite reports whether all numbers are.
func (k *Kernel) Finite(x []float32) bool {
	if k.loops != nil {
		if n := len(x) / k.loops.lanes; n > 0 {
			if k.loops.finite(n, unsafe.SliceData(x)) != 0 {
				return false
			}
			x = x[n*k.loops.lanes:]
		}
	}
	return finite(x)
}

// Adam holds the numbers of one step of the optimiser.
type Adam struct {
	Beta1, Rest1 float32 // decay of the mean gradient, and 1 less that
	Beta2, Rest2 float32 // decay of the mean square, and 1 less that
	Rate         float32 // of learning, divided by what the mean lacks of its full weight
	Root         float32 // 1 / root of what the mean square lacks
	Epsilon      float32 // added to the root of the mean square
	Keep         float32 // what weight decay leaves of a weight
}

// Step changes weights, mean gradients and mean squares, all as long as w. Every kernel gives the same bits where the
// compiler fuses no operations.
func (k *Kernel) Step(a *Adam, w, g, mean, power []float32) {
	g, mean, power = g[:len(w)], mean[:len(w)], power[:len(w)]
	if k.loops != nil {
		if n := len(w) / k.loops.lanes; n > 0 {
			k.loops.adam(n, unsafe.SliceData(w), unsafe.SliceData(g), unsafe.SliceData(mean), unsafe.SliceData(power), &a.Beta1)
			done := n * k.loops.lanes
			w, g, mean, power = w[done:], g[done:], mean[done:], power[done:]
		}
	}
	a.step(w, g, mean, power)
}
