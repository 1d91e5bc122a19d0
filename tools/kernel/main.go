// Kernel writes the assembly of internal/kernel: run "go generate ./internal/kernel" in the main module. It is a
// module of its own, so that the main one does not depend on the generator's library.
package main

import (
	"fmt"
	"math/bits"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// machine is a set of vector instructions.
type machine struct {
	name  string
	bytes int    // of a vector; a panel of weights is two vectors wide
	rows  int    // most rows of a product: their sums, two vectors each, and four more fill the registers
	width [3]int // most vectors of a pass over listed places, by rows of a group
	sides int    // most groups of two rows side by side
	v     []reg.VecPhysical
}

var machines = []machine{
	{"AVX512", 64, 14, [3]int{1: 4, 2: 4}, 2, []reg.VecPhysical{
		reg.Z0, reg.Z1, reg.Z2, reg.Z3, reg.Z4, reg.Z5, reg.Z6, reg.Z7, reg.Z8, reg.Z9, reg.Z10, reg.Z11, reg.Z12, reg.Z13, reg.Z14, reg.Z15,
		reg.Z16, reg.Z17, reg.Z18, reg.Z19, reg.Z20, reg.Z21, reg.Z22, reg.Z23, reg.Z24, reg.Z25, reg.Z26, reg.Z27, reg.Z28, reg.Z29, reg.Z30, reg.Z31,
	}},
	{"AVX2", 32, 6, [3]int{1: 8, 2: 6}, 1, []reg.VecPhysical{
		reg.Y0, reg.Y1, reg.Y2, reg.Y3, reg.Y4, reg.Y5, reg.Y6, reg.Y7, reg.Y8, reg.Y9, reg.Y10, reg.Y11, reg.Y12, reg.Y13, reg.Y14, reg.Y15,
	}},
}

// Comparisons: not numbers, and not numbers or not equal.
const unordered, unequal = 3, 4

// Tables of list.
var ascending, packing Mem

func main() {
	ConstraintExpr("amd64")
	ascending, packing = newAscending(), newPacking()
	for _, m := range machines {
		for rows := 1; rows <= m.rows; rows++ {
			m.product(rows)
		}
		for rows := 1; rows <= m.rows; rows++ {
			m.across(rows)
		}
		for rows := 1; rows <= 2; rows++ {
			m.list(rows)
			for width := 1; width <= m.width[rows]; width++ {
				m.picked(rows, width, 1)
				if m.sides == 2 && rows == 2 {
					m.picked(rows, width, 2)
				}
			}
		}
		for _, n := range []int{1, 2, 4, 8} {
			m.gather(n)
			m.scatter(n)
		}
		m.add()
		m.gate()
		m.adam()
		m.finite()
		m.spin()
	}
	Generate()
}

// text begins a function. Its parameters are words.
func text(name, params string) {
	TEXT(name, NOSPLIT, "func("+params+")")
	Pragma("noescape")
}

// param is where a parameter lies.
func param(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

func load(name string) reg.GPVirtual { return Load(Param(name), GP64()).(reg.GPVirtual) }

func at(base reg.Register, bytes int) Mem { return Mem{Base: base, Disp: bytes} }

// clear zeroes a vector.
func (m machine) clear(r reg.VecPhysical) {
	if m.bytes == 64 {
		VPXORD(r, r, r)
	} else {
		VXORPS(r, r, r)
	}
}

// raise raises a sum to the floor. NaN stays NaN, thanks to the order, and a zero becomes positive: products with 0, left
// out or not, decide on its sign.
func (m machine) raise(sum, floor, zero reg.VecPhysical) {
	VMAXPS(sum, floor, sum)
	VADDPS(zero, sum, sum)
}

// end returns to Go.
func end() {
	VZEROUPPER()
	RET()
}

// places are the addresses of some rows a stride apart: three rows to a pointer.
type places struct {
	base   []reg.GPVirtual
	stride reg.GPVirtual
}

func newPlaces(base, stride reg.GPVirtual, rows int) places {
	p := places{[]reg.GPVirtual{base}, stride}
	for r := 3; r < rows; r += 3 {
		next := GP64()
		LEAQ(Mem{Base: p.base[len(p.base)-1], Index: stride, Scale: 2}, next)
		ADDQ(stride, next)
		p.base = append(p.base, next)
	}
	return p
}

func (p places) row(r int) Mem {
	m := Mem{Base: p.base[r/3]}
	if r%3 > 0 {
		m.Index, m.Scale = p.stride, uint8(r%3)
	}
	return m
}

func (p places) advance(bytes int) {
	for _, b := range p.base {
		ADDQ(I32(bytes), b)
	}
}

// left says how a product finds its left factors.
type left struct {
	at      func(r, k int) Mem // the factor of row r, k steps on
	advance func(k int)
}

// sums makes the body of a product: every sum begins with the bias and what is to be added, takes one product after
// the other, and ends at or above the floor.
func (m machine) sums(rows int, s left) {
	sum := func(r, c int) reg.VecPhysical { return m.v[2*r+c] }
	b := m.v[2*rows : 2*rows+2]
	x := m.v[2*rows+2:]
	x = x[:min(4, len(x))]
	w, k := load("w"), load("k")

	bias := load("bias")
	for c := range 2 {
		VMOVUPS(at(bias, c*m.bytes), sum(0, c))
	}
	for r := 1; r < rows; r++ {
		for c := range 2 {
			VMOVAPS(sum(0, c), sum(r, c))
		}
	}
	skip, stride := load("skip"), load("ys")
	TESTQ(skip, skip)
	JZ(LabelRef("four"))
	more := newPlaces(skip, stride, rows)
	for r := range rows {
		for c := range 2 {
			VADDPS(more.row(r).Offset(c*m.bytes), sum(r, c), sum(r, c))
		}
	}

	loop := func(name string, unroll int) {
		Label(name)
		SUBQ(I32(unroll), k)
		JL(LabelRef(name + "_end"))
		for i := range unroll {
			for c := range 2 {
				VMOVUPS(at(w, (2*i+c)*m.bytes), b[c])
			}
			for r := range rows {
				f := x[(i*rows+r)%len(x)]
				VBROADCASTSS(s.at(r, i), f)
				for c := range 2 {
					VFMADD231PS(b[c], f, sum(r, c))
				}
			}
		}
		ADDQ(I32(2*unroll*m.bytes), w)
		s.advance(unroll)
		JMP(LabelRef(name))
		Label(name + "_end")
		ADDQ(I32(unroll), k)
	}
	loop("four", 4)
	loop("one", 1)

	floor, zero := load("floor"), x[0]
	for c := range 2 {
		VMOVUPS(at(floor, c*m.bytes), b[c])
	}
	m.clear(zero)
	y := newPlaces(load("y"), stride, rows)
	for r := range rows {
		for c := range 2 {
			m.raise(sum(r, c), b[c], zero)
			VMOVUPS(sum(r, c), y.row(r).Offset(c*m.bytes))
		}
	}
	end()
}

const product = "x *float32, xs int, w *float32, k int, bias, floor, skip, y *float32, ys int"

// product is y = max(bias + skip + x·w, floor) for some rows of x and a panel of w.
func (m machine) product(rows int) {
	text(fmt.Sprintf("product%s_%d", m.name, rows), product)
	x := newPlaces(load("x"), load("xs"), rows)
	m.sums(rows, left{
		func(r, k int) Mem { return x.row(r).Offset(4 * k) },
		func(k int) { x.advance(4 * k) },
	})
}

// across is product with an x that is stored by columns, xs apart.
func (m machine) across(rows int) {
	text(fmt.Sprintf("across%s_%d", m.name, rows), product)
	x, xs, triple := load("x"), load("xs"), GP64()
	LEAQ(Mem{Base: xs, Index: xs, Scale: 2}, triple)
	m.sums(rows, left{
		func(r, k int) Mem {
			a := at(x, 4*r)
			switch k {
			case 1, 2:
				a.Index, a.Scale = xs, uint8(k)
			case 3:
				a.Index, a.Scale = triple, 1
			}
			return a
		},
		func(k int) {
			if k == 4 {
				LEAQ(Mem{Base: x, Index: xs, Scale: 4}, x)
			} else {
				ADDQ(xs, x)
			}
		},
	})
}

// picked is product for groups of one or two rows of x, of which only the n listed places count. It goes over the columns in
// passes of some vectors: those begin with a panel, and the panels lie ws apart. With two rows there are more products than numbers
// to load: then the arithmetic alone takes time.
//
// A sum waits for its last product, and a group may have too few sums to keep a fast processor busy meanwhile. Where
// there are registers for it, two groups go side by side, each by its own list.
func (m machine) picked(rows, width, sides int) {
	text(fmt.Sprintf("picked%s_%dx%d_%d", m.name, sides, rows, width), "passes, groups int, n *int32, index *int32, is int, "+
		"x *float32, xs int, w *float32, ws int, bias, floor, skip, y *float32, ys int")
	p := &pass{machine: m, rows: rows, width: width, sides: sides}
	for _, at := range []*Mem{&p.from, &p.to, &p.counts, &p.lists, &p.groups} {
		*at = AllocLocal(8)
	}
	for range sides {
		p.lengths = append(p.lengths, AllocLocal(8))
	}
	p.shared = AllocLocal(8)

	Label("pass")
	p.w = []reg.GPVirtual{load("w")}
	for c := 2; c < width; c += 2 {
		next := GP64()
		MOVQ(p.w[len(p.w)-1], next)
		ADDQ(param("ws"), next)
		p.w = append(p.w, next)
	}
	x := load("x")
	copyWord(param("n"), p.counts)
	copyWord(param("index"), p.lists)
	copyWord(param("skip"), p.from)
	copyWord(param("y"), p.to)
	copyWord(param("groups"), p.groups)

	Label("group")
	p.begin()
	p.x = []reg.GPVirtual{x}
	xs := load("xs")
	for len(p.x) < sides*rows {
		next := GP64()
		LEAQ(Mem{Base: p.x[len(p.x)-1], Index: xs, Scale: 1}, next)
		p.x = append(p.x, next)
	}
	p.place = GP64()
	p.walk()
	ADDQ(param("xs"), p.x[len(p.x)-1])
	MOVQ(p.x[len(p.x)-1], x)
	p.finish()
	DECQ(p.groups)
	JNZ(LabelRef("group"))

	DECQ(param("passes"))
	JZ(LabelRef("done"))
	for _, name := range []string{"bias", "floor", "y"} {
		ADDQ(I32(width*m.bytes), param(name))
	}
	CMPQ(param("skip"), U8(0))
	JZ(LabelRef("kept"))
	ADDQ(I32(width*m.bytes), param("skip"))
	Label("kept")
	MOVQ(p.w[len(p.w)-1], p.place)
	ADDQ(param("ws"), p.place)
	MOVQ(p.place, param("w"))
	JMP(LabelRef("pass"))
	Label("done")
	end()
}

// copyWord copies one word of memory.
func copyWord(src, dst Mem) {
	r := GP64()
	MOVQ(src, r)
	MOVQ(r, dst)
}

// pass is what a pass of picked works with. The sums of a group, or of two side by side, lie in the first registers.
type pass struct {
	machine
	rows, width, sides int
	w, x               []reg.GPVirtual // panels of weights, rows
	place              reg.GPVirtual   // on a list, and how far in a panel

	// Where the pass is at: skip, y, counts, lists, and groups to go.
	from, to, counts, lists, groups Mem
	// Of two lists: how long they are, and how far they are walked together.
	lengths []Mem
	shared  Mem
}

// sum is that of a side, a row and a column.
func (p *pass) sum(s, r, c int) reg.VecPhysical { return p.v[(s*p.rows+r)*p.width+c] }

// free are the registers that hold no sums.
func (p *pass) free() []reg.VecPhysical { return p.v[p.sides*p.rows*p.width:] }

// each calls f for every row of every side.
func (p *pass) each(f func(s, r int)) {
	for s := range p.sides {
		for r := range p.rows {
			f(s, r)
		}
	}
}

// begin sets the sums to the bias and adds what is in skip, if that is there.
func (p *pass) begin() {
	from, ys := GP64(), GP64()
	MOVQ(param("bias"), from)
	p.each(func(s, r int) {
		for c := range p.width {
			VMOVUPS(at(from, c*p.bytes), p.sum(s, r, c))
		}
	})
	MOVQ(param("ys"), ys)
	MOVQ(p.from, from)
	TESTQ(from, from)
	JZ(LabelRef("begin"))
	p.each(func(s, r int) {
		for c := range p.width {
			VADDPS(at(from, c*p.bytes), p.sum(s, r, c), p.sum(s, r, c))
		}
		ADDQ(ys, from)
	})
	MOVQ(from, p.from)
	Label("begin")
}

// walk adds the products of all listed places. Two lists are walked together as far as the longer goes, since nothings
// follow on the other for a while; then what may be left of it.
func (p *pass) walk() {
	n, list, is, count := GP64(), GP64(), GP64(), GP64()
	MOVQ(p.counts, n)
	MOVQ(p.lists, list)
	MOVQ(param("is"), is)
	MOVLQSX(at(n, 0), count)
	if p.sides == 2 {
		p.together(n, count)
	}
	var ends []reg.GPVirtual // of what is walked
	for range p.sides {
		ends = append(ends, GP64())
		LEAQ(Mem{Base: list, Index: count, Scale: 4}, ends[len(ends)-1])
		ADDQ(is, list)
	}
	ADDQ(I8(4*p.sides), n)
	MOVQ(n, p.counts)
	MOVQ(list, p.lists)
	up("next", count, func() {
		for s := range p.sides {
			p.step(s, ends[s], count)
		}
	})
	if p.sides == 1 {
		return
	}
	for s := range p.sides {
		name := fmt.Sprint("rest", s)
		MOVQ(p.lengths[s], count)
		SUBQ(p.shared, count)
		JLE(LabelRef(name + "_end"))
		LEAQ(Mem{Base: ends[s], Index: count, Scale: 4}, ends[s])
		up(name, count, func() { p.step(s, ends[s], count) })
	}
}

// together keeps the lengths of two lists and puts into count, where the first length is, how far they are walked together.
func (p *pass) together(n, count reg.GPVirtual) {
	short, other := GP64(), GP64()
	MOVQ(count, p.lengths[0])
	MOVQ(count, short)
	MOVLQSX(at(n, 4), other)
	MOVQ(other, p.lengths[1])
	CMPQ(other, count)
	CMOVQGT(other, count)
	CMPQ(other, short)
	CMOVQLT(other, short)
	ADDQ(I8(nothings), short)
	CMPQ(short, count)
	CMOVQLT(short, count)
	MOVQ(count, p.shared)
}

// up makes a loop that counts up from -count to 0: an index that ends with a list.
func up(name string, count reg.GPVirtual, body func()) {
	NEGQ(count)
	JZ(LabelRef(name + "_end"))
	Label(name)
	body()
	INCQ(count)
	JNZ(LabelRef(name))
	Label(name + "_end")
}

// step adds the products of one listed place to the sums of a side.
func (p *pass) step(s int, end, count reg.GPVirtual) {
	place, factor, b := p.place, p.free()[:p.rows], p.free()[p.rows:]
	MOVLQSX(Mem{Base: end, Index: count, Scale: 4}, place)
	for r := range p.rows {
		VBROADCASTSS(Mem{Base: p.x[s*p.rows+r], Index: place, Scale: 4}, factor[r])
	}
	SHLQ(U8(bits.TrailingZeros(uint(2*p.bytes))), place) // a row of a panel is two vectors: a power of two of bytes
	for c := range p.width {
		weights := Mem{Base: p.w[c/2], Index: place, Scale: 1, Disp: c % 2 * p.bytes}
		if p.rows == 1 {
			VFMADD231PS(weights, factor[0], p.sum(s, 0, c))
			continue
		}
		VMOVUPS(weights, b[c%len(b)])
		for r := range p.rows {
			VFMADD231PS(b[c%len(b)], factor[r], p.sum(s, r, c))
		}
	}
}

// finish raises the sums to the floor and writes them.
func (p *pass) finish() {
	to, ys, floor, zero := GP64(), GP64(), p.free()[0], p.free()[1]
	p.clear(zero)
	MOVQ(param("floor"), to)
	for c := range p.width {
		VMOVUPS(at(to, c*p.bytes), floor)
		p.each(func(s, r int) { p.raise(p.sum(s, r, c), floor, zero) })
	}
	MOVQ(p.to, to)
	MOVQ(param("ys"), ys)
	p.each(func(s, r int) {
		for c := range p.width {
			VMOVUPS(p.sum(s, r, c), at(to, c*p.bytes))
		}
		ADDQ(ys, to)
	})
	MOVQ(to, p.to)
}

// nothings is how often the place after the last follows on a list.
const nothings = 32

// list lists, for each group of one or two rows, the places where one of them is not 0: those below width, which is whole
// vectors, and below nothing, whatever lies beyond. What follows on a list is, nothings times, the place nothing.
func (m machine) list(rows int) {
	text(fmt.Sprintf("list%s_%d", m.name, rows), "groups, width, nothing int, x *float32, xs int, index *int32, is int, n *int32")
	groups, x, xs, index, n := load("groups"), load("x"), load("xs"), load("index"), load("n")
	v := m.v
	step, places, found, nothing, first := v[0], v[1], v[2], v[3], v[4]
	lanes := GP32()
	MOVL(U32(m.bytes/4), lanes)
	VMOVD(lanes, reg.X0)
	VPBROADCASTD(reg.X0, step) // v[0] begins with X0
	VPBROADCASTD(param("nothing"), nothing)
	VMOVUPS(ascending, first)
	zero, base, within, table := v[5], v[6], v[7], GP64()
	if m.bytes == 32 {
		m.clear(zero)
		LEAQ(packing, table)
	}

	Label("group")
	VMOVAPS(first, places)
	if m.bytes == 32 {
		m.clear(base)
	}
	from, to, left := GP64(), GP64(), load("width")
	MOVQ(x, from)
	MOVQ(index, to)
	Label("next")
	set := GP32()
	VMOVUPS(at(from, 0), found)
	if rows == 2 {
		second := Mem{Base: from, Index: xs, Scale: 1}
		if m.bytes == 64 {
			VPORD(second, found, found)
		} else {
			VORPS(second, found, found)
		}
	}
	if m.bytes == 64 {
		VPCMPGTD(places, nothing, reg.K2)
		VPTESTMD(found, found, reg.K2, reg.K1)
		VPCOMPRESSD_Z(places, reg.K1, found)
		KMOVW(reg.K1, set)
		VMOVDQU32(found, at(to, 0))
	} else {
		VPCMPGTD(places, nothing, within)
		VCMPPS(U8(unequal), found, zero, found)
		VANDPS(within, found, found)
		VMOVMSKPS(found, set)
		VPMOVZXBD(Mem{Base: table, Index: set.As64(), Scale: 8}, found)
		VPADDD(base, found, found)
		VMOVDQU(found, at(to, 0))
		VPADDD(step, base, base)
	}
	VPADDD(step, places, places)
	count := GP32()
	POPCNTL(set, count)
	LEAQ(Mem{Base: to, Index: count.As64(), Scale: 4}, to)
	ADDQ(I8(m.bytes), from)
	SUBQ(I8(m.bytes/4), left)
	JNZ(LabelRef("next"))
	for i := range nothings * 4 / m.bytes {
		VMOVUPS(nothing, at(to, i*m.bytes))
	}
	SUBQ(index, to)
	SHRQ(U8(2), to)
	MOVL(to.As32(), at(n, 0))
	ADDQ(I8(4), n)
	for range rows {
		ADDQ(xs, x)
	}
	ADDQ(param("is"), index)
	DECQ(groups)
	JNZ(LabelRef("group"))
	end()
}

// newAscending makes a vector of 0, 1, 2, …
func newAscending() Mem {
	g := GLOBL("ascending", RODATA|NOPTR)
	for i := range 16 {
		DATA(4*i, U32(i))
	}
	return g
}

// newPacking makes a table that tells for each set of eight lanes which they are.
func newPacking() Mem {
	g := GLOBL("packing", RODATA|NOPTR)
	for set := range 256 {
		var b [8]byte
		n := 0
		for lane := range 8 {
			if set>>lane&1 != 0 {
				b[n] = byte(lane)
				n++
			}
		}
		for i, lane := range b {
			DATA(8*set+i, U8(lane))
		}
	}
	return g
}

const rowsOf = "rows, active int, index *int32, w *float32, ws int, "

// gather is y = max(bias + the sum of the listed rows of w, 0), n vectors wide.
func (m machine) gather(n int) {
	text(fmt.Sprintf("gather%s_%d", m.name, n), rowsOf+"bias, y *float32, ys int")
	rows, active, index := load("rows"), load("active"), load("index")
	w, ws, bias, y, ys := load("w"), load("ws"), load("bias"), load("y"), load("ys")
	zero := m.v[n]
	m.clear(zero)
	Label("row")
	for i := range n {
		VMOVUPS(at(bias, i*m.bytes), m.v[i])
	}
	left, from := GP64(), GP64()
	MOVQ(active, left)
	Label("one")
	MOVLQSX(at(index, 0), from)
	IMULQ(ws, from)
	ADDQ(w, from)
	for i := range n {
		VADDPS(at(from, i*m.bytes), m.v[i], m.v[i])
	}
	ADDQ(I8(4), index)
	DECQ(left)
	JNZ(LabelRef("one"))
	for i := range n {
		VMAXPS(m.v[i], zero, m.v[i])
		VMOVUPS(m.v[i], at(y, i*m.bytes))
	}
	ADDQ(ys, y)
	DECQ(rows)
	JNZ(LabelRef("row"))
	end()
}

// scatter adds each row of y to the listed rows of w, n vectors wide.
func (m machine) scatter(n int) {
	text(fmt.Sprintf("scatter%s_%d", m.name, n), rowsOf+"y *float32, ys int")
	rows, active, index := load("rows"), load("active"), load("index")
	w, ws, y, ys := load("w"), load("ws"), load("y"), load("ys")
	Label("row")
	for i := range n {
		VMOVUPS(at(y, i*m.bytes), m.v[i])
	}
	left, to := GP64(), GP64()
	MOVQ(active, left)
	Label("one")
	MOVLQSX(at(index, 0), to)
	IMULQ(ws, to)
	ADDQ(w, to)
	for i := range n {
		sum := m.v[n+i%(len(m.v)-n)]
		VADDPS(at(to, i*m.bytes), m.v[i], sum)
		VMOVUPS(sum, at(to, i*m.bytes))
	}
	ADDQ(I8(4), index)
	DECQ(left)
	JNZ(LabelRef("one"))
	ADDQ(ys, y)
	DECQ(rows)
	JNZ(LabelRef("row"))
	end()
}

// along makes a loop over n vectors, 1 or more.
func (m machine) along(pointers []string, body func(p []reg.GPVirtual)) {
	n := load("n")
	var p []reg.GPVirtual
	for _, name := range pointers {
		p = append(p, load(name))
	}
	Label("next")
	body(p)
	for _, r := range p {
		ADDQ(I8(m.bytes), r)
	}
	DECQ(n)
	JNZ(LabelRef("next"))
	end()
}

// add is y += x.
func (m machine) add() {
	text("add"+m.name, "n int, x, y *float32")
	m.along([]string{"x", "y"}, func(p []reg.GPVirtual) {
		VMOVUPS(at(p[0], 0), m.v[0])
		VADDPS(at(p[1], 0), m.v[0], m.v[0])
		VMOVUPS(m.v[0], at(p[1], 0))
	})
}

// gate is z = x where y is not 0, else 0.
func (m machine) gate() {
	text("gate"+m.name, "n int, x, y, z *float32")
	zero, v := m.v[0], m.v[1]
	m.clear(zero)
	m.along([]string{"x", "y", "z"}, func(p []reg.GPVirtual) {
		if m.bytes == 64 {
			VMOVUPS(at(p[1], 0), v)
			VCMPPS(U8(unequal), zero, v, reg.K1)
			VMOVUPS_Z(at(p[0], 0), reg.K1, v)
		} else {
			VCMPPS(U8(unequal), at(p[1], 0), zero, v)
			VANDPS(at(p[0], 0), v, v)
		}
		VMOVUPS(v, at(p[2], 0))
	})
}

// finite returns 0 if all numbers are finite: then they times 0 add up to numbers.
func (m machine) finite() {
	TEXT("finite"+m.name, NOSPLIT, "func(n int, x *float32) uint32")
	Pragma("noescape")
	zero, sum := m.v[0], m.v[1]
	m.clear(zero)
	m.clear(sum)
	n, x := load("n"), load("x")
	Label("next")
	VFMADD231PS(at(x, 0), zero, sum)
	ADDQ(I8(m.bytes), x)
	DECQ(n)
	JNZ(LabelRef("next"))
	set := GP32()

	if m.bytes == 64 {
		VCMPPS(U8(unordered), sum, sum, reg.K1)
		KMOVW(reg.K1, set)
	} else {
		VCMPPS(U8(unordered), sum, sum, sum)
		VMOVMSKPS(sum, set)
	}
	Store(set, ReturnIndex(0))
	end()
}

// spin makes n times chains multiply-adds that wait for nothing but the arithmetic.
func (m machine) spin() {
	text("spin"+m.name, "n int")
	n := load("n")
	for i := range chains + 1 {
		m.clear(m.v[i])
	}
	Label("next")
	for i := range chains {
		VFMADD231PS(m.v[chains], m.v[chains], m.v[i])
	}
	DECQ(n)
	JNZ(LabelRef("next"))
	end()
}

// chains is how many sums of a spin grow side by side.
const chains = 12

// adam is a step of the optimiser, operation by operation as written in Go, without fused ones: the last weights
// that fill no vector are left to that.
func (m machine) adam() {
	text("adam"+m.name, "n int, w, grad, mean, power, factors *float32")
	factors := load("factors")
	const beta1, rest1, beta2, rest2, rate, root, epsilon, keep = 0, 1, 2, 3, 4, 5, 6, 7
	for i := range 8 {
		VBROADCASTSS(at(factors, 4*i), m.v[i])
	}
	w, g, mean, power := m.v[8], m.v[9], m.v[10], m.v[11]
	m.along([]string{"w", "grad", "mean", "power"}, func(p []reg.GPVirtual) {
		VMOVUPS(at(p[1], 0), g)
		VMULPS(at(p[2], 0), m.v[beta1], mean)
		VMULPS(g, m.v[rest1], w)
		VADDPS(w, mean, mean)
		VMOVUPS(mean, at(p[2], 0))
		VMULPS(g, m.v[rest2], w)
		VMULPS(g, w, w)
		VMULPS(at(p[3], 0), m.v[beta2], power)
		VADDPS(w, power, power)
		VMOVUPS(power, at(p[3], 0))
		VSQRTPS(power, power)
		VMULPS(m.v[root], power, power)
		VADDPS(m.v[epsilon], power, power)
		VMULPS(m.v[rate], mean, mean)
		VDIVPS(power, mean, mean)
		VMULPS(at(p[0], 0), m.v[keep], w)
		VSUBPS(mean, w, w)
		VMOVUPS(w, at(p[0], 0))
	})
}
