package envtest

import "github.com/mancalagym/mancalagym/env/mancala"

// Perft counts the sequences of exactly 1, 2, … depth actions from the start; a game that ended earlier counts
// nothing. The answer has depth entries. The time is that of the last one.
func Perft(r mancala.Rules, depth int) []uint64 {
	if depth < 1 {
		return nil
	}
	counts := make([]uint64, depth)
	perft(r, r.Start(), counts)
	return counts
}

func perft(r mancala.Rules, s mancala.State, counts []uint64) {
	legal := r.Legal(s)
	counts[0] += uint64(legal.Len())
	if len(counts) == 1 {
		return
	}
	for ; legal != 0; legal = legal.WithoutFirst() {
		perft(r, r.Next(s, legal.First()), counts[1:])
	}
}
