package encode_test

import (
	"fmt"

	"github.com/mancalagym/mancalagym/env/encode"
	"github.com/mancalagym/mancalagym/env/mancala"
)

func ExampleNew() {
	r, err := mancala.Parse("modiar")
	if err != nil {
		panic(err)
	}
	e, err := encode.New("onehot", r.Info())
	if err != nil {
		panic(err)
	}
	places := make([]int32, e.Active())
	e.Sparse(r.Start(), places) // six pits of 7 seeds, two empty stores, no quiet plies, ply 0
	fmt.Println(places, "of", e.Size())
	// Output: [7 50 93 136 179 222 258 301 344 361] of 362
}
