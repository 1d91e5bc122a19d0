package learner

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/mancalagym/mancalagym/agents/neural"
)

// A checkpoint is, with all numbers little-endian:
//
//	8 bytes   magic
//	uint32    Version
//	uint64    updates made
//	uint64    length of the weights
//	…         the weights: a file of package neural
//	…         of each tensor, in its order: means, then mean squares of the gradients, float32
//	32 bytes  SHA-256 of everything before
const checkpointMagic = "manclrn\n"

// Version is the checkpoint format's. Restore knows no other.
const Version = 1

// Save writes a checkpoint: weights, moments and the number of updates. A Learner of the same
// configuration that restores it goes on as this one does, to the last bit.
func (l *Learner) Save(w io.Writer) error {
	var weights bytes.Buffer
	if err := l.weights.Write(&weights); err != nil {
		return fmt.Errorf("learner: checkpoint: %w", err)
	}
	sum := sha256.New()
	b := bufio.NewWriterSize(io.MultiWriter(w, sum), 1<<16)
	head := binary.LittleEndian.AppendUint32([]byte(checkpointMagic), Version)
	head = binary.LittleEndian.AppendUint64(head, l.adam.step)
	head = binary.LittleEndian.AppendUint64(head, uint64(weights.Len()))
	b.Write(head) // a bufio.Writer keeps its first error for Flush
	b.Write(weights.Bytes())
	var word [4]byte
	for i := range l.adam.mean {
		for _, data := range [][]float32{l.adam.mean[i], l.adam.power[i]} {
			for _, v := range data {
				binary.LittleEndian.PutUint32(word[:], math.Float32bits(v))
				b.Write(word[:])
			}
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("learner: checkpoint: %w", err)
	}
	if _, err := w.Write(sum.Sum(nil)); err != nil {
		return fmt.Errorf("learner: checkpoint: %w", err)
	}
	return nil
}

// Restore reads a checkpoint that Save wrote, to the end of r. It refuses, and leaves the Learner as it was, what is
// cut short, changed, followed by more, of another version, shape, game or encoder.
func (l *Learner) Restore(r io.Reader) error {
	sum := sha256.New()
	in := bufio.NewReaderSize(r, 1<<16)
	t := io.TeeReader(in, sum)

	head := make([]byte, len(checkpointMagic)+4+8+8)
	if _, err := io.ReadFull(t, head); err != nil {
		return short("its first bytes", err)
	}
	if string(head[:8]) != checkpointMagic {
		return fmt.Errorf("learner: checkpoint begins with %q: must begin with %q", head[:8], checkpointMagic)
	}
	if v := binary.LittleEndian.Uint32(head[8:]); v != Version {
		return fmt.Errorf("learner: checkpoint of format version %d: this program reads version %d", v, Version)
	}
	step, size := binary.LittleEndian.Uint64(head[12:]), binary.LittleEndian.Uint64(head[20:])
	if size > math.MaxInt64 {
		return fmt.Errorf("learner: checkpoint with weights of %d bytes: must be those of shape %v", size, l.weights.Shape)
	}
	w, err := neural.Read(io.LimitReader(t, int64(size)))
	if err != nil {
		return fmt.Errorf("learner: checkpoint: %w", err)
	}
	if w.Shape != l.weights.Shape {
		return fmt.Errorf("learner: checkpoint of shape %v: must be %v", w.Shape, l.weights.Shape)
	}
	if w.Meta != l.weights.Meta {
		return fmt.Errorf("learner: checkpoint for %s with encoder %s version %d: must be for %s with %s version %d",
			w.Meta.Spec, w.Meta.Encoder, w.Meta.EncoderVersion, l.weights.Meta.Spec, l.weights.Meta.Encoder, l.weights.Meta.EncoderVersion)
	}
	a := newAdam(l.k, l.cfg, sizes(w))
	a.step = step
	for i := range a.mean {
		for _, data := range [][]float32{a.mean[i], a.power[i]} {
			if err := readFloats(t, data); err != nil {
				return short("moments of "+w.Tensors[i].Name, err)
			}
		}
	}
	want, got := sum.Sum(nil), make([]byte, sha256.Size)
	if _, err := io.ReadFull(in, got); err != nil {
		return short("the checksum", err)
	}
	if !bytes.Equal(got, want) {
		return errors.New("learner: checkpoint does not have the checksum it ends with: the file is damaged")
	}
	switch _, err := in.ReadByte(); {
	case err == nil:
		return errors.New("learner: checkpoint is followed by more bytes: the file must end with its checksum")
	case err != io.EOF:
		return fmt.Errorf("learner: reading a checkpoint: %w", err)
	}
	for i, m := range a.mean {
		if !l.k.Finite(m) || !l.k.Finite(a.power[i]) {
			return fmt.Errorf("learner: checkpoint with moments of %s that are not finite", w.Tensors[i].Name)
		}
		for _, v := range a.power[i] {
			if v < 0 {
				return fmt.Errorf("learner: checkpoint with mean square %v in %s: must be 0 or more", v, w.Tensors[i].Name)
			}
		}
	}
	l.adam = a
	for i, m := range w.Tensors { // in place: the graph computes on these numbers
		copy(l.weights.Tensors[i].Data, m.Data)
	}
	return nil
}

func readFloats(r io.Reader, dst []float32) error {
	var buf [4096]byte
	for len(dst) > 0 {
		n := min(len(dst), len(buf)/4)
		if _, err := io.ReadFull(r, buf[:4*n]); err != nil {
			return err
		}
		for i := range dst[:n] {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:]))
		}
		dst = dst[n:]
	}
	return nil
}

func short(part string, err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("learner: checkpoint ends within %s: the file is cut short", part)
	}
	return fmt.Errorf("learner: reading a checkpoint: %w", err)
}
