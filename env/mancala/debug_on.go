//go:build mancala_debug

package mancala

const debug = true
