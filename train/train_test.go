package train

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/arena"
	"github.com/mancalagym/mancalagym/agents/mcts"
	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/datasets"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/kernel"
	"github.com/mancalagym/mancalagym/train/learner"
)

// small returns a configuration whose iterations take a moment.
func small(t testing.TB, spec string) Config {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	c := Default(r)
	c.Network.Width, c.Network.Blocks, c.Network.ValueWidth = 8, 1, 0
	c.SelfPlay.Games, c.SelfPlay.Simulations = 6, 4
	c.Fit.Window, c.Fit.Steps, c.Fit.Batch = 2, 3, 16
	c.Gate.Games, c.Gate.Simulations = 4, 2
	c.Rate.Games, c.Rate.Simulations, c.Rate.Agents = 4, 2, []string{"random"}
	return c
}

// tree returns the files of a run that are part of its result.
func tree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			if e.Name() == dirLocal {
				return fs.SkipDir
			}
			return nil
		}
		name, _ := filepath.Rel(dir, path)
		files[name], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func sameTree(t *testing.T, got, want map[string][]byte) {
	t.Helper()
	for name := range want {
		if g, ok := got[name]; !ok {
			t.Errorf("%s is missing", name)
		} else if !bytes.Equal(g, want[name]) {
			t.Errorf("%s differs", name)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s is left over", name)
		}
	}
}

func mustRun(t *testing.T, c Config, dir string, o Options) *Result {
	t.Helper()
	r, err := Run(context.Background(), c, dir, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWorkersAndExecutionsChangeNothing(t *testing.T) {
	for _, spec := range []string{"modiar", "omweso:setup=arrange"} {
		t.Run(spec, func(t *testing.T) {
			c := small(t, spec)
			one, many := t.TempDir(), t.TempDir()
			r := mustRun(t, c, one, Options{Iterations: 4, Workers: 1})
			if r.Iteration != 4 || len(r.Report.Standings) != 2 {
				t.Fatalf("result %+v", r)
			}
			for _, n := range []int{1, 2, 2, 4} {
				mustRun(t, c, many, Options{Iterations: n, Workers: 3})
			}
			sameTree(t, tree(t, many), tree(t, one))
		})
	}
}

func TestRunLeavesAVerifiedDataset(t *testing.T) {
	dir := t.TempDir()
	c := small(t, "hoyito2")
	c.SelfPlay.Games = 3
	mustRun(t, c, dir, Options{Iterations: 2, Workers: 2})
	report, err := datasets.Verify(context.Background(), filepath.Join(dir, dirData))
	if err != nil || len(report.Faults) > 0 || report.Games != 6 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestKilledRunEndsAsOneThatWasNot runs the training in another process, kills it again and again, and compares.
func TestKilledRunEndsAsOneThatWasNot(t *testing.T) {
	if dir := os.Getenv("MANCALA_TRAIN_DIR"); dir != "" {
		mustRun(t, small(t, "modiar"), dir, Options{Iterations: 12, Workers: 2})
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("needs a signal that cannot be caught, which Windows lacks; runs everywhere else")
	}
	whole, killed := t.TempDir(), t.TempDir()
	mustRun(t, small(t, "modiar"), whole, Options{Iterations: 12, Workers: 1})
	kills := 0
	for wait := 30 * time.Millisecond; ; wait += 5 * time.Millisecond {
		child := exec.Command(os.Args[0], "-test.run", "^TestKilledRunEndsAsOneThatWasNot$")
		child.Env = append(os.Environ(), "MANCALA_TRAIN_DIR="+killed)
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(wait, func() { child.Process.Kill() })
		err := child.Wait()
		timer.Stop()
		if err == nil {
			break
		}
		if kills++; kills > 200 {
			t.Fatal("no end in sight")
		}
	}
	t.Logf("killed %d times", kills)
	if kills == 0 {
		t.Error("never killed: the test shows nothing")
	}
	sameTree(t, tree(t, killed), tree(t, whole))
}

func TestMarginHeadTrains(t *testing.T) {
	c := small(t, "urim")
	c.Fit.MarginWeight = 0.5
	dir := t.TempDir()
	mustRun(t, c, dir, Options{Iterations: 2, Workers: 2})
	w, err := neural.Load(filepath.Join(dir, fileBest))
	if err != nil || !w.Shape.MarginHead {
		t.Errorf("%+v, %v, want a margin head", w, err)
	}
}

func TestBadLossNamesStepAndCheckpoint(t *testing.T) {
	c := small(t, "modiar")
	o := Options{Iterations: 1, Workers: 1}
	if err := o.validate(); err != nil {
		t.Fatal(err)
	}
	d, err := openDirectory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	run, err := openTraining(c, d, o)
	if err != nil {
		t.Fatal(err)
	}
	w := run.learner.Weights()
	run.learner.Close()
	for _, tensor := range w.Tensors {
		for i := range tensor.Data {
			tensor.Data[i] *= 1e18
		}
	}
	if run.learner, err = learner.New(w, c.learner()); err != nil {
		t.Fatal(err)
	}
	defer run.learner.Close()
	before := tree(t, d.path)
	err = run.iterate(context.Background())
	if err == nil || !strings.Contains(err.Error(), "step 1") || !strings.Contains(err.Error(), d.checkpoint(0)) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%v, want the step and the checkpoint", err)
	}
	after := tree(t, d.path)
	for name := range before {
		if !bytes.Equal(before[name], after[name]) {
			t.Errorf("%s changed", name)
		}
	}
}

func TestCancelledRunGoesOn(t *testing.T) {
	c := small(t, "modiar")
	whole, stopped := t.TempDir(), t.TempDir()
	mustRun(t, c, whole, Options{Iterations: 3, Workers: 2})
	for _, stage := range []string{"self-play", "fit", "gate"} {
		ctx, cancel := context.WithCancel(context.Background())
		_, err := Run(ctx, c, stopped, Options{Iterations: 3, Workers: 2, Progress: func(p Progress) {
			if p.Stage == stage && p.Done > 0 {
				cancel()
			}
		}})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v", stage, err)
		}
	}
	mustRun(t, c, stopped, Options{Iterations: 3, Workers: 2})
	sameTree(t, tree(t, stopped), tree(t, whole))
}

func TestGateWithoutAResultKeepsTheBest(t *testing.T) {
	r, err := mancala.Parse("omweso")
	if err != nil {
		t.Fatal(err)
	}
	cfg := arena.Default(r)
	cfg.Games, cfg.MaxPlies = 4, 1 // all truncated
	e := func(name string) arena.Entrant {
		return arena.Entrant{Name: name, New: func() (agents.Agent, error) { return agents.NewRandom(r), nil }}
	}
	m, err := arena.Play(context.Background(), cfg, r, [2]arena.Entrant{e("candidate"), e("best")}, nil)
	if err != nil || m.LeftOut != 2 {
		t.Fatalf("%+v, %v", m, err)
	}
	gate := GateConfig{Score: 0.5}
	if gate.passes(&m) {
		t.Errorf("promoted by %+v", m)
	}
	m.Games, m.Score.Value = 4, 0.5
	if !gate.passes(&m) {
		t.Error("half the points are not enough for a gate of one half")
	}
}

func TestSpecsOfOneVariantAreOneRun(t *testing.T) {
	c := small(t, "urim")
	long, short := t.TempDir(), t.TempDir()
	c.Spec = "urim:pits=6"
	mustRun(t, c, long, Options{Iterations: 1, Workers: 1})
	c.Spec = "urim"
	mustRun(t, c, short, Options{Iterations: 2, Workers: 1})
	mustRun(t, c, long, Options{Iterations: 2, Workers: 1})
	sameTree(t, tree(t, long), tree(t, short))
}

func TestBudgetIsOfTheWholeRun(t *testing.T) {
	c := small(t, "modiar")
	dir := t.TempDir()
	first := mustRun(t, c, dir, Options{Budget: time.Nanosecond, Workers: 1})
	again := mustRun(t, c, dir, Options{Budget: time.Nanosecond, Workers: 1})
	if first.Iteration != 1 || again.Iteration != 1 {
		t.Errorf("%d, then %d iterations, want 1: the budget is looked at between iterations", first.Iteration, again.Iteration)
	}
	if mustRun(t, c, dir, Options{Budget: again.Elapsed + time.Nanosecond, Workers: 1}).Iteration != 2 {
		t.Error("a greater budget does not go on")
	}
}

func TestBudgetForgetsARunThatWasRemoved(t *testing.T) {
	c := small(t, "modiar")
	dir := t.TempDir()
	mustRun(t, c, dir, Options{Iterations: 2, Workers: 1})
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		if e.Name() != dirLocal {
			os.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel() // before the first iteration
	if _, err := Run(ctx, c, dir, Options{Budget: time.Nanosecond, Workers: 1}); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if r := mustRun(t, c, dir, Options{Budget: time.Nanosecond, Workers: 1}); r.Iteration != 1 {
		t.Errorf("%d iterations, want 1", r.Iteration)
	}
}

func TestDirectoryKeepsOthersOut(t *testing.T) {
	c := small(t, "modiar")
	run := func(c Config, dir string) error {
		_, err := Run(context.Background(), c, dir, Options{Iterations: 1, Workers: 1})
		return err
	}
	good := t.TempDir()
	mustRun(t, c, good, Options{Iterations: 1, Workers: 1})

	foreign := t.TempDir()
	os.WriteFile(filepath.Join(foreign, "thesis.tex"), nil, 0o666)
	below := filepath.Join(foreign, "thesis.tex", "run")
	other := small(t, "urim")
	seed := c
	seed.Seed = 99
	deep := c
	deep.Fit.Steps++
	for name, f := range map[string]struct {
		cfg  Config
		dir  string
		want string
	}{
		"foreign files":   {c, foreign, "thesis.tex"},
		"below a file":    {c, below, "thesis.tex"},
		"another variant": {other, good, "spec is modiar"},
		"another seed":    {seed, good, "seed is 1"},
		"another step":    {deep, good, "fit.steps is 3"},
	} {
		before := tree(t, good)
		if err := run(f.cfg, f.dir); err == nil || !strings.Contains(err.Error(), f.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q in one line", name, err, f.want)
		}
		sameTree(t, tree(t, good), before)
	}

	d, err := openDirectory(good)
	if err != nil {
		t.Fatal(err)
	}
	defer d.close()
	if err := run(c, good); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("two at a time: %v", err)
	}
}

func TestDamagedRunsAreRefused(t *testing.T) {
	c := small(t, "modiar")
	for name, damage := range map[string]func(dir string) error{
		"manifest": func(dir string) error { return os.WriteFile(filepath.Join(dir, fileManifest), []byte("{"), 0o666) },
		"version": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, fileManifest), []byte(`{"version":1}`), 0o666)
		},
		"checkpoint": func(dir string) error { return os.Truncate(filepath.Join(dir, dirCheck, numbered(2)), 100) },
		"weights":    func(dir string) error { return os.Truncate(filepath.Join(dir, dirWeights, numbered(1)), 100) },
		"metrics":    func(dir string) error { return os.Truncate(filepath.Join(dir, fileMetrics), 3) },
		"dataset": func(dir string) error {
			return os.Truncate(filepath.Join(dir, dirData, "variant=modiar", numbered(2)+".parquet"), 900)
		},
		"config": func(dir string) error {
			return os.WriteFile(filepath.Join(dir, fileConfig), []byte("speck = 1\n"), 0o666)
		},
	} {
		dir := t.TempDir()
		c.Gate.Games = 0 // the best network is the last
		mustRun(t, c, dir, Options{Iterations: 2, Workers: 1})
		if name == "weights" {
			os.Remove(filepath.Join(dir, dirWeights, numbered(2)))
		}
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		_, err := Run(context.Background(), c, dir, Options{Iterations: 3, Workers: 1})
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want an error in one line", name, err)
		}
		t.Logf("%s: %v", name, err)
	}
}

func TestAnotherKernelMustBeAllowed(t *testing.T) {
	c := small(t, "modiar")
	dir := t.TempDir()
	mustRun(t, c, dir, Options{Iterations: 1, Workers: 1})
	read := func() *manifest {
		m, err := (&directory{path: dir}).readManifest()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := read()
	k, err := kernel.Chosen()
	if err != nil {
		t.Fatal(err)
	}
	if m.Kernel != k.Name()+"-"+runtime.GOARCH {
		t.Errorf("the manifest records kernel %s, the network computes with %s", m.Kernel, k.Name())
	}
	m.Kernel = "other-" + runtime.GOARCH
	if err := (&directory{path: dir}).writeManifest(m); err != nil {
		t.Fatal(err)
	}
	o := Options{Iterations: 2, Workers: 1}
	if _, err := Run(context.Background(), c, dir, o); err == nil || !strings.Contains(err.Error(), "computed by other-") || read().Iteration != 1 {
		t.Errorf("goes on with another kernel: %v", err)
	}
	o.AllowKernelChange = true
	if r := mustRun(t, c, dir, o); r.Iteration != 2 || read().Kernel == m.Kernel {
		t.Errorf("%+v, %+v", r, read())
	}
}

// What else lies in the directory is not the run's to remove, whatever number it begins with.
func TestResumeRemovesOnlyWhatTheRunNamed(t *testing.T) {
	c := small(t, "modiar")
	dir := t.TempDir()
	mustRun(t, c, dir, Options{Iterations: 1, Workers: 1})
	for name, kept := range map[string]bool{
		"weights/2024-notes.txt":                 true,
		"datasets/12-games.csv":                  true,
		"datasets/variant=modiar/000001.parquet": true,
		"checkpoints/000000.mine":                true,
		"weights/1000000":                        false,
		"weights/000002":                         false,
		"weights/.000002.tmp":                    false,
		"checkpoints/000000":                     false,
		"datasets/variant=modiar/000002.parquet": false,
		".manifest.json.tmp":                     false,
	} {
		path := filepath.Join(dir, name)
		f, err := os.OpenFile(path, os.O_CREATE, 0o666)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		mustRun(t, c, dir, Options{Iterations: 1, Workers: 1})
		if _, err := os.Stat(path); (err == nil) != kept {
			t.Errorf("%s: %v, kept should be %t", name, err, kept)
		}
	}
}

func TestWhatARunBeganWithStays(t *testing.T) {
	for name, damage := range map[string]func(dir string) error{
		"has iterations but no manifest.json": func(dir string) error { return os.Remove(filepath.Join(dir, fileManifest)) },
		"config.toml: is not what the run began with": func(dir string) error {
			text, err := os.ReadFile(filepath.Join(dir, fileConfig))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, fileConfig), bytes.Replace(text, []byte("steps = 3"), []byte("steps = 4"), 1), 0o666)
		},
	} {
		dir := t.TempDir()
		mustRun(t, small(t, "modiar"), dir, Options{Iterations: 2, Workers: 1})
		if err := damage(dir); err != nil {
			t.Fatal(err)
		}
		before := tree(t, dir)
		c, err := ReadConfig(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(context.Background(), *c, dir, Options{Iterations: 3, Workers: 1}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%v, want %q", err, name)
		}
		sameTree(t, tree(t, dir), before)
	}
}

func TestConfigTextIsReadBack(t *testing.T) {
	for _, spec := range mancala.Variants() {
		r, _ := mancala.Parse(spec)
		c := Default(r)
		if err := c.Validate(); err != nil {
			t.Fatalf("%s: %v", spec, err)
		}
		text, err := c.Text()
		if err != nil {
			t.Fatal(err)
		}
		var back Config
		if err := back.Read(text); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if err := back.Differs(&c); err != nil {
			t.Error(err)
		}
	}
}

// A default of search or optimiser that a Config does not hold would change a run that goes on with a later version.
func TestSearchAndFitTakeNothingFromDefaults(t *testing.T) {
	c := small(t, "modiar")
	for _, part := range []any{&c.SelfPlay, &c.Fit} {
		v := reflect.ValueOf(part).Elem()
		for i := range v.NumField() {
			if f := v.Field(i); f.Kind() == reflect.Int {
				f.SetInt(7) // no default is 7, none 0.375
			} else {
				f.SetFloat(0.375)
			}
		}
	}
	other := []string{"Algorithm", "Prober", "CPuct", "FPU", "NoiseWeight", "NoiseAlpha", "CUct"} // Gumbel looks at none
	for _, part := range [][2]any{{c.search(), mcts.Default()}, {c.learner(), learner.DefaultConfig()}} {
		got, def := reflect.ValueOf(part[0]), reflect.ValueOf(part[1])
		for i := range got.NumField() {
			name := got.Type().Field(i).Name
			if !slices.Contains(other, name) && got.Field(i).Equal(def.Field(i)) {
				t.Errorf("%v.%s is the default %v, want the Config's", got.Type(), name, def.Field(i))
			}
		}
	}
}

// Those of the papers: Danihelka and others (2022) for board games, Kingma and Ba (2015).
func TestConstantsDefaultToTheirPapers(t *testing.T) {
	c := small(t, "modiar")
	s, f := c.SelfPlay, c.Fit
	if s.Considered != 16 || s.CVisit != 50 || s.GumbelScale != 1 || f.Beta1 != 0.9 || f.Beta2 != 0.999 || f.Epsilon != 1e-8 {
		t.Errorf("%+v, %+v", s, f)
	}
}

func TestEveryKeyIsDescribed(t *testing.T) {
	doc, err := os.ReadFile("../docs/training.md")
	if err != nil {
		t.Fatal(err)
	}
	c := small(t, "modiar")
	text, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if key, _, ok := strings.Cut(line, " = "); ok && !strings.HasPrefix(line, "#") && (i == 0 || !strings.HasPrefix(lines[i-1], "# ")) {
			t.Errorf("config.toml: no comment above %s", key)
		}
	}
	for _, key := range keys(reflect.TypeOf(c), "") {
		if !strings.Contains(string(doc), "| `"+key+"` |") {
			t.Errorf("docs/training.md: no row for %s", key)
		}
	}
}

// The keys of an older run are not this program's: its version is what is wrong with it, not a value it does not have.
func TestRunOfAnotherVersionIsRefusedAsSuch(t *testing.T) {
	c := small(t, "modiar")
	dir := t.TempDir()
	mustRun(t, c, dir, Options{Iterations: 1, Workers: 1})
	for name, text := range map[string]string{fileManifest: `{"version":1}`, fileConfig: "older = 1\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := "manifest.json: version 1: this program goes on with runs of version 2 only"
	if _, err := ReadConfig(dir); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
	if _, err := Run(context.Background(), c, dir, Options{Iterations: 2, Workers: 1}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %q", err, want)
	}
}

func TestBadConfigsSayWhatIsAllowed(t *testing.T) {
	for text, want := range map[string]string{
		"seed = -1":                                  "seed",
		"seeds = 1":                                  "unknown key seeds: want one of spec, seed, network.encoder",
		"seed = 'x'":                                 "seed",
		"[fit]\nsteps = 0":                           "fit.steps 0: want 1–",
		"[fit]\nbatch = 100000000":                   "fit.batch",
		"[fit]\nlearning_rate = nan":                 "learning rate NaN",
		"[fit]\nstep = 5":                            "unknown key fit.step",
		"[gate]\ngames = 7":                          "even",
		"[fit]\nbeta1 = 1.0":                         "beta1 1: must be from 0, below 1",
		"[fit]\nbeta2 = -0.1":                        "beta2 -0.1: must be from 0, below 1",
		"[fit]\nepsilon = 0.0":                       "epsilon 0: must be 1e-12 to 1",
		"[fit]\nmargin = nan":                        "fit.margin NaN: want 0–1",
		"[gate]\nscore = 2.0":                        "gate.score 2: want 0–1",
		"[rate]\nagents = []":                        "rate.agents: 0 given: want 1–255",
		"[rate]\nagents = ['mcts', 'mcts:sims=100']": `rate.agents: agent "mcts:sims=100": the name is taken`,
		"[rate]\nagents = ['stockfish']":             `rate.agents: catalog: agent "stockfish"`,
		"[network]\nwidth = 0":                       "width 0",
		"[network]\nencoder = 'counts'":              "sparse form",
		"[network]\nencoder = 'x'":                   "network.encoder",
		"[self_play]\nconsidered = 65":               "self_play.considered 65: want 1–64",
		"[self_play]\nc_visit = 1e7":                 "self_play.c_visit 1e+07: want 0–1000000",
		"[self_play]\nc_scale = -1.0":                "self_play.c_scale -1: want 0–1000",
		"[self_play]\ngumbel_scale = inf":            "self_play.gumbel_scale +Inf: want 0–1000",
		"[self_play]\nsimulations = 0":               "self_play.simulations 0",
		"spec = 'chess'":                             "want one of urim",
		"[fit":                                       "line 1: expected",
		"[fit]\nsteps = 'x'":                         "line 2: fit.steps: cannot",
	} {
		c := small(t, "modiar")
		err := c.Read([]byte(text))
		if err == nil {
			err = c.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q in one line", text, err, want)
		}
	}
}
