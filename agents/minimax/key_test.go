package minimax

import (
	"testing"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// alike returns the position with other pasts: every quiet count up to beyond a small limit or next to a large one, ply 0 and
// later ones, and where the variant has them every history and other laps and flags of a hand.
func alike(r mancala.Rules, s mancala.State) (list []mancala.State) {
	info := r.Info()
	add := func(p mancala.Position) {
		for _, ply := range []uint32{0, 1, 70000} {
			for quiet := max(0, info.Quiet-6); quiet < info.Quiet+2; quiet++ {
				p.Ply, p.Quiet = ply, uint32(quiet)
				if s := p.State(); r.Legal(s) != 0 {
					list = append(list, s)
				}
			}
		}
	}
	p := s.Position()
	add(p)
	if info.Stores || p.Hand.Flags&mancala.HandArranging != 0 {
		return list
	}
	for h := range mancala.History(16) {
		p.History = h
		add(p)
	}
	p = s.Position()
	if p.Hand.Seeds == 0 {
		return list
	}
	for laps := uint16(1); int(laps) <= min(info.Laps, 8); laps++ {
		p.Hand.Laps = laps
		for flags := range mancala.HandArranging {
			p.Hand.Flags = flags
			add(p)
		}
	}
	return list
}

// TestEqualKeysHaveEqualValues holds the table to its law: positions that differ in their past share an entry only if
// they are worth the same. They are worth the same mover to mover, as plain minimax says.
func TestEqualKeysHaveEqualValues(t *testing.T) {
	for _, spec := range manySpecs {
		t.Run(spec, func(t *testing.T) {
			t.Parallel()
			r := rules(t, spec)
			p := plain{rules: r}
			a := agent(t, r, to(1))
			n := 60
			if r.Info().Rows == 4 {
				n = 15
			}
			for _, s := range append(positions(t, r, n, 3), r.Start()) {
				for depth := 2; depth <= 3; depth++ {
					if r.Legal(s).Len() > 12 && depth == 3 {
						continue
					}
					values := map[key]int{}
					several := false
					for _, s := range alike(r, s) {
						v := p.value(s, depth, 0)
						k := a.key(&s, depth)
						if known, ok := values[k]; !ok {
							values[k] = v
						} else if several = true; known != v {
							t.Fatalf("depth %d: %s: value %d; another position with its key has %d", depth, mancala.FormatState(r, s), v, known)
						}
					}
					if !several {
						t.Fatalf("%s: no two positions share a key", mancala.FormatState(r, s))
					}
				}
			}
		})
	}
}

// TestKeysTellPositionsApart: in random games no two positions with different boards, stores, movers, hands or histories share a
// key.
func TestKeysTellPositionsApart(t *testing.T) {
	for _, spec := range manySpecs {
		r := rules(t, spec)
		a := agent(t, r, to(1))
		seen := map[key]mancala.State{}
		for _, s := range positions(t, r, 3000, 4) {
			p := s.Position()
			p.Quiet, p.Ply = 0, min(p.Ply, 1)
			s = p.State()
			k := a.key(&s, 1)
			if other, ok := seen[k]; ok && other != s {
				t.Fatalf("%s: %s and %s have one key", spec, mancala.FormatState(r, s), mancala.FormatState(r, other))
			}
			seen[k] = s
		}
	}
}
