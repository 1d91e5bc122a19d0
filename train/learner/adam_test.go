package learner

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// weight is a weight with a gradient, apart from any graph.
type weight struct{ v, g *tensor.Dense }

func (w weight) Value() gorgonia.Value         { return w.v }
func (w weight) Grad() (gorgonia.Value, error) { return w.g, nil }

func newWeight(v []float32, shape ...int) (weight, []float32) {
	g := make([]float32, len(v))
	return weight{
		tensor.New(tensor.WithShape(shape...), tensor.WithBacking(v)),
		tensor.New(tensor.WithShape(shape...), tensor.WithBacking(g)),
	}, g
}

func TestAdamIsTheDefinition(t *testing.T) {
	cfg := DefaultConfig()
	cfg.LearningRate, cfg.WeightDecay = 0.01, 0.1
	r := rand.New(rand.NewPCG(1, 1))
	matrix, bias := normals(r, 6), normals(r, 3)
	want := [][]float64{widened(matrix), widened(bias)}
	mean, power := [][]float64{make([]float64, 6), make([]float64, 3)}, [][]float64{make([]float64, 6), make([]float64, 3)}
	a := newAdam(chosen(t), cfg, []int{6, 3})
	w0, g0 := newWeight(matrix, 2, 3)
	w1, g1 := newWeight(bias, 3)
	for step := 1; step <= 50; step++ {
		copy(g0, normals(r, 6))
		copy(g1, normals(r, 3))
		for i, g := range [][]float32{g0, g1} {
			for j, x := range g {
				d := float64(x)
				mean[i][j] = cfg.Beta1*mean[i][j] + (1-cfg.Beta1)*d
				power[i][j] = cfg.Beta2*power[i][j] + (1-cfg.Beta2)*d*d
				m := mean[i][j] / (1 - math.Pow(cfg.Beta1, float64(step)))
				p := power[i][j] / (1 - math.Pow(cfg.Beta2, float64(step)))
				decay := 0.0
				if i == 0 {
					decay = cfg.WeightDecay
				}
				want[i][j] -= cfg.LearningRate * (m/(math.Sqrt(p)+cfg.Epsilon) + decay*want[i][j])
			}
		}
		if err := a.Step([]gorgonia.ValueGrad{w0, w1}); err != nil {
			t.Fatal(err)
		}
		for i, got := range [][]float32{matrix, bias} {
			for j := range got {
				if math.Abs(float64(got[j])-want[i][j]) > 2e-6 {
					t.Fatalf("step %d: weight %d of tensor %d is %v, want %v", step, j, i, got[j], want[i][j])
				}
			}
		}
		if slices.Max(g0) != 0 || slices.Min(g0) != 0 || slices.Max(g1) != 0 || slices.Min(g1) != 0 {
			t.Fatal("gradients were not cleared")
		}
	}
}

func widened(x []float32) []float64 {
	var y []float64
	for _, v := range x {
		y = append(y, float64(v))
	}
	return y
}

func TestAdamRefusesBadGradients(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
		a := newAdam(chosen(t), DefaultConfig(), []int{2, 2})
		v0, v1 := []float32{1, 2}, []float32{3, 4}
		w0, g0 := newWeight(v0, 2)
		w1, g1 := newWeight(v1, 2)
		g0[0], g1[1] = 5, bad
		if err := a.Step([]gorgonia.ValueGrad{w0, w1}); !errors.Is(err, errGradient) {
			t.Errorf("%v: error %v", bad, err)
		}
		if v0[0] != 1 || v1[1] != 4 || a.step != 0 || a.mean[0][0] != 0 {
			t.Errorf("%v: something changed", bad)
		}
		if g0[0] != 0 || g1[1] != 0 {
			t.Errorf("%v: gradients were not cleared", bad)
		}
	}
}
