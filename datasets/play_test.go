package datasets

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// specs cover every family, and an arranged and a twelve-pit game.
var specs = []string{"urim", "urim:pits=7,seeds=4", "modiar", "hoyito2", "hoyito2:pits=12", "omweso", "omweso:setup=arrange", "oware"}

func parse(t testing.TB, spec string) mancala.Rules {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// play makes a random episode as a search would: every third is cut after 20 plies, the first four plies are an
// opening without a search, and of the rest one in five has none either.
func play(r mancala.Rules, number uint64, c env.Scheme) *env.Episode {
	rng := rand.New(rand.NewPCG(number, 1))
	e := &env.Episode{Spec: r.Info().Spec, Number: number, Seed: number / 7, Agents: [2]string{"random", "mcts:sims=" + fmt.Sprint(number%3)}}
	s := r.Start()
	for !s.Over() && (number%3 != 2 || len(e.Plies) < 20) {
		legal := r.Legal(s)
		p := env.Ply{State: s, Legal: legal, Action: legal.Nth(rng.IntN(legal.Len())), Opening: len(e.Plies) < 4}
		if !p.Opening && rng.IntN(5) > 0 {
			search(rng, &p, r.Info().Actions)
		}
		s = r.Next(s, p.Action)
		p.Reward = c.Of(r, s)
		e.Plies = append(e.Plies, p)
	}
	e.Final, e.Truncated = s, !s.Over()
	return e
}

func search(rng *rand.Rand, p *env.Ply, actions int) {
	p.Policy, p.Visits = make([]float32, actions), make([]uint32, actions)
	var sum float32
	for a := range p.Legal.All {
		p.Policy[a], p.Visits[a] = rng.Float32(), rng.Uint32N(64)
		sum += p.Policy[a]
	}
	for a := range p.Policy {
		p.Policy[a] /= sum
	}
	p.Visits[p.Action]++
	p.Value = 2*rng.Float32() - 1
}

func playAll(r mancala.Rules, n int, c env.Scheme) []*env.Episode {
	list := make([]*env.Episode, n)
	for i := range list {
		list[i] = play(r, uint64(i), c)
	}
	return list
}

// write puts episodes into the file path.
func write(t testing.TB, path string, r mancala.Rules, m Meta, episodes []*env.Episode) {
	t.Helper()
	w, err := CreateFile(path, r, m)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range episodes {
		if err := w.Write(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// writeDataset puts ten episodes of every spec into a new directory.
func writeDataset(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	for i, spec := range specs {
		r := parse(t, spec)
		w, err := Create(dir, r, Meta{Name: fmt.Sprintf("part-%d", i)})
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range playAll(r, 10, env.Outcome) {
			if err := w.Write(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// read returns all episodes of a path.
func read(path string) ([]*env.Episode, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var list []*env.Episode
	for e, err := range r.Episodes() {
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}
