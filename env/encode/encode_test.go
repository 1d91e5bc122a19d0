package encode

import (
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/clock"
)

// specs are the variants whose boards differ: one for each shape of observation.
var specs = []string{"urim", "urim:pits=7,seeds=4", "modiar", "hoyito2", "hoyito2:pits=12", "omweso", "omweso:setup=arrange", "oware"}

func rules(t testing.TB, spec string) mancala.Rules {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func encoder(t testing.TB, name, spec string) Encoder {
	t.Helper()
	e, err := New(name, rules(t, spec).Info())
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// scatter makes a position by throwing each seed somewhere. It need not be one that play can reach, so nothing
// here depends on the rules of the variant.
func scatter(rng *rand.Rand, info mancala.Info) mancala.Position {
	p := mancala.Position{
		Mover: mancala.Player(rng.IntN(2)),
		Ply:   uint32(rng.IntN(3)),
		Quiet: uint32(rng.IntN(info.Quiet + 1)),
	}
	few := 1 + rng.IntN(info.Pits) // so that large pits occur too
	for range info.Seeds {
		who := rng.IntN(2)
		switch {
		case info.Stores && rng.IntN(3) == 0:
			p.Store[who]++
		case info.Rows == 4 && rng.IntN(8) == 0:
			p.Hand.Seeds++
		default:
			p.Pits[who][rng.IntN(few)]++
		}
	}
	if info.Rows == 4 {
		p.History = mancala.History(rng.IntN(16))
		if p.Hand.Seeds > 0 {
			p.Hand.Pit = uint8(rng.IntN(16))
			p.Hand.Laps = uint16(rng.IntN(min(info.Laps, 1<<rng.IntN(15)) + 1))
			p.Hand.Flags = mancala.HandFlags(rng.IntN(16))
		}
	}
	return p
}

// exchange gives South's things to North and the reverse; the mover's hand goes along.
func exchange(p mancala.Position) mancala.Position {
	p.Pits[0], p.Pits[1] = p.Pits[1], p.Pits[0]
	p.Store[0], p.Store[1] = p.Store[1], p.Store[0]
	p.Mover = p.Mover.Opponent()
	p.History = p.History&5<<1 | p.History&10>>1
	return p
}

// walk calls visit with every position of some random games.
func walk(t testing.TB, spec string, games int, visit func(mancala.State)) {
	r := rules(t, spec)
	rng := rand.New(rand.NewPCG(1, 2))
	for range games {
		s := r.Start()
		for range 2000 {
			visit(s)
			legal := r.Legal(s)
			if legal == 0 {
				break
			}
			s = r.Next(s, legal.Nth(rng.IntN(legal.Len())))
		}
	}
}

func TestDenseIsSparseWrittenOut(t *testing.T) {
	for _, spec := range specs {
		e := encoder(t, "onehot", spec)
		dense, sparse := make([]float32, e.Size()), make([]int32, e.Active())
		check := func(s mancala.State) {
			for i := range dense {
				dense[i] = -7
			}
			e.Dense(s, dense)
			e.Sparse(s, sparse)
			want := make([]float32, e.Size())
			for i, at := range sparse {
				if i > 0 && at <= sparse[i-1] {
					t.Fatalf("%s: places %v do not ascend", spec, sparse)
				}
				want[at] = 1
			}
			if !slices.Equal(dense, want) {
				t.Fatalf("%s: dense and sparse differ in %+v", spec, s.Position())
			}
		}
		walk(t, spec, 20, check)
		rng := rand.New(rand.NewPCG(3, 4))
		for range 2000 {
			check(scatter(rng, rules(t, spec).Info()).State())
		}
	}
}

func TestValuesLieBetweenZeroAndOne(t *testing.T) {
	for _, spec := range specs {
		for _, name := range Names() {
			e := encoder(t, name, spec)
			dst := make([]float32, e.Size())
			check := func(s mancala.State) {
				for i := range dst {
					dst[i] = float32(math.NaN())
				}
				e.Dense(s, dst)
				for i, x := range dst {
					if !(x >= 0 && x <= 1) {
						t.Fatalf("%s %s: value %d is %v in %+v", spec, name, i, x, s.Position())
					}
				}
			}
			walk(t, spec, 20, check)
			rng := rand.New(rand.NewPCG(5, 6))
			for range 2000 {
				check(scatter(rng, rules(t, spec).Info()).State())
			}
			// Nonsense must not lead out of the box either.
			wild := mancala.Position{Quiet: math.MaxUint32, Ply: math.MaxUint32, Store: [2]uint8{255, 255}, History: 255}
			wild.Hand = mancala.Hand{Seeds: 255, Pit: 255, Laps: math.MaxUint16, Flags: 255}
			for i := range wild.Pits[0] {
				wild.Pits[0][i], wild.Pits[1][i] = 127, 100
			}
			check(wild.State())
		}
	}
}

func TestPerspectiveIsTheMovers(t *testing.T) {
	for _, spec := range specs {
		info := rules(t, spec).Info()
		for _, name := range Names() {
			e := encoder(t, name, spec)
			a, b := make([]float32, e.Size()), make([]float32, e.Size())
			rng := rand.New(rand.NewPCG(7, 8))
			for range 2000 {
				p := scatter(rng, info)
				e.Dense(p.State(), a)
				e.Dense(exchange(p).State(), b)
				if !slices.Equal(a, b) {
					t.Fatalf("%s %s: exchanging the players changes the observation of %+v", spec, name, p)
				}
			}
		}
	}
}

func TestOwnSideComesFirst(t *testing.T) {
	e := encoder(t, "counts", "urim")
	dst := make([]float32, e.Size())
	p := mancala.Position{Mover: mancala.North, Store: [2]uint8{18, 9}, Ply: 1, Quiet: 50}
	p.Pits[mancala.North][0] = 36
	p.Pits[mancala.South][5] = 18
	e.Dense(p.State(), dst)
	want := []float32{1, 0, 0, 0, 0, 0 /**/, 0, 0, 0, 0, 0, 0.5 /**/, 0.25, 0.5 /**/, 0.5, 0}
	if !slices.Equal(dst, want) {
		t.Errorf("got %v, want %v", dst, want)
	}
}

// view is what an observation must tell apart: the position in the mover's terms.
func view(p mancala.Position) mancala.Position {
	if p.Mover == mancala.North {
		p = exchange(p)
	}
	p.Ply = min(p.Ply, 1)
	return p
}

func TestCountsTellsAllPositionsApart(t *testing.T) {
	for _, spec := range specs {
		apart(t, encoder(t, "counts", spec), spec, view)
	}
}

func TestOnehotTellsPositionsApartUpToItsBuckets(t *testing.T) {
	for _, spec := range specs {
		info := rules(t, spec).Info()
		o := newOnehot(info)
		apart(t, o, spec, func(p mancala.Position) mancala.Position {
			p = view(p)
			for who := range p.Pits {
				for i, n := range p.Pits[who] {
					p.Pits[who][i] = min(n, uint8(o.pit-1))
				}
			}
			p.Quiet = min(p.Quiet*quietBuckets/uint32(info.Quiet), quietBuckets-1)
			p.Hand.Seeds = min(p.Hand.Seeds, handBuckets-1)
			for laps := uint16(1); ; laps *= 2 {
				if p.Hand.Laps < laps || laps == 1<<15 {
					p.Hand.Laps = laps
					break
				}
			}
			if p.Hand.Seeds == 0 {
				p.Hand = mancala.Hand{}
			}
			return p
		})
	}
}

func apart(t *testing.T, e Encoder, spec string, key func(mancala.Position) mancala.Position) {
	t.Helper()
	info := rules(t, spec).Info()
	seen := map[string]mancala.Position{}
	dst := make([]float32, e.Size())
	check := func(p mancala.Position) {
		e.Dense(p.State(), dst)
		k := key(p)
		text := fmt.Sprint(dst)
		if old, ok := seen[text]; ok && old != k {
			t.Fatalf("%s %s: one observation of two positions\n%+v\n%+v", spec, e.Name(), old, k)
		}
		seen[text] = k
	}
	rng := rand.New(rand.NewPCG(9, 10))
	for range 300 {
		p := scatter(rng, info)
		check(p)
		for range 10 { // and its neighbours
			q := p
			switch rng.IntN(6) {
			case 0:
				i, j := rng.IntN(info.Pits), rng.IntN(info.Pits)
				if q.Pits[0][i] > 0 {
					q.Pits[0][i]--
					q.Pits[1][j]++
				}
			case 1:
				q.Ply = uint32(rng.IntN(2))
			case 2:
				q.Quiet = uint32(rng.IntN(info.Quiet + 1))
			case 3:
				q.Mover = q.Mover.Opponent()
			case 4:
				if info.Stores && q.Store[0] > 0 {
					q.Store[0]--
					q.Store[1]++
				}
				if info.Rows == 4 {
					q.History ^= 1 << rng.IntN(4)
				}
			case 5:
				if q.Hand.Seeds > 0 {
					q.Hand.Pit = uint8(rng.IntN(16))
					q.Hand.Flags ^= 1 << rng.IntN(4)
					q.Hand.Laps ^= 1 << rng.IntN(13)
				}
			}
			check(q)
		}
	}
}

// golden holds a hash of the observations of 1,000 scattered positions: who changes an observation raises the
// encoder's version, and only then the hash here.
var golden = map[string]string{
	"counts v1 urim":                 "0/16 eb3e2c8ef77c4139",
	"onehot v1 urim":                 "16/392 823c0222d7698ee5",
	"counts v1 urim:pits=7,seeds=4":  "0/18 b0d1c571bea7e0a8",
	"onehot v1 urim:pits=7,seeds=4":  "18/426 5930d8956f80d4d5",
	"counts v1 modiar":               "0/10 c210c776502f24e8",
	"onehot v1 modiar":               "10/362 aec962cf2e977db5",
	"counts v1 hoyito2":              "0/16 4936c33d88a81de1",
	"onehot v1 hoyito2":              "16/416 8e04e393f3f38e35",
	"counts v1 hoyito2:pits=12":      "0/28 80463b1285a59c04",
	"onehot v1 hoyito2:pits=12":      "28/620 31e2ca2f3ad99335",
	"counts v1 omweso":               "0/60 055ff6112e61cf8a",
	"onehot v1 omweso":               "45/645 34a2cd542e64dea5",
	"counts v1 omweso:setup=arrange": "0/60 055ff6112e61cf8a",
	"onehot v1 omweso:setup=arrange": "45/645 34a2cd542e64dea5",
	"counts v1 oware":                "0/16 4936c33d88a81de1",
	"onehot v1 oware":                "16/416 8e04e393f3f38e35",
}

func TestObservationsOfAVersionNeverChange(t *testing.T) {
	for _, spec := range specs {
		for _, name := range Names() {
			e := encoder(t, name, spec)
			dst := make([]float32, e.Size())
			h := fnv.New64a()
			rng := rand.New(rand.NewPCG(11, 12))
			for range 1000 {
				e.Dense(scatter(rng, rules(t, spec).Info()).State(), dst)
				for _, x := range dst {
					b := math.Float32bits(x)
					h.Write([]byte{byte(b), byte(b >> 8), byte(b >> 16), byte(b >> 24)})
				}
			}
			key := fmt.Sprintf("%s v%d %s", name, e.Version(), spec)
			got := fmt.Sprintf("%d/%d %016x", e.Active(), e.Size(), h.Sum64())
			if golden[key] != got {
				t.Errorf("%q: %q, // want %q", key, got, golden[key])
			}
		}
	}
}

func TestEncodingAllocatesNothing(t *testing.T) {
	for _, spec := range specs {
		for _, name := range Names() {
			e := encoder(t, name, spec)
			dense, sparse := make([]float32, e.Size()), make([]int32, e.Active())
			s := rules(t, spec).Start()
			if n := testing.AllocsPerRun(100, func() {
				e.Dense(s, dense)
				if e.Active() > 0 {
					e.Sparse(s, sparse)
				}
			}); n != 0 {
				t.Errorf("%s %s: %v allocations", spec, name, n)
			}
		}
	}
}

func TestErrorsNameWhatIsAllowed(t *testing.T) {
	info := rules(t, "urim").Info()
	odd := info
	odd.Pits = 17
	for _, c := range []struct {
		name string
		info mancala.Info
		want string
	}{
		{"planes", info, `encode: encoder "planes": want counts or onehot`},
		{"", info, `encode: encoder "": want counts or onehot`},
		{"counts", odd, `encode: variant "urim": pits 17: want 1 to 16`},
		{"onehot", mancala.Info{}, `encode: variant "": rows 0: want 2 or 4`},
	} {
		_, err := New(c.name, c.info)
		if err == nil || err.Error() != c.want {
			t.Errorf("New(%q): %v, want %s", c.name, err, c.want)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q has more than one line", err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, spec := range []string{"urim", "modiar", "hoyito2:pits=12", "omweso"} {
		var states []mancala.State
		walk(b, spec, 20, func(s mancala.State) { states = append(states, s) })
		for _, name := range Names() {
			e := encoder(b, name, spec)
			dense, sparse := make([]float32, e.Size()), make([]int32, e.Active())
			b.Run(name+"/"+spec+"/dense", func(b *testing.B) {
				encodeAll(b, states, func(s mancala.State) { e.Dense(s, dense) })
			})
			if e.Active() == 0 {
				continue
			}
			b.Run(name+"/"+spec+"/sparse", func(b *testing.B) {
				encodeAll(b, states, func(s mancala.State) { e.Sparse(s, sparse) })
			})
		}
	}
}

func encodeAll(b *testing.B, states []mancala.State, encode func(mancala.State)) {
	b.ReportAllocs()
	began := clock.Spent()
	for b.Loop() {
		for _, s := range states {
			encode(s)
		}
	}
	b.ReportMetric(float64(b.N*len(states))/(clock.Spent()-began).Seconds(), "positions/s")
}
