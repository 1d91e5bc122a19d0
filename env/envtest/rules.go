// Package envtest holds what every variant and every environment must pass: CheckRules plays random games and
// checks the laws of the kernel at each position, CheckEnv does the same for the contract of env.Env, and Perft
// counts action sequences, to be held against published figures.
//
// The checks return an error that names the broken law and the position, rather than failing a test, so they
// can be used from a program too.
package envtest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"github.com/mancalagym/mancalagym/env/mancala"
)

// The streams of rand.NewPCG.
const (
	streamRules = 0x72756c65 // of CheckRules' seed, plus the game's number: its actions
	streamEnv   = 0x656e76   // of an episode's seed: its actions in CheckEnv
)

// MaxPlies is the length at which a random game counts as endless.
const MaxPlies = 100_000

// CheckRules plays random games by r and returns the first breach of a law of the kernel, nil if there is none:
//
//   - the start is at ply 0, South's, not over, with no quiet plies, and always the same;
//   - seeds are conserved: board, stores and hand together hold all of them (South's half only while South
//     arranges; one may be missing after the split of C2);
//   - the legal actions are within the action space, and there are none exactly when the game is over;
//   - Legal, Next, Settle and Points of the same arguments are the same, and Settle changes nothing;
//   - the ply grows by one; the quiet count grows by one or becomes 0, and stands still while players arrange;
//   - returns are zero-sum and agree with the winner; match points go to the winner alone, and to nobody before
//     the end or when the game is annulled; the reason is one of the variant's, and none before the end;
//   - the text of a position parses to the same position;
//   - the players are alike: exchanging them, in any position but those of the arrangement, exchanges them in
//     what follows;
//   - Legal and Next allocate nothing;
//   - games end, within MaxPlies.
func CheckRules(r mancala.Rules, games int, seed uint64) error {
	if err := checkStart(r); err != nil {
		return err
	}
	k := checker{rules: r, info: r.Info()}
	for n := range games {
		if err := k.game(rand.New(rand.NewPCG(seed, streamRules+uint64(n)))); err != nil {
			return fmt.Errorf("envtest: %s: game %d of seed %d: %w", k.info.Spec, n, seed, err)
		}
	}
	return nil
}

func checkStart(r mancala.Rules) error {
	if r == nil {
		return errors.New("envtest: rules nil: want those of a variant")
	}
	info, s := r.Info(), r.Start()
	switch {
	case s != r.Start():
		return fmt.Errorf("envtest: %s: start: two calls differ", info.Spec)
	case s.Ply() != 0 || s.Quiet() != 0 || s.Mover() != mancala.South || s.Over():
		return fmt.Errorf("envtest: %s: start: %s: want South to move at ply 0, quiet 0, not over", info.Spec, mancala.FormatState(r, s))
	case info.Actions < 1 || info.Actions > 64:
		return fmt.Errorf("envtest: %s: action space of %d: want 1 to 64", info.Spec, info.Actions)
	}
	return nil
}

// checker holds one variant and the game in progress.
type checker struct {
	rules   mancala.Rules
	info    mancala.Info
	states  []mancala.State
	actions []mancala.Action
	text    []byte
}

func (k *checker) game(rng *rand.Rand) error {
	k.states, k.actions = k.states[:0], k.actions[:0]
	s := k.rules.Start()
	for {
		legal, err := k.position(s)
		if err != nil {
			return fmt.Errorf("%w, in %s", err, mancala.FormatState(k.rules, s))
		}
		k.states = append(k.states, s)
		if legal == 0 {
			break
		}
		if len(k.actions) == MaxPlies {
			return fmt.Errorf("length: not over after %d plies: want games to end", MaxPlies)
		}
		a := legal.Nth(rng.IntN(legal.Len()))
		next, err := k.ply(s, a)
		if err != nil {
			return fmt.Errorf("%w, action %d in %s", err, a, mancala.FormatState(k.rules, s))
		}
		k.actions = append(k.actions, a)
		s = next
	}
	return k.allocations()
}

// position checks what holds for one position, and returns its legal actions.
func (k *checker) position(s mancala.State) (mancala.Mask, error) {
	r := k.rules
	legal := r.Legal(s)
	if again := r.Legal(s); again != legal {
		return 0, fmt.Errorf("determinism: Legal is %#x and then %#x", legal, again)
	}
	if r.Settle(s) != s {
		return 0, fmt.Errorf("settle: a position reached by play is changed")
	}
	if got, want := seeds(s), k.seeds(s); got != want && !(k.split(s) && got == want-1) {
		return 0, fmt.Errorf("conservation: %d seeds: want %d", got, want)
	}
	if legal>>(k.info.Actions-1)>>1 != 0 {
		return 0, fmt.Errorf("action space: legal actions %#x: want below %d", legal, k.info.Actions)
	}
	if (legal == 0) != s.Over() {
		return 0, fmt.Errorf("end: %d legal actions and over is %t: want none exactly when over", legal.Len(), s.Over())
	}
	if err := k.result(s); err != nil {
		return 0, err
	}
	k.text = mancala.AppendState(k.text[:0], r, s)
	back, err := mancala.ParseState(r, string(k.text))
	if err != nil {
		return 0, fmt.Errorf("text: does not parse: %w", err)
	}
	if back != s {
		return 0, fmt.Errorf("text: parses to %s", mancala.FormatState(r, back))
	}
	if !arranging(s) {
		if got := r.Legal(Exchange(s)); got != legal {
			return 0, fmt.Errorf("perspective: with the players exchanged %#x are legal: want %#x", got, legal)
		}
	}
	return legal, nil
}

// result checks reason, winner, returns and points.
func (k *checker) result(s mancala.State) error {
	points, returns, w := k.rules.Points(s), s.Returns(), s.Winner()
	if again := k.rules.Points(s); again != points {
		return fmt.Errorf("determinism: Points are %v and then %v", points, again)
	}
	if returns[0]+returns[1] != 0 {
		return fmt.Errorf("returns: %v: want zero-sum", returns)
	}
	if !s.Over() || w == mancala.Nobody || s.Reason() == mancala.Endless {
		if w != mancala.Nobody || points != [2]int{} || returns != [2]int{} {
			return fmt.Errorf("result: winner %v, returns %v, points %v: want none without a winner", w, returns, points)
		}
	} else if returns[w] != 1 || points[w] < 0 || points[w.Opponent()] != 0 {
		return fmt.Errorf("result: winner %v, returns %v, points %v: want them to be the winner's", w, returns, points)
	}
	if s.Over() && !slices.Contains(k.info.Reasons, s.Reason()) {
		return fmt.Errorf("reason: %q: want one of %v", s.Reason(), k.info.Reasons)
	}
	return nil
}

// ply checks what holds for one action, and returns the position it leads to.
func (k *checker) ply(s mancala.State, a mancala.Action) (mancala.State, error) {
	r := k.rules
	t := r.Next(s, a)
	if r.Next(s, a) != t {
		return t, fmt.Errorf("determinism: Next twice differs")
	}
	if in, ok := r.(mancala.Advancer); ok {
		p := s
		if legal := in.Advance(&p, a); p != t || legal != r.Legal(t) {
			return t, fmt.Errorf("Advance: leads to %s with legal %v: want Next and Legal", mancala.FormatState(r, p), legal)
		}
	}
	if t.Ply() != s.Ply()+1 {
		return t, fmt.Errorf("ply: from %d to %d: want one more", s.Ply(), t.Ply())
	}
	switch q := t.Quiet(); {
	case arranging(s) && q != s.Quiet():
		return t, fmt.Errorf("quiet: from %d to %d: want no change by an arrangement", s.Quiet(), q)
	case !arranging(s) && q != 0 && q != s.Quiet()+1:
		return t, fmt.Errorf("quiet: from %d to %d: want 0 or one more", s.Quiet(), q)
	}
	if !arranging(s) {
		if got := r.Next(Exchange(s), a); got != Exchange(t) {
			return t, fmt.Errorf("perspective: with the players exchanged it leads to %s: want %s",
				mancala.FormatState(r, got), mancala.FormatState(r, Exchange(t)))
		}
	}
	return t, nil
}

// allocations plays the game again and fails if it costs memory every time. Other goroutines may allocate
// meanwhile, so a few tries are allowed.
func (k *checker) allocations() error {
	var before, after runtime.MemStats
	var sum mancala.Mask
	for range 20 {
		runtime.ReadMemStats(&before)
		for i, a := range k.actions {
			sum |= k.rules.Legal(k.states[i])
			next := k.rules.Next(k.states[i], a)
			sum |= mancala.Mask(next.Ply())
		}
		runtime.ReadMemStats(&after)
		if after.Mallocs == before.Mallocs {
			return nil
		}
		runtime.Gosched()
	}
	return fmt.Errorf("allocations: %d in %d plies (%t): want none in Legal and Next", after.Mallocs-before.Mallocs, len(k.actions), sum != 0)
}

// seeds counts the seeds of a position.
func seeds(s mancala.State) int {
	n := int(s.Hand().Seeds)
	for _, p := range [2]mancala.Player{mancala.South, mancala.North} {
		n += s.OnBoard(p) + s.Store(p)
	}
	return n
}

// seeds returns how many the position must have: while South arranges, North has none yet.
func (k *checker) seeds(s mancala.State) int {
	if arranging(s) && s.Mover() == mancala.South {
		return k.info.Seeds / 2
	}
	return k.info.Seeds
}

// split reports whether the seeds may have been shared out equally, an odd one to nobody (C2).
func (k *checker) split(s mancala.State) bool { return k.info.Stores && s.Reason() == mancala.Cycle }

func arranging(s mancala.State) bool { return s.Hand().Flags&mancala.HandArranging != 0 }

// Exchange returns the position in which South has what North had and the reverse: pits, store, move, history
// and victory. The hand stays the mover's.
func Exchange(s mancala.State) mancala.State {
	p := s.Position()
	p.Pits[0], p.Pits[1] = p.Pits[1], p.Pits[0]
	p.Store[0], p.Store[1] = p.Store[1], p.Store[0]
	p.Mover = p.Mover.Opponent()
	p.Winner = p.Winner.Opponent()
	south, north := mancala.SouthMoved|mancala.SouthCaptured, mancala.NorthMoved|mancala.NorthCaptured
	p.History = p.History&south<<1 | p.History&north>>1
	return p.State()
}
