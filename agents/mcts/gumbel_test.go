package mcts

import (
	"math"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

func TestExpIsAccurate(t *testing.T) {
	for i := range 200000 {
		x := -float32(i) / 2000
		got, want := float64(exp(x)), math.Exp(float64(x))
		if x < -87 {
			want = 0
		}
		if math.Abs(got-want) > 4e-7*want {
			t.Fatalf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	if exp(0) != 1 || exp(float32(math.Inf(-1))) != 0 {
		t.Error("exp(0) or exp(-Inf) is not exact")
	}
}

// TestGumbelSamplesThePrior: with one simulation and a value of 0 everywhere the action is a sample of the prior: 20,000
// seeds, each share within 0.02, more than five standard deviations.
func TestGumbelSamplesThePrior(t *testing.T) {
	r := rules(t, "oware")
	s := searcher(t, r, weightless{newOpinion(r)}, with(Gumbel, 1))
	const batch, n = 500, 20000
	roots, seeds := make([]mancala.State, batch), make([]uint64, batch)
	out := agents.NewResult(batch, 6)
	var share [6]float64
	for from := 0; from < n; from += batch {
		for i := range roots {
			roots[i], seeds[i] = r.Start(), uint64(from+i)
		}
		if err := s.Search(roots, seeds, out); err != nil {
			t.Fatal(err)
		}
		for _, a := range out.Actions {
			share[a] += 1. / n
		}
	}
	for a, e := range s.trees[0].edgesOf(&s.trees[0].nodes[0]) {
		if math.Abs(share[a]-float64(e.prior)) > 0.02 {
			t.Errorf("action %d is played with share %.3f, its prior is %.3f", a, share[a], e.prior)
		}
	}
}

// weightless takes the value away.
type weightless struct{ agents.Evaluator }

func (e weightless) Evaluate(b *agents.Batch) error {
	err := e.Evaluator.Evaluate(b)
	clear(b.Value)
	return err
}

// TestGumbelImprovesThePolicy: by the completed values, the improved policy is never worth less than the prior.
func TestGumbelImprovesThePolicy(t *testing.T) {
	for _, spec := range specs() {
		r := rules(t, spec)
		s := searcher(t, r, newOpinion(r), with(Gumbel, 16))
		for seed := range uint64(50) {
			root := wander(r, seed, int(seed))
			out := search(t, s, root, seed)
			before := 0.0
			m := r.Legal(root)
			for _, e := range s.trees[0].edgesOf(&s.trees[0].nodes[0]) {
				before += float64(e.prior) * float64(out.Q[m.First()])
				m = m.WithoutFirst()
			}
			if float64(out.Value[0]) < before-1e-5 {
				t.Errorf("%s, seed %d: worth %v, the prior %v", spec, seed, out.Value[0], before)
			}
		}
	}
}

func TestGumbelScaleZeroTakesChanceAway(t *testing.T) {
	r := rules(t, "oware")
	c := with(Gumbel, 16)
	c.GumbelScale = 0
	s := searcher(t, r, newOpinion(r), c)
	first := search(t, s, r.Start(), 0)
	for seed := range uint64(50) {
		if out := search(t, s, r.Start(), seed); out.Actions[0] != first.Actions[0] {
			t.Errorf("seed %d plays %d, seed 0 %d", seed, out.Actions[0], first.Actions[0])
		}
	}
}

func TestConsideredBoundsTheRoot(t *testing.T) {
	r := rules(t, "hoyito2:pits=12")
	for _, considered := range []int{1, 2, 4, 12} {
		c := with(Gumbel, 64)
		c.Considered = considered
		out := search(t, searcher(t, r, newOpinion(r), c), r.Start(), 1)
		visited := 0
		for _, v := range out.Visits {
			if v > 0 {
				visited++
			}
		}
		if visited != considered {
			t.Errorf("%d actions have visits, want %d", visited, considered)
		}
	}
}

// TestDirichletNoiseHasItsMoments: a component of Dirichlet noise with k equal concentrations a has mean 1/k and variance
// (k−1) / k²(ka+1).
func TestDirichletNoiseHasItsMoments(t *testing.T) {
	r := rules(t, "oware")
	const n, k = 4000, 6
	for _, alpha := range []float64{0.1, 1, 5} {
		c := with(PUCT, 1)
		c.NoiseWeight, c.NoiseAlpha = 1, alpha
		s := searcher(t, r, agents.NewUniform(r), c)
		var sum, squares float64
		for seed := range uint64(n) {
			search(t, s, r.Start(), seed)
			total := 0.0
			for _, e := range s.trees[0].edgesOf(&s.trees[0].nodes[0]) {
				sum += float64(e.prior) / (n * k)
				squares += float64(e.prior) * float64(e.prior) / (n * k)
				total += float64(e.prior)
			}
			if math.Abs(total-1) > 1e-5 {
				t.Fatalf("noise sums to %v", total)
			}
		}
		variance, want := squares-sum*sum, (k-1.)/(k*k*(k*alpha+1))
		if math.Abs(sum-1./k) > 1e-5 || math.Abs(variance-want) > 0.05*want {
			t.Errorf("alpha %v: mean %v and variance %v, want %v and %v", alpha, sum, variance, 1./k, want)
		}
	}
}

func TestNoiseWeightMixesThePrior(t *testing.T) {
	r := rules(t, "oware")
	prior := func(weight float64) (p []float32) {
		c := with(PUCT, 1)
		c.NoiseWeight = weight
		s := searcher(t, r, newOpinion(r), c)
		search(t, s, r.Start(), 5)
		for _, e := range s.trees[0].edgesOf(&s.trees[0].nodes[0]) {
			p = append(p, e.prior)
		}
		return p
	}
	none, quarter, all := prior(0), prior(0.25), prior(1)
	for a := range none {
		if want := 0.75*none[a] + 0.25*all[a]; math.Abs(float64(quarter[a]-want)) > 1e-6 {
			t.Errorf("action %d: prior %v, want %v", a, quarter[a], want)
		}
	}
}
