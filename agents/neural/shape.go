package neural

import "fmt"

// Outcomes is the number of value logits: the mover's win, draw and loss.
const Outcomes = 3

// Bounds of a Shape. They are far above anything useful: they keep a damaged file from asking for the moon.
const (
	maxInputs  = 1 << 16
	maxActive  = 1 << 10
	maxWidth   = 1 << 12
	maxBlocks  = 1 << 6
	maxActions = 64      // mancala.Mask has no more
	maxNumbers = 1 << 26 // in all tensors together: a quarter of a gigabyte
)

// Shape holds the sizes of a network.
type Shape struct {
	Inputs     int `json:"inputs"`      // length of the dense observation
	Active     int `json:"active"`      // indices a row, all others being 0
	Width      int `json:"width"`       // of the trunk
	Blocks     int `json:"blocks"`      // residual blocks of the trunk, two layers each
	ValueWidth int `json:"value_width"` // of the value head's hidden layer; 0 for none
	Actions    int `json:"actions"`     // policy logits
	// MarginHead adds an output for the margin of seeds, 1 to −1 for the mover. It is there to learn from: play does
	// without.
	MarginHead bool `json:"margin_head"`
}

// DefaultShape returns the small network, 64×2 with a value layer of 32, for an encoder's sizes and a
// variant's actions.
func DefaultShape(inputs, active, actions int) Shape {
	return Shape{Inputs: inputs, Active: active, Width: 64, Blocks: 2, ValueWidth: 32, Actions: actions}
}

// Validate returns an error that names the first size out of bounds.
func (s Shape) Validate() error {
	for _, c := range []struct {
		name       string
		n, low, up int
	}{
		{"inputs", s.Inputs, 1, maxInputs},
		{"active", s.Active, 1, min(maxActive, s.Inputs)},
		{"width", s.Width, 1, maxWidth},
		{"blocks", s.Blocks, 0, maxBlocks},
		{"value width", s.ValueWidth, 0, maxWidth},
		{"actions", s.Actions, 1, maxActions},
	} {
		if c.n < c.low || c.n > c.up {
			return fmt.Errorf("neural: %s %d: must be %d to %d", c.name, c.n, c.low, c.up)
		}
	}
	if n := s.Numbers(); n > maxNumbers {
		return fmt.Errorf("neural: shape %v has %d weights: at most %d are allowed", s, n, maxNumbers)
	}
	return nil
}

// Numbers returns the number of weights of a network with these sizes, biases included.
func (s Shape) Numbers() int {
	n := 0
	for _, t := range s.layout() {
		n += t.Rows * t.Cols
	}
	return n
}

// String returns the sizes in short, for example "512/16→64×2→16+32", with "+margin" where there is such a head.
func (s Shape) String() string {
	text := fmt.Sprintf("%d/%d→%d×%d→%d+%d", s.Inputs, s.Active, s.Width, s.Blocks, s.Actions, s.ValueWidth)
	if s.MarginHead {
		text += "+margin"
	}
	return text
}

// layout returns the tensors of the network in the order of the file, without data.
func (s Shape) layout() []Tensor {
	var l []Tensor
	layer := func(name string, in, out int) {
		l = append(l, Tensor{Name: name + ".w", Rows: in, Cols: out}, Tensor{Name: name + ".b", Rows: 1, Cols: out})
	}
	layer("first", s.Inputs, s.Width)
	for i := range s.Blocks {
		layer(fmt.Sprintf("block%d.in", i), s.Width, s.Width)
		layer(fmt.Sprintf("block%d.out", i), s.Width, s.Width)
	}
	layer("policy", s.Width, s.Actions)
	trunk := s.Width
	if s.ValueWidth > 0 {
		layer("value", s.Width, s.ValueWidth)
		trunk = s.ValueWidth
	}
	layer("outcome", trunk, Outcomes)
	if s.MarginHead {
		layer("margin", trunk, 1)
	}
	return l
}

// Meta says what a network was made for.
type Meta struct {
	Family         string `json:"family"`          // mancala.Info.Family
	Spec           string `json:"spec"`            // mancala.Info.Spec it was trained on
	Encoder        string `json:"encoder"`         // encode.Encoder.Name
	EncoderVersion int    `json:"encoder_version"` // encode.Encoder.Version
	// Margin is the share of the margin of seeds in the value that the network was taught, 0 … 1; the rest is
	// the outcome. A search with it should value the ends of games alike.
	Margin float64 `json:"margin"`
}

// Validate returns an error unless the texts are 1 to 256 printable ASCII characters and the version is not
// negative.
func (m Meta) Validate() error {
	for _, c := range []struct{ name, text string }{
		{"family", m.Family}, {"spec", m.Spec}, {"encoder", m.Encoder},
	} {
		ok := len(c.text) > 0 && len(c.text) <= 256
		for _, b := range []byte(c.text) {
			ok = ok && b > ' ' && b <= '~'
		}
		if !ok {
			return fmt.Errorf("neural: %s %.40q: must be 1 to 256 printable ASCII characters without spaces", c.name, c.text)
		}
	}
	if !(m.Margin >= 0 && m.Margin <= 1) {
		return fmt.Errorf("neural: margin %v: must be 0 to 1", m.Margin)
	}
	if m.EncoderVersion < 0 || m.EncoderVersion > 1<<30 {
		return fmt.Errorf("neural: encoder version %d: must be 0 to %d", m.EncoderVersion, 1<<30)
	}
	return nil
}
