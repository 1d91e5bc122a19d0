package datasets

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/mancalagym/mancalagym/env"
)

// benchmarked are 200,000 plies, the most of them with a policy.
func benchmarked(b *testing.B, spec string) (path string, list []*env.Episode, plies int) {
	r := parse(b, spec)
	for n := uint64(0); plies < 200_000; n++ {
		e := play(r, n, env.Outcome)
		list = append(list, e)
		plies += len(e.Plies)
	}
	path = filepath.Join(b.TempDir(), "x.parquet")
	write(b, path, r, Meta{}, list)
	return path, list, plies
}

func each(b *testing.B, f func(b *testing.B, path string, list []*env.Episode) error) {
	for _, spec := range []string{"urim", "omweso"} {
		b.Run(spec, func(b *testing.B) {
			path, list, plies := benchmarked(b, spec)
			b.ReportAllocs()
			for b.Loop() {
				if err := f(b, path, list); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(plies)*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

func BenchmarkWrite(b *testing.B) {
	each(b, func(b *testing.B, path string, list []*env.Episode) error {
		write(b, path, parse(b, list[0].Spec), Meta{}, list)
		return nil
	})
}

func BenchmarkRead(b *testing.B) {
	each(b, func(b *testing.B, path string, _ []*env.Episode) error {
		r, err := Open(path)
		if err != nil {
			return err
		}
		defer r.Close()
		for _, err := range r.Episodes() {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func BenchmarkLoad(b *testing.B) {
	each(b, func(b *testing.B, path string, _ []*env.Episode) error {
		_, err := Load([]string{path}, Window{Searched: true})
		return err
	})
}

func BenchmarkVerify(b *testing.B) {
	each(b, func(b *testing.B, path string, _ []*env.Episode) error {
		_, err := Verify(context.Background(), path)
		return err
	})
}
