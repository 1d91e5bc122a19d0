package mancala_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// Streams of the generators here; the seed is the family's place in mancala.Variants.
const (
	streamGames = 1 + iota
	streamSpecs
	streamStudies
	streamTexts
)

// The size of the comparison, in plies of a family.
const (
	pliesDefault = 100_000 // default spec, from the start and from study positions, half each
	pliesOptions = 100_000 // shared by randomSpecs specs
	randomSpecs  = 250
	longestGame  = 500 // plies; Omweso knows no bound
	longestStudy = 30  // plies played on from a study position
)

// duel holds the kernel's rules against the book's.
type duel struct {
	t     *testing.T
	rules mancala.Rules
	book  book
	plies int

	full, endless int // plies that led to a pit of 17 or more; turns that had no end
}

func newDuel(t *testing.T, spec string) *duel {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &duel{t: t, rules: r, book: mustOpen(t, spec)}
}

// compare fails unless kernel and book agree about a position. It returns the legal actions.
func (d *duel) compare(s mancala.State, b table) []int {
	d.t.Helper()
	spec, text := d.rules.Info().Spec, mancala.FormatState(d.rules, s)
	if want := b.text(); text != want {
		d.t.Fatalf("%s: position %s, want %s", spec, text, want)
	}
	var legal []int
	for a := range d.rules.Legal(s).All {
		legal = append(legal, int(a))
	}
	if want := d.book.legal(b); !slices.Equal(legal, want) {
		d.t.Fatalf("%s: %s: legal %v, want %v", spec, text, legal, want)
	}
	if got, want := s.Returns(), b.returns(); got != want {
		d.t.Fatalf("%s: %s: returns %v, want %v", spec, text, got, want)
	}
	if got, want := d.rules.Points(s), d.book.points(b); got != want {
		d.t.Fatalf("%s: %s: points %v, want %v", spec, text, got, want)
	}
	if got, want := mancala.FormatState(d.rules, d.rules.Settle(s)), d.book.settle(b).text(); got != want {
		d.t.Fatalf("%s: %s: settled %s, want %s", spec, text, got, want)
	}
	if back, err := mancala.ParseState(d.rules, text); err != nil || back != s {
		d.t.Fatalf("%s: %s: parsed back as %s (%v)", spec, text, mancala.FormatState(d.rules, back), err)
	}
	return legal
}

// next plays one action on both sides and compares what comes of it.
func (d *duel) next(s mancala.State, b table, action int) (mancala.State, table) {
	d.t.Helper()
	before, after := b.text(), s
	s, b = d.rules.Next(s, mancala.Action(action)), d.book.next(b, action)
	d.plies++
	for _, row := range [][mancala.MaxPits]uint8{s.Pits(mancala.South), s.Pits(mancala.North)} {
		if slices.Max(row[:]) >= 17 {
			d.full++
			break
		}
	}
	if s.Reason() == mancala.Endless {
		d.endless++
	}
	if got, want := mancala.FormatState(d.rules, s), b.text(); got != want {
		d.t.Fatalf("%s: %s: action %d leads to %s, want %s", d.rules.Info().Spec, before, action, got, want)
	}
	legal := mancala.Advancing(d.rules).Advance(&after, mancala.Action(action))
	if after != s || legal != d.rules.Legal(s) {
		d.t.Fatalf("%s: %s: action %d advances to %s with legal %b, want %s with %b", d.rules.Info().Spec, before, action,
			mancala.FormatState(d.rules, after), legal, b.text(), d.rules.Legal(s))
	}
	return s, b
}

// walk plays at most so many random plies.
func (d *duel) walk(r *rand.Rand, s mancala.State, b table, plies int) {
	d.t.Helper()
	for range plies {
		legal := d.compare(s, b)
		if len(legal) == 0 {
			return
		}
		s, b = d.next(s, b, legal[r.IntN(len(legal))])
	}
	d.compare(s, b)
}

// game plays from the start.
func (d *duel) game(r *rand.Rand) {
	d.t.Helper()
	d.walk(r, d.rules.Start(), d.book.start(), longestGame)
}

// study plays every action of a constructed position, and on from it.
func (d *duel) study(r *rand.Rand) {
	d.t.Helper()
	b := studyPosition(r, d.rules.Info(), d.book)
	s, err := mancala.ParseState(d.rules, b.text())
	if err != nil {
		d.t.Fatal(err)
	}
	for _, action := range d.compare(s, b) {
		after, want := d.next(s, b, action)
		d.compare(after, want)
	}
	d.walk(r, s, b, longestStudy)
}

func TestKernelPlaysAsTheBook(t *testing.T) {
	for seed, family := range mancala.Variants() {
		t.Run(family, func(t *testing.T) {
			games := rand.New(rand.NewPCG(uint64(seed), streamGames))
			studies := rand.New(rand.NewPCG(uint64(seed), streamStudies))
			specs := rand.New(rand.NewPCG(uint64(seed), streamSpecs))
			d := newDuel(t, family)
			for d.plies < pliesDefault/2 {
				d.game(games)
			}
			for d.plies < pliesDefault {
				d.study(studies)
			}
			full, endless := d.full, d.endless
			for range randomSpecs {
				d := newDuel(t, randomSpec(specs, family))
				for d.plies < pliesOptions/randomSpecs/4 {
					d.game(games)
				}
				for d.plies < pliesOptions/randomSpecs {
					d.study(studies)
				}
				full += d.full
				endless += d.endless
			}
			relays := d.rules.Info().Laps > 0
			if full < 100 || relays && endless < 100 {
				t.Errorf("%d plies that led to full pits, %d turns without end: want 100 and, where laps relay, 100", full, endless)
			}
		})
	}
}

// Every Modiar board of few seeds, and every one of fewer beside one large pit: the kernel plays from tables by pit and
// handful, and examines only plays that may be slams.
func TestModiarPlaysEverySmallBoardAsTheBook(t *testing.T) {
	const few, fewer, quiet = 8, 4, 9
	var duels []*duel
	for _, slam := range []string{"illegal", "forced", "nocapture", "allowed"} {
		for _, cycle := range []string{"split", "owner"} {
			duels = append(duels, newDuel(t, fmt.Sprintf("modiar:grandslam=%s,cycle=%s,quiet=%d", slam, cycle, quiet)))
		}
	}
	pits, turn, boards := make([]int, 6), 0, 0
	play := func(d *duel, ply, quiet int) {
		turn++
		b := table{mover: turn % 2, ply: ply, quiet: quiet}
		b.pits[b.mover], b.pits[1-b.mover] = pits[:3], pits[3:]
		b.stores[south] = (42 - sum(pits)) / (1 + turn%3)
		b.stores[north] = 42 - sum(pits) - b.stores[south]
		s, err := mancala.ParseState(d.rules, b.text())
		if err != nil {
			t.Fatal(err)
		}
		for _, action := range d.compare(s, b) {
			d.next(s, b, action)
		}
	}
	var fill func(place, left int)
	fill = func(place, left int) {
		if place < len(pits) {
			for n := range left + 1 {
				pits[place] = n
				fill(place+1, left-n)
			}
			return
		}
		boards++
		for _, d := range duels {
			play(d, 0, 0) // M6
			play(d, 1, 0)
			play(d, 1, quiet-1) // C1
		}
		if few-left > fewer {
			return
		}
		for place, n := range pits {
			for pits[place] = few + 1; sum(pits) <= 42; pits[place]++ {
				play(duels[turn%len(duels)], 1, 0)
			}
			pits[place] = n
		}
	}
	fill(0, few)
	if boards != 3003 { // 14 over 6
		t.Errorf("%d boards, want 3003", boards)
	}
}

// Positions that the kernel once got wrong stay here, each with every action.
func TestPositionsOnceWrongFollowTheBook(t *testing.T) {
	for _, c := range [][2]string{
		// The arranging of a thin study board ends with nothing for South to sow (O12).
		{"omweso:setup=arrange", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1/2,2,2,2,2,2,2,2,2,2,2,2,2,2,2,0 a2@15 N - 0 31"},
	} {
		d, b := newDuel(t, c[0]), lay(c[1])
		s, err := mancala.ParseState(d.rules, c[1])
		if err != nil {
			t.Fatal(err)
		}
		for _, action := range d.compare(s, b) {
			after, want := d.next(s, b, action)
			d.compare(after, want)
		}
	}
}

// randomSpec draws each option of the family from all that mancala.Options allows, so that none is forgotten.
func randomSpec(r *rand.Rand, family string) string {
	var list []string
	for _, o := range mancala.Options(family) {
		if r.IntN(2) == 0 {
			continue
		}
		value := ""
		if lo, hi, ok := strings.Cut(o.Allowed, "–"); ok {
			value = strconv.Itoa(randomNumber(r, atoi(lo), atoi(hi)))
		} else {
			words := strings.Split(o.Allowed, ", ")
			value = words[r.IntN(len(words))]
		}
		list = append(list, o.Name+"="+value)
	}
	if list == nil {
		return family
	}
	return family + ":" + strings.Join(list, ",")
}

// randomNumber prefers the low end, where limits are reached.
func randomNumber(r *rand.Rand, lo, hi int) int {
	switch r.IntN(6) {
	case 0:
		return lo
	case 1:
		return hi
	case 2:
		return lo + r.IntN(hi-lo+1)
	}
	return lo + r.IntN(min(20, hi-lo+1))
}

// studyPosition lays a random position that the rules allow, of a kind that games seldom reach.
func studyPosition(r *rand.Rand, info mancala.Info, b book) (t table) {
	t.pits = [2][]int{filled(info.Pits, 0), filled(info.Pits, 0)}
	t.mover = r.IntN(2)
	t.ply = []int{0, 1, r.IntN(1000), 3_999_999_000}[r.IntN(4)]
	t.quiet = max(0, []int{0, r.IntN(info.Quiet + 1), info.Quiet - 1 - r.IntN(3), info.Quiet + r.IntN(2)}[r.IntN(4)])
	free := r.IntN(info.Seeds + 1) // to be laid; the others are in store or missing
	if r.IntN(3) == 0 {
		free = info.Seeds
	}
	put := func(player, pit, seeds int) {
		seeds = min(seeds, free)
		t.pits[player][pit] += seeds
		free -= seeds
	}
	strew := func(seeds int) {
		for range min(seeds, free) {
			put(r.IntN(2), r.IntN(info.Pits), 1)
		}
	}
	switch r.IntN(8) {
	case 0: // all of them anywhere
		strew(free)
	case 1: // few
		strew(1 + r.IntN(8))
	case 2: // a row that is nearly empty
		for range free {
			put(t.mover, r.IntN(info.Pits), 1)
		}
		if free = r.IntN(2); free > 0 && sum(t.pits[t.mover]) < info.Seeds {
			put(1-t.mover, r.IntN(info.Pits), 1)
		}
	case 3: // a large pit or two
		put(t.mover, r.IntN(info.Pits), 17+r.IntN(24))
		put(r.IntN(2), r.IntN(info.Pits), 15+r.IntN(8))
		strew(r.IntN(free + 1))
	case 4: // single seeds
		for player := range t.pits {
			for pit := range info.Pits {
				put(player, pit, r.IntN(2))
			}
		}
		put(r.IntN(2), r.IntN(info.Pits), r.IntN(3))
	case 5, 6: // small pits, where chains and relays are long
		most := 2 + r.IntN(4)
		for player := range t.pits {
			for pit := range info.Pits {
				put(player, pit, r.IntN(most+1))
			}
		}
	case 7: // hardly a gap, so that relays do not end
		for player := range t.pits {
			for pit := range info.Pits {
				put(player, pit, 1+r.IntN(3))
			}
		}
		strew(r.IntN(free + 1))
	}
	if r.IntN(4) == 0 {
		t.mover = 1 - t.mover
	}
	if o, ok := b.(omwesoBook); ok {
		return o.studyTurn(r, t)
	}
	free = info.Seeds - sum(t.ring())
	if r.IntN(4) == 0 {
		free = r.IntN(free + 1)
	}
	t.stores[south] = r.IntN(free + 1)
	t.stores[north] = free - t.stores[south]
	return t
}

// studyTurn adds what only Omweso has: history, a choice within the turn, arranging.
func (b omwesoBook) studyTurn(r *rand.Rand, t table) table {
	t.finished = [2]bool{r.IntN(4) > 0, r.IntN(4) > 0}
	t.captured = [2]bool{t.finished[south] && r.IntN(3) == 0, t.finished[north] && r.IntN(3) == 0}
	if b.setup == "arrange" && r.IntN(2) == 0 {
		return b.studyArrangement(r, t)
	}
	if r.IntN(4) == 0 { // an opponent with nothing but columns to capture, mostly those at the ends
		spare := 64 - sum(t.pits[t.mover])
		t.pits[1-t.mover] = filled(16, 0)
		for _, column := range [][]int{{0, 7}, {7, 0}, {0, 7, r.IntN(8)}, {r.IntN(8), r.IntN(8)}, {7}}[r.IntN(5)] {
			for _, pit := range []int{column, 15 - column} {
				seeds := min(1+r.IntN(4), spare)
				t.pits[1-t.mover][pit] += seeds
				spare -= seeds
			}
		}
	}
	if r.IntN(2) == 0 {
		return t
	}
	spare := 64 - sum(t.pits[south]) - sum(t.pits[north])
	for range 20 { // a choice within the turn, if one can be found
		ref := reversePits[r.IntN(4)]
		choice, seeds := t.lift(ref)
		if spare > 0 {
			seeds += r.IntN(min(spare+1, 24))
		}
		if seeds < 2 || !b.mayTurn(choice, ref, seeds) {
			continue
		}
		choice.hand = held{any: true, seeds: seeds, ref: ref, laps: 1 + r.IntN(min(b.laps, 12))}
		if r.IntN(4) == 0 {
			choice.hand.laps = b.laps
		}
		if r.IntN(2) == 0 {
			choice.hand.captured = true
			choice.hand.left, choice.hand.right = r.IntN(2) == 0, r.IntN(2) == 0
			if choice.hand.left && choice.hand.right && b.emitwe {
				choice.hand.right = false // it would have won
			}
		}
		return choice
	}
	return t
}

// studyArrangement lays the pits that a player has filled so far, with seeds in hand that still fit. As on any study
// board there may be fewer seeds than the variant has.
func (b omwesoBook) studyArrangement(r *rand.Rand, t table) table {
	t.finished, t.captured = [2]bool{}, [2]bool{}
	t.pits = [2][]int{filled(16, 0), filled(16, 0)}
	t.quiet = 0
	next := r.IntN(16)
	fill := func(player, pits int) (left int) {
		left = []int{32, 32, 32, r.IntN(33), r.IntN(17)}[r.IntN(5)]
		most := b.pitcap
		if left <= 16 {
			most = 1 // spread so thin that nothing can be sown
		}
		for pit := range pits {
			seeds := max(r.IntN(min(most, left)+1), left-(15-pit)*most)
			t.pits[player][pit] = seeds
			left -= seeds
		}
		return left
	}
	t.ply = next
	if t.mover == north {
		t.ply += 16
		fill(south, 16)
	}
	t.hand = held{any: true, arranging: true, seeds: fill(t.mover, next), ref: next}
	return t
}

// alphabet holds what texts are made of, and some that they are not.
const alphabet = "0123456789,,//--++@@acLRsnyzSN=##::  .xé"

// tamper puts another hand into some of the positions that have one.
func tamper(r *rand.Rand, t table) table {
	if !t.hand.any || r.IntN(3) > 0 {
		return t
	}
	t.hand.seeds = r.IntN(4)
	if t.hand.arranging {
		t.hand.seeds = r.IntN(34)
		return t
	}
	t.hand.laps = r.IntN(4)
	t.hand.captured, t.hand.left, t.hand.right = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
	return t
}

// damage makes a few changes in a text.
func damage(r *rand.Rand, text string) string {
	for range r.IntN(4) {
		at := r.IntN(len(text) + 1)
		end := min(len(text), at+1)
		letter := alphabet[r.IntN(len(alphabet))]
		switch r.IntN(7) {
		case 0:
			text = text[:at] + text[end:]
		case 1:
			text = text[:at] + string(letter) + text[at:]
		case 2:
			text = text[:at] + string(letter) + text[end:]
		case 3: // another number, field, letter from the same text
			from := r.IntN(len(text) + 1)
			text = text[:at] + text[from:min(len(text), from+1+r.IntN(4))] + text[end:]
		case 4:
			all := numbers.FindAllStringIndex(text, -1)
			if len(all) == 0 {
				continue
			}
			n := all[r.IntN(len(all))]
			edge := []string{"0", "1", "2", "15", "16", "17", "32", "33", "64", "65", "255", "256", "258", "60000", "65535", "65536",
				"65537", "4000000000", "4000000001", "4294967296", "18446744073709551616", "00", "01", "+1", "-1", "1e1", ""}
			text = text[:n[0]] + edge[r.IntN(len(edge))] + text[n[1]:]
		case 5:
			names := []string{"nomoves", "cycle", "endless", "cleared", "akawumbi", "okutema", "akakyala", "bulijo", "", "unknown"}
			text += " #" + names[r.IntN(len(names))] + ":" + []string{"S", "N", "=", "S=", ""}[r.IntN(5)]
		case 6:
			fields := strings.Split(text, " ")
			i, j := r.IntN(len(fields)), r.IntN(len(fields))
			fields[i], fields[j] = fields[j], fields[i]
			text = strings.Join(fields, " ")
		}
	}
	return text
}

func TestTextsAreReadAsTheBook(t *testing.T) {
	for seed, family := range mancala.Variants() {
		r := rand.New(rand.NewPCG(uint64(seed), streamTexts))
		taken := 0
		for range 300 {
			d := newDuel(t, randomSpec(r, family))
			info := d.rules.Info()
			form := positionForm(family, info.Pits)
			for range 60 {
				b := studyPosition(r, info, d.book)
				if legal := d.book.legal(b); len(legal) > 0 && r.IntN(2) == 0 {
					b = d.book.next(b, legal[r.IntN(len(legal))])
				}
				text := damage(r, tamper(r, b).text())
				s, err := mancala.ParseState(d.rules, text)
				if want := readable(family, d.book, form, info, text); want != (err == nil) {
					t.Fatalf("%s: position %q: the book reads it: %v, the kernel: %v", info.Spec, text, want, err)
				}
				if err != nil {
					continue
				}
				taken++
				if got := mancala.FormatState(d.rules, s); got != text {
					t.Fatalf("%s: position %q printed as %q", info.Spec, text, got)
				}
				d.compare(s, lay(text))
			}
		}
		if taken < 4000 || taken > 14_000 {
			t.Errorf("%s: %d of 18000 texts are positions: too few of the one or the other kind", family, taken)
		}
	}
}

func TestSpecsAreReadAsTheBook(t *testing.T) {
	r := rand.New(rand.NewPCG(0, streamTexts))
	for range 4000 {
		family := mancala.Variants()[r.IntN(len(mancala.Variants()))]
		spec := randomSpec(r, family)
		family, list, _ := strings.Cut(spec, ":")
		items := strings.Split(list, ",")
		r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
		spec = family + ":" + strings.Join(items, ",")
		if r.IntN(2) == 0 {
			spec = damage(r, spec)
		}
		_, _, want, wantErr := readSpec(spec)
		rules, err := mancala.Parse(spec)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("spec %q: %v, the book: %v", spec, err, wantErr)
		}
		if err == nil && rules.Info().Spec != want {
			t.Fatalf("spec %q printed as %q, want %q", spec, rules.Info().Spec, want)
		}
	}
}

// The book has to learn a new option before the kernel may play it.
func TestBookKnowsEveryOption(t *testing.T) {
	for _, family := range mancala.Variants() {
		var want []mancala.Option
		for _, o := range bookOptions[family] {
			allowed := strings.Join(o.words, ", ")
			if o.words == nil {
				allowed = strconv.Itoa(o.lo) + "–" + strconv.Itoa(o.hi)
			}
			want = append(want, mancala.Option{Name: o.name, Allowed: allowed, Default: o.fallback(nil)})
		}
		if got := mancala.Options(family); !slices.Equal(got, want) {
			t.Errorf("%s: options %v, the book has %v", family, got, want)
		}
	}
}
