package kernel

import "math"

// plain is Product in Go. A row first lists the places that are not 0, without a branch that the processor would
// guess wrong, and then adds the rows of w at these, four at a time. The order of the additions is the row's own.
func (l *Layer) plain(s *Lists, rows int, x []float32, xs int, keep bool, y []float32, ys int) {
	live := s.index[:l.in]
	for r := range rows {
		xr, yr := x[r*xs:r*xs+l.in], y[r*ys:r*ys+l.out]
		if keep {
			add(yr, l.b)
		} else {
			copy(yr, l.b)
		}
		n := 0
		for k, v := range xr {
			live[n] = int32(k)
			u := math.Float32bits(v) << 1 // 0 for both zeros
			n += int((u | -u) >> 31)
		}
		s.terms += uint64(n * l.out)
		at := live[:n]
		for ; len(at) >= 4; at = at[4:] {
			i, j, k, m := at[0], at[1], at[2], at[3]
			axpy4(yr, xr[i], l.row(i), xr[j], l.row(j), xr[k], l.row(k), xr[m], l.row(m))
		}
		for _, k := range at {
			axpy(yr, xr[k], l.row(k))
		}
		if l.relu < l.out {
			positive(yr[l.relu:])
		}
	}
}

func (l *Layer) row(i int32) []float32 { return l.w[int(i)*l.out:][:l.out] }

// spin makes 8·n multiply-adds of numbers that wait for nothing but the arithmetic.
func spin(n int) float32 {
	var a, b, c, d, e, f, g, h float32
	x := float32(n)
	for range n {
		a, b, c, d = a*x+x, b*x+x, c*x+x, d*x+x
		e, f, g, h = e*x+x, f*x+x, g*x+x, h*x+x
	}
	return a + b + c + d + e + f + g + h
}

// gather is Gather for one row.
func gather(index []int32, w []float32, ws int, bias, y []float32) {
	copy(y, bias)
	row := func(i int32) []float32 { return w[int(i)*ws:] }
	for ; len(index) >= 4; index = index[4:] {
		add4(y, row(index[0]), row(index[1]), row(index[2]), row(index[3]))
	}
	for _, i := range index {
		add(y, row(i))
	}
	positive(y)
}

// add adds x to y.
func add(y, x []float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] += x[i]
	}
}

// add4 adds four rows to y.
func add4(y, p, q, r, s []float32) {
	p, q, r, s = p[:len(y)], q[:len(y)], r[:len(y)], s[:len(y)]
	for i := range y {
		y[i] += p[i] + q[i] + (r[i] + s[i])
	}
}

// axpy adds a·x to y.
func axpy(y []float32, a float32, x []float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] += a * x[i]
	}
}

// axpy4 adds a·p + b·q + c·r + d·s to y.
func axpy4(y []float32, a float32, p []float32, b float32, q []float32, c float32, r []float32, d float32, s []float32) {
	p, q, r, s = p[:len(y)], q[:len(y)], r[:len(y)], s[:len(y)]
	for i := range y {
		y[i] += a*p[i] + b*q[i] + (c*r[i] + d*s[i])
	}
}

func positive(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}

func gate(z, y, x []float32) {
	x, y = x[:len(z)], y[:len(z)]
	for i := range z {
		// All bits of the mask are those of "y is not 0", without a branch that could not be guessed.
		u := math.Float32bits(y[i]) << 1
		z[i] = math.Float32frombits(math.Float32bits(x[i]) & uint32(int32(u|-u)>>31))
	}
}

func finite(x []float32) bool {
	bad := uint32(0)
	for _, v := range x {
		// An exponent of all ones carries into the top bit.
		bad |= (math.Float32bits(v)&0x7fff_ffff + 0x0080_0000) & 0x8000_0000
	}
	return bad == 0
}

func (a *Adam) step(w, g, mean, power []float32) {
	g, mean, power = g[:len(w)], mean[:len(w)], power[:len(w)]
	for i := range w {
		m := a.Beta1*mean[i] + a.Rest1*g[i]
		p := a.Beta2*power[i] + a.Rest2*g[i]*g[i]
		mean[i], power[i] = m, p
		w[i] = a.Keep*w[i] - a.Rate*m/(float32(math.Sqrt(float64(p)))*a.Root+a.Epsilon)
	}
}
