package mancala_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The files literal_*_test.go are a second rule book: every variant seed by seed on plain slices, in the order of its
// clauses and with no regard for speed. It shares nothing with the kernel but the texts of specs and positions, so that
// a misreading has to be made twice to stay hidden. TestBookFollowsTheVectors holds the book itself to the vectors.

// The players of the book; nobody is the winner of a draw.
const (
	south = iota
	north
	nobody
)

// table is a position as it lies on the table.
type table struct {
	pits   [2][]int // by player, each row in its owner's count
	stores [2]int   // by player; two-row games
	mover  int
	quiet  int
	ply    int

	hand     held    // Omweso
	finished [2]bool // by player: has finished a turn; Omweso
	captured [2]bool // by player: has captured in a finished turn; Omweso

	reason string // "" while the game goes on
	winner int    // counts only with a reason
}

// held is what an Omweso player has in hand within a turn, or while arranging.
type held struct {
	any       bool
	arranging bool
	seeds     int
	ref       int  // the reference pit; while arranging, the next pit
	laps      int  // of this turn, so far
	captured  bool // c
	left      bool // L
	right     bool // R
}

// book is the rule book of one spec.
type book interface {
	start() table
	legal(t table) []int // ascending
	next(t table, action int) table
	settle(t table) table
	points(t table) [2]int
}

// bookOption is an option: of words, the first the default, or of whole numbers.
type bookOption struct {
	name        string
	words       []string
	lo, hi, def int
}

func wordOption(name string, words ...string) bookOption { return bookOption{name: name, words: words} }

// The two limits of C1 and C3.
var (
	quietOption = bookOption{name: "quiet", lo: 1, hi: 60000, def: 100}
	lapsOption  = bookOption{name: "laps", lo: 1, hi: 60000, def: 10000}
)

// bookOptions holds the options of each variant in the order in which specs are printed.
var bookOptions = map[string][]bookOption{
	"urim": {wordOption("pits", "6", "7"), wordOption("seeds", "3", "4"), wordOption("cap", "skip", "illegal", "off"),
		wordOption("grandslam", "nocapture", "allowed"), wordOption("cycle", "split", "owner"), quietOption},
	"modiar": {wordOption("grandslam", "illegal", "forced", "nocapture", "allowed"), wordOption("cycle", "split", "owner"),
		quietOption},
	"hoyito2": {wordOption("pits", "6", "12"), wordOption("direction", "cw", "ccw"), wordOption("side", "both", "opponent"),
		wordOption("cycle", "split", "owner"), quietOption, lapsOption},
	"omweso": {wordOption("setup", "outer4", "all2", "arrange"), {name: "pitcap", lo: 2, hi: 32, def: 10},
		wordOption("reverse", "on", "off"), wordOption("reverse-resow", "any", "reverse"), wordOption("okwesera", "on", "off"),
		wordOption("first-capture", "banned", "allowed"), wordOption("emitwe", "on", "off"),
		wordOption("akawumbi", "end", "both", "off"), wordOption("frontrow", "on", "off"), wordOption("akakyala", "off", "on"),
		quietOption, lapsOption},
	"oware": {wordOption("cycle", "split", "owner"), quietOption},
}

// fallback is the value of an option that is not given.
func (o bookOption) fallback(given map[string]string) string {
	switch {
	case o.words != nil:
		return o.words[0]
	case o.name == "quiet" && given["pits"] == "12":
		return "300"
	}
	return strconv.Itoa(o.def)
}

func (o bookOption) takes(value string) bool {
	if o.words != nil {
		return slices.Contains(o.words, value)
	}
	n, err := strconv.Atoi(value)
	return err == nil && strconv.Itoa(n) == value && o.lo <= n && n <= o.hi
}

// readSpec reads a spec and prints it canonically. An unknown name, option or value, an option given twice and an empty
// list are errors.
func readSpec(spec string) (family string, o map[string]string, canonical string, err error) {
	family, list, listed := strings.Cut(spec, ":")
	options, ok := bookOptions[family]
	if !ok {
		return "", nil, "", fmt.Errorf("the book has no %q", family)
	}
	o = map[string]string{}
	if listed {
		for _, item := range strings.Split(list, ",") {
			name, value, _ := strings.Cut(item, "=")
			at := slices.IndexFunc(options, func(o bookOption) bool { return o.name == name })
			if at < 0 || o[name] != "" || !options[at].takes(value) {
				return "", nil, "", fmt.Errorf("the book of %s has no %q", family, item)
			}
			o[name] = value
		}
	}
	canonical = family
	between := ":"
	for _, option := range options {
		fallback := option.fallback(o)
		if o[option.name] == "" {
			o[option.name] = fallback
		}
		if o[option.name] != fallback {
			canonical += between + option.name + "=" + o[option.name]
			between = ","
		}
	}
	return family, o, canonical, nil
}

// openBook opens the rule book at a spec. What it does not know it has to learn before the kernel may play it.
func openBook(spec string) (book, error) {
	family, o, _, err := readSpec(spec)
	if err != nil {
		return nil, err
	}
	number := func(name string) int { return atoi(o[name]) }
	switch family {
	case "urim":
		return urimBook{pits: number("pits"), seeds: number("seeds"), cap: o["cap"], slam: o["grandslam"],
			chain: []int{2, 3, 4}, graded: true, cycle: o["cycle"], quiet: number("quiet")}, nil
	case "oware":
		return urimBook{pits: 6, seeds: 4, cap: "off", slam: "nocapture",
			chain: []int{2, 3}, cycle: o["cycle"], quiet: number("quiet")}, nil
	case "modiar":
		return modiarBook{slam: o["grandslam"], cycle: o["cycle"], quiet: number("quiet")}, nil
	case "hoyito2":
		return hoyitoBook{pits: number("pits"), clockwise: o["direction"] == "cw", both: o["side"] == "both",
			cycle: o["cycle"], quiet: number("quiet"), laps: number("laps")}, nil
	}
	return omwesoBook{setup: o["setup"], pitcap: number("pitcap"), reverse: o["reverse"] == "on",
		anyResow: o["reverse-resow"] == "any", okwesera: o["okwesera"] == "on", firstCapture: o["first-capture"] == "allowed",
		emitwe: o["emitwe"] == "on", akawumbi: o["akawumbi"], frontRow: o["frontrow"] == "on",
		akakyala: o["akakyala"] == "on", quiet: number("quiet"), laps: number("laps")}, nil
}

func (t table) clone() table {
	t.pits = [2][]int{slices.Clone(t.pits[south]), slices.Clone(t.pits[north])}
	return t
}

func (t table) over() bool { return t.reason != "" }

func (t table) end(reason string, winner int) table {
	t.reason, t.winner = reason, winner
	return t
}

func (t table) returns() [2]int {
	switch {
	case t.over() && t.winner == south:
		return [2]int{1, -1}
	case t.over() && t.winner == north:
		return [2]int{-1, 1}
	}
	return [2]int{}
}

func sum(pits []int) (seeds int) {
	for _, n := range pits {
		seeds += n
	}
	return seeds
}

func filled(pits, seeds int) []int { return slices.Repeat([]int{seeds}, pits) }

// text prints a position; rows of 16 are Omweso's.
func (t table) text() string {
	var b strings.Builder
	for player, row := range t.pits {
		if player == north {
			b.WriteByte('/')
		}
		for i, n := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.Itoa(n))
		}
	}
	mover := "SN"[t.mover : t.mover+1]
	if len(t.pits[south]) == 16 {
		fmt.Fprintf(&b, " %s %s %s %d %d", t.hand, mover, t.history(), t.quiet, t.ply)
	} else {
		fmt.Fprintf(&b, " %d-%d %s %d %d", t.stores[south], t.stores[north], mover, t.quiet, t.ply)
	}
	if t.over() {
		fmt.Fprintf(&b, " #%s:%c", t.reason, "SN="[t.winner])
	}
	return b.String()
}

func (h held) String() string {
	switch {
	case !h.any:
		return "-"
	case h.arranging:
		return fmt.Sprintf("a%d@%d", h.seeds, h.ref)
	}
	text := fmt.Sprintf("%d@%d+%d", h.seeds, h.ref, h.laps)
	for _, note := range []struct {
		holds  bool
		letter string
	}{{h.captured, "c"}, {h.left, "L"}, {h.right, "R"}} {
		if note.holds {
			text += note.letter
		}
	}
	return text
}

func (t table) history() (text string) {
	for _, note := range []struct {
		holds  bool
		letter string
	}{{t.finished[south], "s"}, {t.finished[north], "n"}, {t.captured[south], "y"}, {t.captured[north], "z"}} {
		if note.holds {
			text += note.letter
		}
	}
	if text == "" {
		return "-"
	}
	return text
}

// lay reads a position text that is known to be well formed.
func lay(text string) (t table) {
	fields := strings.Fields(text)
	for player, row := range strings.Split(fields[0], "/") {
		for _, pit := range strings.Split(row, ",") {
			t.pits[player] = append(t.pits[player], atoi(pit))
		}
	}
	rest := fields[3:]
	if len(t.pits[south]) == 16 {
		t.hand = layHand(fields[1])
		t.finished = [2]bool{strings.Contains(fields[3], "s"), strings.Contains(fields[3], "n")}
		t.captured = [2]bool{strings.Contains(fields[3], "y"), strings.Contains(fields[3], "z")}
		rest = fields[4:]
	} else {
		south, north, _ := strings.Cut(fields[1], "-")
		t.stores = [2]int{atoi(south), atoi(north)}
	}
	t.mover = strings.Index("SN", fields[2])
	t.quiet, t.ply = atoi(rest[0]), atoi(rest[1])
	if len(rest) == 3 {
		reason, winner, _ := strings.Cut(rest[2][1:], ":")
		return t.end(reason, strings.Index("SN=", winner))
	}
	return t
}

func layHand(text string) (h held) {
	if text == "-" {
		return h
	}
	h.any = true
	seeds, rest, _ := strings.Cut(text, "@")
	if h.arranging = seeds[0] == 'a'; h.arranging {
		h.seeds, h.ref = atoi(seeds[1:]), atoi(rest)
		return h
	}
	ref, laps, _ := strings.Cut(rest, "+")
	h.seeds, h.ref, h.laps = atoi(seeds), atoi(ref), atoi(strings.TrimRight(laps, "cLR"))
	h.captured = strings.Contains(laps, "c")
	h.left, h.right = strings.Contains(laps, "L"), strings.Contains(laps, "R")
	return h
}

func atoi(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return n
}
