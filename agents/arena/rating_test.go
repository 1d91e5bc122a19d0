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
	const runs = 2000
	for _, n := range []int{10, 30, 200} {
		for _, p := range []float64{0.5, 0.7, 0.9} {
			for mode := apart; mode <= against; mode++ {
				for _, draws := range []float64{0, 0.5} {
					hit := 0
					for range runs {
						e := draw(rng, n, mode, p, draws).evidence().estimate()
						if e.Low <= p && p <= e.High {
							hit++
						}
						if !(0 <= e.Low && e.Low <= e.Value && e.Value <= e.High && e.High <= 1) {
							t.Fatalf("%+v", e)
						}
					}
					got := float64(hit) / runs // standard error 0.005
					t.Logf("pairs %d, score %.1f, mode %d, draws %.1f: %.3f", n, p, mode, draws, got)
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
				hit, all := 0, 0
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
						if i != anchor {
							all++
							if math.Abs(r.value-truth[i]) <= r.width {
								hit++
							}
						}
					}
				}
				got := float64(hit) / float64(all)
				t.Logf("anchor %d, mode %d, draws %.1f: %.3f", anchor, mode, draws, got)
			}
		}
	}
}
