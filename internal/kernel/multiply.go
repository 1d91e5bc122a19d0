package kernel

// Matrix is a matrix as it lies in memory: entry i, j is Data[i·Lead + j], or Data[j·Lead + i] if Trans.
type Matrix struct {
	Data  []float32
	Lead  int
	Trans bool
}

// Multiplier multiplies matrices with a kernel in assembly. It is working memory of one goroutine.
type Multiplier struct {
	k      *Kernel
	packed []float32    // a panel of the right matrix
	edge   []float32    // rows of results that do not fill a panel
	bias   []float32    // of a panel
	floors [2][]float32 // of a panel: none, and 0
}

// deepest is how many rows of a panel are packed at a time, so that they stay near the processor.
const deepest = 512

// NewMultiplier returns working memory for a kernel that reports Vector.
func (k *Kernel) NewMultiplier() *Multiplier {
	p, rows := k.loops.panel(), len(k.loops.product)-1
	m := &Multiplier{k: k, packed: make([]float32, deepest*p), edge: make([]float32, rows*p), bias: make([]float32, p)}
	m.floors = [2][]float32{make([]float32, p), make([]float32, p)}
	for i := range p {
		m.floors[0][i] = lowest
	}
	return m
}

// Multiply writes bias + skip + a·b to y, and raises to 0 what is below with relu. a is rows × depth, b depth × cols; rows
// of y and skip begin ys apart; skip may be y. A nil bias or skip counts as 0.
func (m *Multiplier) Multiply(rows, cols, depth int, a, b Matrix, bias, skip, y []float32, ys int, relu bool) {
	if rows == 0 || cols == 0 {
		return
	}
	panel := m.k.loops.panel()
	for j := 0; j < cols; j += panel {
		end := min(j+panel, cols)
		clear(m.bias)
		if bias != nil {
			copy(m.bias, bias[j:end])
		}
		before := skip
		for k := 0; ; k += deepest {
			next := min(k+deepest, depth)
			pack(m.packed, panel, b, k, next, j, end)
			m.panel(rows, k, next, j, end, a, before, y, ys, relu && next == depth)
			if next == depth {
				break
			}
			clear(m.bias) // it is in y now
			before = y
		}
	}
}

// panel is Multiply for the columns from j and the depths from k.
func (m *Multiplier) panel(rows, k, deep, j, end int, a Matrix, skip, y []float32, ys int, relu bool) {
	loops := m.k.loops
	call, at := loops.product, func(r int) int { return r*a.Lead + k }
	if a.Trans {
		call, at = loops.across, func(r int) int { return k*a.Lead + r }
	}
	panel, floor := loops.panel(), &m.floors[0][0]
	if relu {
		floor = &m.floors[1][0]
	}
	for s := range stripes(rows, len(call)-1) {
		var x *float32
		if k < deep {
			x = &a.Data[at(s.from)]
			_ = a.Data[at(s.from+s.rows-1)+(deep-k-1)*step(a)]
		}
		place := s.from*ys + j
		if end-j == panel {
			to := &y[place]
			_ = y[place+(s.rows-1)*ys+panel-1]
			var more *float32
			if skip != nil {
				more = &skip[place]
				_ = skip[place+(s.rows-1)*ys+panel-1]
			}
			call[s.rows](x, 4*a.Lead, &m.packed[0], deep-k, &m.bias[0], floor, more, to, 4*ys)
			continue
		}
		var more *float32
		if skip != nil {
			for r := range s.rows {
				copy(m.edge[r*panel:], skip[place+r*ys:place+r*ys+end-j])
			}
			more = &m.edge[0]
		}
		call[s.rows](x, 4*a.Lead, &m.packed[0], deep-k, &m.bias[0], floor, more, &m.edge[0], 4*panel)
		for r := range s.rows {
			copy(y[place+r*ys:place+r*ys+end-j], m.edge[r*panel:])
		}
	}
}

// step is how far entries of a row lie apart.
func step(a Matrix) int {
	if a.Trans {
		return a.Lead
	}
	return 1
}

// pack writes the rows from k to deep and the columns from j to end of b, filled up with zeros to a panel.
func pack(dst []float32, panel int, b Matrix, k, deep, j, end int) {
	if k == deep {
		return // a matrix without rows has no data
	}
	if end-j < panel {
		clear(dst[:(deep-k)*panel])
	}
	if b.Trans {
		for c := j; c < end; c++ {
			column := b.Data[c*b.Lead+k : c*b.Lead+deep]
			to := dst[c-j:]
			for i, v := range column {
				to[i*panel] = v
			}
		}
		return
	}
	for i := range deep - k {
		copy(dst[i*panel:(i+1)*panel], b.Data[(k+i)*b.Lead+j:(k+i)*b.Lead+end])
	}
}
