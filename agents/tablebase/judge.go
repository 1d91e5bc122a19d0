package tablebase

import (
	"fmt"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Verdict says what an action gives away under perfect play after it.
type Verdict struct {
	Loss   int  // of store difference, 0 for a best action
	Turned bool // it changes the outcome (won, drawn, lost), the stores so far included
}

// Judge judges action a of s. ok is false where there is nothing to judge: if an action leads out of the table, if an endless turn could be
// of use in s or after an action, and if no legal action loses anything. It fails for an action that is not legal. It allocates nothing.
func (t *Table) Judge(s mancala.State, a mancala.Action) (v Verdict, ok bool, err error) {
	var room [64]Choice
	list, known := t.Choices(s, room[:0])
	best, worst, chosen, marked := -maxSeeds, maxSeeds, -1, false
	for i, c := range list {
		marked = marked || c.Marked || c.Endless
		if c.Action == a {
			chosen = i
		}
		best, worst = max(best, c.Value), min(worst, c.Value)
	}
	if !t.free.Legal(s).Has(a) {
		return v, false, fmt.Errorf("tablebase: %s: action %d is not legal", mancala.FormatState(t.rules, s), a)
	}
	if !known || marked || best <= worst {
		return v, false, nil
	}
	mover := s.Mover()
	lead := s.Store(mover) - s.Store(mover.Opponent())
	got := list[chosen].Value
	return Verdict{Loss: best - got, Turned: outcome(lead+best) != outcome(lead+got)}, true, nil
}

// outcome is 1, 0 or −1 for a final store difference.
func outcome(difference int) int {
	switch {
	case difference > 0:
		return 1
	case difference < 0:
		return -1
	}
	return 0
}

// Longest returns a position of the largest distance in the table, South to move, with empty stores: the first of those with the
// fewest seeds.
func (t *Table) Longest() mancala.State {
	best, seeds := -1, 0
	for k, l := range t.levels {
		if l.Longest > best {
			best, seeds = l.Longest, k
		}
	}
	b := t.index.at(0, seeds)
	for n := range t.away[seeds] {
		if n > 0 {
			t.index.next(&b)
		}
		if t.entry(seeds, uint32(n)).Distance == min(best, longestKept) {
			break
		}
	}
	return t.index.state(&b)
}

// Line is best play from s, of equal actions the lowest, to the end of the game. It stops before that where play goes round for ever, at an
// endless turn and at the edge of the table. The quiet limit is not looked at.
func (t *Table) Line(s mancala.State) (line []mancala.Action) {
	var room [64]Choice
	for !s.Over() {
		list, ok := t.Choices(s, room[:0])
		if !ok || len(list) == 0 || Best(list).Distance == Never {
			break
		}
		a := Play(list).First()
		p := s.Position()
		p.Quiet = 0
		next := t.free.Next(p.State(), a)
		if next.Reason() == mancala.Endless {
			break
		}
		line = append(line, a)
		s = next
	}
	return line
}
