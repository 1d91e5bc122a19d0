package datasets_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/mancalagym/mancalagym/datasets"
	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Example writes a game of Modiar in which the first legal action is always played, and verifies and counts it.
func Example() {
	r, err := mancala.Parse("modiar")
	if err != nil {
		log.Fatal(err)
	}
	e := &env.Episode{Spec: r.Info().Spec, Agents: [2]string{"first", "first"}}
	for s := r.Start(); !e.Final.Over(); s = e.Final {
		a := r.Legal(s).First()
		e.Final = r.Next(s, a)
		e.Plies = append(e.Plies, env.Ply{State: s, Legal: r.Legal(s), Action: a, Reward: env.Outcome.Of(r, e.Final)})
	}

	dir, err := os.MkdirTemp("", "datasets")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	w, err := datasets.Create(dir, r, datasets.Meta{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Abort() // nothing to do after Close
	if err := w.Write(e); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	name, err := filepath.Rel(dir, w.Files()[0])
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(filepath.ToSlash(name))

	report, err := datasets.Verify(context.Background(), dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(report)
	s, err := datasets.Statistics(context.Background(), dir)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(s.Variants[0].Plies, "plies, ended by", s.Variants[0].Reasons)
	// Output:
	// variant=modiar/games-00000.parquet
	// 1 file, 1 games, 22 plies, 0 bad
	// 22 plies, ended by map[nomoves:1]
}
