// Package kernel holds the inner loops of networks, for playing and for learning, once for each kind of processor:
// in assembly for those with AVX-512 or with AVX2, and in plain Go.
//
// All kernels compute the same sums; they differ in the last bits at most. The two in assembly add up in the same
// order, every sum beginning with the bias and taking one fused product after the other, so that they agree to the
// bit. No result depends on the rows computed beside it.
package kernel

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

//go:generate go run -C ../../tools/kernel . -out ../../internal/kernel/loops_amd64.s -stubs ../../internal/kernel/loops_amd64.go -pkg kernel

// Variable is the environment variable that chooses a kernel by its name.
const Variable = "MANCALA_KERNEL"

// Kernel is one way to compute. It does not change and may be shared between goroutines.
type Kernel struct {
	name  string
	loops *loops // nil in plain Go
}

// loops are the assembly of a kernel. Lengths, strides and offsets are in bytes where the comment says so.
type loops struct {
	lanes int    // numbers in a vector; a panel of weights has two vectors in a row
	width [5]int // most vectors of a pass of picked, by its rows; 0 where there is no such function
	// By number of rows, from 1 on: y = max(bias + skip + x·w, floor) for a panel of w. Strides in bytes.
	product, across []func(x *float32, xs int, w *float32, k int, bias, floor, skip, y *float32, ys int)
	// By rows and by vectors in a pass: the same over listed places of x, each list for one row, for two or, with 4 rows, for
	// the first two and for the last two. Several passes go on through the panels. Strides in bytes.
	picked [5][9]func(passes, groups int, n, index *int32, is int, x *float32, xs int, w *float32, ws int, bias, floor, skip, y *float32, ys int)
	// By rows in a group: lists the places below nothing where one of them is not 0, and then nothings times nothing. Strides in bytes.
	list [3]func(groups, width, nothing int, x *float32, xs int, index *int32, is int, n *int32)
	// By vectors in a row. Strides in bytes.
	gather  [9]func(rows, active int, index *int32, w *float32, ws int, bias, y *float32, ys int)
	scatter [9]func(rows, active int, index *int32, w *float32, ws int, y *float32, ys int)
	// Over n vectors.
	add  func(n int, x, y *float32)
	gate func(n int, x, y, z *float32)
	// 12 multiply-adds of vectors, n times.
	spin func(n int)
	// 0 if all numbers of n vectors are finite.
	finite func(n int, x *float32) uint32
	adam   func(n int, w, grad, mean, power, factors *float32)
}

const plain = "go"

// all are the names of all kernels there are.
var all = []string{"avx512", "avx2", plain}

// Names returns the names of the kernels that this processor can run, the fastest first.
func Names() []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		_, err := Named(name)
		return err != nil
	})
}

// Named returns the kernel of that name: avx512, avx2 or go. It refuses one that this processor cannot run.
func Named(name string) (*Kernel, error) {
	if name == plain {
		return &Kernel{name: plain}, nil
	}
	if !slices.Contains(all, name) {
		return nil, fmt.Errorf("kernel %q: must be one of %s", name, strings.Join(all, ", "))
	}
	if l := assembly(name); l != nil {
		return &Kernel{name, l}, nil
	}
	return nil, fmt.Errorf("kernel %s: this processor cannot run it: must be one of %s", name, strings.Join(Names(), ", "))
}

// Chosen returns the kernel that the environment variable names, or else the fastest.
func Chosen() (*Kernel, error) { return chosen() }

var chosen = sync.OnceValues(func() (*Kernel, error) { return choose(os.Getenv(Variable)) })

func choose(name string) (*Kernel, error) {
	if name == "" {
		name = Names()[0]
	}
	k, err := Named(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Variable, err)
	}
	return k, nil
}

// Name returns the name.
func (k *Kernel) Name() string { return k.name }

// Vector reports whether the kernel is in assembly.
func (k *Kernel) Vector() bool { return k.loops != nil }

// Width returns how many numbers a row of n takes up: whole vectors.
func (k *Kernel) Width(n int) int {
	if k.loops == nil {
		return n
	}
	return up(n, k.loops.lanes)
}

// up returns the least multiple of m that is n or more.
func up(n, m int) int { return (n + m - 1) / m * m }

func (l *loops) panel() int { return 2 * l.lanes }

// Spin makes at least n multiply-adds with numbers that need not be fetched, and returns how many: what the processor
// can do at most.
func (k *Kernel) Spin(n int) int {
	if k.loops == nil {
		spun.Store(math.Float32bits(spin(n/8 + 1)))
		return (n/8 + 1) * 8
	}
	each := 12 * k.loops.lanes
	k.loops.spin(n/each + 1)
	return (n/each + 1) * each
}

// spun keeps the compiler from leaving a spin out.
var spun atomic.Uint32
