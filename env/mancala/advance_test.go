package mancala

import (
	"testing"

	"github.com/mancalagym/mancalagym/internal/clock"
)

func TestAdvanceIsNextAndLegal(t *testing.T) {
	for _, spec := range specs {
		r := mustParse(t, spec)
		adv := r.(Advancer)
		walk(r, 30, 3, func(s State, legal Mask) {
			for a := range legal.All {
				want, got := r.Next(s, a), s
				if m := adv.Advance(&got, a); got != want || m != r.Legal(want) {
					t.Fatalf("%s: %s: action %d: advanced to %s with %v, want %s with %v", spec, FormatState(r, s), a,
						FormatState(r, got), actionsOf(m), FormatState(r, want), actionsOf(r.Legal(want)))
				}
			}
		})
	}
}

func TestRulesWithoutAdvanceAreAdvancedByNext(t *testing.T) {
	r := mustParse(t, "urim")
	s := r.Start()
	if m := Advancing(struct{ Rules }{r}).Advance(&s, 2); s != r.Next(r.Start(), 2) || m != r.Legal(s) {
		t.Errorf("advanced to %s with %v", FormatState(r, s), actionsOf(m))
	}
}

func TestPlayingAllocatesNothing(t *testing.T) {
	for _, spec := range specs {
		r := mustParse(t, spec)
		adv, s, rng := Advancing(r), new(State), uint64(1)
		if n := testing.AllocsPerRun(10, func() { rng = strollInPlace(r, adv, s, rng) }); n != 0 {
			t.Errorf("%s: %v allocations in place", spec, n)
		}
		at := r.Start()
		if n := testing.AllocsPerRun(10, func() { at, rng = stroll(r, at, rng) }); n != 0 {
			t.Errorf("%s: %v allocations", spec, n)
		}
	}
}

func BenchmarkAdvancedPlies(b *testing.B) {
	for _, spec := range []string{"urim", "oware", "modiar", "hoyito2", "hoyito2:pits=12", "omweso"} {
		b.Run(spec, func(b *testing.B) {
			r := mustParse(b, spec)
			adv, s, rng := Advancing(r), new(State), uint64(1)
			b.ReportAllocs()
			began := clock.Spent()
			for b.Loop() {
				rng = strollInPlace(r, adv, s, rng)
			}
			b.ReportMetric(float64(b.N*strollPlies)/(clock.Spent()-began).Seconds(), "plies/s")
		})
	}
}

// strollInPlace is stroll with an Advancer. It begins a new game.
func strollInPlace(r Rules, adv Advancer, s *State, rng uint64) uint64 {
	legal := Mask(0)
	for range strollPlies {
		if legal == 0 {
			*s = r.Start()
			legal = r.Legal(*s)
		}
		rng ^= rng << 13
		rng ^= rng >> 7
		rng ^= rng << 17
		legal = adv.Advance(s, legal.Nth(int(rng>>32*uint64(legal.Len())>>32)))
	}
	return rng
}
