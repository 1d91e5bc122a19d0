package mancala

// Info holds the facts of a variant.
type Info struct {
	Spec    string // canonical: options in fixed order, defaults left out
	Family  string // the name before the colon
	Version int    // of the rules; changes when their behaviour does, never for speed
	Rows    int    // 2 or 4
	Pits    int    // of one player: the row's length, or 16 with four rows
	Seeds   int    // all of them
	Actions int    // size of the action space, at most 64
	Quiet   int    // C1: the quiet limit in plies
	Laps    int    // C3: the most laps of a turn; 0 where turns always end
	Arrange bool   // O1: the game starts with the players placing their seeds
	Stores  bool   // captured seeds leave the board for a store
	Reasons []Reason
}

// Rules are the rules of one variant. They are pure: nothing is remembered between calls, nothing is
// allocated, and any number of goroutines may call them.
type Rules interface {
	// Info returns the facts of the variant. Its slice must not be changed.
	Info() Info
	// Start returns the position at ply 0.
	Start() State
	// Legal returns the actions the mover may choose: none for a game that is over and, for a position
	// reached by play, only for it.
	Legal(s State) Mask
	// Next plays a, which must be in Legal(s), and tests the ends of the game for the next mover.
	// An action outside Legal(s) is a broken precondition: the build tag mancala_debug makes it a panic.
	Next(s State, a Action) State
	// Settle ends a constructed position that has no legal action as if it had been reached by play;
	// it returns any other unchanged.
	Settle(s State) State
	// Points returns the match points of South and North; zeros for a game that is not over.
	Points(s State) [2]int
}

// Advancer is what Rules may offer to play on in place. It is Next and Legal in one, without the copies: twice as fast.
// The rules of this package all do.
type Advancer interface {
	// Advance turns s into Next(s, a) and returns what is legal then. a must be in Legal(s).
	Advance(s *State, a Action) Mask
}

// Advancing returns the Advancer of r: r itself if it is one, else its Next and Legal.
func Advancing(r Rules) Advancer {
	if a, ok := r.(Advancer); ok {
		return a
	}
	return stepwise{r}
}

type stepwise struct{ rules Rules }

func (w stepwise) Advance(s *State, a Action) Mask {
	*s = w.rules.Next(*s, a)
	return w.rules.Legal(*s)
}
