package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/mancalagym/mancalagym/datasets"
)

func replayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay FILE…",
		Short: "Play recorded games by the rules and compare",
		Long: `Play recorded games and compare what the rules say with what the record says.

A FILE holds one game a line in JSON: "variant" and "actions", and whatever else is to be compared: "legal", "states", "returns",
"points", "end" (reason:winner), "truncated". A Parquet file and a dataset directory are replayed too; "-" is standard input (JSON).

The first difference of a game is told as FILE:LINE: ply N: got … want …, where "got" is what the rules say. The last line is
"G games, P plies, B bad"; if B is not 0, the exit status is 1.`,
		Example: "  mancala replay games.jsonl\n  mancala export oware --games 10 --out - | mancala replay -",
		Args:    arguments(1, -1, "FILE", "JSON lines, Parquet, a dataset directory, or - for standard input"),
		RunE: func(c *cobra.Command, args []string) error {
			p := &replay{out: c.OutOrStdout(), ctx: c.Context()}
			for _, path := range args {
				if err := interruptible(c.Context(), func() error { return p.path(path, c.InOrStdin()) }); err != nil {
					return err
				}
			}
			fmt.Fprintf(p.out, "%d games, %d plies, %d bad\n", p.games, p.plies, p.bad)
			switch {
			case p.stopped():
				return errors.New("replay: stopped before the end")
			case p.bad > 0:
				return fmt.Errorf("replay: %d bad, told above: want 0", p.bad)
			}
			return nil
		},
	}
}

// replay counts what was found.
type replay struct {
	out               io.Writer
	ctx               context.Context
	games, plies, bad int
}

func (p *replay) stopped() bool { return p.ctx.Err() != nil }

// path replays a file, a directory or, for "-", stdin.
func (p *replay) path(path string, stdin io.Reader) error {
	if path == "-" {
		return p.lines("-", stdin)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("replay: %w: want JSON lines, Parquet or a dataset directory", err)
	}
	if info.IsDir() || filepath.Ext(path) == ".parquet" {
		return p.dataset(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	defer f.Close()
	b := bufio.NewReader(f)
	if magic, _ := b.Peek(4); string(magic) == "PAR1" {
		return p.dataset(path)
	}
	return p.lines(path, b)
}

// interruptible returns when work has, or a second after the end of ctx while work still waits for input.
func interruptible(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(time.Second):
		return errors.New("replay: stopped before the end")
	}
}

func (p *replay) lines(name string, r io.Reader) error {
	j := datasets.NewJSONReader(r)
	for !p.stopped() {
		rec, err := j.Next()
		var bad *datasets.LineError
		switch {
		case err == io.EOF:
			return nil
		case errors.As(err, &bad):
			p.games++
			p.bad++
			fmt.Fprintf(p.out, "%s:%d: ply 0: got no game (%s) want one in JSON\n", name, j.Line(), line(bad.Err))
			continue
		case err != nil:
			return fmt.Errorf("replay: %s: %w", name, err)
		}
		plies, fault := rec.Replay()
		p.games++
		p.plies += plies
		if fault != nil {
			p.bad++
			fmt.Fprintf(p.out, "%s:%d: %s\n", name, j.Line(), line(fault))
		}
	}
	return nil
}

func (p *replay) dataset(path string) error {
	report, err := datasets.Verify(p.ctx, path)
	if p.stopped() {
		return nil // the caller tells
	}
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	tell(p.out, report)
	p.games += report.Games
	p.plies += report.Plies
	p.bad += report.Bad
	return nil
}

// tell prints the faults of a report.
func tell(w io.Writer, r *datasets.Report) {
	for _, f := range r.Faults {
		fmt.Fprintln(w, line(errors.New(f)))
	}
	if n := r.Bad - len(r.Faults); n > 0 {
		fmt.Fprintf(w, "%s: %d more faults\n", r.Path, n)
	}
}
