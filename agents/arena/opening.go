package arena

import (
	"fmt"
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// tries is how often an opening that ends the game is drawn anew.
const tries = 1000

// Opening appends the actions of a random opening to dst and returns them with the position reached, which is not over. It
// has shortest to longest plies, as many as rng says, each drawn evenly from the legal actions; in an arranged game (O1)
// the players' seeds are placed first, which does not count. An opening that ends the game is drawn anew. It fails unless
// 0 ≤ shortest ≤ longest ≤ MaxOpening, and if no opening so long leaves a game to be played.
func Opening(r mancala.Rules, rng *rand.Rand, shortest, longest int, dst []mancala.Action) ([]mancala.Action, mancala.State, error) {
	if shortest < 0 || shortest > longest || longest > MaxOpening {
		return nil, mancala.State{}, fmt.Errorf("arena: opening plies %d to %d: want 0 to %d, ascending", shortest, longest, MaxOpening)
	}
	for range tries {
		s, played := r.Start(), dst
		left := shortest + rng.IntN(longest-shortest+1)
		for !s.Over() {
			legal := r.Legal(s)
			if legal == 0 {
				break
			}
			a := legal.Nth(rng.IntN(legal.Len()))
			if s.Hand().Flags&mancala.HandArranging != 0 {
				a = place(s.Hand(), r.Info().Pits, legal, rng)
			} else if left--; left < 0 {
				return played, s, nil
			}
			s, played = r.Next(s, a), append(played, a)
		}
	}
	return nil, mancala.State{}, fmt.Errorf("arena: opening plies %d: %d openings of %s ended the game: want fewer plies",
		longest, tries, r.Info().Spec)
}

// open plays the opening of a pair: it depends on the seed, the pair and OpeningPlies only.
func open(r mancala.Rules, c Config, pair int, dst []mancala.Action) ([]mancala.Action, mancala.State, error) {
	rng := rand.New(rand.NewPCG(c.Seed, openingStream|uint64(pair)))
	return Opening(r, rng, c.shortest(), c.OpeningPlies, dst)
}

// place draws the number of seeds for the next pit: each seed in hand falls with equal chance into one of the
// pits that are still to be filled. A number that is not legal is drawn anew.
func place(h mancala.Hand, pits int, legal mancala.Mask, rng *rand.Rand) mancala.Action {
	rest := pits - int(h.Pit)
	for range tries {
		n := 0
		for range h.Seeds {
			if rest <= 1 || rng.IntN(rest) == 0 {
				n++
			}
		}
		if a := mancala.Action(n); legal.Has(a) {
			return a
		}
	}
	return legal.First()
}
