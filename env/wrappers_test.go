package env_test

import (
	"fmt"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// lowest plays episode seed with the lowest legal action each time and returns the end.
func lowest(e env.Env, seed uint64) env.TimeStep {
	t, err := e.Reset(seed)
	for err == nil && !t.Ended() {
		t, err = e.Step(t.Legal.First())
	}
	if err != nil {
		panic(err)
	}
	return t
}

func ExampleRewards() {
	for _, scheme := range []env.Scheme{env.Outcome, env.Margin, env.Points} {
		e, _ := env.Make("urim", env.Options{OpeningPlies: 2})
		e, err := env.Rewards(e, scheme)
		if err != nil {
			panic(err)
		}
		fmt.Println(scheme, lowest(e, 3).Reward)
	}
	// Output:
	// outcome [-1 1]
	// margin [-0.33333334 0.33333334]
	// points [-1 1]
}

func ExampleTimeLimit() {
	e, _ := env.Make("omweso", env.Options{})
	e, err := env.TimeLimit(e, 10)
	if err != nil {
		panic(err)
	}
	t := lowest(e, 1)
	fmt.Println("ply", t.Info.Ply, "terminated", t.Terminated, "truncated", t.Truncated, "reward", t.Reward)
	// Output:
	// ply 10 terminated false truncated true reward [0 0]
}

// printer is a Sink.
type printer struct{}

func (printer) Write(e *env.Episode) error {
	fmt.Printf("%s episode %d, seed %d, %s against %s: %d plies, winner %v\n",
		e.Spec, e.Number, e.Seed, e.Agents[0], e.Agents[1], len(e.Plies), e.Final.Winner())
	return nil
}

func ExampleRecord() {
	e, _ := env.Make("modiar", env.Options{OpeningPlies: 2})
	r := env.Record(e, printer{})
	r.Agents = [2]string{"lowest", "lowest"}
	lowest(r, 1)
	lowest(r, 2)
	// Output:
	// modiar episode 0, seed 1, lowest against lowest: 20 plies, winner North
	// modiar episode 1, seed 2, lowest against lowest: 17 plies, winner South
}

func ExampleCount() {
	e, _ := env.Make("hoyito2", env.Options{OpeningPlies: 4})
	c := env.Count(e)
	for seed := range uint64(100) {
		lowest(c, seed)
	}
	s := c.Stats()
	fmt.Println(s.Episodes, "episodes,", s.Shortest, "to", s.Longest, "plies")
	fmt.Println("South won", s.Wins[mancala.South], "North", s.Wins[mancala.North], "draws", s.Draws)
	fmt.Println("ended by the cycle limit:", s.Reasons[mancala.Cycle])
	// Output:
	// 100 episodes, 26 to 280 plies
	// South won 53 North 35 draws 12
	// ended by the cycle limit: 95
}

// first is an Opponent that plays its lowest legal action.
type first struct{ rules mancala.Rules }

func (o first) Act(s mancala.State, seed uint64) (mancala.Action, error) {
	return o.rules.Legal(s).First(), nil
}

func ExampleSingle() {
	e, _ := env.Make("modiar", env.Options{})
	v, err := env.Single(e, first{e.Rules()}, mancala.North)
	if err != nil {
		panic(err)
	}
	t, _ := v.Reset(1)
	fmt.Println(v.Agent(), "to act at ply", t.Info.Ply)
	t, _ = v.Step(2)
	fmt.Println(t.Player, "to act at ply", t.Info.Ply, "after actions", t.Info.Played)
	for !t.Ended() {
		t, _ = v.Step(t.Legal.First())
	}
	fmt.Println("reward of the agent:", t.Reward[v.Agent()])
	// Output:
	// North to act at ply 1
	// North to act at ply 3 after actions [2 1]
	// reward of the agent: 1
}

// lanes plays steps of the lowest legal action in two lanes of modiar and prints lane 1 from its first end on.
func lanes(mode env.Autoreset, steps int) (*env.VectorEnv, *env.Batch) {
	r, _ := mancala.Parse("modiar")
	v, err := env.NewVector(r, 2, env.VectorOptions{TimeLimit: 3, Autoreset: mode})
	if err != nil {
		panic(err)
	}
	b, actions := v.Batch(), make([]mancala.Action, 2)
	err = v.Reset(1, b)
	for range steps {
		for i, legal := range b.Legal {
			actions[i] = env.NoAction
			if legal != 0 {
				actions[i] = legal.First()
			}
		}
		if err == nil {
			err = v.Step(actions, b)
		}
		fmt.Printf("episode %d, ply %d, truncated %t\n", b.Episodes[1], b.States[1].Ply(), b.Truncated[1])
	}
	if err != nil {
		panic(err)
	}
	return v, b
}

func ExampleVectorEnv_nextStep() {
	lanes(env.AutoresetNextStep, 5)
	// Output:
	// episode 0, ply 1, truncated false
	// episode 0, ply 2, truncated false
	// episode 0, ply 3, truncated true
	// episode 1, ply 0, truncated false
	// episode 1, ply 1, truncated false
}

func ExampleVectorEnv_sameStep() {
	_, b := lanes(env.AutoresetSameStep, 4)
	fmt.Println("the end at ply", b.FinalStates[1].Ply(), "is kept")
	// Output:
	// episode 0, ply 1, truncated false
	// episode 0, ply 2, truncated false
	// episode 1, ply 0, truncated true
	// episode 1, ply 1, truncated false
	// the end at ply 3 is kept
}

func ExampleVectorEnv_disabled() {
	v, b := lanes(env.AutoresetDisabled, 5)
	if err := v.ResetLanes([]bool{false, true}, b); err != nil {
		panic(err)
	}
	fmt.Printf("episodes %v\n", b.Episodes)
	// Output:
	// episode 0, ply 1, truncated false
	// episode 0, ply 2, truncated false
	// episode 0, ply 3, truncated true
	// episode 0, ply 3, truncated false
	// episode 0, ply 3, truncated false
	// episodes [0 1]
}
