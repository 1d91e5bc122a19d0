//go:build !amd64

package kernel

func assembly(string) *loops { return nil }
