package learner

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/kernel"
)

func saved(t testing.TB, l *Learner) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := l.Save(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// course makes steps [from, to) and returns their losses.
func course(t testing.TB, l *Learner, from, to int) []Loss {
	t.Helper()
	var all []Loss
	for i := from; i < to; i++ {
		all = append(all, step(t, l, lessons(l.cfg.Batch, l.weights.Shape, uint64(i))))
	}
	return all
}

func TestSameSeedSameBits(t *testing.T) {
	run := func() ([]Loss, []byte) {
		l := learner(t, initial(t, small, 3), config(64))
		return course(t, l, 0, 20), saved(t, l)
	}
	loss, state := run()
	again, state2 := run()
	if !slices.Equal(loss, again) {
		t.Error("losses differ")
	}
	if !bytes.Equal(state, state2) {
		t.Error("weights or moments differ")
	}
}

// A run may move between processors with AVX-512 and AVX2.
func TestLearnersInAssemblyAgreeToTheBit(t *testing.T) {
	for _, s := range []neural.Shape{odd, small} {
		var first []byte
		for _, name := range neural.Kernels() {
			k, err := kernel.Named(name)
			if err != nil {
				t.Fatal(err)
			}
			if !k.Vector() {
				continue
			}
			l, err := newOn(k, initial(t, s, 3), config(40))
			if err != nil {
				t.Fatal(err)
			}
			course(t, l, 0, 10)
			if first == nil {
				first = saved(t, l)
			}
			if !bytes.Equal(saved(t, l), first) {
				t.Errorf("shape %v: %s gave different bits", s, name)
			}
			if err := l.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestResultsDoNotDependOnProcessors(t *testing.T) {
	run := func(procs int) []byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		// Four blocks of rows: what gonum multiplies in parallel.
		l := learner(t, initial(t, small, 3), config(256))
		course(t, l, 0, 8)
		return saved(t, l)
	}
	if !bytes.Equal(run(1), run(2)) {
		t.Error("one and two processors gave different bits")
	}
}

func TestRestoredLearnerGoesOnToTheBit(t *testing.T) {
	cfg := config(40)
	whole := learner(t, initial(t, odd, 1), cfg)
	first := learner(t, initial(t, odd, 1), cfg)
	course(t, first, 0, 13)
	checkpoint := saved(t, first)

	// Restored into one that has learnt other things with another seed.
	second := learner(t, initial(t, odd, 99), cfg)
	course(t, second, 500, 504)
	if err := second.Restore(bytes.NewReader(checkpoint)); err != nil {
		t.Fatal(err)
	}
	if second.Steps() != 13 {
		t.Errorf("%d steps after restoring, want 13", second.Steps())
	}
	want := course(t, whole, 0, 30)[13:]
	if got := course(t, second, 13, 30); !slices.Equal(got, want) {
		t.Error("losses differ from those of a learner that never stopped")
	}
	if !bytes.Equal(saved(t, second), saved(t, whole)) {
		t.Error("weights or moments differ from those of a learner that never stopped")
	}
}

// resealed gives a checkpoint the checksum it should have.
func resealed(b []byte) []byte {
	body := b[:len(b)-sha256.Size]
	sum := sha256.Sum256(body)
	return append(bytes.Clone(body), sum[:]...)
}

func TestRestoreRefusesDamage(t *testing.T) {
	l := learner(t, initial(t, bare, 1), config(4))
	course(t, l, 0, 3)
	good := saved(t, l)
	refused := func(what string, data []byte, want string) {
		t.Helper()
		err := l.Restore(bytes.NewReader(data))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: error %v, want one line with %q", what, err, want)
		}
		if !bytes.Equal(saved(t, l), good) {
			t.Fatalf("%s: the learner changed", what)
		}
	}
	for n := range good {
		refused("cut", good[:n], "cut short")
	}
	for i := range good {
		bad := bytes.Clone(good)
		bad[i] ^= 0x10
		refused("flipped", bad, "")
	}
	refused("longer", append(bytes.Clone(good), 0), "more bytes")
	version := bytes.Clone(good)
	version[8] = 9
	refused("version", resealed(version), "format version 9")
	huge := bytes.Clone(good)
	binary.LittleEndian.PutUint64(huge[20:], math.MaxUint64)
	refused("length", resealed(huge), "weights of 18446744073709551615 bytes")
	moment := bytes.Clone(good)
	binary.LittleEndian.PutUint32(moment[len(good)-sha256.Size-4:], math.Float32bits(-1))
	refused("negative mean square", resealed(moment), "must be 0 or more")
	binary.LittleEndian.PutUint32(moment[len(good)-sha256.Size-4:], math.Float32bits(float32(math.NaN())))
	refused("NaN", resealed(moment), "not finite")

	refused("another shape", saved(t, learner(t, initial(t, odd, 1), config(4))), "must be 9/2")
	other := initial(t, bare, 1)
	other.Meta.Spec = "toy:pits=8"
	refused("another game", saved(t, learner(t, other, config(4))), "toy:pits=8")
}

func TestBadLossChangesNothing(t *testing.T) {
	l := learner(t, initial(t, small, 1), config(16))
	course(t, l, 0, 3)
	good := saved(t, l)
	// Weights so large that the logits overflow.
	for _, m := range l.weights.Tensors {
		for i := range m.Data {
			m.Data[i] = 1e30
		}
	}
	bad := l.Weights()
	if _, err := l.Step(lessons(16, small, 3)); err == nil || !strings.Contains(err.Error(), "step 4") || !strings.Contains(err.Error(), "after step 3") {
		t.Fatalf("error %v, want one that names steps 4 and 3", err)
	}
	for i, m := range l.weights.Tensors {
		if !slices.Equal(m.Data, bad.Tensors[i].Data) {
			t.Errorf("%s changed", m.Name)
		}
	}
	if err := l.Restore(bytes.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	// The gradients of the bad step are gone.
	fresh := learner(t, initial(t, small, 1), config(16))
	course(t, fresh, 0, 3)
	if a, b := course(t, l, 3, 6), course(t, fresh, 3, 6); !slices.Equal(a, b) {
		t.Errorf("after a bad step: losses %v, want %v", a, b)
	}
}

func TestMeasureLearnsNothing(t *testing.T) {
	l, plain := learner(t, initial(t, odd, 1), config(8)), learner(t, initial(t, odd, 1), config(8))
	for i := range 5 {
		if _, err := l.Measure(lessons(8, odd, 77)); err != nil {
			t.Fatal(err)
		}
		course(t, l, i, i+1)
	}
	course(t, plain, 0, 5)
	if !bytes.Equal(saved(t, l), saved(t, plain)) {
		t.Error("measuring between the steps changed what was learnt")
	}
	if l.Steps() != 5 {
		t.Errorf("%d steps, want 5", l.Steps())
	}
}

func TestLossHoldsPolicyAndWeightedValue(t *testing.T) {
	cfg := config(10)
	cfg.ValueWeight = 0.25
	l := learner(t, initial(t, odd, 2), cfg)
	b := lessons(10, odd, 1)
	loss, err := l.Measure(b)
	if err != nil {
		t.Fatal(err)
	}
	if d := float64(loss.Total - loss.Policy - 0.25*loss.Value); math.Abs(d) > 1e-6 {
		t.Errorf("total %v of policy %v and value %v", loss.Total, loss.Policy, loss.Value)
	}
	// Nearly uniform at first, 8 of 10 rows with a value target.
	if want := 0.8 * math.Log(3); math.Abs(float64(loss.Value)-want) > 0.1 {
		t.Errorf("value loss %v, want about %.3f", loss.Value, want)
	}
}

// What stands in a row of weight 0 does not matter: filling, truncated episodes, rows without policy.
func TestRowsOfWeightZeroTeachNothing(t *testing.T) {
	run := func(change func(*Batch)) []byte {
		l := learner(t, initial(t, odd, 1), config(10))
		for i := range 5 {
			b := lessons(10, odd, uint64(i))
			b.PolicyWeight[9], b.ValueWeight[9] = 0, 0
			change(b)
			step(t, l, b)
		}
		return saved(t, l)
	}
	plain := run(func(*Batch) {})
	changed := run(func(b *Batch) {
		for r := range 10 {
			if b.ValueWeight[r] == 0 {
				for o := range neural.Outcomes {
					b.Value[r*neural.Outcomes+o] = float32(math.NaN())
				}
			}
			if b.PolicyWeight[r] == 0 {
				b.Legal[r] = 0
				b.Policy[r*odd.Actions] = 17
			}
		}
		copy(b.Indices[9*odd.Active:], b.Indices[:odd.Active])
	})
	if !bytes.Equal(plain, changed) {
		t.Error("rows of weight 0 changed the weights")
	}
}

func TestStepRefusesBadBatches(t *testing.T) {
	l := learner(t, initial(t, odd, 1), config(8))
	before := saved(t, l)
	nan := float32(math.NaN())
	for want, change := range map[string]func(*Batch){
		"23 indices":                           func(b *Batch) { b.Indices = b.Indices[1:] },
		"7 legal masks":                        func(b *Batch) { b.Legal = b.Legal[1:] },
		"41 policy targets":                    func(b *Batch) { b.Policy = append(b.Policy, 0) },
		"0 policy weights":                     func(b *Batch) { b.PolicyWeight = nil },
		"23 value targets":                     func(b *Batch) { b.Value = b.Value[1:] },
		"7 value weights":                      func(b *Batch) { b.ValueWeight = b.ValueWeight[1:] },
		"row 1 has active index 37":            func(b *Batch) { b.Indices[5] = 37 },
		"row 0 has active index -1":            func(b *Batch) { b.Indices[0] = -1 },
		"row 2 has legal mask":                 func(b *Batch) { b.Legal[2] |= 1 << 5 },
		"row 3 has a policy target with sum 0": func(b *Batch) { clear(b.Policy[15:20]) },
		"where illegal":                        func(b *Batch) { b.Legal[4] = 0 },
		"row 5 has a policy target with NaN":   func(b *Batch) { b.Policy[25] = nan },
		"row 1 has a policy target of weight":  func(b *Batch) { b.PolicyWeight[1] = -1 },
		"of weight NaN":                        func(b *Batch) { b.ValueWeight[2] = nan },
		"of weight +Inf":                       func(b *Batch) { b.ValueWeight[2] = float32(math.Inf(1)) },
		"row 7 has a value target with sum 2":  func(b *Batch) { copy(b.Value[21:], []float32{1, 1, 0}) },
	} {
		b := lessons(8, odd, 1)
		change(b)
		if _, err := l.Step(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if !bytes.Equal(saved(t, l), before) {
		t.Error("a refused batch changed something")
	}
	m := learner(t, initial(t, full, 1), margined(8))
	for want, change := range map[string]func(*Batch){
		"0 margins":                func(b *Batch) { b.Margin = nil },
		"row 3 has margin 1.5":     func(b *Batch) { b.Margin[3] = 1.5 },
		"row 2 has margin NaN":     func(b *Batch) { b.Margin[2] = nan },
		"must be 8 rows of 1":      func(b *Batch) { b.Margin = b.Margin[1:] },
		"batch with 23 indices: m": func(b *Batch) { b.Indices = b.Indices[1:] },
	} {
		b := lessons(8, full, 1)
		change(b)
		if _, err := m.Step(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	b := lessons(8, full, 1)
	b.ValueWeight[3], b.Margin[3] = 0, nan // not looked at
	step(t, m, b)
}

func TestConfigNamesWhatIsAllowed(t *testing.T) {
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	for want, change := range map[string]func(*Config){
		"batch 0":          func(c *Config) { c.Batch = 0 },
		"batch 65537":      func(c *Config) { c.Batch = 65537 },
		"learning rate 0":  func(c *Config) { c.LearningRate = 0 },
		"learning rate Na": func(c *Config) { c.LearningRate = math.NaN() },
		"beta1 1":          func(c *Config) { c.Beta1 = 1 },
		"beta2 -1":         func(c *Config) { c.Beta2 = -1 },
		"epsilon 0":        func(c *Config) { c.Epsilon = 0 },
		"weight decay 2":   func(c *Config) { c.WeightDecay = 2 },
		"value weight 0":   func(c *Config) { c.ValueWeight = 0 },
		"margin weight -1": func(c *Config) { c.MarginWeight = -1 },
		"margin weight 1":  func(c *Config) { c.MarginWeight = 1 },
	} {
		c := DefaultConfig()
		change(&c)
		if _, err := New(initial(t, bare, 1), c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
	if _, err := New(initial(t, full, 1), DefaultConfig()); err == nil || !strings.Contains(err.Error(), "margin weight 0: must be above 0") {
		t.Errorf("a margin head without a weight: error %v", err)
	}
	w := initial(t, bare, 1)
	w.Tensors[0].Data[0] = float32(math.NaN())
	if _, err := New(w, DefaultConfig()); err == nil {
		t.Error("NaN weights were taken")
	}
}

func TestLearningRateCanBeScheduled(t *testing.T) {
	l := learner(t, initial(t, odd, 1), config(8))
	if err := l.SetLearningRate(1e-9); err != nil {
		t.Fatal(err)
	}
	before := l.Weights()
	course(t, l, 0, 3)
	for i, m := range l.Weights().Tensors {
		if d := apart(m.Data, before.Tensors[i].Data); d > 1e-7 {
			t.Errorf("%s moved by %v at a rate of 1e-9", m.Name, d)
		}
	}
	if l.SetLearningRate(-1) == nil || l.Config().LearningRate != 1e-9 {
		t.Error("a negative rate was taken")
	}
}

func TestClosedLearnerSaysSo(t *testing.T) {
	l := learner(t, initial(t, bare, 1), config(2))
	if err := l.Outputs(nil, nil); err == nil {
		t.Error("outputs before a step")
	}
	step(t, l, lessons(2, bare, 1))
	if err := l.Outputs(make([]float32, 1), make([]float32, 6)); err == nil {
		t.Error("outputs into too little room")
	}
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Step(lessons(2, bare, 1)); err == nil || !strings.Contains(err.Error(), "closed") {
		t.Errorf("error %v", err)
	}
	if err := l.Weights().Validate(); err != nil {
		t.Error(err)
	}
}

// Weights handed out are the caller's, and those taken in stay the caller's.
func TestWeightsAreCopies(t *testing.T) {
	w := initial(t, odd, 1)
	was := w.Clone()
	l := learner(t, w, config(8))
	out := l.Weights()
	course(t, l, 0, 2)
	for i := range was.Tensors {
		if !slices.Equal(w.Tensors[i].Data, was.Tensors[i].Data) || !slices.Equal(out.Tensors[i].Data, was.Tensors[i].Data) {
			t.Errorf("learning changed a copy of %s", was.Tensors[i].Name)
		}
	}
	if slices.Equal(l.Weights().Tensors[0].Data, was.Tensors[0].Data) {
		t.Error("nothing was learnt")
	}
}

// flat is an encoder whose observation is the same for all positions but for the ply.
type flat struct{}

func (flat) Name() string                   { return "onehot" }
func (flat) Version() int                   { return 1 }
func (flat) Size() int                      { return small.Inputs }
func (flat) Active() int                    { return small.Active }
func (flat) Dense(mancala.State, []float32) {}
func (flat) Sparse(s mancala.State, dst []int32) {
	for i := range dst {
		dst[i] = int32(32*i + s.Ply()%32)
	}
}

func TestOneLearnerAndTwoEvaluatorsAtWork(t *testing.T) {
	l := learner(t, initial(t, small, 1), config(64))
	n, err := neural.NewNetwork(l.Weights())
	if err != nil {
		t.Fatal(err)
	}
	h := neural.NewHolder(n)
	info := mancala.Info{Spec: "toy", Family: "toy", Actions: small.Actions}
	done := make(chan struct{})
	var g sync.WaitGroup
	for range 2 {
		g.Go(func() {
			e, err := neural.NewEvaluator(h, info, flat{})
			if err != nil {
				t.Error(err)
				return
			}
			b := agentsBatch(40)
			for {
				if err := e.Evaluate(b); err != nil {
					t.Error(err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	for i := range 20 {
		course(t, l, i, i+1)
		n, err := neural.NewNetwork(l.Weights())
		if err != nil {
			t.Error(err)
			break
		}
		if err := h.Swap(n); err != nil {
			t.Error(err)
		}
	}
	close(done)
	g.Wait()
}

func TestLearnersSideBySideDoNotDisturbEachOther(t *testing.T) {
	var states [2][]byte
	var g sync.WaitGroup
	for i := range states {
		g.Go(func() {
			l, err := New(initial(t, odd, 5), config(32))
			if err != nil {
				t.Error(err)
				return
			}
			defer l.Close()
			for j := range 20 {
				if _, err := l.Step(lessons(32, odd, uint64(j))); err != nil {
					t.Error(err)
				}
			}
			var b bytes.Buffer
			if err := l.Save(&b); err != nil {
				t.Error(err)
			}
			states[i] = b.Bytes()
		})
	}
	g.Wait()
	if !bytes.Equal(states[0], states[1]) {
		t.Error("two equal learners at a time gave different bits")
	}
}
