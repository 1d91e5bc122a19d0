package tablebase

import "testing"

func TestEveryBoardHasItsNumber(t *testing.T) {
	for _, c := range []struct{ pits, seeds, size int }{
		{6, 0, 1}, {6, 42, 1533939}, {12, 3, 364}, {12, 8, 75582}, {14, 6, 27132}, {24, 4, 17550},
	} {
		x := newIndex(c.pits)
		if got := x.size(c.seeds); got != c.size {
			t.Errorf("%d pits, %d seeds: %d boards, want %d", c.pits, c.seeds, got, c.size)
			continue
		}
		b := x.at(0, c.seeds)
		for n := range uint32(c.size) {
			s := x.state(&b)
			if got := x.number(&s); got != n {
				t.Fatalf("%v has number %d, want %d", b.pits, got, n)
			}
			if n%97 == 0 && x.at(n, c.seeds) != b {
				t.Fatalf("number %d is %v, want %v", n, x.at(n, c.seeds).pits, b.pits)
			}
			x.next(&b)
		}
	}
}

func TestALevelTooLargeIsKnown(t *testing.T) {
	if got := newIndex(12).size(20); got != 84672315 {
		t.Errorf("12 pits, 20 seeds: %d boards", got)
	}
	if got := newIndex(24).size(63); got != 1<<32-1 {
		t.Errorf("24 pits, 63 seeds: %d boards, want the cap", got)
	}
}

func BenchmarkNumber(b *testing.B) {
	x := newIndex(12)
	v := x.at(4_000_000, 14)
	s := x.state(&v)
	var sum uint32
	for b.Loop() {
		sum += x.number(&s)
	}
	_ = sum
}

func BenchmarkState(b *testing.B) {
	x := newIndex(12)
	v := x.at(4_000_000, 14)
	for b.Loop() {
		x.next(&v)
		s := x.state(&v)
		_ = s
	}
}
