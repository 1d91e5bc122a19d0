package cli

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestRegretIntervalsHoldTheTruth(t *testing.T) {
	p := rand.New(rand.NewPCG(1, 2))
	const truth, games, trials = 0.1, 60, 2000
	held := 0
	for range trials {
		var x, n []float64
		for range games {
			// The moves of a game hang together: a weak game has five times as many bad ones.
			chance := truth / 2
			if p.IntN(4) == 0 {
				chance = truth * 2.5
			}
			moves := 20
			bad := 0
			for range moves {
				if p.Float64() < chance {
					bad++
				}
			}
			x, n = append(x, float64(bad)), append(n, float64(moves))
		}
		if m := ratio(x, n, 1); m.Low <= truth && truth <= m.High {
			held++
		}
	}
	if share := float64(held) / trials; share < 0.92 || share > 0.97 {
		t.Errorf("%.3f of the intervals hold the truth, want about 0.95", share)
	}
}

func TestRegretWithoutACaseIsNotSurelyNone(t *testing.T) {
	zero, n := make([]float64, 20), make([]float64, 20)
	for i := range n {
		n[i] = 5
	}
	want := 1 - math.Pow(0.05, 1.0/20)
	if m := ratio(zero, n, 1); m.Value != 0 || m.Low != 0 || math.Abs(m.High-want) > 1e-12 {
		t.Errorf("%+v, want 0 to %v", m, want)
	}
	if m := ratio(zero, n, 84); math.Abs(m.High-84*want) > 1e-12 {
		t.Errorf("%+v, want an upper end of %v", m, 84*want)
	}
	if m := ratio(n, n, 1); m.Value != 1 || m.High != 1 || math.Abs(m.Low-(1-want)) > 1e-12 {
		t.Errorf("%+v, want %v to 1", m, 1-want)
	}
	if m := ratio([]float64{1}, []float64{2}, 1); m.Value != 0.5 || m.Low != 0 || m.High != 1 {
		t.Errorf("one game: %+v, want no knowledge", m)
	}
	if m := ratio(nil, nil, 1); m != (measured{}) {
		t.Errorf("no game: %+v", m)
	}
}
