// Package encode turns positions into observations for networks. Encoders are versioned and chosen by name; the
// perspective is always the mover's, and what an encoder shows makes the position Markov.
//
// Two encoders are here. "counts" gives every number as a share of the most it can be; it loses nothing.
// "onehot" gives every number a place of its own, up to a bucket that larger ones share, so that an observation
// is a short list of places: the first layer of a network is then a sum of a few rows.
//
// Both show, in this order: the mover's pits and the opponent's, each in its owner's count; the mover's store
// and the opponent's, where the variant has stores; the quiet count (C1); whether this is ply 0 (M6). In
// four-row games follow who has finished a turn and who has captured in one, the mover first; and the hand: its
// seeds, its reference pit, the laps of the turn, whether the turn has captured, in which end columns, and
// whether the players are still arranging. What ended a game is not shown: the observation of a position that
// is over is that of its seeds.
package encode

import (
	"fmt"
	"strings"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Encoder writes the observation of a position of one variant. It is immutable and may be shared between
// goroutines; it allocates nothing.
type Encoder interface {
	// Name is the encoder's name, for example "onehot".
	Name() string
	// Version changes whenever the observation of any position changes.
	Version() int
	// Size is the length of the dense observation.
	Size() int
	// Active is the number of indices Sparse writes, always exactly so many; 0 for an encoder without sparse form.
	Active() int
	// Dense writes the observation into dst, Size values in [0, 1].
	Dense(s mancala.State, dst []float32)
	// Sparse writes the ascending places of the ones in the dense observation, Active of them. Encoders without
	// sparse form panic.
	Sparse(s mancala.State, dst []int32)
}

// Names returns the names of the encoders, in ascending order.
func Names() []string { return []string{"counts", "onehot"} }

// New returns the encoder of that name for a variant. It fails if there is no such encoder, or if the facts of
// a variant written elsewhere are out of bounds: 2 or 4 rows, 1 to 16 pits, 1 to 255 seeds, a quiet limit of 1
// or more.
func New(name string, info mancala.Info) (Encoder, error) {
	if info.Rows != 2 && info.Rows != 4 {
		return nil, fmt.Errorf("encode: variant %q: rows %d: want 2 or 4", info.Spec, info.Rows)
	}
	for _, f := range []struct {
		what      string
		got       int
		low, high int
	}{
		{"pits", info.Pits, 1, mancala.MaxPits},
		{"seeds", info.Seeds, 1, 255},
		{"quiet limit", info.Quiet, 1, 1 << 30},
		{"lap limit", info.Laps, 0, 1 << 16},
	} {
		if f.got < f.low || f.got > f.high {
			return nil, fmt.Errorf("encode: variant %q: %s %d: want %d to %d", info.Spec, f.what, f.got, f.low, f.high)
		}
	}
	switch name {
	case "counts":
		return newCounts(info), nil
	case "onehot":
		return newOnehot(info), nil
	}
	return nil, fmt.Errorf("encode: encoder %q: want %s", name, strings.Join(Names(), " or "))
}
