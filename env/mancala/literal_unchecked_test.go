//go:build !mancala_debug

package mancala_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/mancalagym/mancalagym/env/mancala"
)

const streamAbsurd = 100

// patience is long for the work it bounds: a few milliseconds.
const patience = 3 * time.Second

// within fails the test if f panics or does not come back. After a hang the test must end: f goes on in the background.
func within(t *testing.T, what string, f func()) {
	t.Helper()
	done := make(chan any, 1)
	go func() {
		defer func() { done <- recover() }()
		f()
	}()
	select {
	case p := <-done:
		if p != nil {
			t.Fatalf("%s: panic: %v", what, p)
		}
	case <-time.After(patience):
		t.Fatalf("%s: no end after %v", what, patience)
	}
}

// everything asks all that rules can be asked about a position, and plays every number an action can be.
func everything(r mancala.Rules, s mancala.State) {
	text := mancala.FormatState(r, s)
	_, _ = mancala.ParseState(r, text) // most of them are refused
	if c, ok := r.(interface {
		CheckPosition(mancala.Position) error
	}); ok {
		_ = c.CheckPosition(s.Position())
	}
	r.Legal(s)
	r.Points(s)
	r.Settle(s)
	for a := range math.MaxUint8 + 1 {
		after := r.Next(s, mancala.Action(a))
		r.Legal(after)
		r.Points(after)
		r.Settle(after)
	}
}

// Illegal actions break a precondition; without the build tag that checks it, what comes of them means nothing, but it
// comes.
func TestIllegalActionsDoNotHangOrPanic(t *testing.T) {
	for seed, family := range mancala.Variants() {
		r := rand.New(rand.NewPCG(uint64(seed), streamAbsurd))
		for range 30 {
			spec := shortTurns(randomSpec(r, family))
			d := newDuel(t, spec)
			for range 5 {
				b := studyPosition(r, d.rules.Info(), d.book)
				s, err := mancala.ParseState(d.rules, b.text())
				if err != nil {
					t.Fatal(err)
				}
				within(t, spec+": "+b.text(), func() { everything(d.rules, s) })
			}
		}
	}
}

// Position.State checks nothing, and rules may be handed what it packs.
func TestAbsurdPositionsDoNotHangOrPanic(t *testing.T) {
	for seed, family := range mancala.Variants() {
		r := rand.New(rand.NewPCG(uint64(seed), streamAbsurd+1))
		for range 300 {
			spec := shortTurns(randomSpec(r, family))
			rules := newDuel(t, spec).rules
			p := absurdPosition(r)
			within(t, fmt.Sprintf("%s: %+v", spec, p), func() { everything(rules, p.State()) })
		}
	}
}

// shortTurns bounds the laps, since 256 actions a position that all end in the limit take their time.
func shortTurns(spec string) string {
	family, o, _, err := readSpec(spec)
	if err != nil || o["laps"] == "" {
		return spec
	}
	o["laps"] = fmt.Sprint(min(50, atoi(o["laps"])))
	separator := ":"
	spec = family
	for _, option := range bookOptions[family] {
		spec += separator + option.name + "=" + o[option.name]
		separator = ","
	}
	return spec
}

func absurdPosition(r *rand.Rand) (p mancala.Position) {
	most := []int{2, 4, 20, 100, 256}[r.IntN(5)]
	for player := range p.Pits {
		for pit := range p.Pits[player] {
			p.Pits[player][pit] = uint8(r.IntN(most))
		}
		p.Store[player] = uint8(r.Uint32())
	}
	p.Mover = mancala.Player(r.IntN(4))
	p.Ply, p.Quiet = r.Uint32()>>r.IntN(32), r.Uint32()>>r.IntN(32)
	p.History = mancala.History(r.Uint32())
	if r.IntN(2) == 0 {
		p.Hand = mancala.Hand{
			Seeds: uint8(r.IntN(most)), Pit: uint8(r.IntN([]int{16, 256}[r.IntN(2)])),
			Laps: uint16(r.Uint32() >> r.IntN(32)), Flags: mancala.HandFlags(r.IntN([]int{8, 16, 256}[r.IntN(3)])),
		}
	}
	if r.IntN(4) == 0 {
		p.Reason, p.Winner = mancala.Reason(r.IntN(12)), mancala.Player(r.IntN(4))
	}
	return p
}
