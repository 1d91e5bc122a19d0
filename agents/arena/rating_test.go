package arena

import (
	"math"
	"math/rand/v2"
	"testing"
)

// How the two games of a pair hang together.
const (
	apart    = iota // not at all
	together        // the opening decides for the same agent
	against         // the opening decides for the same side
)

// draw makes n pairs of games with expected score p and the given part of draws.
func draw(rng *rand.Rand, n, mode int, p, draws float64) (ps Pairs) {
	d := draws * 2 * min(p, 1-p)
	points := func(u float64) int { // × 2
		switch {
		case u < p-d/2:
			return 2
		case u < p+d/2:
			return 1
		}
		return 0
	}
	for range n {
		u, v := rng.Float64(), rng.Float64()
		switch mode {
		case together:
			v = u
		case against:
			v = 1 - u
		}
		ps[points(u)+points(v)]++
	}
	return ps
}

func TestScoreIntervalCoversTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const runs = 1000 // standard error 0.007
	for _, n := range []int{20, 200} {
		for _, p := range []float64{0.5, 0.7, 0.9, 0.97} {
			for mode := apart; mode <= against; mode++ {
				for _, draws := range []float64{0, 0.5} {
					below, above := 0, 0 // the truth is out of the interval
					for range runs {
						e := draw(rng, n, mode, p, draws).evidence().estimate()
						if p < e.Low {
							below++
						} else if p > e.High {
							above++
						}
						if !(0 <= e.Low && e.Low <= e.Value && e.Value <= e.High && e.High <= 1) {
							t.Fatalf("%+v", e)
						}
					}
					least, most := 0.93, 1.0
					if n == 200 && p < 0.9 && (mode != against || p > 0.5) { // pairs of many kinds, and many of each
						most = 0.97
					}
					if n == 20 {
						least = 0.92 // few pairs have few possible scores: coverage goes in steps
					}
					if n == 20 && p > 0.9 { // one pair or none that is not won: see estimate
						least = 0.90
					}
					if got := 1 - float64(below+above)/runs; got < least || got > most {
						t.Errorf("%d pairs, score %.2f, mode %d, draws %.1f: the interval covers the truth in %.3f of the matches, want %.2f to %.2f", n, p, mode, draws, got, least, most)
					}
					if got := float64(below) / runs; got > 0.04 {
						t.Errorf("%d pairs, score %.2f, mode %d, draws %.1f: the lower end is too high in %.3f of the matches, want 0.025", n, p, mode, draws, got)
					}
				}
			}
		}
	}
}

func TestRatingIntervalsCoverTheTruth(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	truth := []float64{-250, -60, 0, 90, 220} // Elo; the mean is 0
	for _, anchor := range []int{-1, 2} {
		for mode := apart; mode <= against; mode++ {
			for _, draws := range []float64{0, 0.6} {
				const runs = 400
				hit, all, sum := 0, 0, make([]float64, len(truth))
				for range runs {
					var ps []pairing
					for i := range truth {
						for j := i + 1; j < len(truth); j++ {
							p := logistic((truth[i] - truth[j]) / elo)
							ps = append(ps, pairing{i, j, draw(rng, 50, mode, p, draws).evidence()})
						}
					}
					rs, err := rate(len(truth), ps, anchor)
					if err != nil {
						t.Fatal(err)
					}
					for i, r := range rs {
						sum[i] += r.value / runs
						if i != anchor {
							all++
							if math.Abs(r.value-truth[i]) <= r.width {
								hit++
							}
						}
					}
				}
				if got := float64(hit) / float64(all); got < 0.93 || got > 0.97 {
					t.Errorf("anchor %d, mode %d, draws %.1f: %.3f of the intervals cover the truth, want 0.93 to 0.97", anchor, mode, draws, got)
				}
				for i, mean := range sum {
					if math.Abs(mean-truth[i]) > 10 {
						t.Errorf("anchor %d, mode %d, draws %.1f: ratings of %+.0f are %+.1f on average", anchor, mode, draws, truth[i], mean)
					}
				}
			}
		}
	}
}

// The rating of two is their score on another scale.
func TestTwoRatingsAreTheLogOddsOfTheScore(t *testing.T) {
	for _, p := range []Pairs{{0, 0, 0, 0, 200}, {3, 1, 40, 9, 30}, {0, 0, 50, 0, 0}, {0, 0, 0, 0, 1}, {}} {
		e := p.evidence()
		rs, err := rate(2, []pairing{{0, 1, e}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		est := e.estimate()
		score := func(x float64) float64 { return logistic(x / elo) }
		low, high := score(rs[0].value-rs[0].width), score(rs[0].value+rs[0].width)
		if rs[1] != (rating{}) || e.points > 0 && math.Abs(low-est.Low) > 1e-9 || e.points < 2*float64(e.pairs) && math.Abs(high-est.High) > 1e-9 {
			t.Errorf("%v: score %+v, ratings %+v: as scores %g to %g", p, est, rs, low, high)
		}
		mid, err := rate(2, []pairing{{0, 1, e}}, -1)
		if err != nil || math.Abs(2*mid[0].value-rs[0].value) > 1e-9 || math.Abs(mid[0].value+mid[1].value) > 1e-9 || math.Abs(2*mid[0].width-rs[0].width) > 1e-9 {
			t.Errorf("%v: about the mean %+v, against the anchor %+v, error %v", p, mid, rs, err)
		}
	}
}

// Clopper and Pearson's exact lower end for n successes in n trials is 0.025^(1/n); here the trials are pairs.
func TestAllWonIsNoCertainty(t *testing.T) {
	for _, n := range []int{10, 50, 200, 1000} {
		e := Pairs{0, 0, 0, 0, n}.evidence().estimate()
		exact := math.Pow(0.025, 1/float64(n))
		if e.Value != 1 || e.High != 1 || e.Low > exact || 1-e.Low > 1.5*(1-exact) {
			t.Errorf("%d pairs won: %+v, the exact lower end is %.4f", n, e, exact)
		}
		lost := Pairs{n, 0, 0, 0, 0}.evidence().estimate()
		if lost.Value != 0 || lost.Low != 0 || math.Abs(lost.High+e.Low-1) > 1e-12 {
			t.Errorf("%d pairs lost: %+v", n, lost)
		}
	}
}

func TestRatingsStayFiniteInALadder(t *testing.T) {
	const k = 40 // everybody wins every game against those below
	var ps []pairing
	for i := range k {
		for j := i + 1; j < k; j++ {
			ps = append(ps, pairing{i, j, Pairs{4: MaxGames / 2}.evidence()})
		}
	}
	rs, err := rate(k, ps, -1)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range rs {
		if math.IsNaN(r.value) || math.IsInf(r.value, 0) || !(r.width > 0) || math.IsInf(r.width, 0) || i > 0 && r.value >= rs[i-1].value {
			t.Fatalf("place %d: %+v", i, r)
		}
	}
}

// At the maximum, the points that the ratings expect are the points made, prior included.
func TestRatingsExpectThePointsMade(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	const k = 7
	var ps []pairing
	for i := range k {
		for j := i + 1; j < k; j++ {
			ps = append(ps, pairing{i, j, draw(rng, rng.IntN(40), apart, rng.Float64(), 0.3).evidence()})
		}
	}
	rs, err := rate(k, ps, 3)
	if err != nil {
		t.Fatal(err)
	}
	var excess [k]float64
	for _, p := range ps {
		d := p.points + prior - (2*float64(p.pairs)+2*prior)*logistic((rs[p.i].value-rs[p.j].value)/elo)
		excess[p.i] += d
		excess[p.j] -= d
	}
	for i, d := range excess {
		if math.Abs(d) > 1e-7 {
			t.Errorf("entrant %d made %g points more than expected", i, d)
		}
	}
}
