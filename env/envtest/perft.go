package envtest

import "github.com/mancalagym/mancalagym/env/mancala"

// Perft counts the sequences of exactly 1, 2, … depth actions from the start; a game that ended earlier counts
// nothing. The answer has depth entries. The time is that of the last but one: the last action of a sequence is counted
// among the legal ones, not played.
func Perft(r mancala.Rules, depth int) []uint64 {
	if depth < 1 {
		return nil
	}
	counts, path := make([]uint64, depth), make([]mancala.State, depth)
	path[0] = r.Start()
	perft(mancala.Advancing(r), path, r.Legal(path[0]), counts)
	return counts
}

// perft counts the sequences from path[0], where legal may be played; the rest of path is room for as many plies.
func perft(r mancala.Advancer, path []mancala.State, legal mancala.Mask, counts []uint64) {
	counts[0] += uint64(legal.Len())
	if len(counts) == 1 {
		return
	}
	for ; legal != 0; legal = legal.WithoutFirst() {
		path[1] = path[0]
		perft(r, path[1:], r.Advance(&path[1], legal.First()), counts[1:])
	}
}
