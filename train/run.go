package train

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"runtime"
	"slices"
	"time"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/arena"
	"github.com/mancalagym/mancalagym/agents/catalog"
	"github.com/mancalagym/mancalagym/agents/mcts"
	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/datasets"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/kernel"
	"github.com/mancalagym/mancalagym/internal/whole"
	"github.com/mancalagym/mancalagym/train/learner"
)

// Options hold what may differ from one execution of a run to the next without changing its result.
type Options struct {
	Iterations int           // of the run in all; 0 for no bound
	Budget     time.Duration // of training in all, over all executions; looked at between iterations; 0 for no bound
	Workers    int           // goroutines that play
	// AllowKernelChange goes on with a run that another kind of processor or code began: the result may differ in the
	// last bits from one that stayed.
	AllowKernelChange bool
	Log               func(line string) // told of every iteration; may be nil
	Progress          func(p Progress)  // told often; may be nil. Never called from two goroutines at once
}

// Progress says how far a run is.
type Progress struct {
	Iteration   int           // under way, from 1
	Stage       string        // "self-play", "fit", "gate" or "rate"
	Done, Total int           // games, or steps of the fit
	Elapsed     time.Duration // of the iterations before
}

// Result is what an execution ends with.
type Result struct {
	Iteration int           // committed
	Best      int           // the iteration of the best network
	Elapsed   time.Duration // of training, over all executions
	Report    *arena.Report // the rating of the best network
}

func (o *Options) validate() error {
	switch {
	case o.Iterations < 0:
		return fmt.Errorf("train: iterations %d: want 1 or more, 0 for no bound", o.Iterations)
	case o.Budget < 0:
		return fmt.Errorf("train: budget %v: want more than 0, 0 for no bound", o.Budget)
	case o.Iterations == 0 && o.Budget == 0:
		return fmt.Errorf("train: want a budget or a number of iterations")
	case o.Workers < 1 || o.Workers > arena.MaxWorkers:
		return fmt.Errorf("train: workers %d: want 1–%d", o.Workers, arena.MaxWorkers)
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	if o.Progress == nil {
		o.Progress = func(Progress) {}
	}
	return nil
}

// ReadConfig returns the configuration of the run in a directory, nil if there is none. A run of another version of the
// manifest has other keys: it is refused as such. So is one whose agents' files are not what they were.
func ReadConfig(dir string) (*Config, error) {
	d := &directory{path: dir}
	text, err := os.ReadFile(d.at(fileConfig))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("train: config: %w", err)
	}
	m, err := d.readManifest()
	if err != nil {
		return nil, err
	}
	if m != nil {
		if err := unchanged(m.Files); err != nil {
			return nil, err
		}
	}
	c := &Config{}
	if err := c.Read(text); err != nil {
		return nil, err
	}
	return c, nil
}

// Run trains in the directory dir until the iterations or the budget are used up, then rates the best network. A
// directory with a run in it is gone on with; its Config must be the same. When ctx ends, Run returns its error at once: what
// is committed stays, and the next Run goes on from there.
func Run(ctx context.Context, cfg Config, dir string, o Options) (*Result, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	if err := o.validate(); err != nil {
		return nil, err
	}
	d, err := openDirectory(dir)
	if err != nil {
		return nil, err
	}
	defer d.close()
	t, err := openTraining(cfg, d, o)
	if err != nil {
		return nil, err
	}
	defer t.learner.Close()
	for !t.done() {
		if err := t.iterate(ctx); err != nil {
			return nil, err
		}
	}
	report, err := t.rate(ctx)
	if err != nil {
		return nil, err
	}
	return &Result{Iteration: t.m.Iteration, Best: t.m.Best, Elapsed: t.elapsed, Report: report}, nil
}

// training is a run under way.
type training struct {
	cfg     Config
	opt     Options
	dir     *directory
	rules   mancala.Rules
	enc     encode.Encoder
	shape   neural.Shape
	m       manifest // what is committed
	learner *learner.Learner
	best    *neural.Network
	window  window
	elapsed time.Duration
}

// openTraining begins a run, or takes up the one in the directory after its last commit.
func openTraining(cfg Config, d *directory, o Options) (*training, error) {
	t := &training{cfg: cfg, opt: o, dir: d}
	var err error
	if t.rules, err = mancala.Parse(cfg.Spec); err != nil {
		return nil, err
	}
	t.cfg.Spec = t.rules.Info().Spec
	if t.enc, err = encode.New(cfg.Network.Encoder, t.rules.Info()); err != nil {
		return nil, err
	}
	var meta neural.Meta
	if t.shape, meta, err = cfg.shape(t.rules); err != nil {
		return nil, err
	}
	weights, err := neural.Init(meta, t.shape, newRand(cfg.Seed, streamWeights, 0).Uint64())
	if err != nil {
		return nil, err
	}
	if t.learner, err = learner.New(weights, cfg.learner()); err != nil {
		return nil, err
	}
	if err := t.enter(); err != nil {
		t.learner.Close()
		return nil, err
	}
	return t, nil
}

// enter brings training and directory to the same committed iteration.
func (t *training) enter() error {
	stored, err := ReadConfig(t.dir.path)
	if err != nil {
		return err
	}
	if stored == nil {
		text, err := t.cfg.Text()
		if err != nil {
			return err
		}
		if err := whole.WriteBytes(t.dir.at(fileConfig), text); err != nil {
			return fmt.Errorf("train: config: %w", err)
		}
	} else if err := t.cfg.Differs(stored); err != nil {
		return err
	}
	text, err := os.ReadFile(t.dir.at(fileConfig))
	if err != nil {
		return fmt.Errorf("train: config: %w", err)
	}
	digest := fmt.Sprintf("%x", sha256.Sum256(text))
	m, err := t.dir.readManifest()
	if err != nil {
		return err
	}
	if m == nil {
		if err := t.dir.fresh(); err != nil {
			return err
		}
		return t.begin(digest)
	}
	if m.Config != digest {
		return fmt.Errorf("train: %s: is not what the run began with: want it as it was", t.dir.at(fileConfig))
	}
	return t.resume(m)
}

// begin commits the untrained network as iteration 0.
func (t *training) begin(config string) error {
	for _, dir := range []string{dirData, dirWeights, dirCheck} {
		if err := os.MkdirAll(t.dir.at(dir), 0o777); err != nil {
			return fmt.Errorf("train: directory: %w", err)
		}
	}
	k, err := kernelName()
	if err != nil {
		return err
	}
	files, err := t.cfg.Rate.agentFiles()
	if err != nil {
		return err
	}
	info := t.rules.Info()
	return t.commit(manifest{Version: manifestVersion, Spec: info.Spec, Rules: info.Version, Kernel: k, Config: config, Files: files})
}

// kernelName names what the last bits of the computed numbers depend on.
func kernelName() (string, error) {
	k, err := kernel.Chosen()
	if err != nil {
		return "", fmt.Errorf("train: %w", err)
	}
	return k.Name() + "-" + runtime.GOARCH, nil
}

func (t *training) resume(m *manifest) error {
	k, err := kernelName()
	if err != nil {
		return err
	}
	info := t.rules.Info()
	switch {
	case m.Spec != info.Spec:
		return fmt.Errorf("train: %s: the run is of %s, not %s", t.dir.path, m.Spec, info.Spec)
	case m.Rules != info.Version:
		return fmt.Errorf("train: %s: the run is of version %d of the rules of %s: this program has version %d", t.dir.path, m.Rules, info.Spec, info.Version)
	case m.Kernel != k && !t.opt.AllowKernelChange:
		return fmt.Errorf("train: %s: computed by %s so far, this is %s: the result may differ in the last bits; allow it with allow-kernel-change", t.dir.path, m.Kernel, k)
	}
	m.Kernel = k
	if err := t.dir.restore(m); err != nil {
		return err
	}
	t.m = *m
	t.elapsed = t.dir.readElapsed(m.Iteration)
	f, err := os.Open(t.dir.checkpoint(m.Iteration))
	if err != nil {
		return fmt.Errorf("train: checkpoint: %w", err)
	}
	defer f.Close()
	if err := t.learner.Restore(f); err != nil {
		return fmt.Errorf("train: checkpoint %s: %w", f.Name(), err)
	}
	if t.best, err = loadNetwork(t.dir.weights(m.Best), t); err != nil {
		return err
	}
	for i := max(1, m.Iteration-t.cfg.Fit.Window+1); i <= m.Iteration; i++ {
		if err := t.window.add(t.dir.shard(info.Family, i), t.cfg.Fit.Window); err != nil {
			return err
		}
	}
	t.opt.Log(fmt.Sprintf("goes on after iteration %d of %s", m.Iteration, t.dir.path))
	return nil
}

func loadNetwork(path string, t *training) (*neural.Network, error) {
	w, err := neural.Load(path)
	if err != nil {
		return nil, fmt.Errorf("train: weights: %w", err)
	}
	n, err := neural.NewNetwork(w)
	if err != nil {
		return nil, fmt.Errorf("train: weights %s: %w", path, err)
	}
	if _, err := neural.NewEvaluator(neural.NewHolder(n), t.rules.Info(), t.enc); err != nil {
		return nil, fmt.Errorf("train: weights %s: %w", path, err)
	}
	return n, nil
}

func (t *training) done() bool {
	return t.opt.Iterations > 0 && t.m.Iteration >= t.opt.Iterations || t.opt.Budget > 0 && t.elapsed >= t.opt.Budget
}

// metrics is a line of the log: one iteration.
type metrics struct {
	Iteration int `json:"iteration"`
	selfPlayMetrics
	Window     int          `json:"window_positions"`
	Step       int          `json:"step"` // of the optimiser, in all
	PolicyLoss float64      `json:"policy_loss"`
	ValueLoss  float64      `json:"value_loss"`
	Gate       *arena.Match `json:"gate,omitempty"`
	Best       int          `json:"best"`
}

type selfPlayMetrics struct {
	Games     int     `json:"games"`
	Plies     int     `json:"plies"`
	South     int     `json:"south_wins"`
	North     int     `json:"north_wins"`
	Draws     int     `json:"draws"`
	Truncated int     `json:"truncated"`
	Value     float64 `json:"value_error"` // root mean square of search value less outcome, over searched plies with a result
}

func measure(episodes []env.Episode) (m selfPlayMetrics) {
	m.Games = len(episodes)
	var sum, n float64
	for i := range episodes {
		e := &episodes[i]
		m.Plies += len(e.Plies)
		switch {
		case e.Truncated:
			m.Truncated++
			continue
		case e.Final.Winner() == mancala.South:
			m.South++
		case e.Final.Winner() == mancala.North:
			m.North++
		default:
			m.Draws++
		}
		returns := e.Final.Returns()
		for j := range e.Plies {
			if p := &e.Plies[j]; p.Policy != nil {
				miss := float64(p.Value) - float64(returns[p.State.Mover()])
				sum, n = sum+miss*miss, n+1
			}
		}
	}
	m.Value = math.Sqrt(sum / max(1, n))
	return m
}

// iterate plays, records, fits, gates and commits one iteration.
func (t *training) iterate(ctx context.Context) error {
	began := time.Now()
	next := t.m
	next.Iteration++
	i := next.Iteration
	stage := func(name string) func(done, total int) {
		return func(done, total int) { t.opt.Progress(Progress{i, name, done, total, t.elapsed}) }
	}
	best := neural.NewHolder(t.best)
	episodes, err := (&selfPlay{
		rules: t.rules, cfg: t.cfg.SelfPlay, seed: t.cfg.Seed, iteration: i, workers: t.opt.Workers,
		name:     fmt.Sprintf("net:iteration=%d,sims=%d,search=gumbel", t.m.Best, t.cfg.SelfPlay.Simulations),
		searcher: func() (agents.Searcher, error) { return t.searcher(best) },
		progress: stage("self-play"),
	}).play(ctx)
	if err != nil {
		return err
	}
	shard := t.dir.shard(t.rules.Info().Family, i)
	if err := t.record(shard, episodes); err != nil {
		return err
	}
	if err := t.window.add(shard, t.cfg.Fit.Window); err != nil {
		return err
	}
	loss, err := fit(ctx, &t.cfg, t.shape, t.enc, t.learner, &t.window, i, stage("fit"))
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		return fmt.Errorf("%w; the last good checkpoint is %s", err, t.dir.checkpoint(t.m.Iteration))
	}
	candidate, err := neural.NewNetwork(t.learner.Weights())
	if err != nil {
		return fmt.Errorf("train: iteration %d: %w", i, err)
	}
	line := metrics{
		Iteration: i, selfPlayMetrics: measure(episodes), Window: t.window.len(), Step: i * t.cfg.Fit.Steps,
		PolicyLoss: float64(loss.Policy), ValueLoss: float64(loss.Value),
	}
	next.Best = i
	if t.cfg.Gate.Games > 0 {
		if line.Gate, err = t.gate(ctx, i, candidate, stage("gate")); err != nil {
			return err
		}
		if !t.cfg.Gate.passes(line.Gate) {
			next.Best = t.m.Best
		}
	}
	line.Best = next.Best
	text, err := json.Marshal(line)
	if err != nil {
		return fmt.Errorf("train: metrics of iteration %d: %w", i, err)
	}
	if next.Metrics, err = t.dir.appendMetrics(append(text, '\n')); err != nil {
		return err
	}
	if next.Best == i {
		t.best = candidate
	}
	if err := t.commit(next); err != nil {
		return err
	}
	t.elapsed += time.Since(began)
	if err := t.dir.writeElapsed(i, t.elapsed); err != nil {
		return err
	}
	t.opt.Log(line.text(t.elapsed))
	return nil
}

// text is the line for people.
func (m *metrics) text(elapsed time.Duration) string {
	gate := "taken"
	if m.Gate != nil {
		gate = fmt.Sprintf("gate %.1f ± %.1f %%", 100*m.Gate.Score.Value, 50*(m.Gate.Score.High-m.Gate.Score.Low))
		if m.Best == m.Iteration {
			gate += ", promoted"
		}
	}
	return fmt.Sprintf("iteration %d  %v  games %d  plies %d  policy loss %.3f  value loss %.3f  %s",
		m.Iteration, elapsed.Round(time.Second), m.Games, m.Plies, m.PolicyLoss, m.ValueLoss, gate)
}

// searcher returns a search for self-play with the network in h.
func (t *training) searcher(h *neural.Holder) (agents.Searcher, error) {
	e, err := neural.NewEvaluator(h, t.rules.Info(), t.enc)
	if err != nil {
		return nil, err
	}
	return mcts.New(t.rules, e, t.cfg.search())
}

// record writes the games of an iteration.
func (t *training) record(path string, episodes []env.Episode) error {
	if err := os.MkdirAll(t.dir.at(dirData, "variant="+t.rules.Info().Family), 0o777); err != nil {
		return fmt.Errorf("train: datasets: %w", err)
	}
	if err := whole.SyncDir(t.dir.at(dirData)); err != nil {
		return fmt.Errorf("train: datasets: %w", err)
	}
	w, err := datasets.CreateFile(path, t.rules, datasets.Meta{Agents: episodes[0].Agents, Seed: t.cfg.Seed})
	if err != nil {
		return err
	}
	for i := range episodes {
		if err := w.Write(&episodes[i]); err != nil {
			w.Abort()
			return err
		}
	}
	return w.Close()
}

// gate plays the candidate against the best network.
func (t *training) gate(ctx context.Context, i int, candidate *neural.Network, progress func(done, total int)) (*arena.Match, error) {
	c := arena.Default(t.rules)
	c.Games, c.Workers, c.Progress = t.cfg.Gate.Games, t.opt.Workers, progress
	c.Seed = newRand(t.cfg.Seed, streamGate, i).Uint64()
	var pair [2]arena.Entrant
	for k, n := range []*neural.Network{candidate, t.best} {
		e, err := catalog.Net([]string{"candidate", "best"}[k], t.rules, neural.NewHolder(n), t.cfg.Gate.Simulations)
		if err != nil {
			return nil, err
		}
		pair[k] = arena.Entrant{Name: e.Name, New: e.New}
	}
	m, err := arena.Play(ctx, c, t.rules, pair, nil)
	return &m, err
}

// rated names the best network among the agents of its rating.
func (c *Config) rated() string {
	return fmt.Sprintf("net:weights=%s,sims=%d", fileBest, c.Rate.Simulations)
}

// passes reports whether the first agent of m may become the best. A match of truncated games only has no score.
func (c *GateConfig) passes(m *arena.Match) bool { return m.Games > 0 && m.Score.Value >= c.Score }

// opponents returns the agents that the best network is rated against. All names differ.
func (c *Config) opponents(r mancala.Rules) ([]arena.Entrant, error) {
	var list []arena.Entrant
	taken := []string{c.rated()}
	for _, text := range c.Rate.Agents {
		e, err := catalog.Parse(text, r)
		if err != nil {
			return nil, fmt.Errorf("train: rate.agents: %w", err)
		}
		if slices.Contains(taken, e.Name) {
			return nil, fmt.Errorf("train: rate.agents: agent %q: the name is taken: want different agents", text)
		}
		taken = append(taken, e.Name)
		list = append(list, arena.Entrant{Name: e.Name, New: e.New})
	}
	return list, nil
}

// rate measures the best network and writes ratings and report.
func (t *training) rate(ctx context.Context) (*arena.Report, error) {
	entrants, err := t.cfg.opponents(t.rules)
	if err != nil {
		return nil, err
	}
	if err := unchanged(t.m.Files); err != nil { // once they are loaded: training may have taken long
		return nil, err
	}
	c := arena.Default(t.rules)
	c.Games, c.Workers, c.Anchor = t.cfg.Rate.Games, t.opt.Workers, entrants[0].Name
	c.Seed = newRand(t.cfg.Seed, streamRate, 0).Uint64()
	c.Progress = func(done, total int) { t.opt.Progress(Progress{t.m.Iteration, "rate", done, total, t.elapsed}) }
	e, err := catalog.Net(t.cfg.rated(), t.rules, neural.NewHolder(t.best), t.cfg.Rate.Simulations)
	if err != nil {
		return nil, err
	}
	report, err := arena.Tournament(ctx, c, t.rules, append(entrants, arena.Entrant{Name: e.Name, New: e.New}), nil)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(struct {
		Iteration int `json:"iteration"` // committed when this was rated
		Best      int `json:"best"`      // whose network it was
		*arena.Report
	}{t.m.Iteration, t.m.Best, report}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("train: ratings: %w", err)
	}
	if err := whole.WriteBytes(t.dir.at(fileRatings), append(text, '\n')); err != nil {
		return nil, fmt.Errorf("train: ratings: %w", err)
	}
	if err := whole.Write(t.dir.at(fileReport), report.Text); err != nil {
		return nil, fmt.Errorf("train: report: %w", err)
	}
	return report, nil
}

// commit writes weights and checkpoint, makes the iteration part of the run by the rename of the manifest, and tidies up.
func (t *training) commit(next manifest) error {
	w := t.learner.Weights()
	if err := w.Save(t.dir.weights(next.Iteration)); err != nil {
		return fmt.Errorf("train: weights: %w", err)
	}
	if err := whole.Write(t.dir.checkpoint(next.Iteration), func(f io.Writer) error { return t.learner.Save(f) }); err != nil {
		return fmt.Errorf("train: checkpoint: %w", err)
	}
	if t.best == nil {
		n, err := neural.NewNetwork(w)
		if err != nil {
			return err
		}
		t.best = n
	}
	if err := t.dir.writeManifest(&next); err != nil {
		return err
	}
	if next.Iteration > 0 {
		if err := os.Remove(t.dir.checkpoint(next.Iteration - 1)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("train: checkpoint: %w", err)
		}
	}
	if next.Iteration == 0 || next.Best != t.m.Best {
		if err := t.dir.publishBest(&next); err != nil {
			return err
		}
	}
	t.m = next
	return nil
}
