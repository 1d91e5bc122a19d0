package neural

import "math"

// gather writes relu(bias + the rows of w at the indices) for each row of y.
func (l *layer) gather(rows, active int, indices []int32, y []float32) {
	for r := range rows {
		yr := y[r*l.out : (r+1)*l.out]
		copy(yr, l.b)
		idx := indices[r*active : (r+1)*active]
		for ; len(idx) >= 4; idx = idx[4:] {
			add4(yr, l.row(idx[0]), l.row(idx[1]), l.row(idx[2]), l.row(idx[3]))
		}
		for _, i := range idx {
			add(yr, 1, l.row(i))
		}
	}
	relu(y[:rows*l.out])
}

// product writes bias + wᵀ·x to each row of y, or adds it to what is there.
//
// Behind a relu half of x is 0, so a row first lists the places that are not, without a branch that the
// processor would guess wrong, and then adds the rows of w at these, four at a time. The order of the
// additions is the row's own: nothing depends on the rows beside it.
func (l *layer) product(live []int32, rows int, x, y []float32, keep bool) {
	live = live[:l.in]
	for r := range rows {
		xr, yr := x[r*l.in:(r+1)*l.in], y[r*l.out:(r+1)*l.out]
		if keep {
			add(yr, 1, l.b)
		} else {
			copy(yr, l.b)
		}
		n := 0
		for k, v := range xr {
			live[n] = int32(k)
			u := math.Float32bits(v) << 1 // 0 for both zeros
			n += int((u | -u) >> 31)
		}
		at := live[:n]
		for ; len(at) >= 4; at = at[4:] {
			i, j, k, m := at[0], at[1], at[2], at[3]
			axpy4(yr, xr[i], l.row(i), xr[j], l.row(j), xr[k], l.row(k), xr[m], l.row(m))
		}
		for _, k := range at {
			add(yr, xr[k], l.row(k))
		}
	}
}

func (l *layer) row(i int32) []float32 { return l.w[int(i)*l.out:][:l.out] }

// add adds a·x to y.
func add(y []float32, a float32, x []float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] += a * x[i]
	}
}

// add4 adds four rows to y.
func add4(y, p, q, r, s []float32) {
	p, q, r, s = p[:len(y)], q[:len(y)], r[:len(y)], s[:len(y)]
	for i := range y {
		y[i] += p[i] + q[i] + (r[i] + s[i])
	}
}

// axpy4 adds a·p + b·q + c·r + d·s to y.
func axpy4(y []float32, a float32, p []float32, b float32, q []float32, c float32, r []float32, d float32, s []float32) {
	p, q, r, s = p[:len(y)], q[:len(y)], r[:len(y)], s[:len(y)]
	for i := range y {
		y[i] += a*p[i] + b*q[i] + (c*r[i] + d*s[i])
	}
}

func relu(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}
