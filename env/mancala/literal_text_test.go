package mancala_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// mostPlies bounds the counters of a position text.
const mostPlies = 4_000_000_000

const (
	numberForm  = `(0|[1-9][0-9]*)`
	historyForm = `(-|s?n?y?z?)`
	handForm    = `(-|` + numberForm + `@` + numberForm + `\+` + numberForm + `c?L?R?|a` + numberForm + `@` + numberForm + `)`
)

var numbers = regexp.MustCompile(numberForm)

// reasons lists the reasons of a variant; the value tells who may be the winner.
var reasons = map[string]map[string]string{
	"urim":    {"nomoves": "SN=", "cycle": "SN="},
	"modiar":  {"nomoves": "SN=", "cycle": "SN="},
	"oware":   {"nomoves": "SN=", "cycle": "SN="},
	"hoyito2": {"cleared": "SN=", "cycle": "SN=", "endless": "="},
	"omweso":  {"akawumbi": "SN", "okutema": "SN", "akakyala": "SN", "bulijo": "SN", "cycle": "=", "endless": "="},
}

// positionForm is the form of a position text of the variant but for its end, with so many pits a player.
func positionForm(family string, pits int) *regexp.Regexp {
	row := numberForm + strings.Repeat(`,`+numberForm, pits-1)
	between := numberForm + `-` + numberForm + ` [SN]`
	if family == "omweso" {
		between = handForm + ` [SN] ` + historyForm
	}
	return regexp.MustCompile(`^` + row + `/` + row + ` ` + between + ` ` + numberForm + ` ` + numberForm + `$`)
}

// readable tells whether a text of the form, up to its end, is a position of the variant.
func readable(family string, b book, form *regexp.Regexp, info mancala.Info, text string) bool {
	end := ""
	if place := strings.Index(text, " #"); place >= 0 {
		text, end = text[:place], text[place+2:]
		reason, winner, _ := strings.Cut(end, ":")
		if allowed := reasons[family][reason]; len(winner) != 1 || !strings.Contains(allowed, winner) {
			return false
		}
	}
	if !form.MatchString(text) {
		return false
	}
	for i, n := range numbers.FindAllString(text, -1) {
		most := 1 << 16
		if i >= 2*info.Pits {
			most = mostPlies
		}
		if n, err := strconv.Atoi(n); err != nil || n > most {
			return false // too large for the count below
		}
	}
	if strings.Contains(text, "  ") { // an empty history is -
		return false
	}
	if end != "" {
		text += " #" + end
	}
	t := lay(text)
	if sum(t.pits[south])+sum(t.pits[north])+sum(t.stores[:])+t.hand.seeds > info.Seeds {
		return false
	}
	o, ok := b.(omwesoBook)
	return !ok || o.holdable(t)
}

// holdable tells whether the hand is one that play leads to, as far as the position shows it.
func (b omwesoBook) holdable(t table) bool {
	h := t.hand
	switch {
	case !h.any:
		return true
	case h.arranging:
		return !t.over() && b.arrangeable(t)
	case h.ref > 15, h.seeds < 2, h.laps < 1, h.laps > b.laps:
		return false
	case (h.left || h.right) && !h.captured:
		return false
	}
	switch t.reason {
	case "akawumbi", "okutema": // O9
		return h.left || h.right
	case "", "endless": // O13, C3
		return b.mayTurn(t, h.ref, h.seeds)
	}
	return false
}

// arrangeable tells whether a position may stand while arranging (O1).
func (b omwesoBook) arrangeable(t table) bool {
	if b.setup != "arrange" || t.quiet > 0 || t.history() != "-" || t.hand.ref > 15 {
		return false
	}
	filling, waiting := t.pits[t.mover][:t.hand.ref], t.pits[t.mover][t.hand.ref:]
	if t.mover == south {
		waiting = slices.Concat(waiting, t.pits[north])
	} else if other := t.pits[south]; sum(other) > 32 || slices.Max(other) > b.pitcap {
		return false
	}
	if sum(waiting) > 0 || sum(filling)+t.hand.seeds > 32 {
		return false
	}
	return (len(filling) == 0 || slices.Max(filling) <= b.pitcap) && t.hand.seeds <= (16-t.hand.ref)*b.pitcap
}
