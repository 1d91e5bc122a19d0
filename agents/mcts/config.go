package mcts

import (
	"fmt"
	"math"

	"github.com/mancalagym/mancalagym/agents"
)

// The algorithms.
const (
	Gumbel = "gumbel" // sequential halving at the root, improved policy below it
	PUCT   = "puct"   // prior-weighted upper confidence bound everywhere
	UCT    = "uct"    // upper confidence bound without a prior
)

type algorithm uint8

const (
	gumbel algorithm = iota
	puct
	uct
)

var algorithms = map[string]algorithm{Gumbel: gumbel, PUCT: puct, UCT: uct}

// MaxSimulations bounds Config.Simulations: node and edge numbers have 32 bits. A tree reserves 80 + 16 · Info.Actions bytes a
// simulation and touches only what it uses.
const MaxSimulations = 1 << 20

// Config says how a Searcher searches. Start from Default. All action values are on the scale −1 … 1.
type Config struct {
	Algorithm   string // Gumbel, PUCT or UCT
	Simulations int    // a search, 1 … MaxSimulations; the evaluation of the root is not counted

	// Margin is the share of the margin of seeds in what the end of a game is worth, 0 … 1; the rest is the outcome. It
	// should be that of the evaluator's values.
	Margin float64

	// Prober, if given, is asked about every position below the root. What it knows is worth how the game ends under best
	// play, and is not looked beyond. For variants with stores.
	Prober agents.Prober

	// Gumbel.
	Considered  int     // at most so many root actions get simulations, 1 … 64
	CVisit      float64 // σ(q) = (CVisit + most visits of an action) · CScale · (1+q)/2; 0 … 10⁶
	CScale      float64 // 0 … 1000
	GumbelScale float64 // factor of the noise at the root, 0 … 1000: 1 to learn, 0 to play without chance

	// PUCT.
	CPuct       float64 // weight of exploration, 0 … 1000
	FPU         float64 // an action without visits counts as the node's mean value less this, 0 … 2
	NoiseWeight float64 // share of Dirichlet noise in the root's prior, 0 … 1; 0 is none
	NoiseAlpha  float64 // concentration of that noise, 0.001 … 1000

	// UCT.
	CUct float64 // weight of exploration, 0 … 1000
}

// Default returns the configuration of a training search: Gumbel with 32 simulations.
//
// CVisit 50 and CScale 1 are the paper's for board games and are taken here for values in 0 … 1, hence
// the (1+q)/2 in σ. The shift cancels in every comparison, so on −1 … 1 they amount to a CScale of one half.
// With evaluations as noisy as single rollouts this trusts few visits much: a smaller CScale is softer.
//
// CUct is 1.4, about √2, on the scale −1 … 1, as is customary for game results; on 0 … 1
// it would be 0.7.
func Default() Config {
	return Config{
		Algorithm:   Gumbel,
		Simulations: 32,
		Considered:  16,
		CVisit:      50,
		CScale:      1,
		GumbelScale: 1,
		CPuct:       1.5,
		FPU:         0.2,
		NoiseWeight: 0,
		NoiseAlpha:  1,
		CUct:        1.4,
	}
}

// Validate returns an error that names the first field out of its range.
func (c Config) Validate() error {
	if _, ok := algorithms[c.Algorithm]; !ok {
		return fmt.Errorf("mcts: algorithm %q: must be %s, %s or %s", c.Algorithm, Gumbel, PUCT, UCT)
	}
	for _, f := range []struct {
		name   string
		value  int
		lo, hi int
	}{
		{"simulations", c.Simulations, 1, MaxSimulations},
		{"considered", c.Considered, 1, 64},
	} {
		if f.value < f.lo || f.value > f.hi {
			return fmt.Errorf("mcts: %s %d: must be %d to %d", f.name, f.value, f.lo, f.hi)
		}
	}
	for _, f := range []struct {
		name   string
		value  float64
		lo, hi float64
	}{
		{"margin", c.Margin, 0, 1},
		{"c_visit", c.CVisit, 0, 1e6},
		{"c_scale", c.CScale, 0, 1e3},
		{"gumbel_scale", c.GumbelScale, 0, 1e3},
		{"c_puct", c.CPuct, 0, 1e3},
		{"fpu", c.FPU, 0, 2},
		{"noise_weight", c.NoiseWeight, 0, 1},
		{"noise_alpha", c.NoiseAlpha, 1e-3, 1e3},
		{"c_uct", c.CUct, 0, 1e3},
	} {
		if math.IsNaN(f.value) || f.value < f.lo || f.value > f.hi {
			return fmt.Errorf("mcts: %s %v: must be %v to %v", f.name, f.value, f.lo, f.hi)
		}
	}
	return nil
}
