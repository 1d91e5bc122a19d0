package envtest

import (
	"testing"

	"github.com/mancalagym/mancalagym/internal/clock"
)

// BenchmarkPerft counts all action sequences of a length. The last ply of a sequence is counted, not played.
func BenchmarkPerft(b *testing.B) {
	for _, c := range []struct {
		spec  string
		depth int
	}{{"oware", 9}, {"urim", 9}, {"modiar", 14}, {"hoyito2", 7}, {"omweso", 6}} {
		b.Run(c.spec, func(b *testing.B) {
			r := parse(b, c.spec)
			b.ReportAllocs()
			sequences := uint64(0)
			began := clock.Spent()
			for b.Loop() {
				sequences += Perft(r, c.depth)[c.depth-1]
			}
			b.ReportMetric(float64(sequences)/(clock.Spent()-began).Seconds(), "sequences/s")
		})
	}
}
