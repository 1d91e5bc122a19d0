package mancala

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/mancalagym/mancalagym/internal/clock"
)

// specs are the variants and options that the tests here and the benchmarks walk through.
var specs = []string{
	"urim", "urim:pits=7", "urim:seeds=4", "urim:pits=7,seeds=4,cap=illegal", "urim:cap=off,grandslam=allowed,cycle=owner",
	"modiar", "modiar:grandslam=forced", "modiar:grandslam=nocapture", "modiar:grandslam=allowed,quiet=7",
	"hoyito2", "hoyito2:direction=ccw", "hoyito2:side=opponent,laps=12", "hoyito2:pits=12",
	"omweso", "omweso:setup=all2,laps=6", "omweso:setup=arrange,pitcap=3", "omweso:reverse-resow=reverse,first-capture=allowed,akakyala=on",
	"omweso:okwesera=off,emitwe=off,akawumbi=both,frontrow=off", "oware", "oware:cycle=owner,quiet=12",
}

func TestStateIsSmall(t *testing.T) {
	if n := unsafe.Sizeof(State{}); n != 48 {
		t.Errorf("State has %d bytes, want 48", n)
	}
}

func TestSpecsPrintCanonically(t *testing.T) {
	for in, want := range map[string]string{
		"urim":                                "urim",
		"urim:seeds=4,pits=7":                 "urim:pits=7,seeds=4",
		"urim:quiet=100,cap=skip":             "urim",
		"hoyito2:quiet=300,pits=12":           "hoyito2:pits=12",
		"hoyito2:quiet=100,pits=12":           "hoyito2:pits=12,quiet=100",
		"omweso:laps=60000,setup=arrange":     "omweso:setup=arrange,laps=60000",
		"modiar:quiet=1,grandslam=allowed":    "modiar:grandslam=allowed,quiet=1",
		"oware:cycle=owner":                   "oware:cycle=owner",
		"omweso:pitcap=10,reverse-resow=any":  "omweso",
		"hoyito2:direction=ccw,side=opponent": "hoyito2:direction=ccw,side=opponent",
	} {
		if got := mustParse(t, in).Info().Spec; got != want {
			t.Errorf("%s: printed %s, want %s", in, got, want)
		}
	}
}

func TestBadSpecsSayWhatIsAllowed(t *testing.T) {
	for in, want := range map[string]string{
		"":                                  "want one of urim, modiar, hoyito2, omweso, oware",
		"kalah":                             "want one of urim",
		"Urim":                              "want one of urim",
		"urim:":                             "empty list",
		"urim:pits":                         `pits "": want 6 or 7`,
		"urim:pits=8":                       `pits "8": want 6 or 7`,
		"urim:,":                            `option "": want one of pits, seeds, cap, grandslam, cycle, quiet`,
		"urim:pits=6,":                      `option ""`,
		"urim:pits=6,pits=6":                "given twice",
		"urim:laps=3":                       `option "laps"`,
		"modiar:quiet=0":                    `quiet "0": want 1–60000`,
		"modiar:quiet=60001":                "want 1–60000",
		"modiar:quiet=+5":                   "want 1–60000",
		"modiar:quiet=-5":                   "want 1–60000",
		"modiar:quiet=05":                   "want 1–60000",
		"modiar:quiet= 5":                   "want 1–60000",
		"modiar:quiet=18446744073709551621": "want 1–60000",
		"omweso:pitcap=1":                   "want 2–32",
		"omweso:akawumbi=END":               "want end or both or off",
	} {
		_, err := Parse(in)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want %q in one line", in, err, want)
		}
	}
}

func TestBadPositionsAreRefused(t *testing.T) {
	const omweso16 = "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
	for _, c := range [][2]string{
		{"modiar", ""},
		{"modiar", "7,7,7/7,7,7 0-0 S 0"},
		{"modiar", "7,7,7/7,7,7 0-0 S 0 0 "},
		{"modiar", "7,7,7/7,7,7  0-0 S 0 0"},
		{"modiar", "7,7,7/7,7,8 0-0 S 0 0"},
		{"modiar", "7,7,7/7,7 0-0 S 0 0"},
		{"modiar", "7,7,7,0/7,7,7 0-0 S 0 0"},
		{"modiar", "7,7,07/7,7,7 0-0 S 0 0"},
		{"modiar", "7,7,+7/7,7,7 0-0 S 0 0"},
		{"modiar", "7,7,-7/7,7,7 0-0 S 0 0"},
		{"modiar", "7,7,7/7,7,7 00-0 S 0 0"},
		{"modiar", "7,7,7/7,7,7 0 S 0 0"},
		{"modiar", "7,7,7/7,7,7 0-0 = 0 0"},
		{"modiar", "7,7,7/7,7,7 0-0 s 0 0"},
		{"modiar", "7,7,7/7,7,7 0-0 S -1 0"},
		{"modiar", "7,7,7/7,7,7 0-0 S 0 99999999999"},
		{"modiar", "7,7,7/7,7,7 - S - 0 0"},
		{"modiar", "0,0,0/0,0,0 20-22 S 0 9 #cleared:N"},
		{"modiar", "0,0,0/0,0,0 20-22 S 0 9 #nomoves:"},
		{"modiar", "0,0,0/0,0,0 20-22 S 0 9 #nomoves:NN"},
		{"modiar", "0,0,0/0,0,0 20-22 S 0 9 nomoves:N"},
		{"modiar", "0,0,0/0,0,0 20-22 S 0 9 #nomoves:N #nomoves:N"},
		{"hoyito2", "4,4,4,4,4,4/4,4,4,4,4,4 0-0 S 0 0 #endless:S"},
		{"urim", "255,0,0,0,0,0/255,0,0,0,0,0 0-0 S 0 0"},
		{"omweso", omweso16 + "/" + omweso16 + " 0-0 S 0 0"},
		{"omweso", omweso16 + "/" + omweso16 + " - S ns 0 0"},
		{"omweso", omweso16 + "/" + omweso16 + " - S ss 0 0"},
		{"omweso", omweso16 + "/" + omweso16 + " - S x 0 0"},
		{"omweso", omweso16 + "/" + omweso16 + " 2@0+1c S sn 0 0"}, // nothing to capture
		{"omweso", omweso16 + "/" + omweso16 + " a32@0 S - 0 0"},   // not setup=arrange
		{"omweso:setup=arrange", omweso16 + "/" + omweso16 + " a33@0 S - 0 0"},
		{"omweso:setup=arrange", omweso16 + "/" + omweso16 + " a11@15 S - 0 0"},
		{"omweso:setup=arrange", omweso16 + "/" + omweso16 + " a32@0 S s 0 0"},
		{"omweso:setup=arrange", "0,1" + omweso16[3:] + "/" + omweso16 + " a31@1 S - 0 1"},
		{"omweso", "0,0,0,0,0,0,0,0,0,0,0,0,0,3,2,1/0,0,0,2,0,0,2,0,0,3,0,0,0,0,0,0 2@0+0c S sn 0 5"},
		{"omweso", "0,0,0,0,0,0,0,0,0,0,0,0,0,3,2,1/0,0,0,2,0,0,2,0,0,3,0,0,0,0,0,0 2@0+1L S sn 0 5"},
		{"omweso", "0,0,0,0,0,0,0,0,0,0,0,0,0,3,2,1/0,0,0,2,0,0,2,0,0,3,0,0,0,0,0,0 2@0+1c S - 0 5"},  // O8
		{"omweso", "0,0,0,0,0,0,0,0,0,0,0,0,0,3,2,1/0,0,0,2,0,0,2,0,0,3,0,0,0,0,0,0 2@2+1c S sn 0 5"}, // no reverse pit
		{"omweso", "0,0,0,0,0,0,0,0,0,0,0,0,0,3,2,1/0,0,0,2,0,0,2,0,0,3,0,0,0,0,0,0 2@0+10001c S sn 0 5"},
		{"omweso:reverse=off", "0,0,0,0,0,0,0,0,0,0,0,0,0,3,2,1/0,0,0,2,0,0,2,0,0,3,0,0,0,0,0,0 2@0+1c S sn 0 5"},
		{"omweso", omweso16 + "/" + omweso16 + " - S sn 0 5 #okutema:="},
		{"omweso", omweso16 + "/" + omweso16 + " - S sn 0 5 #cycle:N"},
	} {
		if s, err := ParseState(mustParse(t, c[0]), c[1]); err == nil {
			t.Errorf("%s: %q was taken for %s", c[0], c[1], FormatState(mustParse(t, c[0]), s))
		} else if strings.Contains(err.Error(), "\n") || len(err.Error()) > 500 {
			t.Errorf("error is not one short line: %v", err)
		}
	}
}

func TestCountsStopBelowTheirBound(t *testing.T) {
	for spec, text := range map[string]string{
		"urim:quiet=60000": "3,3,3,3,3,3/3,3,3,3,3,3 0-0 S 0 4000000000",
		"omweso:laps=1":    "4,4,4,4,4,4,4,4,0,0,0,0,0,0,0,0/4,4,4,4,4,4,4,4,0,0,0,0,0,0,0,0 - S - 4000000000 4000000000",
	} {
		r := mustParse(t, spec)
		n := r.Next(mustState(t, r, text), 0)
		if uint32(n.Ply()) != maxCount || mustState(t, r, FormatState(r, n)) != n {
			t.Errorf("%s leads to %s", text, FormatState(r, n))
		}
	}
}

func TestSettleEndsOnlyWhatCannotMove(t *testing.T) {
	for _, c := range [][3]string{
		{"modiar", "1,1,1/2,0,0 10-20 S 3 40", "0,0,0/0,0,0 13-22 S 3 40 #nomoves:N"},
		{"urim", "0,0,0,0,0,0/1,0,0,0,0,0 17-18 S 3 40", "0,0,0,0,0,0/0,0,0,0,0,0 17-19 S 3 40 #nomoves:N"},
		{"hoyito2", "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N 3 40", "0,0,0,0,0,0/0,0,0,0,0,0 24-24 N 3 40 #cleared:="},
		{"omweso", "1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 - S sn 3 40",
			"1,1,0,0,0,0,0,0,0,0,0,0,0,0,0,0/0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0 - S sn 3 40 #bulijo:N"},
		{"modiar", "1,2,1/2,0,0 10-20 S 200 40", "1,2,1/2,0,0 10-20 S 200 40"},
	} {
		r := mustParse(t, c[0])
		settled := r.Settle(mustState(t, r, c[1]))
		if got := FormatState(r, settled); got != c[2] {
			t.Errorf("%s settles to %s, want %s", c[1], got, c[2])
		}
		if r.Settle(settled) != settled {
			t.Errorf("%s settles twice", c[1])
		}
	}
}

func TestUrimMatchPointsAreGraded(t *testing.T) {
	for _, c := range []struct { // U10 lists the thresholds
		spec           string
		double, single int
	}{{"urim", 27, 19}, {"urim:pits=7", 32, 22}, {"urim:seeds=4", 36, 25}, {"urim:pits=7,seeds=4", 42, 29}} {
		r := mustParse(t, c.spec)
		for held := r.Info().Seeds / 2; held <= r.Info().Seeds; held++ {
			p := Position{Store: [2]uint8{uint8(r.Info().Seeds - held), uint8(held)}, Reason: NoMoves, Winner: North}
			want := [2]int{}
			switch {
			case held >= c.double:
				want[North] = 2
			case held >= c.single:
				want[North] = 1
			}
			if got := r.Points(p.State()); got != want {
				t.Errorf("%s: %d seeds score %v, want %v", c.spec, held, got, want)
			}
		}
	}
}

func TestPositionIsTheInverseOfState(t *testing.T) {
	for _, spec := range specs {
		r := mustParse(t, spec)
		walk(r, 20, 1, func(s State, _ Mask) {
			p := s.Position()
			if p.State() != s {
				t.Fatalf("%s: %s does not survive Position", spec, FormatState(r, s))
			}
		})
	}
}

// walk plays random games and visits every position with its legal actions, the last included.
func walk(r Rules, games int, seed uint64, visit func(s State, legal Mask)) (plies int) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for range games {
		s := r.Start()
		for {
			legal := r.Legal(s)
			visit(s, legal)
			if legal == 0 {
				break
			}
			s = r.Next(s, legal.Nth(rng.IntN(legal.Len())))
			plies++
		}
	}
	return plies
}

func FuzzParse(f *testing.F) {
	for _, spec := range specs {
		f.Add(spec)
	}
	f.Add("urim:pits=6,,seeds=4=4")
	f.Fuzz(func(t *testing.T, spec string) {
		r, err := Parse(spec)
		if err != nil {
			return
		}
		again, err := Parse(r.Info().Spec)
		if err != nil || again.Info().Spec != r.Info().Spec {
			t.Errorf("%q printed as %q: %v", spec, r.Info().Spec, err)
		}
		if r.Legal(r.Start()) == 0 {
			t.Errorf("%q has no first move", spec)
		}
	})
}

func FuzzParseState(f *testing.F) {
	for i, spec := range specs {
		r := mustParse(f, spec)
		n := 0
		walk(r, 1, 7, func(s State, _ Mask) {
			if n++; n%7 == 1 || s.Over() {
				f.Add(uint8(i), FormatState(r, s))
			}
		})
	}
	f.Add(uint8(13), "0,0,0,0,0,0,0,0,0,0,0,0,0,3,2,1/0,0,0,2,0,0,2,0,0,3,0,0,0,0,0,0 2@0+1c S sn 0 5")
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		r := mustParse(t, specs[int(which)%len(specs)])
		s, err := ParseState(r, text)
		if err != nil {
			return
		}
		if got := FormatState(r, s); got != text {
			t.Fatalf("%q printed as %q", text, got)
		}
		// No position that parses may hang or crash the rules, and playing on stays within the texts.
		for a := range r.Legal(s).All {
			n := r.Next(s, a)
			if again, err := ParseState(r, FormatState(r, n)); err != nil || again != n {
				t.Errorf("%s: action %d leads to %s: %v", text, a, FormatState(r, n), err)
			}
		}
		r.Points(r.Settle(s))
	})
}

func BenchmarkRandomPlies(b *testing.B) {
	for _, spec := range []string{"urim", "oware", "modiar", "hoyito2", "hoyito2:pits=12", "omweso"} {
		b.Run(spec, func(b *testing.B) {
			r := mustParse(b, spec)
			s, rng := r.Start(), uint64(1)
			b.ReportAllocs()
			began := clock.Spent()
			for b.Loop() {
				s, rng = stroll(r, s, rng)
			}
			b.ReportMetric(float64(b.N*strollPlies)/(clock.Spent()-began).Seconds(), "plies/s")
		})
	}
}

const strollPlies = 1000

// stroll plays random plies from s on, and on from the start when a game ends.
func stroll(r Rules, s State, rng uint64) (State, uint64) {
	for range strollPlies {
		legal := r.Legal(s)
		if legal == 0 {
			s = r.Start()
			legal = r.Legal(s)
		}
		rng ^= rng << 13
		rng ^= rng >> 7
		rng ^= rng << 17
		s = r.Next(s, legal.Nth(int(rng>>32*uint64(legal.Len())>>32)))
	}
	return s, rng
}
