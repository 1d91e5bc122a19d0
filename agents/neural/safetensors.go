package neural

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// WriteSafetensors writes the tensors in the safetensors format, under their names: matrices of inputs × outputs, biases
// of one dimension, float32. Meta stands in the file's metadata. The same weights give the same bytes.
func (w *Weights) WriteSafetensors(f io.Writer) error {
	if err := w.Validate(); err != nil {
		return err
	}
	type entry struct {
		Type    string `json:"dtype"`
		Shape   []int  `json:"shape"`
		Offsets [2]int `json:"data_offsets"`
	}
	about := map[string]string{"format": "mancalagym"}
	for _, p := range w.properties() {
		about[p[0]] = p[1]
	}
	head, at := map[string]any{"__metadata__": about}, 0
	for _, t := range w.Tensors {
		end := at + 4*len(t.Data)
		head[t.Name] = entry{"F32", t.dims(), [2]int{at, end}}
		at = end
	}
	text, err := json.Marshal(head) // keys in ascending order
	if err != nil {
		return fmt.Errorf("neural: header of safetensors: %w", err)
	}
	for len(text)%8 != 0 { // so that the numbers are aligned
		text = append(text, ' ')
	}
	b := bytes.NewBuffer(binary.LittleEndian.AppendUint64(nil, uint64(len(text))))
	b.Write(text) // a Buffer never fails
	for _, t := range w.Tensors {
		b.Write(t.bytes())
	}
	if _, err := b.WriteTo(f); err != nil {
		return fmt.Errorf("neural: writing safetensors: %w", err)
	}
	return nil
}
