package minimax

import (
	"testing"

	"github.com/mancalagym/mancalagym/internal/clock"
)

// BenchmarkAnalyze searches the positions of the signature. nodes/s counts positions played out, and nodes/op those of a
// round, which is the signature.
func BenchmarkAnalyze(b *testing.B) {
	for _, spec := range signed {
		b.Run(spec, func(b *testing.B) {
			r := rules(b, spec)
			a := agent(b, r, SignatureConfig())
			list := SignaturePositions(r)
			var nodes uint64
			b.ReportAllocs()
			began := clock.Spent()
			for b.Loop() {
				for _, s := range list {
					x, err := a.Analyze(s)
					if err != nil {
						b.Fatal(err)
					}
					nodes += x.Nodes
				}
			}
			b.ReportMetric(float64(nodes)/(clock.Spent()-began).Seconds(), "nodes/s")
			b.ReportMetric(float64(nodes)/float64(b.N), "nodes/op")
		})
	}
}

// signed are the variants whose signatures are held.
var signed = []string{"urim", "modiar", "hoyito2", "omweso", "oware", "urim:pits=7", "hoyito2:pits=12", "omweso:setup=arrange"}
