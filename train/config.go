// Package train runs one training: self-play, recording, fitting, gating and rating, iteration after iteration, in the
// run's directory.
//
// A run is a function of its Config. Killed at any moment and started again it ends, byte for byte, as if it had
// never been killed, with any number of workers; what belongs to the execution and not to the
// result (elapsed time, the lock) lives in the directory local, outside that promise.
package train

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"

	"github.com/mancalagym/mancalagym/agents/arena"
	"github.com/mancalagym/mancalagym/agents/mcts"
	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/train/learner"
	"github.com/pelletier/go-toml/v2"
)

// Config holds everything a run's result depends on, the constants of search and optimiser too: another default in a
// later version of the program changes no run that has begun. Its TOML form is the run's config.toml; see Default for
// the values that suit a variant.
type Config struct {
	Spec string `toml:"spec" comment:"the variant"`
	Seed uint64 `toml:"seed" comment:"of all chance"`

	Network  NetworkConfig  `toml:"network"`
	SelfPlay SelfPlayConfig `toml:"self_play"`
	Fit      FitConfig      `toml:"fit"`
	Gate     GateConfig     `toml:"gate"`
	Rate     RateConfig     `toml:"rate"`
}

// NetworkConfig holds the sizes of the network.
type NetworkConfig struct {
	Encoder    string `toml:"encoder" comment:"of observations; one with a sparse form"`
	Width      int    `toml:"width" comment:"of the trunk"`
	Blocks     int    `toml:"blocks" comment:"residual blocks"`
	ValueWidth int    `toml:"value_width" comment:"of the value head's hidden layer, 0 for none"`
}

// SelfPlayConfig says how the games of an iteration are played.
type SelfPlayConfig struct {
	Games        int     `toml:"games" comment:"an iteration"`
	Simulations  int     `toml:"simulations" comment:"a move, searched with Gumbel"`
	Considered   int     `toml:"considered" comment:"root actions that get simulations, at most, 1–64; Gumbel's"`
	CVisit       float64 `toml:"c_visit" comment:"added to the most visits of an action, which c_scale multiplies, 0–1000000; Gumbel's"`
	CScale       float64 `toml:"c_scale" comment:"how much values move the policy target, 0–1000; Gumbel's"`
	GumbelScale  float64 `toml:"gumbel_scale" comment:"factor of the noise at the root, 0–1000, 0 for none; Gumbel's"`
	OpeningPlies int     `toml:"opening_plies" comment:"a game starts with 0 to so many random plies"`
	MaxPlies     int     `toml:"max_plies" comment:"truncates a game after so many, the opening not counted; 0 for no limit"`
}

// FitConfig says how the network learns from the games.
type FitConfig struct {
	Window       int     `toml:"window" comment:"iterations whose games are learnt from"`
	Steps        int     `toml:"steps" comment:"an iteration"`
	Batch        int     `toml:"batch" comment:"positions a step"`
	LearningRate float64 `toml:"learning_rate" comment:"of Adam, above 0, at most 1"`
	Beta1        float64 `toml:"beta1" comment:"Adam's decay of the mean of gradients, a step; from 0, below 1"`
	Beta2        float64 `toml:"beta2" comment:"Adam's decay of the mean of their squares, a step; from 0, below 1"`
	Epsilon      float64 `toml:"epsilon" comment:"added to the root of that mean by Adam, 1e-12–1"`
	WeightDecay  float64 `toml:"weight_decay" comment:"decoupled, of matrices only, 0–1"`
	Margin       float64 `toml:"margin" comment:"share of the margin of seeds in the value, 0–1; the rest is the outcome"`
	ValueWeight  float64 `toml:"value_weight" comment:"of the value's loss beside the policy's"`
	MarginWeight float64 `toml:"margin_weight" comment:"of the loss of a head of its own for the margin, 0 for none"`
}

// GateConfig says when a new network takes the place of the best one.
type GateConfig struct {
	Games       int     `toml:"games" comment:"in pairs against the best network, 0 to take every new one"`
	Simulations int     `toml:"simulations" comment:"a move"`
	Score       float64 `toml:"score" comment:"at least, 0–1"`
}

// RateConfig says how the best network is measured at the end.
type RateConfig struct {
	Games       int      `toml:"games" comment:"a pairing, in pairs"`
	Simulations int      `toml:"simulations" comment:"a move of the network"`
	Agents      []string `toml:"agents" comment:"the opponents; the first is the anchor, rated 0"`
}

// Default returns the configuration for a variant. The number of games follows from the length of random games, so that
// an iteration has about 6,000 plies whatever the variant.
func Default(r mancala.Rules) Config {
	n := meanLength(r)
	opening := clamp(n/2, 4, 20) // self-play alone would never see what weaker players lead to
	if r.Info().Arrange {
		opening = 0
	}
	l, g := learner.DefaultConfig(), mcts.Default()
	return Config{
		Spec: r.Info().Spec, Seed: 1,
		Network: NetworkConfig{
			Encoder: "onehot", Width: 64, Blocks: 2, ValueWidth: 32,
		},
		SelfPlay: SelfPlayConfig{
			Games: clamp(6000/n, 16, 512), Simulations: 32, OpeningPlies: opening, MaxPlies: arena.Default(r).MaxPlies,
			Considered: g.Considered, CVisit: g.CVisit, CScale: 0.1, GumbelScale: g.GumbelScale,
		},
		Fit: FitConfig{
			Window: 300, Steps: 150, Batch: 256, Margin: 0.2,
			LearningRate: l.LearningRate, Beta1: l.Beta1, Beta2: l.Beta2, Epsilon: l.Epsilon,
			WeightDecay: l.WeightDecay, ValueWeight: l.ValueWeight,
		},
		Gate: GateConfig{Games: clamp(2400/n, 20, 100) / 2 * 2, Simulations: 16, Score: 0.5},
		Rate: RateConfig{Games: clamp(8000/n, 20, 400) / 2 * 2, Simulations: 64, Agents: []string{"random", "greedy", "mcts:sims=100"}},
	}
}

// meanLength is the mean number of plies of 100 random games, at least 1.
func meanLength(r mancala.Rules) int {
	const games = 100
	rng := newRand(0, streamLength, 0)
	plies := 0
	for range games {
		s := r.Start()
		for n := 0; n < 10_000 && !s.Over(); n++ {
			legal := r.Legal(s)
			s = r.Next(s, legal.Nth(rng.IntN(legal.Len())))
			plies++
		}
	}
	return max(1, plies/games)
}

func clamp(n, lo, hi int) int { return max(lo, min(n, hi)) }

// MaxSeed is the greatest Config.Seed: the whole numbers of TOML end there.
const MaxSeed = math.MaxInt64

// Bounds of a Config.
const (
	maxGames  = 1 << 20
	maxWindow = 10_000
	maxSteps  = 1_000_000
	maxBatch  = 1 << 16
)

// Validate returns an error that names the first value that is not allowed, and what is.
func (c *Config) Validate() error {
	r, err := mancala.Parse(c.Spec)
	if err != nil {
		return fmt.Errorf("train: spec: %w", err)
	}
	if c.Seed > MaxSeed {
		return fmt.Errorf("train: seed %d: want 0–%d", c.Seed, uint64(MaxSeed))
	}
	for _, f := range []struct {
		name      string
		n, lo, hi int
	}{
		{"self_play.games", c.SelfPlay.Games, 1, maxGames},
		{"self_play.simulations", c.SelfPlay.Simulations, 1, mcts.MaxSimulations},
		{"self_play.considered", c.SelfPlay.Considered, 1, 64},
		{"self_play.opening_plies", c.SelfPlay.OpeningPlies, 0, arena.MaxOpening},
		{"self_play.max_plies", c.SelfPlay.MaxPlies, 0, math.MaxInt32},
		{"fit.window", c.Fit.Window, 1, maxWindow},
		{"fit.steps", c.Fit.Steps, 1, maxSteps},
		{"fit.batch", c.Fit.Batch, 1, maxBatch},
		{"gate.games", c.Gate.Games, 0, arena.MaxGames},
		{"gate.simulations", c.Gate.Simulations, 0, mcts.MaxSimulations},
		{"rate.games", c.Rate.Games, 2, arena.MaxGames},
		{"rate.simulations", c.Rate.Simulations, 0, mcts.MaxSimulations},
	} {
		if f.n < f.lo || f.n > f.hi {
			return fmt.Errorf("train: %s %d: want %d–%d", f.name, f.n, f.lo, f.hi)
		}
	}
	for _, f := range []struct {
		name  string
		v, hi float64
	}{
		{"self_play.c_visit", c.SelfPlay.CVisit, 1e6},
		{"self_play.c_scale", c.SelfPlay.CScale, 1000},
		{"self_play.gumbel_scale", c.SelfPlay.GumbelScale, 1000},
		{"fit.margin", c.Fit.Margin, 1},
		{"gate.score", c.Gate.Score, 1},
	} {
		if !(f.v >= 0 && f.v <= f.hi) {
			return fmt.Errorf("train: %s %v: want 0–%.0f", f.name, f.v, f.hi)
		}
	}
	switch {
	case c.Gate.Games%2 != 0:
		return fmt.Errorf("train: gate.games %d: want an even number, for pairs", c.Gate.Games)
	case c.Rate.Games%2 != 0:
		return fmt.Errorf("train: rate.games %d: want an even number, for pairs", c.Rate.Games)
	case len(c.Rate.Agents) < 1 || len(c.Rate.Agents) >= arena.MaxEntrants:
		return fmt.Errorf("train: rate.agents: %d given: want 1–%d", len(c.Rate.Agents), arena.MaxEntrants-1)
	}
	shape, _, err := c.shape(r)
	if err != nil {
		return err
	}
	if err := shape.Validate(); err != nil {
		return fmt.Errorf("train: network: %w", err)
	}
	if err := c.learner().Validate(); err != nil {
		return fmt.Errorf("train: fit: %w", err)
	}
	_, err = c.opponents(r)
	return err
}

// shape returns the sizes of the network and what it is made for.
func (c *Config) shape(r mancala.Rules) (neural.Shape, neural.Meta, error) {
	enc, err := encode.New(c.Network.Encoder, r.Info())
	if err != nil {
		return neural.Shape{}, neural.Meta{}, fmt.Errorf("train: network.encoder: %w", err)
	}
	if enc.Active() == 0 {
		return neural.Shape{}, neural.Meta{}, fmt.Errorf("train: network.encoder %s: want one with a sparse form, as onehot", enc.Name())
	}
	return neural.Shape{
			Inputs: enc.Size(), Active: enc.Active(), Actions: r.Info().Actions,
			Width: c.Network.Width, Blocks: c.Network.Blocks, ValueWidth: c.Network.ValueWidth,
			MarginHead: c.Fit.MarginWeight > 0,
		}, neural.Meta{
			Family: r.Info().Family, Spec: r.Info().Spec, Encoder: enc.Name(), EncoderVersion: enc.Version(), Margin: c.Fit.Margin,
		}, nil
}

// search returns how self-play searches. What a Gumbel search looks at is the Config's, all of it.
func (c *Config) search() mcts.Config {
	s := mcts.Default()
	s.Algorithm = mcts.Gumbel
	s.Simulations = c.SelfPlay.Simulations
	s.Margin = c.Fit.Margin
	s.Considered = c.SelfPlay.Considered
	s.CVisit = c.SelfPlay.CVisit
	s.CScale = c.SelfPlay.CScale
	s.GumbelScale = c.SelfPlay.GumbelScale
	return s
}

// learner returns how the network learns, which is the Config's, all of it.
func (c *Config) learner() learner.Config {
	return learner.Config{
		Batch:        c.Fit.Batch,
		LearningRate: c.Fit.LearningRate,
		Beta1:        c.Fit.Beta1,
		Beta2:        c.Fit.Beta2,
		Epsilon:      c.Fit.Epsilon,
		WeightDecay:  c.Fit.WeightDecay,
		ValueWeight:  c.Fit.ValueWeight,
		MarginWeight: c.Fit.MarginWeight,
	}
}

// Read lays the TOML text over c: keys that it does not give stay as they are, unknown ones are an error.
func (c *Config) Read(text []byte) error {
	d := toml.NewDecoder(bytes.NewReader(text)).DisallowUnknownFields()
	if err := d.Decode(c); err != nil {
		var unknown *toml.StrictMissingError
		var bad *toml.DecodeError
		switch {
		case errors.As(err, &unknown) && len(unknown.Errors) > 0:
			e := unknown.Errors[0]
			row, _ := e.Position()
			return fmt.Errorf("train: config: line %d: unknown key %s: want one of %s", row, strings.Join(e.Key(), "."), strings.Join(keys(reflect.TypeOf(*c), ""), ", "))
		case errors.As(err, &bad):
			row, _ := bad.Position()
			what := oneLine(strings.TrimPrefix(bad.Error(), "toml: "))
			if key := strings.Join(bad.Key(), "."); key != "" {
				what = key + ": " + what
			}
			return fmt.Errorf("train: config: line %d: %s", row, what)
		}
		return fmt.Errorf("train: config: %s", oneLine(err.Error()))
	}
	return nil
}

// ReadFile lays the TOML file over c.
func (c *Config) ReadFile(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("train: config: %w", err)
	}
	if err := c.Read(text); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// Text returns c as commented TOML.
func (c *Config) Text() ([]byte, error) { return toml.Marshal(c) }

// Differs returns an error that names the first key in which the two differ, nil if there is none.
func (c *Config) Differs(run *Config) error {
	if name, mine, theirs := difference(reflect.ValueOf(*c), reflect.ValueOf(*run), ""); name != "" {
		return fmt.Errorf("train: %s is %v in this run: it cannot go on with %v", name, theirs, mine)
	}
	return nil
}

func difference(a, b reflect.Value, prefix string) (name string, x, y any) {
	for i := range a.NumField() {
		key := prefix + a.Type().Field(i).Tag.Get("toml")
		if a.Field(i).Kind() == reflect.Struct {
			if name, x, y = difference(a.Field(i), b.Field(i), key+"."); name != "" {
				return name, x, y
			}
		} else if x, y = a.Field(i).Interface(), b.Field(i).Interface(); !reflect.DeepEqual(x, y) {
			return key, x, y
		}
	}
	return "", nil, nil
}

// keys lists the TOML keys of a struct.
func keys(t reflect.Type, prefix string) (list []string) {
	for i := range t.NumField() {
		key := prefix + t.Field(i).Tag.Get("toml")
		if t.Field(i).Type.Kind() == reflect.Struct {
			list = append(list, keys(t.Field(i).Type, key+".")...)
		} else {
			list = append(list, key)
		}
	}
	return list
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
