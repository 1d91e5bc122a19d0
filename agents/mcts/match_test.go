package mcts

import (
	"math/rand/v2"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// match plays games from two random plies, a being South in every other one, and returns a's score: a win counts 1, a draw one half.
func match(t *testing.T, r mancala.Rules, a, b agents.Agent, games int) (score float64) {
	t.Helper()
	states, chance := make([]mancala.State, games), make([]*rand.Rand, games)
	for g := range games {
		states[g] = wander(r, uint64(g/2), 2)
		chance[g] = rand.New(rand.NewPCG(uint64(g), 5))
	}
	sides := [2]agents.Agent{a, b}
	for {
		going := false
		for side, agent := range sides {
			var at []int
			var ask []mancala.State
			var seeds []uint64
			for g, s := range states {
				if !s.Over() && s.Ply() < 1000 && int(s.Mover()) == (side+g)%2 {
					at, ask, seeds = append(at, g), append(ask, s), append(seeds, chance[g].Uint64())
				}
			}
			actions := make([]mancala.Action, len(ask))
			if err := agent.Act(ask, seeds, actions); err != nil {
				t.Fatal(err)
			}
			for i, g := range at {
				states[g] = r.Next(states[g], actions[i])
				going = true
			}
		}
		if !going {
			break
		}
	}
	for g, s := range states {
		score += float64(1+s.Returns()[g%2]) / 2
	}
	return score
}

// TestSearchBeatsRandomAndGreedy plays 100 games of each pairing. Games of modiar are short enough for greedy too.
func TestSearchBeatsRandomAndGreedy(t *testing.T) {
	for _, spec := range []string{"oware", "modiar"} {
		r := rules(t, spec)
		for _, algorithm := range algorithmNames {
			a := NewAgent(searcher(t, r, agents.NewRollout(r), sure(algorithm, 100)))
			if score := match(t, r, a, agents.NewRandom(r), 100); score < 90 {
				t.Errorf("%s, %s: scores %v of 100 against random, want 90", spec, algorithm, score)
			}
			if spec == "oware" {
				continue
			}
			if score := match(t, r, a, agents.NewGreedy(r), 100); score < 75 {
				t.Errorf("%s, %s: scores %v of 100 against greedy, want 75", spec, algorithm, score)
			}
		}
	}
}
