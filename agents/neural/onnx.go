package neural

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Versions of ONNX that WriteONNX writes: of the file, and of its operations.
const (
	onnxFile       = 8
	onnxOperations = 13
)

// WriteONNX writes the network as an ONNX model (file version 8, operations 13). Its input is "observation", batch × Inputs
// of 0 and 1; its outputs are "policy", batch × Actions, and "outcome", batch × 3, logits both as Network.Forward
// gives them, and with a margin head "margin", batch × 1. Illegal actions are for the reader to mask. Meta
// stands in the model's metadata. The same weights give the same bytes.
func (w *Weights) WriteONNX(f io.Writer) error {
	if err := w.Validate(); err != nil {
		return err
	}
	g := onnxGraph{w: w}
	g.build()
	var m []byte
	m = putInt(m, 1, onnxFile)
	m = putText(m, 2, "mancalagym")
	m = putBytes(m, 7, g.bytes())
	m = putBytes(m, 8, putInt(nil, 2, onnxOperations))
	for _, p := range w.properties() {
		m = putBytes(m, 14, putText(putText(nil, 1, p[0]), 2, p[1]))
	}
	if _, err := f.Write(m); err != nil {
		return fmt.Errorf("neural: writing ONNX: %w", err)
	}
	return nil
}

// properties are what other formats hold of Meta, as texts by name, in ascending order.
func (w *Weights) properties() [][2]string {
	m := w.Meta
	return [][2]string{
		{"encoder", m.Encoder}, {"encoder_version", strconv.Itoa(m.EncoderVersion)}, {"family", m.Family},
		{"margin", strconv.FormatFloat(m.Margin, 'g', -1, 64)}, {"spec", m.Spec},
	}
}

// onnxGraph collects the parts of a GraphProto.
type onnxGraph struct {
	w       *Weights
	nodes   [][]byte
	outputs [][]byte
}

// node adds an operation whose result has the name out.
func (g *onnxGraph) node(op, out string, in ...string) string {
	var n []byte
	for _, name := range in {
		n = putText(n, 1, name)
	}
	n = putText(n, 2, out)
	n = putText(n, 3, out)
	g.nodes = append(g.nodes, putText(n, 4, op))
	return out
}

func (g *onnxGraph) layer(name, in, out string) string {
	return g.node("Gemm", out, in, name+".w", name+".b")
}

func (g *onnxGraph) output(name string, cols int) {
	g.outputs = append(g.outputs, onnxValue(name, cols))
}

func (g *onnxGraph) build() {
	s := g.w.Shape
	t := g.node("Relu", "first", g.layer("first", "observation", "first.sum"))
	for i := range s.Blocks {
		b := fmt.Sprintf("block%d", i)
		y := g.node("Relu", b+".in", g.layer(b+".in", t, b+".in.sum"))
		t = g.node("Relu", b, g.node("Add", b+".sum", g.layer(b+".out", y, b+".out.sum"), t))
	}
	g.layer("policy", t, "policy")
	g.output("policy", s.Actions)
	if s.ValueWidth > 0 {
		t = g.node("Relu", "value", g.layer("value", t, "value.sum"))
	}
	g.layer("outcome", t, "outcome")
	g.output("outcome", Outcomes)
	if s.MarginHead {
		g.layer("margin", t, "margin")
		g.output("margin", 1)
	}
}

func (g *onnxGraph) bytes() []byte {
	var b []byte
	for _, n := range g.nodes {
		b = putBytes(b, 1, n)
	}
	b = putText(b, 2, "network")
	for _, t := range g.w.Tensors {
		b = putBytes(b, 5, onnxTensor(t))
	}
	b = putBytes(b, 11, onnxValue("observation", g.w.Shape.Inputs))
	for _, o := range g.outputs {
		b = putBytes(b, 12, o)
	}
	return b
}

const onnxFloat = 1 // its number for float32

// onnxTensor makes a TensorProto: a matrix, or a bias of one dimension.
func onnxTensor(t Tensor) []byte {
	var b []byte
	for _, n := range t.dims() {
		b = putInt(b, 1, n)
	}
	b = putInt(b, 2, onnxFloat)
	b = putText(b, 8, t.Name)
	return putBytes(b, 9, t.bytes())
}

// onnxValue makes a ValueInfoProto: a tensor of batch × cols.
func onnxValue(name string, cols int) []byte {
	shape := putBytes(nil, 1, putText(nil, 2, "batch"))
	shape = putBytes(shape, 1, putInt(nil, 1, cols))
	tensor := putBytes(putInt(nil, 1, onnxFloat), 2, shape)
	return putBytes(putText(nil, 1, name), 2, putBytes(nil, 1, tensor))
}

// dims returns the sizes as other formats have them: a bias has one.
func (t *Tensor) dims() []int {
	if t.bias() {
		return []int{t.Cols}
	}
	return []int{t.Rows, t.Cols}
}

// bytes returns the numbers, little-endian.
func (t *Tensor) bytes() []byte {
	b := make([]byte, 0, 4*len(t.Data))
	for _, v := range t.Data {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}

func putInt(b []byte, field protowire.Number, v int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

func putText(b []byte, field protowire.Number, text string) []byte {
	return putBytes(b, field, []byte(text))
}

func putBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}
