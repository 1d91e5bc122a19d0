package mcts

import (
	"math/rand/v2"

	"github.com/mancalagym/mancalagym/agents"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// node is a position of the tree. Node 0 is the root, and a node first reached on simulation i, counted from 1, has
// index i; where simulation i ended in a node that was there already, index i stays unused.
type node struct {
	legal   mancala.Mask   // the actions of the edges, in their order; none when over
	parent  uint32         // node
	arrival uint32         // the edge that leads here; its visits and q are this node's
	first   uint32         // of the edges that leave
	value   float32        // for South: what the evaluator or, when over, the result says
	mover   mancala.Player // owns the choice between the edges
	over    bool           // the game is, or a Prober knows how it ends
}

// edge is a legal action of a node. Edge 0 leads to the root and belongs to no node.
type edge struct {
	prior  float32
	q      float32 // for South: the mean of the values backed up; 0 without visits
	visits uint32
	child  uint32 // node; 0 before the first visit
}

// tree is one search tree and all its storage. Only used edges are ever touched.
type tree struct {
	nodes  []node          // by node, Simulations+1
	states []mancala.State // by node
	edges  []edge          // those of a node are neighbours
	used   uint32          // edges in use
	chance rand.PCG        // seeds of the leaves
	cut    halving         // Gumbel: the schedule of the root
	draw   []float32       // Gumbel: noise plus log prior of each root edge
}

func newTree(simulations, actions int) tree {
	return tree{
		nodes:  make([]node, simulations+1),
		states: make([]mancala.State, simulations+1),
		edges:  make([]edge, 1+(simulations+1)*actions),
		draw:   make([]float32, actions),
	}
}

// plant begins a new tree with its root.
func (t *tree) plant(s mancala.State, legal mancala.Mask, seed uint64) {
	t.chance.Seed(seed, StreamLeaf)
	t.used = 1
	t.edges[0] = edge{}
	t.states[0] = s
	t.nodes[0] = node{legal: legal, mover: s.Mover()}
}

// edgesOf returns the edges that leave a node.
func (t *tree) edgesOf(n *node) []edge {
	return t.edges[n.first : n.first+uint32(n.legal.Len())]
}

// add puts the child that edge e of node p leads to at index i and reports whether it needs an
// evaluator: a game that is over has its exact value from the rules.
func (t *tree) add(r mancala.Advancer, ends *worth, p, e, i uint32) (leaf bool) {
	from, s := &t.nodes[p], &t.states[i]
	t.edges[e].child = i
	*s = t.states[p]
	legal := r.Advance(s, from.legal.Nth(int(e-from.first)))
	n := &t.nodes[i]
	*n = node{legal: legal, parent: p, arrival: e, mover: s.Mover(), over: s.Over()}
	switch {
	case n.over:
		n.value = ends.of(s)
	case ends.prober != nil:
		if d, ok := agents.Final(ends.prober, s); ok {
			n.over, n.value = true, ends.known(d)
		}
	}
	return !n.over
}

// worth says what the end of a game is worth to South.
type worth struct {
	info   mancala.Info
	margin float32 // Config.Margin
	prober agents.Prober
}

func (w *worth) of(s *mancala.State) float32 {
	outcome := float32(s.Returns()[mancala.South])
	if w.margin == 0 {
		return outcome
	}
	return outcome + w.margin*(mancala.Margin(&w.info, s)-outcome)
}

// known says what a game that will end with a store difference of d is worth to South.
func (w *worth) known(d int) float32 {
	outcome := float32(max(-1, min(d, 1)))
	return outcome + w.margin*(float32(d)/float32(w.info.Seeds)-outcome)
}

// grow gives node i its edges, with the prior of a row of Info.Actions probabilities, and its value, which is for
// the mover. It reports whether the prior sums to 1.
func (t *tree) grow(i uint32, prior []float32, value float32) bool {
	n := &t.nodes[i]
	n.first = t.used
	n.value = sign[n.mover] * value
	es := t.edgesOf(n)
	t.used += uint32(len(es))
	m, sum := n.legal, float32(0)
	for j := range es {
		p := prior[m.First()]
		es[j] = edge{prior: p}
		sum += p
		m = m.WithoutFirst()
	}
	return sum > 0.99 && sum < 1.01
}

// back adds the value of node i to the means on the way from the root. The values are South's all
// along, so who moves where does not matter, nor how often in a row.
func (t *tree) back(i uint32, inverse []float32) {
	v := t.nodes[i].value
	for {
		n := &t.nodes[i]
		e := &t.edges[n.arrival]
		e.visits++
		e.q += float32((v - e.q) * inverse[e.visits])
		if i == 0 {
			return
		}
		i = n.parent
	}
}

// sign turns a value of South into one of the player, and back.
var sign = [2]float32{mancala.South: 1, mancala.North: -1}
