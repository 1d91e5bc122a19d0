package datasets

import (
	"encoding/binary"
	"fmt"
	"hash/crc64"
	"math"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// id tells an episode from every other of the same variant.
type id struct {
	number, seed uint64
	agents       [2]string
}

func idOf(e *env.Episode) id { return id{e.Number, e.Seed, e.Agents} }

// check replays an episode. The error begins with the ply.
func check(r mancala.Rules, scheme env.Scheme, e *env.Episode) error {
	i := r.Info()
	if e.Spec != i.Spec {
		return fmt.Errorf("ply 0: spec: got %q want %q", e.Spec, i.Spec)
	}
	if len(e.Plies) == 0 || uint64(len(e.Plies)) > math.MaxUint32 {
		return fmt.Errorf("ply 0: plies: got %d want 1 … %d", len(e.Plies), uint32(math.MaxUint32))
	}
	for _, a := range e.Agents {
		if err := printable(a); err != nil {
			return fmt.Errorf("ply 0: agents: %w", err)
		}
	}
	s := r.Start()
	for n := range e.Plies {
		p := &e.Plies[n]
		if p.State != s {
			return fmt.Errorf("ply %d: state: got %q want %q", n, mancala.FormatState(r, p.State), mancala.FormatState(r, s))
		}
		if want := r.Legal(s); p.Legal != want {
			return fmt.Errorf("ply %d: legal: got %v want %v", n, list(p.Legal), list(want))
		}
		if !p.Legal.Has(p.Action) {
			return fmt.Errorf("ply %d: action: got %d want one of %v", n, p.Action, list(p.Legal))
		}
		s = r.Next(s, p.Action)
		if want := scheme.Of(r, s); p.Reward != want {
			return fmt.Errorf("ply %d: reward: got %v want %v by the scheme %v", n, p.Reward, want, scheme)
		}
		if err := checkSearch(i.Actions, p); err != nil {
			return fmt.Errorf("ply %d: %w", n, err)
		}
	}
	if e.Final != s {
		return fmt.Errorf("ply %d: final state: got %q want %q", len(e.Plies), mancala.FormatState(r, e.Final), mancala.FormatState(r, s))
	}
	if e.Truncated == s.Over() {
		return fmt.Errorf("ply %d: truncated: got %t want %t, for the game is over or not by the rules", len(e.Plies), e.Truncated, !e.Truncated)
	}
	return nil
}

// policyError is how far a policy's sum may be from 1.
const policyError = 1e-4

// checkSearch looks at what a search said: shapes, ranges and sums.
func checkSearch(actions int, p *env.Ply) error {
	if len(p.Policy) == 0 {
		if len(p.Visits) != 0 {
			return fmt.Errorf("visits: got some want none without a policy")
		}
		return nil
	}
	if len(p.Policy) != actions {
		return fmt.Errorf("policy: got %d entries want %d", len(p.Policy), actions)
	}
	if len(p.Visits) != 0 && len(p.Visits) != actions {
		return fmt.Errorf("visits: got %d entries want %d", len(p.Visits), actions)
	}
	for a, q := range p.Policy {
		if p.Legal.Has(mancala.Action(a)) {
			continue
		}
		if q != 0 {
			return fmt.Errorf("policy: got %v for action %d, which is not legal, want 0", q, a)
		}
		if len(p.Visits) != 0 && p.Visits[a] != 0 {
			return fmt.Errorf("visits: got %d for action %d, which is not legal, want 0", p.Visits[a], a)
		}
	}
	if err := checkPolicy(p.Policy); err != nil {
		return err
	}
	if !(p.Value >= -1 && p.Value <= 1) {
		return fmt.Errorf("value: got %v want −1 … 1", p.Value)
	}
	return nil
}

// checkPolicy looks whether a policy is a distribution.
func checkPolicy(policy []float32) error {
	var sum float64
	for _, q := range policy {
		if !(q >= 0 && q <= 1+policyError) {
			return fmt.Errorf("policy: got %v want 0 … 1", q)
		}
		sum += float64(q)
	}
	if math.Abs(sum-1) > policyError {
		return fmt.Errorf("policy: got the sum %v want 1", sum)
	}
	return nil
}

// visited reports whether a search counted anything; all zeros are kept as null.
func visited(p *env.Ply) bool {
	for _, v := range p.Visits {
		if v != 0 {
			return true
		}
	}
	return false
}

// list is the set in ascending order.
func list(m mancala.Mask) []int {
	l := make([]int, 0, m.Len())
	for a := range m.All {
		l = append(l, int(a))
	}
	return l
}

// arena holds the lists and numbers that rows point to.
type arena struct {
	small  []uint16
	floats []float32
	counts []uint32
}

func (a *arena) reset() { *a = arena{a.small[:0], a.floats[:0], a.counts[:0]} }

// cut returns what was appended to *s since its length was n. When *s moves, earlier cuts keep the old place.
func cut[T any](s *[]T, n int) []T { return (*s)[n:len(*s):len(*s)] }

// appendRows lays out an episode, one row a ply.
func appendRows(rows []row, a *arena, r mancala.Rules, e *env.Episode) []row {
	i := r.Info()
	all := row{
		Game:  e.Number,
		Spec:  e.Spec,
		Seed:  e.Seed,
		South: e.Agents[mancala.South],
		North: e.Agents[mancala.North],
		Plies: uint32(len(e.Plies)),
	}
	if !e.Truncated {
		reason, outcome, margin := e.Final.Reason().String(), int8(e.Final.Returns()[mancala.South]), env.Margin.Of(r, e.Final)[mancala.South]
		points := r.Points(e.Final)
		south, north := uint8(points[0]), uint8(points[1])
		all.Reason, all.OutcomeSouth, all.MarginSouth, all.PointsSouth, all.PointsNorth = &reason, &outcome, &margin, &south, &north
	}
	for n := range e.Plies {
		p := &e.Plies[n]
		x := all
		x.Ply = uint32(n)
		x.Mover = uint8(p.State.Mover())
		x.PitsSouth = a.pits(p.State.Pits(mancala.South), i.Pits)
		x.PitsNorth = a.pits(p.State.Pits(mancala.North), i.Pits)
		x.StoreSouth = uint8(p.State.Store(mancala.South))
		x.StoreNorth = uint8(p.State.Store(mancala.North))
		x.Quiet = uint32(p.State.Quiet())
		h := p.State.Hand()
		x.HandSeeds, x.HandPit, x.HandLaps, x.HandFlags = h.Seeds, h.Pit, h.Laps, uint8(h.Flags)
		x.History = uint8(p.State.History())
		x.Legal = a.legal(p.Legal)
		x.Action = uint8(p.Action)
		x.Opening = p.Opening
		x.RewardSouth, x.RewardNorth = p.Reward[0], p.Reward[1]
		if last := n == len(e.Plies)-1; last {
			x.Terminated, x.Truncated = !e.Truncated, e.Truncated
		}
		if len(p.Policy) != 0 {
			x.Policy = pick(&a.floats, p.Legal, p.Policy)
			x.Value = &p.Value
			if visited(p) {
				x.Visits = pick(&a.counts, p.Legal, p.Visits)
			}
		}
		rows = append(rows, x)
	}
	return rows
}

func (a *arena) pits(pits [mancala.MaxPits]uint8, n int) []uint16 {
	at := len(a.small)
	for _, seeds := range pits[:n] {
		a.small = append(a.small, uint16(seeds))
	}
	return cut(&a.small, at)
}

func (a *arena) legal(m mancala.Mask) []uint16 {
	at := len(a.small)
	for x := range m.All {
		a.small = append(a.small, uint16(x))
	}
	return cut(&a.small, at)
}

// pick takes the entries of the legal actions.
func pick[T any](s *[]T, m mancala.Mask, all []T) []T {
	at := len(*s)
	for x := range m.All {
		*s = append(*s, all[x])
	}
	return cut(s, at)
}

var ecma = crc64.MakeTable(crc64.ECMA)

// digest carries a CRC-64 on over what an episode holds that the rules cannot tell, so that Verify knows of a column
// that lost its values on the way.
func digest(h uint64, e *env.Episode) uint64 {
	b := make([]byte, 0, 512)
	le := binary.LittleEndian
	b = le.AppendUint64(b, e.Number)
	b = le.AppendUint64(b, e.Seed)
	for _, a := range e.Agents {
		b = le.AppendUint32(b, uint32(len(a)))
		b = append(b, a...)
	}
	b = le.AppendUint64(b, uint64(len(e.Plies)))
	for n := range e.Plies {
		p := &e.Plies[n]
		flags := byte(p.Action) << 2
		if p.Opening {
			flags |= 1
		}
		b = append(b, byte(p.Action), flags)
		if len(p.Policy) == 0 {
			continue
		}
		b = le.AppendUint32(b, math.Float32bits(p.Value))
		for x := range p.Legal.All {
			b = le.AppendUint32(b, math.Float32bits(p.Policy[x]))
		}
		if visited(p) {
			for x := range p.Legal.All {
				b = le.AppendUint32(b, p.Visits[x])
			}
		}
		h = crc64.Update(h, ecma, b)
		b = b[:0]
	}
	return crc64.Update(h, ecma, b)
}
