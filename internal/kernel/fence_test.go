//go:build linux

package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"syscall"
	"testing"
	"unsafe"
)

// fence is memory between two pages that nobody may touch.
type fence[T any] []T

func newFence[T any](t *testing.T) fence[T] {
	t.Helper()
	page, each := syscall.Getpagesize(), int(unsafe.Sizeof(*new(T)))
	size := up(1<<19, page)
	all, err := syscall.Mmap(-1, 0, page+size+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Munmap(all) })
	for _, guard := range [][]byte{all[:page], all[page+size:]} {
		if err := syscall.Mprotect(guard, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&all[page])), size/each)
}

// side is where a copy meets the pages that nobody may touch.
type side bool

const behind, before side = true, false

func (s side) String() string { return map[side]string{behind: "behind", before: "before"}[s] }

// fences holds copies of the arguments of a call, each with a fence of its own.
type fences struct {
	t       *testing.T
	side    side
	floats  []fence[float32]
	ints    []fence[int32]
	at, ati int // how many are taken
}

func copied[T any](f *fences, all *[]fence[T], at *int, x []T) []T {
	if *at == len(*all) {
		*all = append(*all, newFence[T](f.t))
	}
	to := (*all)[*at]
	*at++
	if f.side == behind {
		to = to[len(to)-len(x):]
	}
	copy(to[:len(x)], x)
	return to[:len(x):len(x)]
}

func (f *fences) float(x []float32) []float32 { return copied(f, &f.floats, &f.at, x) }
func (f *fences) int(x []int32) []int32       { return copied(f, &f.ints, &f.ati, x) }
func (f *fences) matrix(m Matrix) Matrix      { return Matrix{f.float(m.Data), m.Lead, m.Trans} }

// within calls f for every kernel, with fences behind and before what it is given.
func within(t *testing.T, f *fences, what string, do func(k *Kernel)) {
	t.Helper()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for _, k := range kernels(t) {
		for _, f.side = range []side{behind, before} {
			f.at, f.ati = 0, 0
			func() {
				defer func() {
					if e := recover(); e != nil {
						t.Fatalf("%s, %s, fences %v: %v", k.Name(), what, f.side, e)
					}
				}()
				do(k)
			}()
		}
	}
}

// apart lays rows of n out stride apart. The last one ends at least numbers after it begins. What lies between is NaN.
func apart(x []float32, n, least, stride int) []float32 {
	rows := len(x) / n
	y := make([]float32, (rows-1)*stride+least)
	for i := range y {
		y[i] = float32(math.NaN())
	}
	for i := range rows {
		copy(y[i*stride:], x[i*n:(i+1)*n])
	}
	return y
}

// sparse returns rows of n numbers, some of them without a 0, some of nothing else.
func sparse(r *rand.Rand, rows, n int) []float32 {
	x := make([]float32, rows*n)
	for i := range rows {
		share := []float64{0, 0.03, 0.5, 1}[r.IntN(4)]
		for j := range n {
			if r.Float64() < share {
				x[i*n+j] = float32(r.NormFloat64())
			}
		}
	}
	return x
}

func TestProductStaysWithinItsSlices(t *testing.T) {
	r, f := source(20), &fences{t: t}
	for range 120 {
		rows, in, out := 1+r.IntN(40), 1+r.IntN(300), 1+r.IntN(200)
		if r.IntN(3) == 0 { // around whole vectors and panels
			in, out = max(1, 16*r.IntN(6)+r.IntN(3)-1), max(1, 16*r.IntN(10)+r.IntN(3)-1)
		}
		x, was, w, b := sparse(r, rows, in), sparse(r, rows, out), normals(r, in*out), normals(r, out)
		relu, keep, more := r.IntN(out+1), r.IntN(2) == 0, r.IntN(2)*r.IntN(40)
		want, slack := make([]float64, rows*out), make([]float64, rows*out)
		for i := range want {
			sum := float64(b[i%out])
			if keep {
				sum += float64(was[i])
			}
			size := math.Abs(sum)
			for d := range in {
				term := float64(x[i/out*in+d]) * float64(w[d*out+i%out])
				sum, size = sum+term, size+math.Abs(term)
			}
			if i%out >= relu {
				sum = max(sum, 0)
			}
			want[i], slack[i] = sum, 1e-5*(1+size)
		}
		within(t, f, fmt.Sprintf("%d rows, %d to %d, relu from %d, keep %v, %d more apart", rows, in, out, relu, keep, more), func(k *Kernel) {
			wide, yw := k.Width(in), k.Width(out)
			xs, ys := max(wide, in+1)+more, yw+more
			x, y := apart(x, in, max(wide, in+1), xs), make([]float32, (rows-1)*ys+yw)
			for i := range rows {
				x[i*xs+in] = 0
			}
			if keep {
				y = apart(was, out, yw, ys)
				for i := range rows {
					clear(y[i*ys+out : i*ys+yw])
				}
			}
			l, s := k.NewLayer(in, out, w, b, relu), &Lists{width: in}
			lists := 1
			if k.Vector() {
				s.width, lists = wide+nothings, max(1, rows/2)
				l.floor = f.float(l.floor)
			}
			s.index, s.n = make([]int32, lists*s.width), make([]int32, lists)
			for i := range s.index {
				s.index[i] = math.MaxInt32 // a list must not be read further than it was written
			}
			s.index, s.n, l.w, l.b = f.int(s.index), f.int(s.n), f.float(l.w), f.float(l.b)
			x, y = f.float(x), f.float(y)
			before := slices.Clone(y)
			l.Product(s, rows, x, xs, keep, y, ys)
			for i, v := range y {
				row, j := i/ys, i%ys
				switch {
				case j >= yw:
					if math.Float32bits(v) != math.Float32bits(before[i]) {
						panic(fmt.Sprintf("row %d writes at %d", row, j))
					}
				case j >= out:
					if v != 0 {
						panic(fmt.Sprintf("row %d is filled up with %v", row, v))
					}
				case !(math.Abs(float64(v)-want[row*out+j]) <= slack[row*out+j]):
					panic(fmt.Sprintf("row %d column %d is %v, want %v", row, j, v, want[row*out+j]))
				}
			}
		})
	}
}

func TestMultiplyStaysWithinItsSlices(t *testing.T) {
	r, f := source(21), &fences{t: t}
	for range 200 {
		rows, cols, depth := 1+r.IntN(40), 1+r.IntN(80), max(0, r.IntN(100)-5)
		if r.IntN(10) == 0 {
			depth += deepest - 50
		}
		// A matrix ends with its last entry.
		tight := func(rows, cols int) Matrix {
			m := Matrix{Lead: cols + r.IntN(3), Trans: r.IntN(2) == 0}
			if m.Trans {
				rows, cols = cols, rows
				m.Lead = cols + r.IntN(3)
			}
			if rows*cols > 0 {
				m.Data = normals(r, (rows-1)*m.Lead+cols)
			}
			return m
		}
		a, b, ys := tight(rows, depth), tight(depth, cols), cols+r.IntN(3)
		bias, skip := normals(r, cols), normals(r, (rows-1)*ys+cols)
		relu, biased, added := r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(3)
		within(t, f, fmt.Sprintf("%d×%d·%d×%d, transposed %v %v", rows, depth, depth, cols, a.Trans, b.Trans), func(k *Kernel) {
			if !k.Vector() {
				return
			}
			m := k.NewMultiplier()
			m.packed, m.edge, m.bias = f.float(m.packed), f.float(m.edge), f.float(m.bias)
			m.floors[0], m.floors[1] = f.float(m.floors[0]), f.float(m.floors[1])
			var bs, ss []float32
			y := f.float(make([]float32, len(skip)))
			if biased {
				bs = f.float(bias)
			}
			switch added {
			case 1:
				ss = f.float(skip)
			case 2:
				copy(y, skip)
				ss = y
			}
			m.Multiply(rows, cols, depth, f.matrix(a), f.matrix(b), bs, ss, y, ys, relu)
		})
	}
}

func TestGatherAndScatterStayWithinTheirSlices(t *testing.T) {
	r, f := source(22), &fences{t: t}
	for range 200 {
		rows, inputs, active, width := 1+r.IntN(20), 1+r.IntN(60), r.IntN(12), 1+r.IntN(300)
		ws, ys := width+r.IntN(3), width+r.IntN(3)
		index := make([]int32, rows*active)
		for i := range index {
			index[i] = int32(r.IntN(inputs))
		}
		w, bias, y := normals(r, (inputs-1)*ws+width), normals(r, width), normals(r, (rows-1)*ys+width)
		within(t, f, fmt.Sprintf("%d rows of %d of %d, %d wide", rows, active, inputs, width), func(k *Kernel) {
			index, w, y := f.int(index), f.float(w), f.float(y)
			k.Gather(rows, active, index, w, ws, f.float(bias), y, ys)
			k.Scatter(rows, active, index, w, ws, y, ys, width)
		})
	}
}

func TestElementwiseLoopsStayWithinTheirSlices(t *testing.T) {
	r, f := source(23), &fences{t: t}
	for n := range 150 {
		x := normals(r, n)
		within(t, f, fmt.Sprint(n, " numbers"), func(k *Kernel) {
			p, q, u, v := f.float(x), f.float(x), f.float(x), f.float(x)
			k.Add(p, q)
			k.Gate(p, q, u)
			k.Finite(p)
			k.Step(new(Adam), p, q, u, v)
		})
	}
}
