package env

import (
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// The streams of rand.NewPCG.
const (
	streamOpening  = 0x6f70656e // of an episode's seed: the random plies of the opening
	streamSeat     = 0x73656174 // of an episode's seed: which player the agent of a single-player view is
	streamOpponent = 0x6f70706f // of an episode's seed: one seed for each ply of a view's Opponent
	streamLane     = 0x6c616e65 // of a VectorEnv's seed, plus the lane's number: the seed of the lane
)

// EpisodeSeed returns the seed of an episode of a VectorEnv that was reset with the given seed. It is the first
// number of PCG(l, episode), where l is the first of PCG(seed, 0x6c616e65 + lane); lanes and episodes count
// from 0. An Env of the same options, reset with it, plays the same episode.
//
// From an episode's seed s come: the opening, by PCG(s, 0x6f70656e); the agent's seat in a single-player view,
// the lowest bit of PCG(s, 0x73656174); the seeds of its Opponent's plies, in turn, by PCG(s, 0x6f70706f).
func EpisodeSeed(seed uint64, lane, episode uint64) uint64 {
	l := rand.NewPCG(seed, streamLane+lane).Uint64()
	return rand.NewPCG(l, episode).Uint64()
}

// open plays up to plies random plies from the start and writes the first of them to played, as many as it
// holds. Each is drawn among the actions that do not end the game; where there is none the opening is shorter.
func open(r mancala.Rules, seed uint64, plies int, played []mancala.Action) (mancala.State, int) {
	s := r.Start()
	var pcg rand.PCG
	pcg.Seed(seed, streamOpening)
	for n := range plies {
		left := r.Legal(s)
		for {
			if left == 0 {
				return s, n
			}
			a := left.Nth(below(&pcg, left.Len()))
			if t := r.Next(s, a); !t.Over() {
				s = t
				if n < len(played) {
					played[n] = a
				}
				break
			}
			left &^= 1 << a
		}
	}
	return s, plies
}

// below returns a number from 0 to n−1, n at most 64. The bias of taking a remainder of 64 bits is below 2⁻⁵⁷.
func below(pcg *rand.PCG, n int) int { return int(pcg.Uint64() % uint64(n)) }
