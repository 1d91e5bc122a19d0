package mcts

import "math"

// dirichlet mixes noise into the root's prior: (1 − NoiseWeight) · prior + NoiseWeight · noise, the noise Dirichlet
// with every concentration NoiseAlpha, drawn from rand.NewPCG(seed, StreamNoise).
func (s *Searcher) dirichlet(t *tree, seed uint64) {
	s.pcg.Seed(seed, StreamNoise)
	es := t.edgesOf(&t.nodes[0])
	w := s.weights[:len(es)]
	var sum float32
	for i := range w {
		w[i] = float32(s.gamma(s.config.NoiseAlpha))
		sum += w[i]
	}
	if sum <= 0 { // every draw underflowed: a tiny alpha
		return
	}
	weight := float32(s.config.NoiseWeight)
	for i := range es {
		p := &es[i].prior
		*p += float32(weight * (w[i]/sum - *p))
	}
}

// gamma draws from the Gamma distribution of shape a and scale 1: Marsaglia and Tsang's rejection (2000), with their power of a uniform
// number for shapes below 1.
func (s *Searcher) gamma(a float64) float64 {
	power := 1.0
	if a < 1 {
		power = math.Pow(1-s.chance.Float64(), 1/a)
		a++
	}
	d := a - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := s.chance.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		if math.Log(1-s.chance.Float64()) < x*x/2+d*(1-v+math.Log(v)) {
			return d * v * power
		}
	}
}
