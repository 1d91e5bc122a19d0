package agenttest

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

func rules(t *testing.T, spec string) mancala.Rules {
	t.Helper()
	r, err := mancala.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// refused fails unless err has every part in one line.
func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("the kit found nothing")
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q has more than one line", err)
	}
}

type act func(states []mancala.State, seeds []uint64, actions []mancala.Action) error

func (f act) Act(states []mancala.State, seeds []uint64, actions []mancala.Action) error {
	return f(states, seeds, actions)
}

func TestCheckAcceptsSoundAgents(t *testing.T) {
	for _, spec := range mancala.Variants() {
		r := rules(t, spec)
		for name, construct := range map[string]func(mancala.Rules) (agents.Agent, error){
			"random": func(r mancala.Rules) (agents.Agent, error) { return agents.NewRandom(r), nil },
			"greedy": func(r mancala.Rules) (agents.Agent, error) { return agents.NewGreedy(r), nil },
		} {
			if err := Check(construct, r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestCheckFindsBrokenAgents(t *testing.T) {
	r := rules(t, "urim")
	lowest := func(s mancala.State) mancala.Action { return r.Legal(s).First() }
	cases := []struct {
		name  string
		fault string
		agent func() act
	}{
		{"plays an illegal action", "action 9: must be one of", func() act {
			return func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				for i := range s {
					a[i] = 9
				}
				return nil
			}
		}},
		{"leaves rows out", "must be one of", func() act {
			return func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				for i := range len(s) / 2 {
					a[i] = lowest(s[i])
				}
				return nil
			}
		}},
		{"remembers earlier calls", "asked again", func() act {
			calls := 0
			return func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				calls++
				for i := range s {
					a[i] = r.Legal(s[i]).Nth(calls % r.Legal(s[i]).Len())
				}
				return nil
			}
		}},
		{"looks at the batch", "one at a time", func() act {
			return func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				for i := range s {
					a[i] = r.Legal(s[i]).Nth(len(s) % r.Legal(s[i]).Len())
				}
				return nil
			}
		}},
		{"looks at the place", "must depend on state and seed alone", func() act {
			return func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				for i := range s {
					a[i] = r.Legal(s[i]).Nth(i % r.Legal(s[i]).Len())
				}
				return nil
			}
		}},
		{"has one generator for all rows", "must depend on state and seed alone", func() act {
			return func(s []mancala.State, seeds []uint64, a []mancala.Action) error {
				x := uint64(0)
				for i := range s {
					x = x*31 + seeds[i]
					a[i] = r.Legal(s[i]).Nth(int(x>>8) & 255 % r.Legal(s[i]).Len())
				}
				return nil
			}
		}},
		{"writes the states", "state: must not be written", func() act {
			return func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				for i := range s {
					a[i] = lowest(s[i])
					s[i] = r.Next(s[i], a[i])
				}
				return nil
			}
		}},
		{"writes the seeds", "seed: must not be written", func() act {
			return func(s []mancala.State, seeds []uint64, a []mancala.Action) error {
				for i := range s {
					a[i] = lowest(s[i])
					seeds[i]++
				}
				return nil
			}
		}},
		{"writes behind the rows", "must not be written", func() act {
			return func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				for i := range s {
					a[i] = lowest(s[i])
				}
				a[:len(s)+1][len(s)] = 0
				return nil
			}
		}},
		{"fails on an empty batch", "an empty batch is no error", func() act {
			return func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				if len(s) == 0 {
					return errors.New("nothing to do")
				}
				for i := range s {
					a[i] = lowest(s[i])
				}
				return nil
			}
		}},
		{"panics on an empty batch", "must not panic", func() act {
			return func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				a[0] = lowest(s[0])
				return nil
			}
		}},
		{"fails on large batches", "Act on 48 rows: too many", func() act {
			return func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				if len(s) > 20 {
					return errors.New("too many")
				}
				return nil
			}
		}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := Check(func(mancala.Rules) (agents.Agent, error) { return c.agent(), nil }, r)
			refused(t, err, "agenttest: ", c.fault)
		})
	}
	t.Run("differs between instances", func(t *testing.T) {
		made := 0
		err := Check(func(mancala.Rules) (agents.Agent, error) {
			made++
			shift := made
			return act(func(s []mancala.State, _ []uint64, a []mancala.Action) error {
				for i := range s {
					a[i] = r.Legal(s[i]).Nth(shift % r.Legal(s[i]).Len())
				}
				return nil
			}), nil
		}, r)
		refused(t, err, "by another instance")
	})
	t.Run("cannot be made", func(t *testing.T) {
		err := Check(func(mancala.Rules) (agents.Agent, error) { return nil, errors.New("no weights") }, r)
		refused(t, err, "constructor: no weights")
	})
}

// spoil is a Uniform whose answer is changed afterwards.
type spoil struct {
	inner agents.Evaluator
	after func(b *agents.Batch, width int)
	width int
}

func (e *spoil) Evaluate(b *agents.Batch) error {
	if err := e.inner.Evaluate(b); err != nil {
		return err
	}
	e.after(b, e.width)
	return nil
}

func TestCheckEvaluatorAcceptsSoundEvaluators(t *testing.T) {
	for _, spec := range mancala.Variants() {
		r := rules(t, spec)
		for name, construct := range map[string]func(mancala.Rules) (agents.Evaluator, error){
			"uniform": func(r mancala.Rules) (agents.Evaluator, error) { return agents.NewUniform(r), nil },
			"rollout": func(r mancala.Rules) (agents.Evaluator, error) { return agents.NewRollout(r), nil },
		} {
			if err := CheckEvaluator(construct, r); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func TestCheckEvaluatorFindsBrokenEvaluators(t *testing.T) {
	r := rules(t, "urim")
	each := func(f func(b *agents.Batch, i int, row []float32)) func(*agents.Batch, int) {
		return func(b *agents.Batch, width int) {
			for i := range b.States {
				f(b, i, b.Prior[i*width:(i+1)*width])
			}
		}
	}
	cases := []struct {
		name  string
		fault string
		after func(b *agents.Batch, width int)
	}{
		{"gives illegal actions a share", "of illegal action", each(func(_ *agents.Batch, _ int, row []float32) {
			for a := range row {
				row[a] = 1 / float32(len(row))
			}
		})},
		{"does not normalise", "must be 1 within", each(func(b *agents.Batch, i int, row []float32) {
			row[b.Legal[i].First()] *= 0.9
		})},
		{"has a negative share", "must be 0 to 1", each(func(b *agents.Batch, i int, row []float32) {
			row[b.Legal[i].First()] = -0.1
		})},
		{"answers NaN", "must be 0 to 1", each(func(b *agents.Batch, i int, row []float32) {
			row[b.Legal[i].First()] = float32(math.NaN())
		})},
		{"leaves the value out", "must be -1 to 1", each(func(b *agents.Batch, i int, _ []float32) {
			b.Value[i] = nan
		})},
		{"leaves the range", "value 1.5: must be -1 to 1", each(func(b *agents.Batch, i int, _ []float32) {
			b.Value[i] = 1.5
		})},
		{"normalises over the batch", "one at a time", each(func(b *agents.Batch, i int, _ []float32) {
			b.Value[i] = 1 / float32(len(b.States))
		})},
		{"rounds by place", "must depend on state and seed alone", each(func(b *agents.Batch, i int, _ []float32) {
			if b.Value[i] = 0.5; i%8 == 7 {
				b.Value[i] = math.Nextafter32(0.5, 1)
			}
		})},
		{"writes the states", "state: must not be written", each(func(b *agents.Batch, i int, _ []float32) {
			b.States[i] = r.Start()
		})},
		{"writes the masks", "legal masks: must not be written", each(func(b *agents.Batch, i int, _ []float32) {
			b.Legal[i] = 0
		})},
		{"writes the seeds", "seed: must not be written", each(func(b *agents.Batch, i int, _ []float32) {
			b.Seeds[i]++
		})},
		{"writes behind the rows", "behind row", func(b *agents.Batch, width int) {
			b.Prior[:len(b.Prior)+1][len(b.Prior)] = 0
		}},
		{"panics on an empty batch", "must not panic", func(b *agents.Batch, width int) { b.Value[0] = 0 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := CheckEvaluator(func(r mancala.Rules) (agents.Evaluator, error) {
				return &spoil{agents.NewUniform(r), c.after, r.Info().Actions}, nil
			}, r)
			refused(t, err, "agenttest: ", c.fault)
		})
	}
}

// plain is a searcher without a search: sound unless after changes its answer.
type plain struct {
	rules mancala.Rules
	after func(s []mancala.State, out *agents.Result, width int)
}

func (p plain) Search(roots []mancala.State, seeds []uint64, out *agents.Result) error {
	width := p.rules.Info().Actions
	for i, s := range roots {
		a := p.rules.Legal(s).First()
		clear(out.Visits[i*width : (i+1)*width])
		clear(out.Q[i*width : (i+1)*width])
		clear(out.Policy[i*width : (i+1)*width])
		out.Actions[i], out.Value[i] = a, 0
		out.Visits[i*width+int(a)], out.Policy[i*width+int(a)] = 1, 1
	}
	if p.after != nil && len(roots) > 0 {
		p.after(roots, out, width)
	}
	return nil
}

func TestCheckSearcherAcceptsASoundSearcher(t *testing.T) {
	for _, spec := range mancala.Variants() {
		if err := CheckSearcher(func(r mancala.Rules) (agents.Searcher, error) { return plain{r, nil}, nil }, rules(t, spec)); err != nil {
			t.Error(err)
		}
	}
}

func TestCheckSearcherFindsBrokenSearchers(t *testing.T) {
	r := rules(t, "hoyito2") // action 6, the pass, is hardly ever legal
	const pass = 6
	cases := []struct {
		name  string
		fault string
		after func(s []mancala.State, out *agents.Result, width int)
	}{
		{"plays an illegal action", "must be one of", func(_ []mancala.State, out *agents.Result, _ int) { out.Actions[0] = pass }},
		{"visits an illegal action", "of illegal action 6", func(_ []mancala.State, out *agents.Result, _ int) { out.Visits[pass] = 1 }},
		{"values an illegal action", "of illegal action 6", func(_ []mancala.State, out *agents.Result, _ int) { out.Q[pass] = 0.1 }},
		{"aims at an illegal action", "policy 1 of illegal action 6", func(_ []mancala.State, out *agents.Result, _ int) { out.Policy[pass] = 1 }},
		{"has no policy", "policy: sums to 0", func(_ []mancala.State, out *agents.Result, width int) { clear(out.Policy[:width]) }},
		{"has values out of range", "must be -1 to 1", func(s []mancala.State, out *agents.Result, _ int) { out.Q[r.Legal(s[0]).First()] = 2 }},
		{"has a root value out of range", "value -3: must be -1 to 1", func(_ []mancala.State, out *agents.Result, _ int) { out.Value[0] = -3 }},
		{"leaves the visits out", "must be written", func(s []mancala.State, out *agents.Result, _ int) { out.Visits[r.Legal(s[0]).First()] = unseen }},
		{"plays an action without visits", "must have visits", func(s []mancala.State, out *agents.Result, _ int) {
			out.Actions[0] = r.Legal(s[0]).WithoutFirst().First()
		}},
		{"counts visits by batch", "must depend on state and seed alone", func(s []mancala.State, out *agents.Result, _ int) {
			out.Visits[r.Legal(s[0]).First()] = uint32(len(s))
		}},
		{"writes the roots", "state: must not be written", func(s []mancala.State, _ *agents.Result, _ int) { s[len(s)-1] = mancala.State{} }},
		{"writes behind the rows", "behind row", func(s []mancala.State, out *agents.Result, _ int) { out.Value[len(s)] = 0 }},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := CheckSearcher(func(r mancala.Rules) (agents.Searcher, error) { return plain{r, c.after}, nil }, r)
			refused(t, err, "agenttest: ", c.fault)
		})
	}
}
