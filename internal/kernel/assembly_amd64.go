package kernel

import "golang.org/x/sys/cpu"

// assembly returns the loops of that name if this processor can run them.
func assembly(name string) *loops {
	x := &cpu.X86
	switch both := x.HasAVX2 && x.HasFMA && x.HasPOPCNT; {
	case name == "avx512" && both && x.HasAVX512F:
		return &avx512
	case name == "avx2" && both:
		return &avx2
	}
	return nil
}

var avx512 = loops{
	lanes: 16,
	width: [5]int{1: 4, 2: 4, 4: 4},
	product: []func(x *float32, xs int, w *float32, k int, bias, floor, skip, y *float32, ys int){
		nil,
		productAVX512_1, productAVX512_2, productAVX512_3, productAVX512_4, productAVX512_5, productAVX512_6, productAVX512_7,
		productAVX512_8, productAVX512_9, productAVX512_10, productAVX512_11, productAVX512_12, productAVX512_13, productAVX512_14,
	},
	across: []func(x *float32, xs int, w *float32, k int, bias, floor, skip, y *float32, ys int){
		nil,
		acrossAVX512_1, acrossAVX512_2, acrossAVX512_3, acrossAVX512_4, acrossAVX512_5, acrossAVX512_6, acrossAVX512_7,
		acrossAVX512_8, acrossAVX512_9, acrossAVX512_10, acrossAVX512_11, acrossAVX512_12, acrossAVX512_13, acrossAVX512_14,
	},
	picked: [5][9]func(passes, groups int, n, index *int32, is int, x *float32, xs int, w *float32, ws int, bias, floor, skip, y *float32, ys int){
		1: {nil, pickedAVX512_1x1_1, pickedAVX512_1x1_2, pickedAVX512_1x1_3, pickedAVX512_1x1_4},
		2: {nil, pickedAVX512_1x2_1, pickedAVX512_1x2_2, pickedAVX512_1x2_3, pickedAVX512_1x2_4},
		4: {nil, pickedAVX512_2x2_1, pickedAVX512_2x2_2, pickedAVX512_2x2_3, pickedAVX512_2x2_4},
	},
	list:    [3]func(groups, width, nothing int, x *float32, xs int, index *int32, is int, n *int32){1: listAVX512_1, 2: listAVX512_2},
	gather:  [9]func(rows, active int, index *int32, w *float32, ws int, bias, y *float32, ys int){1: gatherAVX512_1, 2: gatherAVX512_2, 4: gatherAVX512_4, 8: gatherAVX512_8},
	scatter: [9]func(rows, active int, index *int32, w *float32, ws int, y *float32, ys int){1: scatterAVX512_1, 2: scatterAVX512_2, 4: scatterAVX512_4, 8: scatterAVX512_8},
	add:     addAVX512, gate: gateAVX512, adam: adamAVX512, finite: finiteAVX512, spin: spinAVX512,
}

var avx2 = loops{
	lanes: 8,
	width: [5]int{1: 8, 2: 6},
	product: []func(x *float32, xs int, w *float32, k int, bias, floor, skip, y *float32, ys int){
		nil,
		productAVX2_1, productAVX2_2, productAVX2_3, productAVX2_4, productAVX2_5, productAVX2_6,
	},
	across: []func(x *float32, xs int, w *float32, k int, bias, floor, skip, y *float32, ys int){
		nil,
		acrossAVX2_1, acrossAVX2_2, acrossAVX2_3, acrossAVX2_4, acrossAVX2_5, acrossAVX2_6,
	},
	picked: [5][9]func(passes, groups int, n, index *int32, is int, x *float32, xs int, w *float32, ws int, bias, floor, skip, y *float32, ys int){
		1: {nil, pickedAVX2_1x1_1, pickedAVX2_1x1_2, pickedAVX2_1x1_3, pickedAVX2_1x1_4, pickedAVX2_1x1_5, pickedAVX2_1x1_6, pickedAVX2_1x1_7, pickedAVX2_1x1_8},
		2: {nil, pickedAVX2_1x2_1, pickedAVX2_1x2_2, pickedAVX2_1x2_3, pickedAVX2_1x2_4, pickedAVX2_1x2_5, pickedAVX2_1x2_6},
	},
	list:    [3]func(groups, width, nothing int, x *float32, xs int, index *int32, is int, n *int32){1: listAVX2_1, 2: listAVX2_2},
	gather:  [9]func(rows, active int, index *int32, w *float32, ws int, bias, y *float32, ys int){1: gatherAVX2_1, 2: gatherAVX2_2, 4: gatherAVX2_4, 8: gatherAVX2_8},
	scatter: [9]func(rows, active int, index *int32, w *float32, ws int, y *float32, ys int){1: scatterAVX2_1, 2: scatterAVX2_2, 4: scatterAVX2_4, 8: scatterAVX2_8},
	add:     addAVX2, gate: gateAVX2, adam: adamAVX2, finite: finiteAVX2, spin: spinAVX2,
}
