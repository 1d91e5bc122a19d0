// Command mancala plays, records and measures games of the mancala family. See mancala --help.
package main

import "github.com/mancalagym/mancalagym/cmd/mancala/cli"

func main() { cli.Main() }
