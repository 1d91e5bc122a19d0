package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// kernels returns those that this processor can run.
func kernels(t testing.TB) []*Kernel {
	t.Helper()
	var ks []*Kernel
	for _, name := range Names() {
		k, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		ks = append(ks, k)
	}
	return ks
}

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0x6b65726e656c)) }

func normals(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// halved sets about half of x to 0, as a relu does.
func halved(r *rand.Rand, x []float32) []float32 {
	for i := range x {
		if r.IntN(2) == 0 {
			x[i] = 0
		}
	}
	return x
}

func near(got float32, want float64) bool {
	return math.Abs(float64(got)-want) <= 1e-5*(1+math.Abs(want))
}

func TestPlainGoRunsEverywhereAndComesLast(t *testing.T) {
	names := Names()
	if len(names) == 0 || names[len(names)-1] != plain {
		t.Errorf("kernels are %v", names)
	}
	for _, name := range names {
		k, err := Named(name)
		if err != nil || k.Name() != name || k.Vector() != (name != plain) {
			t.Errorf("kernel %s: %v, %v", name, k, err)
		}
	}
}

func TestAnUnknownKernelIsAnError(t *testing.T) {
	for _, name := range []string{"sse", "AVX2", " go"} {
		_, err := choose(name)
		if err == nil || !strings.Contains(err.Error(), Variable) || !strings.Contains(err.Error(), "avx512, avx2, go") {
			t.Errorf("error %v", err)
		}
	}
	if k, err := choose(""); err != nil || k.Name() != Names()[0] {
		t.Errorf("by default: %v, %v", k, err)
	}
	if k, err := choose(plain); err != nil || k.Name() != plain {
		t.Errorf("go: %v, %v", k, err)
	}
}

// padded lays rows of n out stride apart, with what fills them up.
func padded(x []float32, n, stride int, fill float32) []float32 {
	var y []float32
	for ; len(x) > 0; x = x[n:] {
		y = append(y, x[:n]...)
		for range stride - n {
			y = append(y, fill)
		}
	}
	return y
}

func TestProductIsTheDefinition(t *testing.T) {
	r := source(1)
	for _, c := range []struct{ rows, in, out, relu int }{
		{1, 1, 1, 0}, {2, 3, 5, 5}, {3, 16, 32, 0}, {5, 64, 64, 0}, {8, 33, 47, 32}, {9, 128, 128, 0}, {33, 17, 70, 64}, {4, 300, 100, 96},
	} {
		x, w, b, was := halved(r, normals(r, c.rows*c.in)), normals(r, c.in*c.out), normals(r, c.out), normals(r, c.rows*c.out)
		for _, k := range kernels(t) {
			for _, keep := range []bool{false, true} {
				xs, ys := k.Width(c.in)+3, k.Width(c.out)+7
				y := padded(was, c.out, ys, 7)
				k.NewLayer(c.in, c.out, w, b, c.relu).Product(NewLists(c.rows, c.in), c.rows, padded(x, c.in, xs, 0), xs, keep, y, ys)
				for i := range c.rows {
					for j := range c.out {
						want := float64(b[j])
						if keep {
							want += float64(was[i*c.out+j])
						}
						for d := range c.in {
							want += float64(x[i*c.in+d]) * float64(w[d*c.out+j])
						}
						if j >= c.relu {
							want = max(want, 0)
						}
						if !near(y[i*ys+j], want) {
							t.Fatalf("%s %v keep %v: row %d column %d is %v, want %v", k.Name(), c, keep, i, j, y[i*ys+j], want)
						}
					}
					if !keep && k.Vector() && slices.Max(y[i*ys+c.out:i*ys+max(c.out+1, k.Width(c.out))]) > 0 && k.Width(c.out) > c.out {
						t.Fatalf("%s %v: the fill of row %d is not 0", k.Name(), c, i)
					}
					if i+1 < c.rows && y[i*ys+k.Width(c.out)] != 7 {
						t.Fatalf("%s %v: row %d writes beyond its width", k.Name(), c, i)
					}
				}
			}
		}
	}
}

func TestRowsDoNotDependOnEachOther(t *testing.T) {
	r := source(2)
	const in, out, rows = 96, 64, 21
	w, b := normals(r, in*out), normals(r, out)
	for _, k := range kernels(t) {
		l, s := k.NewLayer(in, out, w, b, 0), NewLists(rows, in)
		const xs = in + 16
		x, all := padded(halved(r, normals(r, rows*in)), in, xs, 0), make([]float32, rows*out)
		l.Product(s, rows, x, xs, false, all, out)
		for n := 1; n <= rows; n++ {
			for from := 0; from+n <= rows; from += n {
				y := make([]float32, n*out)
				l.Product(s, n, x[from*xs:], xs, false, y, out)
				if !slices.Equal(y, all[from*out:(from+n)*out]) {
					t.Fatalf("%s: rows %d to %d of %d differ alone", k.Name(), from, from+n, rows)
				}
			}
		}
	}
}

// Groups go side by side, and one may have much more to do than the other.
func TestRowsMayBeFullBesideEmptyOnes(t *testing.T) {
	r := source(8)
	const in, out, xs = 100, 72, 128
	w, b := normals(r, in*out), normals(r, out)
	for _, k := range kernels(t) {
		l, s, ys := k.NewLayer(in, out, w, b, 0), NewLists(8, in), k.Width(out)
		for _, full := range []int{0b0011, 0b1100, 0b0101, 0b0001, 0b1000, 0b1111, 0b0000, 0b11110001, 0b00001110} {
			x := make([]float32, 8*xs)
			for i := range 8 {
				if full>>i&1 != 0 {
					copy(x[i*xs:i*xs+in], normals(r, in))
				} else {
					x[i*xs+r.IntN(in)] = 1
				}
			}
			y, alone := make([]float32, 8*ys), make([]float32, ys)
			l.Product(s, 8, x, xs, false, y, ys)
			for i := range 8 {
				l.Product(s, 1, x[i*xs:], xs, false, alone, ys)
				if !slices.Equal(alone, y[i*ys:(i+1)*ys]) {
					t.Errorf("%s: full rows %b: row %d differs from the row alone", k.Name(), full, i)
				}
			}
		}
	}
}

// extreme returns numbers of all sizes, with zeros of both signs, and some that are not finite where that is asked for.
func extreme(r *rand.Rand, n int, finite bool) []float32 {
	x := make([]float32, n)
	for i := range x {
		switch r.IntN(8) {
		case 0, 1, 2:
			x[i] = float32(r.NormFloat64())
		case 3:
			x[i] = float32(math.Copysign(0, -1))
		case 4:
			x[i] = float32(1e-40 * r.NormFloat64())
		case 5:
			x[i] = float32(math.Pow(10, 75*r.Float64()-38) * r.NormFloat64())
		case 6:
			if !finite && r.IntN(4) == 0 {
				x[i] = []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))}[r.IntN(3)]
			}
		}
	}
	return x
}

// Nor does anything of a row, not even the sign of a zero, depend on whether products with 0 are left out.
func TestRowsDoNotDependOnEachOtherWhateverTheyHold(t *testing.T) {
	r := source(9)
	for range 150 {
		rows, in, out := 1+r.IntN(20), 1+r.IntN(80), 1+r.IntN(80)
		relu, keep, sparse := r.IntN(out+1), r.IntN(2) == 0, r.IntN(2) == 0
		w, b := extreme(r, in*out, true), extreme(r, out, true)
		x, was := extreme(r, rows*in, false), extreme(r, rows*out, r.IntN(2) == 0)
		for i := range rows {
			switch {
			case r.IntN(3) == 0:
				copy(x[i*in:], extreme(r, in, true))
			case sparse:
				clear(x[i*in : (i+1)*in-r.IntN(2)])
			}
		}
		var first []float32
		for _, k := range kernels(t) {
			l, s, xs, ys := k.NewLayer(in, out, w, b, relu), NewLists(rows, in), k.Width(in+1), k.Width(out)
			xx, all := padded(x, in, xs, 0), padded(was, out, ys, 0)
			l.Product(s, rows, xx, xs, keep, all, ys)
			for n := 1; n <= rows; n++ {
				from := r.IntN(rows - n + 1)
				y := padded(was[from*out:(from+n)*out], out, ys, 0)
				l.Product(s, n, xx[from*xs:], xs, keep, y, ys)
				same(t, k, fmt.Sprintf("%d rows from %d", n, from), y, all[from*ys:(from+n)*ys])
			}
			var got []float32
			for i := range rows {
				if fill := all[i*ys+out : (i+1)*ys]; slices.ContainsFunc(fill, func(v float32) bool { return v != 0 }) {
					t.Fatalf("%s: row %d is filled up with %v", k.Name(), i, fill)
				}
				got = append(got, all[i*ys:i*ys+out]...)
			}
			if !k.Vector() {
				continue
			}
			if first == nil {
				first = got
			}
			same(t, k, "in assembly", got, first)
			var skip []float32
			if keep {
				skip = was
			}
			for _, c := range []struct {
				relu     bool
				from, to int
			}{{false, 0, relu}, {true, relu, out}} {
				dense := make([]float32, rows*out)
				k.NewMultiplier().Multiply(rows, out, in, Matrix{x, in, false}, Matrix{w, out, false}, b, skip, dense, out, c.relu)
				for i := range rows {
					same(t, k, "against all products", dense[i*out:][c.from:c.to], got[i*out:][c.from:c.to])
				}
			}
		}
	}
}

func TestNotANumberStays(t *testing.T) {
	nan := float32(math.NaN())
	for _, k := range kernels(t) {
		w, wide := make([]float32, 4*4), k.Width(5)
		w[0] = 1
		x, y := make([]float32, 2*wide), make([]float32, 2*wide)
		x[0] = nan
		k.NewLayer(4, 4, w, make([]float32, 4), 0).Product(NewLists(2, 4), 2, x, wide, false, y, wide)
		if y[0] == y[0] {
			t.Errorf("%s: NaN became %v", k.Name(), y[0])
		}
		if !k.Vector() {
			continue
		}
		k.NewMultiplier().Multiply(1, 4, 4, Matrix{x, 4, false}, Matrix{w, 4, false}, nil, nil, y, 4, true)
		if y[0] == y[0] {
			t.Errorf("%s: Multiply made %v of NaN", k.Name(), y[0])
		}
	}
}

func TestMultiplyIsTheDefinition(t *testing.T) {
	r := source(3)
	for _, c := range []struct{ rows, cols, depth int }{
		{1, 1, 1}, {3, 5, 0}, {2, 32, 7}, {13, 33, 5}, {15, 16, 64}, {29, 70, 31}, {6, 3, 1100}, {64, 64, 64},
	} {
		for bits := range 32 {
			ta, tb, biased, added, relu := bits&1 != 0, bits&2 != 0, bits&4 != 0, bits&8 != 0, bits&16 != 0
			a, b := matrix(r, c.rows, c.depth, ta), matrix(r, c.depth, c.cols, tb)
			bias, was, ys := normals(r, c.cols), normals(r, c.rows*(c.cols+3)), c.cols+3
			for _, k := range kernels(t) {
				if !k.Vector() {
					continue
				}
				y := slices.Clone(was)
				var bs, skip []float32
				if biased {
					bs = bias
				}
				if added {
					skip = y
				}
				k.NewMultiplier().Multiply(c.rows, c.cols, c.depth, a, b, bs, skip, y, ys, relu)
				for i := range c.rows {
					for j := range ys {
						want := float64(was[i*ys+j])
						if j < c.cols {
							if !added {
								want = 0
							}
							if biased {
								want += float64(bias[j])
							}
							for d := range c.depth {
								want += float64(a.at(i, d)) * float64(b.at(d, j))
							}
							if relu {
								want = max(want, 0)
							}
						}
						if math.Abs(float64(y[i*ys+j])-want) > 1e-4*(1+math.Abs(want)) {
							t.Fatalf("%s %v ta %v tb %v bias %v skip %v relu %v: %d, %d is %v, want %v", k.Name(), c, ta, tb, biased, added, relu, i, j, y[i*ys+j], want)
						}
					}
				}
			}
		}
	}
}

func matrix(r *rand.Rand, rows, cols int, trans bool) Matrix {
	if trans {
		return Matrix{normals(r, cols*(rows+2)), rows + 2, true}
	}
	return Matrix{normals(r, rows*(cols+1)), cols + 1, false}
}

func (m Matrix) at(i, j int) float32 {
	if m.Trans {
		i, j = j, i
	}
	return m.Data[i*m.Lead+j]
}

func TestGatherAndScatterAreTheDefinition(t *testing.T) {
	r := source(4)
	const inputs, active, rows = 20, 5, 7
	for _, width := range []int{1, 8, 13, 16, 40, 128, 250} {
		index := make([]int32, rows*active)
		for i := range index {
			index[i] = int32(r.IntN(inputs))
		}
		ws, ys := width+2, width+1
		w, bias := normals(r, inputs*ws), normals(r, width)
		for _, k := range kernels(t) {
			y := make([]float32, rows*ys)
			k.Gather(rows, active, index, w, ws, bias, y, ys)
			back := slices.Clone(w)
			k.Scatter(rows, active, index, back, ws, y, ys, width)
			want := make([]float64, len(w))
			for i, v := range w {
				want[i] = float64(v)
			}
			for i := range rows {
				for j := range width {
					sum := float64(bias[j])
					for _, x := range index[i*active : (i+1)*active] {
						sum += float64(w[int(x)*ws+j])
						want[int(x)*ws+j] += float64(y[i*ys+j])
					}
					if !near(y[i*ys+j], max(sum, 0)) {
						t.Fatalf("%s width %d: gathered %v, want %v", k.Name(), width, y[i*ys+j], sum)
					}
				}
				if y[i*ys+width] != 0 {
					t.Fatalf("%s width %d: gather writes beyond a row", k.Name(), width)
				}
			}
			for i, v := range back {
				if !near(v, want[i]) {
					t.Fatalf("%s width %d: scattered %v at %d, want %v", k.Name(), width, v, i, want[i])
				}
			}
		}
	}
}

func TestElementwiseLoopsAreThoseInGo(t *testing.T) {
	r := source(5)
	a := &Adam{0.9, 0.1, 0.999, 0.001, 0.02, 1.3, 1e-8, 0.99}
	for n := range 70 {
		x, y, z, u := normals(r, n), halved(r, normals(r, n)), normals(r, n+1), normals(r, n)
		for i := range u {
			u[i] *= u[i]
		}
		for _, k := range kernels(t) {
			if !k.Finite(x) {
				t.Fatalf("%s: %d numbers are not finite", k.Name(), n)
			}
			for i := range x {
				for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
					was := x[i]
					x[i] = float32(bad)
					if k.Finite(x) {
						t.Fatalf("%s: %v at %d of %d is finite", k.Name(), bad, i, n)
					}
					x[i] = was
				}
			}
			got, want := slices.Clone(y), slices.Clone(y)
			k.Add(got, x)
			add(want, x)
			same(t, k, "add", got, want)
			got, want = slices.Clone(z), slices.Clone(z)
			k.Gate(got[:n], y, x)
			gate(want[:n], y, x)
			same(t, k, "gate", got, want)
			w, m, p := slices.Clone(z), slices.Clone(x), slices.Clone(u)
			w2, m2, p2 := slices.Clone(z), slices.Clone(x), slices.Clone(u)
			k.Step(a, w[:n], y, m, p)
			a.step(w2[:n], y, m2, p2)
			same(t, k, "weights", w, w2)
			same(t, k, "means", m, m2)
			same(t, k, "squares", p, p2)
		}
	}
}

func same(t *testing.T, k *Kernel, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("%s %s: %v at %d of %d, want %v", k.Name(), what, got[i], i, len(want), want[i])
		}
	}
}

// Runs may move between the two kinds of processor.
func TestKernelsInAssemblyAgreeToTheBit(t *testing.T) {
	var first [][]float32
	for _, k := range kernels(t) {
		if !k.Vector() {
			continue
		}
		r := source(6)
		var all [][]float32
		for _, c := range []struct{ rows, in, out int }{{7, 64, 64}, {20, 128, 48}, {3, 13, 29}} {
			x, w, b := halved(r, normals(r, c.rows*c.in)), normals(r, c.in*c.out), normals(r, c.out)
			xs, ys := k.Width(c.in+1), k.Width(c.out)
			y := make([]float32, c.rows*ys)
			k.NewLayer(c.in, c.out, w, b, 0).Product(NewLists(c.rows, c.in), c.rows, padded(x, c.in, xs, 0), xs, false, y, ys)
			for i := range c.rows {
				all = append(all, y[i*ys:i*ys+c.out])
			}
			z := make([]float32, c.rows*c.out)
			k.NewMultiplier().Multiply(c.rows, c.out, c.in, Matrix{x, c.in, false}, Matrix{w, c.out, false}, b, nil, z, c.out, true)
			all = append(all, z)
			z = make([]float32, c.in*c.out)
			k.NewMultiplier().Multiply(c.in, c.out, c.rows, Matrix{x, c.in, true}, Matrix{y, ys, false}, nil, nil, z, c.out, false)
			all = append(all, z)
			z = make([]float32, 2*c.out)
			k.Gather(2, 3, []int32{0, 2, 4, 1, 2, 3}, w, c.out, b, z, c.out)
			all = append(all, z)
		}
		if first == nil {
			first = all
		}
		for i := range all {
			same(t, k, fmt.Sprint("result ", i), all[i], first[i])
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	r := source(7)
	for _, k := range kernels(t) {
		l, s := k.NewLayer(64, 64, normals(r, 64*64), normals(r, 64), 0), NewLists(9, 64)
		x, y, w := padded(halved(r, normals(r, 9*64)), 64, 80, 0), make([]float32, 9*64), normals(r, 64*64)
		index := make([]int32, 9*4)
		var m *Multiplier
		adam := new(Adam)
		if k.Vector() {
			m = k.NewMultiplier()
		}
		if n := testing.AllocsPerRun(5, func() {
			l.Product(s, 9, x, 80, true, y, 64)
			k.Gather(9, 4, index, w, 64, w[:64], y, 64)
			k.Scatter(9, 4, index, w, 64, y, 64, 64)
			k.Add(y, x)
			k.Finite(x)
			k.Gate(y, x, x)
			k.Step(adam, y, x, x, x)
			if m != nil {
				m.Multiply(9, 60, 64, Matrix{x, 64, false}, Matrix{w, 64, false}, nil, nil, y, 64, true)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", k.Name(), n)
		}
	}
}
