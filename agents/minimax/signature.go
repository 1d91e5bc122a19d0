package minimax

import (
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// StreamSignature is the stream of the positions of Signature: number i draws from rand.NewPCG(i, StreamSignature).
const StreamSignature = 0x7369676e // "sign"

// SignatureDepth is how deep Signature searches.
const SignatureDepth = 9

// SignatureCount is how many positions Signature searches.
const SignatureCount = 16

// SignaturePositions returns the fixed positions of a variant: number i of SignatureCount is what 4·i random plies lead to, or fewer where
// the game ends before. Where the players arrange their seeds, 32 plies more.
func SignaturePositions(r mancala.Rules) []mancala.State {
	arranging := 0
	if r.Info().Arrange {
		arranging = 32 // O1
	}
	list := make([]mancala.State, SignatureCount)
	var pcg rand.PCG
	for i := range list {
		pcg.Seed(uint64(i), StreamSignature)
		s := r.Start()
		for range 4*i + arranging {
			m := r.Legal(s)
			next := r.Next(s, m.Nth(int(pcg.Uint64()>>32*uint64(m.Len())>>32)))
			if next.Over() {
				break
			}
			s = next
		}
		list[i] = s
	}
	return list
}

// SignatureConfig returns the configuration of the searches of Signature.
func SignatureConfig() Config { return Config{Depth: SignatureDepth, TableMB: 4} }

// Signature returns the nodes of a search of each of the fixed positions, summed. It changes when rules or search come to
// behave otherwise in these searches, and with nothing else, neither the machine nor its load. It takes less than a second.
func Signature(r mancala.Rules) (nodes uint64, err error) {
	a, err := New(r, SignatureConfig())
	if err != nil {
		return 0, err
	}
	for _, s := range SignaturePositions(r) {
		x, err := a.Analyze(s)
		if err != nil {
			return 0, err
		}
		nodes += x.Nodes
	}
	return nodes, nil
}
