package arena

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// elo is the number of Elo points in one unit of log-odds: 400 points are odds of ten to one.
const elo = 400 / math.Ln10

// pairing is the evidence on the score of entrant i against entrant j, i ≠ j.
type pairing struct {
	i, j int
	evidence
}

// rating is a strength on the Elo scale; the 95 % interval is value ± width.
type rating struct{ value, width float64 }

// rate fits the Bradley-Terry model, in which i scores 1/(1 + e^(xⱼ−xᵢ)) against j, a draw being half a win. The fit is
// the maximum of the posterior; the prior is that of the scores, one game half won and half lost in every pairing.
// ps must hold each of the k (k−1)/2 pairings once, also those without games. anchor is the entrant rated 0,
// or −1 to put the mean of all there.
//
// The intervals come from the covariance H⁺ B H⁺. H, the curvature of the log posterior, tells how ratings
// follow scores; B holds the variance of the scores as the scatter of whole pairs shows it. So they stay true when draws
// or an opening that decides both games make the scatter smaller or larger than that of won-or-lost games,
// and for two entrants they are the interval of the score on another scale. They are intervals of the best
// fitting ratings: that agents have one strength against everybody is the model's claim, not theirs.
func rate(k int, ps []pairing, anchor int) ([]rating, error) {
	x := make([]float64, k)
	var inverse mat.SymDense
	steps := 1000
	for far := math.Inf(1); far > 1e-8; {
		if steps--; steps < 0 {
			return nil, errors.New("arena: ratings: the fit does not settle: want results that set the entrants less far apart")
		}
		gradient := mat.NewVecDense(k, nil)
		h := mat.NewSymDense(k, nil)
		for i := range k { // ratings have no origin: this keeps their mean where it is
			for j := i; j < k; j++ {
				h.SetSym(i, j, 1/float64(k))
			}
		}
		for _, p := range ps {
			q := logistic(x[p.i] - x[p.j])
			lost := 2*float64(p.pairs) - p.points
			g := (p.points+prior)*logistic(x[p.j]-x[p.i]) - (lost+prior)*q
			gradient.SetVec(p.i, gradient.AtVec(p.i)+g)
			gradient.SetVec(p.j, gradient.AtVec(p.j)-g)
			join(h, p.i, p.j, p.information(q))
		}
		var c mat.Cholesky
		if !c.Factorize(h) {
			return nil, errors.New("arena: ratings: the fit is singular: want results that set the entrants less far apart")
		}
		if err := c.InverseTo(&inverse); err != nil {
			return nil, errors.New("arena: ratings: the fit is near singular: want results that set the entrants less far apart")
		}
		var step mat.VecDense
		step.MulVec(&inverse, gradient)
		far = mat.Norm(&step, math.Inf(1))
		shrink := math.Min(1, 1/far)
		for i := range x {
			x[i] += shrink * step.AtVec(i)
		}
	}

	b := mat.NewSymDense(k, nil)
	pairs := make([]int, k)
	for _, p := range ps {
		join(b, p.i, p.j, p.scatter(logistic(x[p.i]-x[p.j])))
		pairs[p.i] += p.pairs
		pairs[p.j] += p.pairs
	}
	var cov mat.Dense
	cov.Product(&inverse, b, &inverse)
	rs := make([]rating, k)
	for i := range rs {
		v, n, zero := cov.At(i, i), pairs[i], 0.0
		if anchor >= 0 {
			v += cov.At(anchor, anchor) - 2*cov.At(i, anchor)
			n, zero = min(n, pairs[anchor]), x[anchor]
		}
		if i == anchor {
			v = 0
		}
		rs[i] = rating{elo * (x[i] - zero), elo * quantile(n) * math.Sqrt(max(v, 0))}
	}
	return rs, nil
}

// join adds w (eᵢ−eⱼ)(eᵢ−eⱼ)ᵀ to m.
func join(m *mat.SymDense, i, j int, w float64) {
	m.SetSym(i, i, m.At(i, i)+w)
	m.SetSym(j, j, m.At(j, j)+w)
	m.SetSym(i, j, m.At(i, j)-w)
}
