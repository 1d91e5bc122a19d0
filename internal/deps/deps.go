package deps

import (
	_ "github.com/andybalholm/brotli"
	_ "github.com/google/go-cmp/cmp"
	_ "github.com/parquet-go/parquet-go"
	_ "github.com/pelletier/go-toml/v2"
	_ "github.com/rogpeppe/go-internal/testscript"
	_ "github.com/schollz/progressbar/v3"
	_ "github.com/spf13/cobra"
	_ "github.com/spf13/pflag"
	_ "go4.org/unsafe/assume-no-moving-gc"
	_ "golang.org/x/image/draw"
	_ "golang.org/x/sync/errgroup"
	_ "golang.org/x/sys/cpu"
	_ "golang.org/x/term"
	_ "gonum.org/v1/gonum/stat"
	_ "gonum.org/v1/gonum/optimize"
	_ "gonum.org/v1/gonum/blas/gonum"
	_ "google.golang.org/protobuf/encoding/protowire"
	_ "gorgonia.org/gorgonia"
	_ "gorgonia.org/tensor"
	_ "pgregory.net/rapid"
)
