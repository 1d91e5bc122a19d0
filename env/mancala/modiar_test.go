package mancala

import "testing"

// Every board whose pits but the one that is sown hold at most seven seeds; more are taken by no chain.
func TestModiarHarmlessPlaysAreNoSlams(t *testing.T) {
	m := mustParse(t, "modiar").(*modiar)
	slams, suspects := 0, 0
	for pit := range uint(modiarPits) {
		for board := range uint64(1) << (3 * (2*modiarPits - 1)) {
			ring, others, rest := uint64(0), uint64(0), board
			for i := range uint(2 * modiarPits) {
				if i != pit {
					ring |= rest & 7 << (8 * i)
					others += rest & 7
					rest >>= 3
				}
			}
			for n := uint64(2); others+n <= modiarSeeds; n++ {
				ring := ring | n<<(8*pit)
				l := &m.laps[pit][n]
				sown := ring + l.add
				slam := isSlam(sown, sown&^modiarChain(sown, l.last))
				suspect := m.harmless(ring, pit) == 0
				if slam && ring&opponents != 0 && !suspect {
					t.Fatalf("pit %d of ring %012x: a slam that is taken for harmless", pit, ring)
				}
				if slam {
					slams++
				}
				if suspect {
					suspects++
				}
			}
		}
	}
	if slams == 0 || suspects > 2*slams {
		t.Errorf("%d plays to examine for %d slams", suspects, slams)
	}
}
