package neural

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// field is one field of a message: a number or bytes.
type field struct {
	number protowire.Number
	n      uint64
	b      []byte
}

// fields takes a message apart.
func fields(t *testing.T, b []byte) []field {
	t.Helper()
	var all []field
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		f := field{number: number}
		switch kind {
		case protowire.VarintType:
			f.n, n = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			f.b, n = protowire.ConsumeBytes(b)
		default:
			t.Fatalf("field %d of type %d", number, kind)
		}
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		b = b[n:]
		all = append(all, f)
	}
	return all
}

func pick(all []field, number protowire.Number) []field {
	return slices.DeleteFunc(slices.Clone(all), func(f field) bool { return f.number != number })
}

// value is a matrix by name.
type value struct {
	dims []int
	data []float64
}

// runONNX computes a model: the three operations that it may be made of.
func runONNX(t *testing.T, model []byte, observation value) map[string]value {
	t.Helper()
	graph := fields(t, pick(fields(t, model), 7)[0].b)
	values := map[string]value{"observation": observation}
	for _, f := range pick(graph, 5) {
		tensor := fields(t, f.b)
		v := value{}
		for _, d := range pick(tensor, 1) {
			v.dims = append(v.dims, int(d.n))
		}
		raw := pick(tensor, 9)[0].b
		for ; len(raw) > 0; raw = raw[4:] {
			v.data = append(v.data, float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))))
		}
		values[string(pick(tensor, 8)[0].b)] = v
	}
	for _, f := range pick(graph, 1) {
		node := fields(t, f.b)
		var in []value
		for _, name := range pick(node, 1) {
			v, ok := values[string(name.b)]
			if !ok {
				t.Fatalf("%q is used before it is there", name.b)
			}
			in = append(in, v)
		}
		var out value
		switch op := string(pick(node, 4)[0].b); op {
		case "Gemm":
			rows, depth, cols := in[0].dims[0], in[0].dims[1], in[1].dims[1]
			if in[1].dims[0] != depth || len(in[2].dims) != 1 || in[2].dims[0] != cols {
				t.Fatalf("Gemm of %v, %v and %v", in[0].dims, in[1].dims, in[2].dims)
			}
			out.dims = []int{rows, cols}
			for i := range rows {
				for j := range cols {
					sum := in[2].data[j]
					for k := range depth {
						sum += in[0].data[i*depth+k] * in[1].data[k*cols+j]
					}
					out.data = append(out.data, sum)
				}
			}
		case "Relu":
			out.dims = in[0].dims
			for _, x := range in[0].data {
				out.data = append(out.data, max(x, 0))
			}
		case "Add":
			out.dims = in[0].dims
			for i, x := range in[0].data {
				out.data = append(out.data, x+in[1].data[i])
			}
		default:
			t.Fatalf("operation %q", op)
		}
		values[string(pick(node, 2)[0].b)] = out
	}
	outputs := map[string]value{}
	for _, f := range pick(graph, 12) {
		name := string(pick(fields(t, f.b), 1)[0].b)
		outputs[name] = values[name]
	}
	return outputs
}

func TestONNXModelIsTheNetwork(t *testing.T) {
	for _, s := range shapes {
		w := scrambled(t, s, 3)
		var b bytes.Buffer
		if err := w.WriteONNX(&b); err != nil {
			t.Fatal(err)
		}
		const rows = 5
		idx := rowsOf(s, rows, 4)
		observation := value{[]int{rows, s.Inputs}, make([]float64, rows*s.Inputs)}
		for i, x := range idx {
			observation.data[i/s.Active*s.Inputs+int(x)] = 1
		}
		got := runONNX(t, b.Bytes(), observation)
		if want := map[bool]int{false: 2, true: 3}[s.MarginHead]; len(got) != want {
			t.Errorf("shape %v: %d outputs, want %d", s, len(got), want)
		}
		n := network(t, w)
		policy, outcome := forward(t, n, idx)
		check := func(name string, cols int, want []float32) {
			v := got[name]
			if !slices.Equal(v.dims, []int{rows, cols}) {
				t.Fatalf("shape %v: %s of %v", s, name, v.dims)
			}
			for i, x := range v.data {
				if math.Abs(x-float64(want[i])) > 1e-5*(1+math.Abs(x)) {
					t.Fatalf("shape %v: %s %d is %v, want %v", s, name, i, x, want[i])
				}
			}
		}
		check("policy", s.Actions, policy)
		check("outcome", Outcomes, outcome)
		if s.MarginHead {
			check("margin", 1, margins(t, n, idx))
		}
	}
}

func TestONNXModelSaysWhatItIs(t *testing.T) {
	var b bytes.Buffer
	if err := scrambled(t, full, 1).WriteONNX(&b); err != nil {
		t.Fatal(err)
	}
	model := fields(t, b.Bytes())
	about := map[string]string{}
	for _, f := range pick(model, 14) {
		p := fields(t, f.b)
		about[string(p[0].b)] = string(p[1].b)
	}
	if about["family"] != "toy" || about["spec"] != "toy:pits=7" || about["encoder"] != "onehot" || about["encoder_version"] != "3" || about["margin"] != "0" {
		t.Errorf("metadata %v", about)
	}
	if v := pick(model, 1)[0].n; v != onnxFile {
		t.Errorf("file version %d", v)
	}
	if v := fields(t, pick(model, 8)[0].b)[0].n; v != onnxOperations {
		t.Errorf("operations version %d", v)
	}
}

func TestSafetensorsHoldTheTensors(t *testing.T) {
	for _, s := range shapes {
		w := scrambled(t, s, 3)
		var b bytes.Buffer
		if err := w.WriteSafetensors(&b); err != nil {
			t.Fatal(err)
		}
		file := b.Bytes()
		size := binary.LittleEndian.Uint64(file)
		if size%8 != 0 {
			t.Errorf("shape %v: the numbers begin at %d", s, size+8)
		}
		head, data := map[string]json.RawMessage{}, file[8+size:]
		if err := json.Unmarshal(file[8:8+size], &head); err != nil {
			t.Fatal(err)
		}
		var about map[string]string
		if err := json.Unmarshal(head["__metadata__"], &about); err != nil || about["spec"] != meta.Spec {
			t.Errorf("metadata %v, %v", about, err)
		}
		if len(head) != len(w.Tensors)+1 {
			t.Errorf("shape %v: %d tensors, want %d", s, len(head)-1, len(w.Tensors))
		}
		read := 0
		for _, m := range w.Tensors {
			var e struct {
				Dtype   string
				Shape   []int
				Offsets [2]int `json:"data_offsets"`
			}
			if err := json.Unmarshal(head[m.Name], &e); err != nil {
				t.Fatal(err)
			}
			if e.Dtype != "F32" || !slices.Equal(e.Shape, m.dims()) || !bytes.Equal(data[e.Offsets[0]:e.Offsets[1]], m.bytes()) {
				t.Errorf("shape %v: %s is %v", s, m.Name, e)
			}
			read += e.Offsets[1] - e.Offsets[0]
		}
		if read != len(data) {
			t.Errorf("shape %v: %d bytes of numbers, %d of them tensors", s, len(data), read)
		}
	}
}

func TestBadWeightsAreNotExported(t *testing.T) {
	w := scrambled(t, odd, 1)
	w.Tensors[2].Data[1] = float32(math.NaN())
	if w.WriteONNX(new(bytes.Buffer)) == nil || w.WriteSafetensors(new(bytes.Buffer)) == nil {
		t.Error("NaN was written")
	}
}
