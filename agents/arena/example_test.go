package arena_test

import (
	"context"
	"fmt"
	"log"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/agents/arena"
	"github.com/mancalagym/mancalagym/agents/catalog"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// rightmost plays the highest legal action: an agent of one's own.
type rightmost struct{ rules mancala.Rules }

func (a rightmost) Act(states []mancala.State, _ []uint64, actions []mancala.Action) error {
	for i, s := range states {
		legal := a.rules.Legal(s)
		actions[i] = legal.Nth(legal.Len() - 1)
	}
	return nil
}

// An agent of one's own against one from text.
func ExamplePlay() {
	rules, err := mancala.Parse("oware")
	if err != nil {
		log.Fatal(err)
	}
	greedy, err := catalog.Parse("greedy", rules)
	if err != nil {
		log.Fatal(err)
	}
	cfg := arena.Default(rules)
	cfg.Games, cfg.Seed = 200, 1
	match, err := arena.Play(context.Background(), cfg, rules, [2]arena.Entrant{
		{Name: "rightmost", New: func() (agents.Agent, error) { return rightmost{rules}, nil }},
		{Name: greedy.Name, New: greedy.New},
	}, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d wins, %d draws, %d losses: %.1f %% (%.1f–%.1f)\n", match.Wins, match.Draws, match.Losses,
		100*match.Score.Value, 100*match.Score.Low, 100*match.Score.High)
	// Output:
	// 82 wins, 8 draws, 110 losses: 43.0 % (35.8–50.6)
}
