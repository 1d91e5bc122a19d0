package mancala

import "fmt"

// mustBeLegal panics where a is not legal in s: a broken precondition of Next. It runs only in builds with the
// tag mancala_debug.
func mustBeLegal(r Rules, s State, a Action) {
	if !r.Legal(s).Has(a) {
		panic(fmt.Sprintf("mancala: %s: Next: action %d in %s: want one of %v", r.Info().Spec, a, FormatState(r, s), actionsOf(r.Legal(s))))
	}
}

func actionsOf(m Mask) (list []Action) {
	for a := range m.All {
		list = append(list, a)
	}
	return list
}
