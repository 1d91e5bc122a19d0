package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/agents/neural"
	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/env/mancala"
	"github.com/mancalagym/mancalagym/internal/whole"
)

const (
	checkStream    = 0x636865636b // of seed 1: the random plies of the positions of --check
	checkPositions = 64
)

func modelCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "model",
		Short:   "Describe networks and write them for other programs",
		Example: "  mancala model info runs/first/best\n  mancala model export runs/first/best --format onnx",
	}
	c.AddCommand(modelInfoCommand(), modelExportCommand())
	return c
}

// oneModel is the check of a command that takes a weights file.
func oneModel() cobra.PositionalArgs {
	return arguments(1, 1, "FILE", "a weights file, as runs/first/best")
}

// model is a weights file.
type model struct {
	*neural.Weights
	size int
	sum  string // SHA-256 of the file
}

func readModel(path string) (model, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return model{}, fmt.Errorf("%w: want a weights file", err)
	}
	w, err := neural.Read(bytes.NewReader(b))
	if err != nil {
		return model{}, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "neural: "))
	}
	sum := sha256.Sum256(b)
	return model{w, len(b), hex.EncodeToString(sum[:])}, nil
}

func modelInfoCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "info FILE",
		Short: "Tell what a weights file holds",
		Long: `Tell what a weights file holds: the variant and the encoder the network is for, its sizes, and the share of the margin of seeds in the
value it was taught. A file that is cut short, changed, or of another version is refused with the reason.`,
		Example: "  mancala model info runs/first/best\n  mancala model info runs/first/best --json",
		Args:    oneModel(),
		RunE: func(c *cobra.Command, args []string) error {
			m, err := readModel(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return m.json(c.OutOrStdout())
			}
			m.print(c.OutOrStdout())
			return nil
		},
	}
	jsonFlag(c, &asJSON, "a JSON object")
	return c
}

func (m *model) print(w io.Writer) {
	s := m.Shape
	line := func(name, format string, args ...any) {
		fmt.Fprintf(w, "%-12s "+format+"\n", append([]any{name}, args...)...)
	}
	line("variant", "%s", m.Meta.Spec)
	line("encoder", "%s version %d", m.Meta.Encoder, m.Meta.EncoderVersion)
	line("inputs", "%d, of which %d are 1", s.Inputs, s.Active)
	line("trunk", "%d wide, %d blocks", s.Width, s.Blocks)
	line("value layer", "%d", s.ValueWidth)
	line("actions", "%d", s.Actions)
	line("margin head", "%s", map[bool]string{false: "no", true: "yes"}[s.MarginHead])
	line("margin", "%v of the value, the rest is the outcome", m.Meta.Margin)
	line("weights", "%s in %d tensors", thousands(float64(s.Numbers())), len(m.Tensors))
	line("file", "format version %d, %s bytes, SHA-256 %s", neural.Version, thousands(float64(m.size)), m.sum)
}

func (m *model) json(w io.Writer) error {
	type tensor struct {
		Name string `json:"name"`
		Rows int    `json:"rows"`
		Cols int    `json:"cols"`
	}
	var tensors []tensor
	for _, t := range m.Tensors {
		tensors = append(tensors, tensor{t.Name, t.Rows, t.Cols})
	}
	return json.NewEncoder(w).Encode(struct {
		neural.Meta
		Shape   neural.Shape `json:"shape"`
		Weights int          `json:"weights"`
		Tensors []tensor     `json:"tensors"`
		Version int          `json:"version"`
		Bytes   int          `json:"bytes"`
		SHA256  string       `json:"sha256"`
	}{m.Meta, m.Shape, m.Shape.Numbers(), tensors, neural.Version, m.size, m.sum})
}

func modelExportCommand() *cobra.Command {
	var (
		form, out, check string
		force            bool
	)
	c := &cobra.Command{
		Use:   "export FILE --format onnx|safetensors",
		Short: "Write a network for other programs",
		Long: `Write a network for other programs, whole or not at all.

  onnx         a model with the input "observation", batch × inputs of 0 and 1, and the outputs "policy" (logits of the actions;
               illegal ones are for the reader to mask), "outcome" (logits of the mover's win, draw and loss) and, if there is such
               a head, "margin"
  safetensors  the tensors under their names: matrices of inputs × outputs, biases of one dimension

With --check it also writes positions of random games and what the network says of them, as JSON, so that the other program can be held
against it: the places of the ones of each observation, policy, outcome and margin.`,
		Example: "  mancala model export runs/first/best --format onnx\n" +
			"  mancala model export runs/first/best --format onnx --out net.onnx --check net.json",
		Args: oneModel(),
		RunE: func(c *cobra.Command, args []string) error {
			if form == "" {
				return wrong("--format is missing: want onnx or safetensors")
			}
			if out == "" {
				out = args[0] + "." + form
			}
			if check == "-" || check == out {
				return wrong("--check %q: want a path of its own", check)
			}
			m, err := readModel(args[0])
			if err != nil {
				return err
			}
			write := m.WriteONNX
			if form == "safetensors" {
				write = m.WriteSafetensors
			}
			if out != "-" {
				if err := free(out, force); err != nil {
					return fmt.Errorf("--out %q: %w", out, err)
				}
			}
			if check != "" {
				err := free(check, force)
				if err == nil {
					err = whole.Write(check, m.check)
				}
				if err != nil {
					return fmt.Errorf("--check %q: %w", check, err)
				}
			}
			if out == "-" {
				return write(c.OutOrStdout())
			}
			if err := whole.Write(out, write); err != nil {
				return unwritable(out, err)
			}
			fmt.Fprintf(c.OutOrStdout(), "%s: %s weights\n", out, thousands(float64(m.Shape.Numbers())))
			return nil
		},
	}
	f := c.Flags()
	f.Var(&choice{&form, []string{"onnx", "safetensors"}}, "format", "of the file")
	f.StringVar(&out, "out", "", "`PATH` to write to, or - for standard output (default FILE with the format as extension)")
	f.StringVar(&check, "check", "", "`PATH` for positions and what the network says of them")
	f.BoolVar(&force, "force", false, "replace what exists")
	return c
}

// check writes positions and what the network says of them.
func (m *model) check(w io.Writer) error {
	r, err := mancala.Parse(m.Meta.Spec)
	if err != nil {
		return err
	}
	enc, err := encode.New(m.Meta.Encoder, r.Info())
	if err != nil {
		return err
	}
	n, err := neural.NewNetwork(m.Weights)
	if err != nil {
		return err
	}
	if _, err := neural.NewEvaluator(neural.NewHolder(n), r.Info(), enc); err != nil {
		return err
	}
	type answer struct {
		Ones    []int32   `json:"ones"`
		Policy  []float32 `json:"policy"`
		Outcome []float32 `json:"outcome"`
		Margin  []float32 `json:"margin,omitempty"`
	}
	pcg := rand.NewPCG(1, checkStream)
	scratch, all := neural.NewScratch(m.Shape), []answer{}
	for s := r.Start(); len(all) < checkPositions; {
		a := answer{make([]int32, m.Shape.Active), make([]float32, m.Shape.Actions), make([]float32, neural.Outcomes), nil}
		enc.Sparse(s, a.Ones)
		if m.Shape.MarginHead {
			a.Margin = make([]float32, 1)
			err = n.ForwardMargin(scratch, 1, a.Ones, a.Policy, a.Outcome, a.Margin)
		} else {
			err = n.Forward(scratch, 1, a.Ones, a.Policy, a.Outcome)
		}
		if err != nil {
			return err
		}
		all = append(all, a)
		if s = r.Next(s, draw(pcg, r.Legal(s))); s.Over() {
			s = r.Start()
		}
	}
	return json.NewEncoder(w).Encode(map[string]any{"inputs": m.Shape.Inputs, "positions": all})
}
