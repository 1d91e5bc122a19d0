package neural

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strings"
	"testing"
)

func TestInitIsDeterministic(t *testing.T) {
	file := func(seed uint64) []byte {
		w, err := Init(meta, odd, seed)
		if err != nil {
			t.Fatal(err)
		}
		return encoded(t, w)
	}
	if !bytes.Equal(file(1), file(1)) {
		t.Error("the same seed gave different weights")
	}
	if bytes.Equal(file(1), file(2)) {
		t.Error("different seeds gave the same weights")
	}
	// Recorded from the first version of Init and the second of the file: runs in the world depend on both.
	sum := sha256.Sum256(file(1))
	if got, want := hex.EncodeToString(sum[:8]), "113c7eaad59b6ac0"; got != want {
		t.Errorf("checksum of Init(odd, 1) is %s, want %s", got, want)
	}
}

func TestInitScales(t *testing.T) {
	w, err := Init(meta, small, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range w.Tensors {
		var square float64
		for _, v := range m.Data {
			square += float64(v) * float64(v)
		}
		got := math.Sqrt(square / float64(len(m.Data)))
		want := map[string]float64{
			"first.w":      math.Sqrt(2.0 / 16),
			"block0.in.w":  math.Sqrt(2.0 / 64),
			"block1.out.w": math.Sqrt(2.0/64) / 2,
			"policy.w":     math.Sqrt(2.0/64) / 10,
			"outcome.w":    math.Sqrt(2.0/32) / 10,
		}[m.Name]
		switch {
		case strings.HasSuffix(m.Name, ".b") && got != 0:
			t.Errorf("%s is not 0", m.Name)
		case want != 0 && math.Abs(got/want-1) > 0.3: // outcome.w has 96 numbers
			t.Errorf("%s has standard deviation %.3f, want %.3f", m.Name, got, want)
		}
	}
}

func TestShapeValidateNamesTheSize(t *testing.T) {
	for want, change := range map[string]func(*Shape){
		"inputs 0":        func(s *Shape) { s.Inputs = 0 },
		"inputs 65537":    func(s *Shape) { s.Inputs = 1<<16 + 1 },
		"active 513":      func(s *Shape) { s.Active = 513 },
		"active 0":        func(s *Shape) { s.Active = 0 },
		"width -1":        func(s *Shape) { s.Width = -1 },
		"blocks 65":       func(s *Shape) { s.Blocks = 65 },
		"value width -1":  func(s *Shape) { s.ValueWidth = -1 },
		"actions 65":      func(s *Shape) { s.Actions = 65 },
		"at most 6710886": func(s *Shape) { s.Inputs, s.Width = 1<<16, 1<<12 },
	} {
		s := small
		change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
		if _, err := Init(meta, s, 1); err == nil {
			t.Errorf("Init took shape %v", s)
		}
	}
	for _, s := range shapes {
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
	}
	if got := small.Numbers(); got != 512*64+64+4*(64*64+64)+64*16+16+64*32+32+32*3+3 {
		t.Errorf("small network of %d numbers", got)
	}
}

func TestMetaValidateNamesTheText(t *testing.T) {
	for want, m := range map[string]Meta{
		"family":          {Spec: "a", Encoder: "b"},
		"spec":            {Family: "a", Spec: "two words", Encoder: "b"},
		"encoder \"é\"":   {Family: "a", Spec: "a", Encoder: "é"},
		"encoder version": {Family: "a", Spec: "a", Encoder: "b", EncoderVersion: -1},
	} {
		if err := m.Validate(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func TestNetworkRefusesBadWeights(t *testing.T) {
	for name, change := range map[string]func(*Weights){
		"NaN":           func(w *Weights) { w.Tensors[3].Data[2] = float32(math.NaN()) },
		"infinity":      func(w *Weights) { w.Tensors[0].Data[0] = float32(math.Inf(-1)) },
		"short tensor":  func(w *Weights) { w.Tensors[0].Data = w.Tensors[0].Data[1:] },
		"name":          func(w *Weights) { w.Tensors[0].Name = "last.w" },
		"no tensors":    func(w *Weights) { w.Tensors = nil },
		"another shape": func(w *Weights) { w.Shape.Width++ },
		"no meta":       func(w *Weights) { w.Meta = Meta{} },
	} {
		w := scrambled(t, odd, 1)
		change(w)
		if _, err := NewNetwork(w); err == nil {
			t.Errorf("%s: no error", name)
		}
		if err := w.Write(new(bytes.Buffer)); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}
