// Package arena lets agents play against each other and says how strong they are, with error bars.
//
// Everything is played in pairs: one random opening, played twice with the sides swapped, so that neither
// the opening nor the first move favours anyone. A pair is therefore the unit of every statistic: the
// two games of a pair hang together, and intervals are computed from the scatter of whole pairs.
//
// What is measured is the expected score over the openings that the opening generator draws. With agents
// that leave nothing to chance the same opening gives the same pair, so every result also says how many
// different games and openings it rests on.
//
// Games run in lockstep, many a batch, on any number of goroutines. A result depends on the seed alone:
// chance streams are rand.NewPCG(seed, stream), with the streams named in this file.
package arena

import (
	"fmt"
	"math"
	"runtime"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// The streams of chance. The low bits hold the pair, the game (twice the pair, plus one if the sides are
// swapped) or the pairing (2²⁴ i + j for entrants i < j). A game's stream gives one number to each ply of an
// agent, so a row's seed depends on the match seed, the pair, the side and the ply, and on nothing else.
const (
	openingStream = 0xa1 << 56
	gameStream    = 0xa2 << 56
	pairingStream = 0xa3 << 56
)

// Bounds of a Config.
const (
	MaxGames    = 1_000_000
	MaxOpening  = 1000
	MaxWorkers  = 1024
	MaxBatch    = 65536
	MaxEntrants = 256
)

// Config says how matches are played. Workers, Batch and Progress change how fast and with what news, never
// the result.
type Config struct {
	// Games of a pairing: an even number, for they are played as Games/2 pairs.
	Games int
	// Seed is the source of all chance: openings and the agents' row seeds.
	Seed uint64
	// OpeningPlies is the most plies of an opening. A pair draws its number of plies uniformly from half of it,
	// rounded up, to all of it; the plies are drawn uniformly from the legal actions. An opening that ends the
	// game is drawn anew. In an arranged game (O1) the opening generator also places the seeds of both players, every
	// seed into a pit drawn uniformly from those that may still hold it, and these plies do not count.
	OpeningPlies int
	// MaxPlies truncates a game after so many plies by the agents, the opening not counted; 0 is no limit. A
	// truncated game has no result: its pair is left out of scores and ratings, and counted.
	MaxPlies int
	// Adjudicator, if not nil, ends a game after the opening as soon as it knows the position, with the result of best
	// play. The rules did not end such a game: its episode is a truncated one. For variants with stores.
	Adjudicator agents.Prober
	// Anchor names the entrant of a tournament whose rating is 0; "" puts the mean of all ratings at 0.
	Anchor string
	// Workers is the number of goroutines that play, each with agents of its own.
	Workers int
	// Batch is the most games of one worker in lockstep: the most rows in one call of Agent.Act.
	Batch int
	// Progress, if not nil, is told the number of games finished and the number of all games, after each one.
	// It is never called from two goroutines at once.
	Progress func(done, total int)
}

// Default returns a configuration that Validate accepts: 100 games on all processors. Openings have 2 to 4 random plies:
// in the smallest game, Modiar, that makes 107 different ones and leaves skill most of a game of some 15
// plies. An arranged game has none, as the arrangement makes it various enough. Games without stores have no bound of
// their own and are truncated after 2000 plies; others always end.
func Default(r mancala.Rules) Config {
	c := Config{Games: 100, OpeningPlies: 4, Workers: min(runtime.GOMAXPROCS(0), MaxWorkers), Batch: 64}
	info := r.Info()
	if info.Arrange {
		c.OpeningPlies = 0
	}
	if !info.Stores {
		c.MaxPlies = 2000
	}
	return c
}

// Validate returns an error that names the first value that is not allowed, and what is.
func (c Config) Validate() error {
	if c.Games < 2 || c.Games > MaxGames || c.Games%2 != 0 {
		return fmt.Errorf("arena: games %d: want an even number from 2 to %d, as every opening is played twice with the sides swapped", c.Games, MaxGames)
	}
	for _, f := range []struct {
		name        string
		n, min, max int
	}{
		{"opening plies", c.OpeningPlies, 0, MaxOpening},
		{"most plies", c.MaxPlies, 0, math.MaxInt32},
		{"workers", c.Workers, 1, MaxWorkers},
		{"batch", c.Batch, 1, MaxBatch},
	} {
		if f.n < f.min || f.n > f.max {
			return fmt.Errorf("arena: %s %d: want a number from %d to %d", f.name, f.n, f.min, f.max)
		}
	}
	return nil
}

// shortest is the least number of plies of an opening.
func (c Config) shortest() int { return (c.OpeningPlies + 1) / 2 }
