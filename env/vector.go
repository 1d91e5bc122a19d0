package env

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Autoreset says what a VectorEnv does with a lane whose episode has ended.
type Autoreset uint8

const (
	// AutoresetNextStep: the lane shows the end, and the next Step, whatever its action there, begins the
	// lane's next episode instead of playing: reward 0, neither terminated nor truncated.
	AutoresetNextStep Autoreset = iota
	// AutoresetSameStep: the Step that ends an episode also begins the next one. Rewards, Terminated,
	// Truncated, Reasons and Points tell of the ended one; States, Players, Legal and the observations of the
	// new one. The end itself is kept in the fields whose names begin with Final.
	AutoresetSameStep
	// AutoresetDisabled: the lane stays at the end, and takes no action but NoAction, until ResetLanes.
	AutoresetDisabled
)

// NoAction is no action of any variant: what an ended lane takes under AutoresetDisabled.
const NoAction mancala.Action = math.MaxUint8

// VectorOptions choose how the episodes of a VectorEnv are played. The zero VectorOptions are valid.
type VectorOptions struct {
	Options
	Reward    Scheme
	TimeLimit int // plies after the opening at which an episode is truncated; 0 for none
	Autoreset Autoreset
	// Workers is how many goroutines share a call, the caller's included; at most one for each 256 lanes, rounded up.
	// 0 is 1. They change nothing but the time, and a caller that waits for the others keeps its processor busy.
	Workers int
}

// Batch is what a VectorEnv shows: a row for each of n lanes in each field, all storage the caller's. A field
// that is nil is not written; any other must have exactly the stated length. VectorEnv.Batch makes one.
type Batch struct {
	States       []mancala.State  // n
	Players      []mancala.Player // n: who acts next
	Legal        []mancala.Mask   // n: empty for a lane that shows an end
	Observations []float32        // n × Size, row-major, as Players see it
	Indices      []int32          // n × Active: the same in sparse form, if the encoder has one
	Rewards      [][2]float32     // n: of South and North in this step
	Terminated   []bool           // n: ended by the rules in this step
	Truncated    []bool           // n: stopped by the limit in this step
	Reasons      []mancala.Reason // n: NotOver unless Terminated
	Points       [][2]int         // n: match points of South and North; zeros unless Terminated
	Episodes     []uint64         // n: the number of the episode that States belongs to, from 0

	// The position in which an episode ended, under AutoresetSameStep; rows of lanes without an end in this
	// step keep what they held.
	FinalStates       []mancala.State // n
	FinalObservations []float32       // n × Size
	FinalIndices      []int32         // n × Active
}

// VectorEnv plays n episodes in lockstep. What lane i shows depends only on the seed, on i and on its actions:
// never on n, on the other lanes or on the workers. Steps allocate nothing. It is not safe for concurrent use.
// Nothing of the caller's is touched after a call, though goroutines of workers may outlast it for a moment. A call that
// a panic of the rules cuts short is the last: all later ones fail.
type VectorEnv struct {
	rules    mancala.Rules
	advancer mancala.Advancer
	encoder  encode.Encoder
	o        VectorOptions
	n        int
	began    bool
	seed     uint64

	// By lane.
	states   []mancala.State
	legal    []mancala.Mask
	episodes []uint64
	opened   []int // plies of the opening
	ended    []bool

	// Of the call in progress.
	what    func(v *VectorEnv, low, high int)
	helpers []*helper       // the workers but the one that calls
	call    atomic.Uint64   // its number
	spans   []atomic.Uint64 // of lanes: the last call in which somebody took it
	left    atomic.Int64    // spans of which nobody has told that they are done; 0 between calls, unless a panic has cut one short
	out     *Batch
	actions []mancala.Action
	which   []bool
}

const maxLanes = 1 << 20

// NewVector returns a VectorEnv of n lanes, 1 to 1,048,576.
func NewVector(r mancala.Rules, n int, o VectorOptions) (*VectorEnv, error) {
	enc, err := o.encoder(r)
	if err != nil {
		return nil, err
	}
	switch {
	case n < 1 || n > maxLanes:
		return nil, fmt.Errorf("env: lanes %d: want 1 to %d", n, maxLanes)
	case o.TimeLimit < 0:
		return nil, fmt.Errorf("env: time limit %d: want 0 (none) or more plies", o.TimeLimit)
	case o.Autoreset > AutoresetDisabled:
		return nil, fmt.Errorf("env: autoreset mode %d: want 0 (next step), 1 (same step) or 2 (disabled)", uint8(o.Autoreset))
	case o.Workers < 0:
		return nil, fmt.Errorf("env: workers %d: want 0 or more", o.Workers)
	}
	if err := o.Reward.check(); err != nil {
		return nil, err
	}
	v := &VectorEnv{
		rules: r, advancer: mancala.Advancing(r), encoder: enc, o: o, n: n,
		states: make([]mancala.State, n), legal: make([]mancala.Mask, n), episodes: make([]uint64, n),
		opened: make([]int, n), ended: make([]bool, n),
	}
	v.spans = make([]atomic.Uint64, (n+span-1)/span)
	for w := 1; w < min(o.Workers, len(v.spans)); w++ {
		h := new(helper)
		h.run = func() {
			v.work(w)
			h.up.Store(false)
		}
		v.helpers = append(v.helpers, h)
	}
	return v, nil
}

// Lanes returns the number of lanes.
func (v *VectorEnv) Lanes() int { return v.n }

// Rules returns the rules that are played.
func (v *VectorEnv) Rules() mancala.Rules { return v.rules }

// Encoder returns the encoder of the observations.
func (v *VectorEnv) Encoder() encode.Encoder { return v.encoder }

// ActionSpace holds every action of a lane.
func (v *VectorEnv) ActionSpace() Discrete { return Discrete{N: v.rules.Info().Actions} }

// ObservationSpace holds every row of Observations.
func (v *VectorEnv) ObservationSpace() Box {
	return Box{Low: 0, High: 1, Shape: []int{v.encoder.Size()}}
}

// Batch returns a Batch with every field that the options have a use for: of the two forms of an observation
// the sparse one if the encoder has it, the dense one else.
func (v *VectorEnv) Batch() *Batch {
	n, dense, sparse := v.n, v.n*v.encoder.Size(), v.n*v.encoder.Active()
	b := &Batch{
		States:     make([]mancala.State, n),
		Players:    make([]mancala.Player, n),
		Legal:      make([]mancala.Mask, n),
		Rewards:    make([][2]float32, n),
		Terminated: make([]bool, n),
		Truncated:  make([]bool, n),
		Reasons:    make([]mancala.Reason, n),
		Points:     make([][2]int, n),
		Episodes:   make([]uint64, n),
	}
	final := v.o.Autoreset == AutoresetSameStep
	if final {
		b.FinalStates = make([]mancala.State, n)
	}
	switch {
	case sparse > 0:
		b.Indices = make([]int32, sparse)
		if final {
			b.FinalIndices = make([]int32, sparse)
		}
	default:
		b.Observations = make([]float32, dense)
		if final {
			b.FinalObservations = make([]float32, dense)
		}
	}
	return b
}

// Reset begins episode 0 in every lane; EpisodeSeed says with which seeds.
func (v *VectorEnv) Reset(seed uint64, out *Batch) error {
	if err := v.ready(out); err != nil {
		return err
	}
	v.began, v.seed = true, seed
	v.each((*VectorEnv).first, nil, nil, out)
	return nil
}

// Step plays actions[i] in lane i, for all lanes. If an action is illegal, or ErrNotReset or ErrEnded apply,
// the error names the lane and no lane has moved; nothing is written then.
func (v *VectorEnv) Step(actions []mancala.Action, out *Batch) error {
	if !v.began {
		return fmt.Errorf("env: vector: %w: want Reset first", ErrNotReset)
	}
	if len(actions) != v.n {
		return fmt.Errorf("env: actions of %d lanes: want %d", len(actions), v.n)
	}
	if err := v.ready(out); err != nil {
		return err
	}
	for i, a := range actions {
		switch {
		case v.legal[i].Has(a):
		case !v.ended[i]:
			return fmt.Errorf("env: lane %d: action %d: %w: want one of %s", i, a, ErrIllegalAction, list(v.legal[i]))
		case v.o.Autoreset == AutoresetDisabled && a != NoAction:
			return fmt.Errorf("env: lane %d: action %d: %w: want ResetLanes, or NoAction (%d)", i, a, ErrEnded, NoAction)
		}
	}
	v.each((*VectorEnv).step, actions, nil, out)
	return nil
}

// ResetLanes begins the next episode in the lanes for which which[i] is true, ended or not. The other lanes
// show what they showed, with reward 0 and no end told again.
func (v *VectorEnv) ResetLanes(which []bool, out *Batch) error {
	if !v.began {
		return fmt.Errorf("env: vector: %w: want Reset first", ErrNotReset)
	}
	if len(which) != v.n {
		return fmt.Errorf("env: choice among %d lanes: want %d", len(which), v.n)
	}
	if err := v.ready(out); err != nil {
		return err
	}
	v.each((*VectorEnv).again, nil, which, out)
	return nil
}

// helper is a worker in a goroutine of its own.
type helper struct {
	run func()
	up  atomic.Bool // it runs, or is about to
}

// each does what for all lanes, on all workers, and comes back when all are done.
func (v *VectorEnv) each(what func(v *VectorEnv, low, high int), actions []mancala.Action, which []bool, out *Batch) {
	v.what, v.actions, v.which, v.out = what, actions, which, out
	v.left.Store(int64(len(v.spans)))
	v.call.Add(1)
	for _, h := range v.helpers {
		if h.up.CompareAndSwap(false, true) {
			go h.run()
		}
	}
	v.work(0)
	for i := 0; v.left.Load() > 0; i++ {
		if i > 1<<14 { // after some microseconds: the others are seldom so late, and a goroutine that sleeps wakes later
			runtime.Gosched()
		}
	}
	v.actions, v.which, v.out = nil, nil, nil
}

// span is how many lanes are taken at a time: some microseconds of work.
const span = 256

// work is the part of worker w in a call. Each has lanes of its own, so that they stay in the cache of its processor, and takes
// them from the first on; then it takes those of others, from the last on. A worker that wakes late finds what is left, be it
// that of a later call: it works for the call whose number it has read.
func (v *VectorEnv) work(w int) {
	call, n, workers := v.call.Load(), len(v.spans), len(v.helpers)+1
	low, high, done := n*w/workers, n*(w+1)/workers, int64(0)
	for i := low; i < high; i++ {
		done += v.take(i, call)
	}
	for i := n - 1; i >= 0; i-- {
		done += v.take(i, call)
	}
	v.left.Add(-done)
}

// take does the lanes of span i, and returns 1, unless somebody else does. Who changes the number of a span from the last
// call's to this one's has it, alone, and a call does not end before all who have spans have told: so what the call is about
// is read only while it lasts, and who still has the number of an earlier call takes nothing, for no span is behind it.
func (v *VectorEnv) take(i int, call uint64) int64 {
	s := &v.spans[i]
	if s.Load() != call-1 || !s.CompareAndSwap(call-1, call) {
		return 0
	}
	v.what(v, i*span, min((i+1)*span, v.n))
	return 1
}

func (v *VectorEnv) first(low, high int) {
	for i := low; i < high; i++ {
		v.begin(i, 0)
	}
	v.goOn(low, high)
	v.show(low, high)
}

func (v *VectorEnv) again(low, high int) {
	for i := low; i < high; i++ {
		if v.which[i] {
			v.begin(i, v.episodes[i]+1)
		}
	}
	v.goOn(low, high)
	v.show(low, high)
}

func (v *VectorEnv) step(low, high int) {
	v.goOn(low, high)
	for i := low; i < high; i++ {
		if v.ended[i] {
			if v.o.Autoreset == AutoresetNextStep {
				v.begin(i, v.episodes[i]+1)
			}
			continue
		}
		s := &v.states[i]
		v.legal[i] = v.advancer.Advance(s, v.actions[i])
		cut := v.o.TimeLimit > 0 && s.Ply()-v.opened[i] >= v.o.TimeLimit
		if s.Over() || cut {
			v.end(i)
		}
	}
	v.show(low, high)
}

// end ends lane i's episode, by the rules or else by the limit.
func (v *VectorEnv) end(i int) {
	v.legal[i], v.ended[i] = 0, true
	v.tell(i)
	if v.o.Autoreset == AutoresetSameStep {
		v.keep(i)
		v.begin(i, v.episodes[i]+1)
	}
}

func (v *VectorEnv) begin(i int, episode uint64) {
	s, opened := open(v.rules, EpisodeSeed(v.seed, uint64(i), episode), v.o.OpeningPlies, nil)
	v.states[i], v.legal[i], v.episodes[i], v.opened[i], v.ended[i] = s, v.rules.Legal(s), episode, opened, false
}

// goOn writes what lanes show of a step in which their episodes do not end.
func (v *VectorEnv) goOn(low, high int) {
	b := v.out
	blank(b.Rewards, low, high)
	blank(b.Terminated, low, high)
	blank(b.Truncated, low, high)
	blank(b.Reasons, low, high)
	blank(b.Points, low, high)
}

// tell adds how lane i's episode ended.
func (v *VectorEnv) tell(i int) {
	b, s := v.out, v.states[i]
	if !s.Over() {
		put(b.Truncated, i, true)
		return
	}
	put(b.Terminated, i, true)
	put(b.Reasons, i, s.Reason())
	put(b.Rewards, i, v.o.Reward.Of(v.rules, s))
	put(b.Points, i, v.rules.Points(s))
}

// show writes the positions of lanes.
func (v *VectorEnv) show(low, high int) {
	b, states := v.out, v.states[low:high]
	if b.States != nil {
		copy(b.States[low:high], states)
	}
	if b.Players != nil {
		players := b.Players[low:high]
		for i := range states {
			players[i] = states[i].Mover()
		}
	}
	if b.Legal != nil {
		copy(b.Legal[low:high], v.legal[low:high])
	}
	if b.Episodes != nil {
		copy(b.Episodes[low:high], v.episodes[low:high])
	}
	v.observe(low, states, b.Observations, b.Indices)
}

// keep writes lane i's position to the Final fields.
func (v *VectorEnv) keep(i int) {
	b := v.out
	put(b.FinalStates, i, v.states[i])
	v.observe(i, v.states[i:i+1], b.FinalObservations, b.FinalIndices)
}

// observe encodes the states of lanes from lane low on.
func (v *VectorEnv) observe(low int, states []mancala.State, dense []float32, sparse []int32) {
	if n := v.encoder.Size(); dense != nil {
		for i := range states {
			v.encoder.Dense(states[i], dense[(low+i)*n:(low+i+1)*n])
		}
	}
	if n := v.encoder.Active(); sparse != nil && n > 0 {
		for i := range states {
			v.encoder.Sparse(states[i], sparse[(low+i)*n:(low+i+1)*n])
		}
	}
}

func put[T any](column []T, i int, x T) {
	if column != nil {
		column[i] = x
	}
}

func blank[T any](column []T, low, high int) {
	if column != nil {
		clear(column[low:high])
	}
}

// ready fails if no call can write to b: an earlier one was cut short, or a field is neither nil nor of its length.
func (v *VectorEnv) ready(b *Batch) error {
	if v.left.Load() != 0 { // some lanes have not moved, and helpers may still be at others
		return errors.New("env: vector: an earlier call has not ended: want a new VectorEnv after a panic, and one call at a time")
	}
	if b == nil {
		return errors.New("env: batch nil: want one to write to")
	}
	n, dense, sparse := v.n, v.n*v.encoder.Size(), v.n*v.encoder.Active()
	for _, f := range [...]struct {
		name      string
		none      bool
		got, want int
	}{
		{"States", b.States == nil, len(b.States), n},
		{"Players", b.Players == nil, len(b.Players), n},
		{"Legal", b.Legal == nil, len(b.Legal), n},
		{"Observations", b.Observations == nil, len(b.Observations), dense},
		{"Indices", b.Indices == nil, len(b.Indices), sparse},
		{"Rewards", b.Rewards == nil, len(b.Rewards), n},
		{"Terminated", b.Terminated == nil, len(b.Terminated), n},
		{"Truncated", b.Truncated == nil, len(b.Truncated), n},
		{"Reasons", b.Reasons == nil, len(b.Reasons), n},
		{"Points", b.Points == nil, len(b.Points), n},
		{"Episodes", b.Episodes == nil, len(b.Episodes), n},
		{"FinalStates", b.FinalStates == nil, len(b.FinalStates), n},
		{"FinalObservations", b.FinalObservations == nil, len(b.FinalObservations), dense},
		{"FinalIndices", b.FinalIndices == nil, len(b.FinalIndices), sparse},
	} {
		if !f.none && f.got != f.want {
			return fmt.Errorf("env: batch %s of length %d: want nil or %d", f.name, f.got, f.want)
		}
	}
	return nil
}
