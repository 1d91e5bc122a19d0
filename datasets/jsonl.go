package datasets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

// Record is one line of JSON: a game, or the beginning of one, and what is claimed of it. Only Variant and
// Actions must be there; the others are compared where they are. Unknown fields mean nothing.
type Record struct {
	Variant   string   `json:"variant"`
	Actions   []int    `json:"actions"`
	Legal     [][]int  `json:"legal"`     // before each action
	States    []string `json:"states"`    // before each action, and the last
	Returns   []int    `json:"returns"`   // of South and North
	Points    []int    `json:"points"`    // match points of South and North
	End       *string  `json:"end"`       // reason:winner, the winner S, N or =
	Truncated *bool    `json:"truncated"` // whether it stops before the rules end it
}

// WriteJSON writes an episode as one line with the fields of a Record but End; r are its rules. A truncated
// episode has null returns and points.
func WriteJSON(w io.Writer, e *env.Episode, r mancala.Rules) error {
	if spec := r.Info().Spec; e.Spec != spec {
		return fmt.Errorf("datasets: game %d: variant: got %q want %q", e.Number, e.Spec, spec)
	}
	comma := func(b []byte, n int) []byte {
		if n > 0 {
			b = append(b, ',')
		}
		return b
	}
	b := make([]byte, 0, 128*(len(e.Plies)+1))
	b = append(b, `{"actions":[`...)
	for n := range e.Plies {
		b = strconv.AppendUint(comma(b, n), uint64(e.Plies[n].Action), 10)
	}
	b = append(b, `],"legal":[`...)
	for n := range e.Plies {
		b = append(comma(b, n), '[')
		for m := e.Plies[n].Legal; m != 0; m = m.WithoutFirst() {
			b = strconv.AppendUint(b, uint64(m.First()), 10)
			b = comma(b, m.Len()-1)
		}
		b = append(b, ']')
	}
	points, returns := "null", "null"
	if !e.Truncated {
		points, returns = show(r.Points(e.Final)), show(e.Final.Returns())
	}
	b = append(b, `],"points":`+points+`,"returns":`+returns+`,"states":[`...)
	for n := range e.Plies {
		b = mancala.AppendState(append(b, '"'), r, e.Plies[n].State)
		b = append(b, '"', ',')
	}
	b = mancala.AppendState(append(b, '"'), r, e.Final)
	b = append(b, `"],"truncated":`...)
	b = strconv.AppendBool(b, e.Truncated)
	b = append(b, `,"variant":"`+e.Spec+"\"}\n"...)
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("datasets: writing: %w", err)
	}
	return nil
}

// show is a value in JSON.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// JSONReader reads Records, one a line; empty lines are passed over.
type JSONReader struct {
	r    *bufio.Reader
	line int
	most int // bytes a line may have
}

// maxLine is more than a game of a million plies takes.
const maxLine = 1 << 28

// NewJSONReader returns a reader of r. A line may have 256 MiB.
func NewJSONReader(r io.Reader) *JSONReader {
	return &JSONReader{r: bufio.NewReaderSize(r, 1<<16), most: maxLine}
}

// LineError says what is wrong with a line. The reader goes on with the next.
type LineError struct{ Err error }

func (e *LineError) Error() string { return "datasets: not a game in JSON: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// Line returns the number of the line last read, from 1.
func (j *JSONReader) Line() int { return j.line }

// Next returns the next Record, and io.EOF after the last. After a *LineError it can be called again; other errors are
// those of reading.
func (j *JSONReader) Next() (*Record, error) {
	for {
		line, err := j.read()
		if err != nil {
			return nil, err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		rec := new(Record)
		if err := json.Unmarshal(line, rec); err != nil {
			return nil, &LineError{err}
		}
		return rec, nil
	}
}

// read returns a line, the last one with or without its end.
func (j *JSONReader) read() ([]byte, error) {
	j.line++
	var long []byte
	for size := 0; ; {
		part, err := j.r.ReadSlice('\n')
		if size += len(part); size > j.most {
			long = nil
		} else if err == nil && long == nil {
			return part, nil
		} else {
			long = append(long, part...)
		}
		switch {
		case err == bufio.ErrBufferFull:
		case err != nil && err != io.EOF:
			return nil, fmt.Errorf("datasets: reading: %w", err)
		case size == 0:
			return nil, io.EOF
		case size > j.most:
			return nil, &LineError{fmt.Errorf("a line of %d bytes: %d are allowed", size, j.most)}
		default:
			return long, nil
		}
	}
}

// Fault is the first difference between a Record and the rules. Ply is the number of plies before it.
type Fault struct {
	Ply       int
	Got, Want string // what the rules say, and what the record says
}

func (f *Fault) Error() string { return fmt.Sprintf("ply %d: got %s want %s", f.Ply, f.Got, f.Want) }

// Replay plays the actions from the start of the variant and compares what the record claims. It returns the
// number of actions played, and the first difference if there is one; it stops there.
func (rec *Record) Replay() (plies int, fault *Fault) {
	r, err := mancala.Parse(rec.Variant)
	if err != nil {
		return 0, &Fault{0, fmt.Sprintf("variant %q", rec.Variant), err.Error()}
	}
	n := len(rec.Actions)
	switch {
	case rec.Actions == nil:
		return 0, &Fault{0, "no actions", "a list of them"}
	case rec.Legal != nil && len(rec.Legal) != n:
		return 0, &Fault{0, fmt.Sprintf("%d legal sets", len(rec.Legal)), fmt.Sprintf("%d, one an action", n)}
	case rec.States != nil && len(rec.States) != n+1:
		return 0, &Fault{0, fmt.Sprintf("%d states", len(rec.States)), fmt.Sprintf("%d, one more than actions", n+1)}
	}
	s := r.Start()
	for i, a := range rec.Actions {
		if f := rec.state(r, s, i); f != nil {
			return i, f
		}
		legal := r.Legal(s)
		if rec.Legal != nil {
			if got, want := show(list(legal)), show(rec.Legal[i]); got != want {
				return i, &Fault{i, "legal " + got, want}
			}
		}
		if a < 0 || a > 63 || !legal.Has(mancala.Action(a)) {
			return i, &Fault{i, "legal " + show(list(legal)), fmt.Sprintf("action %d among them", a)}
		}
		s = r.Next(s, mancala.Action(a))
	}
	if f := rec.state(r, s, n); f != nil {
		return n, f
	}
	return n, rec.result(r, s)
}

// state compares the position at ply i.
func (rec *Record) state(r mancala.Rules, s mancala.State, i int) *Fault {
	if rec.States == nil {
		return nil
	}
	if got := mancala.FormatState(r, s); got != rec.States[i] {
		return &Fault{i, "state " + strconv.Quote(got), strconv.Quote(rec.States[i])}
	}
	return nil
}

// result compares what is claimed of the last position.
func (rec *Record) result(r mancala.Rules, s mancala.State) *Fault {
	n := len(rec.Actions)
	end, returns, points := "null", "null", "null"
	if s.Over() {
		end = strconv.Quote(s.Reason().String() + ":" + "SN="[s.Winner():][:1])
		returns, points = show(s.Returns()), show(r.Points(s))
	}
	switch {
	case rec.End != nil && end != strconv.Quote(*rec.End):
		return &Fault{n, "end " + end, strconv.Quote(*rec.End)}
	case rec.Returns != nil && returns != show(rec.Returns):
		return &Fault{n, "returns " + returns, show(rec.Returns)}
	case rec.Points != nil && points != show(rec.Points):
		return &Fault{n, "points " + points, show(rec.Points)}
	case rec.Truncated != nil && *rec.Truncated == s.Over():
		return &Fault{n, fmt.Sprintf("truncated %t", !s.Over()), show(*rec.Truncated)}
	}
	return nil
}
