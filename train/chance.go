package train

import "math/rand/v2"

// The streams of chance, each rand.NewPCG(Config.Seed, stream | iteration<<24 | game); the others are derived seeds.
const (
	streamGame    = 0xb1 << 56 // self-play: the opening of a game and the row seeds of its plies, in turn
	streamSample  = 0xb2 << 56 // fit: which positions are learnt
	streamWeights = 0xb3 << 56 // the seed of the first weights
	streamGate    = 0xb4 << 56 // the seed of the gate's match
	streamRate    = 0xb5 << 56 // the seed of the rating tournament
	streamLength  = 0xb6 << 56 // Default: the games that say how long games are
)

func newRand(seed, stream uint64, iteration int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream|uint64(iteration)<<24))
}
