package env_test

import (
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/env"
)

// An episode of random play.
func Example() {
	e, err := env.Make("urim", env.Options{Encoder: "counts", OpeningPlies: 4})
	if err != nil {
		log.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	t, err := e.Reset(7)
	if err != nil {
		log.Fatal(err)
	}
	for !t.Ended() {
		action, _ := e.ActionSpace().Sample(rng, t.Legal) // your agent, from t.Observation and t.Legal
		if t, err = e.Step(action); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Printf("%d plies, %v, winner %v, rewards %v, points %v\n", t.Info.Ply, t.Info.Reason, t.Info.Winner, t.Reward, t.Info.Points)
	fmt.Print(env.Text(e.Rules(), e.State(), nil))
	// Output:
	// 82 plies, nomoves, winner South, rewards [1 -1], points [2 0]
	// urim  ply 82, quiet 7 of 100
	//
	//         ┌──5─┬──4─┬──3─┬──2─┬──1─┬──0─┐
	//   North │  · │  · │  · │  · │  · │  · │ store 7
	//         ├────┼────┼────┼────┼────┼────┤
	//   South │  · │  · │  · │  · │  · │  · │ store 29
	//         └──0─┴──1─┴──2─┴──3─┴──4─┴──5─┘
	//
	// South wins by nomoves, 2 points
}
