package envtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/env/mancala"
)

func parse(t testing.TB, spec string) mancala.Rules {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// variants are the listed ones, and others whose options reach other code.
func variants() []string {
	return append(mancala.Variants(),
		"urim:pits=7,seeds=4", "urim:cap=illegal", "urim:cap=off,cycle=owner", "urim:grandslam=allowed,quiet=3",
		"modiar:grandslam=forced", "modiar:grandslam=nocapture,cycle=owner", "modiar:grandslam=allowed,quiet=7",
		"hoyito2:direction=ccw", "hoyito2:side=opponent", "hoyito2:quiet=20,cycle=owner,laps=4",
		"omweso:setup=all2", "omweso:setup=arrange", "omweso:setup=arrange,pitcap=32", "omweso:quiet=10,laps=3",
		"omweso:reverse-resow=reverse,akawumbi=both", "omweso:first-capture=allowed,akakyala=on",
		"omweso:reverse=off,okwesera=off,emitwe=off,akawumbi=off,frontrow=off",
		"oware:cycle=owner", "hoyito2:pits=12",
	)
}

func TestVariantsKeepTheLaws(t *testing.T) {
	for _, spec := range variants() {
		t.Run(spec, func(t *testing.T) {
			if err := CheckRules(parse(t, spec), 5000, 1); err != nil {
				t.Error(err)
			}
		})
	}
}

// broken is a variant with one function replaced.
type broken struct {
	mancala.Rules
	start  func() mancala.State
	legal  func(mancala.State) mancala.Mask
	next   func(mancala.State, mancala.Action) mancala.State
	settle func(mancala.State) mancala.State
	points func(mancala.State) [2]int
}

func (b *broken) Start() mancala.State {
	if b.start != nil {
		return b.start()
	}
	return b.Rules.Start()
}

func (b *broken) Legal(s mancala.State) mancala.Mask {
	if b.legal != nil {
		return b.legal(s)
	}
	return b.Rules.Legal(s)
}

func (b *broken) Next(s mancala.State, a mancala.Action) mancala.State {
	if b.next != nil {
		return b.next(s, a)
	}
	return b.Rules.Next(s, a)
}

func (b *broken) Settle(s mancala.State) mancala.State {
	if b.settle != nil {
		return b.settle(s)
	}
	return b.Rules.Settle(s)
}

func (b *broken) Points(s mancala.State) [2]int {
	if b.points != nil {
		return b.points(s)
	}
	return b.Rules.Points(s)
}

// changed returns Next with the position it leads to changed.
func changed(r mancala.Rules, change func(p *mancala.Position, before mancala.State)) func(mancala.State, mancala.Action) mancala.State {
	return func(s mancala.State, a mancala.Action) mancala.State {
		t := r.Next(s, a)
		p := t.Position()
		change(&p, s)
		return p.State()
	}
}

var sink []byte

func TestBrokenRulesAreFound(t *testing.T) {
	for law, breach := range map[string]func(b *broken, r mancala.Rules){
		"start:": func(b *broken, r mancala.Rules) {
			b.start = func() mancala.State { return r.Next(r.Start(), 0) }
		},
		"determinism: Legal": func(b *broken, r mancala.Rules) {
			calls := 0
			b.legal = func(s mancala.State) mancala.Mask { calls++; return r.Legal(s) &^ mancala.Mask(calls&1) }
		},
		"determinism: Next": func(b *broken, r mancala.Rules) {
			calls := uint32(0)
			b.next = changed(r, func(p *mancala.Position, _ mancala.State) { calls++; p.Quiet = calls })
		},
		"settle:": func(b *broken, r mancala.Rules) {
			b.settle = func(s mancala.State) mancala.State { return r.Start() }
		},
		"conservation:": func(b *broken, r mancala.Rules) {
			b.next = changed(r, func(p *mancala.Position, _ mancala.State) { p.Store[0] |= 1; p.Store[1] |= 1 })
		},
		"action space:": func(b *broken, r mancala.Rules) {
			b.legal = func(s mancala.State) mancala.Mask { return r.Legal(s) | 1<<10 }
		},
		"end:": func(b *broken, r mancala.Rules) {
			b.legal = func(s mancala.State) mancala.Mask {
				if s.Ply() > 10 {
					return 0
				}
				return r.Legal(s)
			}
		},
		"ply:": func(b *broken, r mancala.Rules) {
			b.next = changed(r, func(p *mancala.Position, _ mancala.State) { p.Ply++ })
		},
		"quiet:": func(b *broken, r mancala.Rules) {
			b.next = changed(r, func(p *mancala.Position, before mancala.State) {
				if p.Reason == mancala.NotOver {
					p.Quiet = min(p.Quiet, 5)
				}
			})
		},
		"result:": func(b *broken, r mancala.Rules) {
			b.points = func(s mancala.State) [2]int {
				p := r.Points(s)
				return [2]int{p[1], p[0]}
			}
		},
		"reason:": func(b *broken, r mancala.Rules) {
			b.next = changed(r, func(p *mancala.Position, _ mancala.State) {
				if p.Reason != mancala.NotOver {
					p.Reason = mancala.Bulijo
				}
			})
		},
		"text:": func(b *broken, r mancala.Rules) {
			b.next = changed(r, func(p *mancala.Position, _ mancala.State) { p.History = 15 })
		},
		"perspective:": func(b *broken, r mancala.Rules) {
			b.legal = func(s mancala.State) mancala.Mask {
				legal := r.Legal(s)
				if s.Mover() == mancala.North && legal.Len() > 1 {
					return legal.WithoutFirst()
				}
				return legal
			}
		},
		"length:": func(b *broken, r mancala.Rules) {
			b.next = func(s mancala.State, a mancala.Action) mancala.State {
				p := s.Position()
				p.Mover, p.Ply, p.Quiet = p.Mover.Opponent(), p.Ply+1, 0
				return p.State()
			}
		},
		"allocations:": func(b *broken, r mancala.Rules) {
			b.next = func(s mancala.State, a mancala.Action) mancala.State {
				sink = make([]byte, 1)
				return r.Next(s, a)
			}
		},
	} {
		r := parse(t, "urim")
		b := &broken{Rules: r}
		breach(b, r)
		err := CheckRules(b, 50, 1)
		if err == nil || !strings.Contains(err.Error(), law) {
			t.Errorf("breach of %q: got %v", law, err)
		}
		if err != nil && strings.Contains(err.Error(), "\n") {
			t.Errorf("%q has more than one line", err)
		}
	}
}

func TestPerftCountsSequences(t *testing.T) {
	for spec, want := range map[string][]uint64{
		"urim":                 {6, 36, 186, 971, 4756, 23555},
		"modiar":               {3, 9, 26, 72, 187, 522, 1364, 3477},
		"hoyito2":              {6, 32, 158, 819, 4044},
		"omweso":               {8, 64, 419, 2731},
		"omweso:setup=arrange": {11, 121, 1331},
		"oware":                {6, 36, 190, 1014, 5219},
	} {
		if got := Perft(parse(t, spec), len(want)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", spec, got, want)
		}
	}
	if got := Perft(parse(t, "urim"), 0); got != nil {
		t.Errorf("depth 0: %v, want none", got)
	}
}

// hasty offers an Advance that forgets what is legal.
type hasty struct{ mancala.Rules }

func (h hasty) Advance(s *mancala.State, a mancala.Action) mancala.Mask {
	*s = h.Next(*s, a)
	return h.Legal(*s).WithoutFirst()
}

func TestBrokenAdvanceIsFound(t *testing.T) {
	if err := CheckRules(hasty{parse(t, "modiar")}, 1, 1); err == nil || !strings.Contains(err.Error(), "Advance:") {
		t.Errorf("%v, want Advance named", err)
	}
}
