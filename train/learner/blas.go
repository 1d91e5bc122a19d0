package learner

import (
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/gonum"
	"gorgonia.org/gorgonia"

	"github.com/mancalagym/mancalagym/internal/kernel"
)

// library is the BLAS behind Gorgonia's own operations. Gorgonia knows only one at a time, for all graphs: so this one
// is put in place once, and what it does can be switched. Only Sgemm differs from gonum's.
type library struct {
	gonum.Implementation
	fast atomic.Pointer[fast] // nil: gonum's
}

// fast multiplies with a kernel in assembly.
type fast struct{ pool sync.Pool } // of *kernel.Multiplier

var (
	installed library
	install   = sync.OnceFunc(func() { gorgonia.Use(&installed) })
)

// use makes Gorgonia's products those of a kernel; gonum's for nil, and for one in plain Go.
func use(k *kernel.Kernel) {
	install()
	if k == nil || !k.Vector() {
		installed.fast.Store(nil)
		return
	}
	installed.fast.Store(&fast{sync.Pool{New: func() any { return k.NewMultiplier() }}})
}

// Sgemm implements blas.Float32. Products that are scaled, empty or wrongly described are gonum's, which panics on the
// last as BLAS should. Results do not depend on the number of processors.
func (l *library) Sgemm(ta, tb blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32, c []float32, ldc int) {
	f := l.fast.Load()
	left, right := kernel.Matrix{Data: a, Lead: lda, Trans: ta != blas.NoTrans}, kernel.Matrix{Data: b, Lead: ldb, Trans: tb != blas.NoTrans}
	if f == nil || alpha != 1 || !fits(left, m, k) || !fits(right, k, n) || !fits(kernel.Matrix{Data: c, Lead: ldc}, m, n) || !known(ta) || !known(tb) {
		l.Implementation.Sgemm(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc)
		return
	}
	var skip []float32
	if beta != 0 {
		skip = c
	}
	if beta != 0 && beta != 1 {
		for i := range m {
			for j := range n {
				c[i*ldc+j] *= beta
			}
		}
	}
	by := f.pool.Get().(*kernel.Multiplier)
	by.Multiply(m, n, k, left, right, nil, skip, c, ldc, false)
	f.pool.Put(by)
}

func known(t blas.Transpose) bool { return t == blas.NoTrans || t == blas.Trans || t == blas.ConjTrans }

// fits reports whether m is a matrix of these sizes, neither of them 0.
func fits(m kernel.Matrix, rows, cols int) bool {
	if m.Trans {
		rows, cols = cols, rows
	}
	return rows > 0 && cols > 0 && m.Lead >= cols && len(m.Data) >= (rows-1)*m.Lead+cols
}

// multiplier makes products for an operation of ours.
type multiplier struct {
	k *kernel.Kernel
	m *kernel.Multiplier // nil in plain Go: then gonum multiplies
}

func newMultiplier(k *kernel.Kernel) multiplier {
	if k.Vector() {
		return multiplier{k, k.NewMultiplier()}
	}
	return multiplier{k: k}
}

// multiply writes bias + skip + a·b to y, rows × cols, and raises to 0 what is below with relu; nil for no bias or skip.
func (p multiplier) multiply(rows, cols, depth int, a, b kernel.Matrix, bias, skip, y []float32, relu bool) {
	if p.m != nil {
		p.m.Multiply(rows, cols, depth, a, b, bias, skip, y, cols, relu)
		return
	}
	clear(y)
	if bias != nil {
		for at := 0; at < len(y); at += cols {
			copy(y[at:], bias)
		}
	}
	if skip != nil {
		p.k.Add(y, skip)
	}
	installed.Implementation.Sgemm(transpose(a), transpose(b), rows, cols, depth, 1, a.Data, a.Lead, b.Data, b.Lead, 1, y, cols)
	if relu {
		for i, v := range y {
			y[i] = max(v, 0)
		}
	}
}

func transpose(m kernel.Matrix) blas.Transpose {
	if m.Trans {
		return blas.Trans
	}
	return blas.NoTrans
}
