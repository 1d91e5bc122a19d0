package datasets

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/mancalagym/mancalagym/env"
	"github.com/mancalagym/mancalagym/env/mancala"
)

const games = "../env/mancala/testdata/games/*.jsonl"

func TestRecordedGamesReplay(t *testing.T) {
	files, err := filepath.Glob(games)
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files of games, %v", len(files), err)
	}
	n, plies := 0, 0
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for j := NewJSONReader(f); ; n++ {
			rec, err := j.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			p, fault := rec.Replay()
			if fault != nil {
				t.Errorf("%s:%d: %v", path, j.Line(), fault)
			}
			plies += p
		}
	}
	if n < 250 || plies < 16000 {
		t.Errorf("%d games, %d plies", n, plies)
	}
}

// TestJSONHasTheFormOfTheGames writes a recorded game again: the same bytes, but for "truncated".
func TestJSONHasTheFormOfTheGames(t *testing.T) {
	for _, spec := range []string{"urim", "modiar", "hoyito2", "omweso", "oware", "omweso-arrange", "hoyito2-pits12"} {
		b, err := os.ReadFile(strings.Replace(games, "*", spec, 1))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			rec, err := NewJSONReader(bytes.NewReader(line)).Next()
			if err != nil {
				t.Fatal(err)
			}
			r := parse(t, rec.Variant)
			e := &env.Episode{Spec: rec.Variant}
			s := r.Start()
			for _, a := range rec.Actions {
				e.Plies = append(e.Plies, env.Ply{State: s, Legal: r.Legal(s), Action: mancala.Action(a)})
				s = r.Next(s, mancala.Action(a))
			}
			e.Final = s
			var got bytes.Buffer
			if err := WriteJSON(&got, e, r); err != nil {
				t.Fatal(err)
			}
			want := strings.Replace(string(line), `],"variant"`, `],"truncated":false,"variant"`, 1)
			if got.String() != want {
				t.Fatalf("got\n%.300s\nwant\n%.300s", got.String(), want)
			}
		}
	}
}

func TestEpisodesReplayFromJSON(t *testing.T) {
	for _, spec := range specs {
		r := parse(t, spec)
		var b bytes.Buffer
		list := playAll(r, 9, env.Outcome)
		for _, e := range list {
			if err := WriteJSON(&b, e, r); err != nil {
				t.Fatal(err)
			}
		}
		j := NewJSONReader(&b)
		for _, e := range list {
			rec, err := j.Next()
			if err != nil {
				t.Fatal(err)
			}
			if n, fault := rec.Replay(); fault != nil || n != len(e.Plies) {
				t.Errorf("%s: %d plies, %v", spec, n, fault)
			}
			if e.Truncated != *rec.Truncated || e.Truncated != (rec.Returns == nil) || e.Truncated != (rec.Points == nil) {
				t.Errorf("%s: truncated %t, returns %v, points %v", spec, *rec.Truncated, rec.Returns, rec.Points)
			}
		}
		if _, err := j.Next(); err != io.EOF {
			t.Errorf("after the last: %v", err)
		}
	}
	if err := WriteJSON(io.Discard, play(parse(t, "urim"), 0, env.Outcome), parse(t, "oware")); err == nil {
		t.Error("an episode with the rules of another variant is written")
	}
}

func TestReplayNamesTheFirstDifference(t *testing.T) {
	for line, want := range map[string]string{
		`{"variant":"modiar","actions":[1,0]}`:                                                          "",
		`{"variant":"modiar","actions":[1,0],"x":{"y":1}}`:                                              "",
		`{"variant":"modiar","actions":[1,0],"truncated":true,"returns":null,"points":null}`:            "",
		`{"variant":"modiar","actions":[]}`:                                                             "",
		`{"variant":"modiar","actions":[1,3]}`:                                                          "ply 1: got legal [0,1,2] want action 3 among them",
		`{"variant":"modiar","actions":[1,-1]}`:                                                         "ply 1: got legal [0,1,2] want action -1 among them",
		`{"variant":"modiar","actions":[1,256]}`:                                                        "ply 1: got legal [0,1,2] want action 256 among them",
		`{"variant":"modiar","actions":[1,0],"legal":[[0,1,2],[0,2]]}`:                                  "ply 1: got legal [0,1,2] want [0,2]",
		`{"variant":"modiar","actions":[1,0],"legal":[[0,1,2]]}`:                                        "ply 0: got 1 legal sets want 2, one an action",
		`{"variant":"modiar","actions":[1],"states":[]}`:                                                "ply 0: got 0 states want 2, one more than actions",
		`{"variant":"modiar","actions":[1],"states":["7,7,7/7,7,7 0-0 S 0 0","8,2,8/8,8,8 0-0 N 1 2"]}`: `ply 1: got state "8,2,8/8,8,8 0-0 N 1 1" want "8,2,8/8,8,8 0-0 N 1 2"`,
		`{"variant":"modiar","actions":[1],"returns":[1,-1]}`:                                           "ply 1: got returns null want [1,-1]",
		`{"variant":"modiar","actions":[1],"truncated":false}`:                                          "ply 1: got truncated true want false",
		`{"variant":"modiar","actions":[1,0,2,0,1,2,2,1,0,2,0,2,1],"end":"nomoves:S","returns":[1,-1]}`: "",
		`{"variant":"modiar","actions":[1,0,2,0,1,2,2,1,0,2,0,2,1],"end":"nomoves:N"}`:                  `ply 13: got end "nomoves:S" want "nomoves:N"`,
		`{"variant":"modiar","actions":[1,0,2,0,1,2,2,1,0,2,0,2,1],"returns":[1]}`:                      "ply 13: got returns [1,-1] want [1]",
		`{"variant":"modiar","actions":[1,0,2,0,1,2,2,1,0,2,0,2,1],"points":[2,0]}`:                     "ply 13: got points [1,0] want [2,0]",
		`{"variant":"modiar","actions":[1,0,2,0,1,2,2,1,0,2,0,2,1],"truncated":true}`:                   "ply 13: got truncated false want true",
		`{"variant":"modiar","actions":[1,0,2,0,1,2,2,1,0,2,0,2,1,0]}`:                                  "ply 13: got legal [] want action 0 among them",
		`{"variant":"modiar"}`:              "ply 0: got no actions want a list of them",
		`{"variant":"chess","actions":[1]}`: `ply 0: got variant "chess" want `,
		`null`:                              `ply 0: got variant "" want `,
	} {
		rec, err := NewJSONReader(strings.NewReader(line)).Next()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if _, fault := rec.Replay(); fault != nil {
			got = fault.Error()
		}
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s\ngot  %s\nwant %s", line, got, want)
		}
	}
}

func TestBadLinesDoNotStopTheReader(t *testing.T) {
	text := "\n{\"variant\":\"urim\",\"actions\":[1]}\n\n{\"variant\":3}\n[1\n" +
		`{"variant":"oware","actions":[0],"note":"` + strings.Repeat("long ", 100_000) + "\"}\r\n" +
		"{\"variant\":\"modiar\",\"actions\":[1.5]}\n" + `{"variant":"modiar","actions":[2]}`
	j := NewJSONReader(iotest.OneByteReader(strings.NewReader(text)))
	var got []string
	for {
		rec, err := j.Next()
		if err == io.EOF {
			break
		}
		var bad *LineError
		switch {
		case errors.As(err, &bad):
			got = append(got, fmt.Sprint(j.Line(), " bad"))
		case err != nil:
			t.Fatal(err)
		default:
			got = append(got, fmt.Sprint(j.Line(), " ", rec.Variant))
		}
	}
	if want := []string{"2 urim", "4 bad", "5 bad", "6 oware", "7 bad", "8 modiar"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q want %q", got, want)
	}
	if _, err := NewJSONReader(iotest.ErrReader(os.ErrClosed)).Next(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("an error of reading: %v", err)
	}
}

func TestEndlessLineIsRefused(t *testing.T) {
	const most = 1 << 20
	for extra, refused := range []bool{false, false, true} { // the end of the line counts
		line := `{"variant":"modiar","actions":[1]` + strings.Repeat(" ", most-36+extra) + "}\n"
		j := NewJSONReader(strings.NewReader(line + `{"variant":"modiar","actions":[2]}`))
		j.most = most
		_, err := j.Next()
		var bad *LineError
		if refused != errors.As(err, &bad) || !refused && err != nil {
			t.Errorf("%d bytes: %v", len(line), err)
		}
		if rec, err := j.Next(); err != nil || rec.Actions[0] != 2 || j.Line() != 2 {
			t.Errorf("the line after: %v", err)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add([]byte(`{"variant":"modiar","actions":[1,0],"legal":[[0,1,2],[0,2]],"states":["7,7,7/7,7,7 0-0 S 0 0"],"returns":[1,-1],"points":null,"end":"x","truncated":true}`))
	f.Add([]byte("{\"variant\":\"omweso:setup=arrange\",\"actions\":[3,4,4]}\n\n{}\nnull\n[]\n\"\""))
	f.Add([]byte(`{"variant":"hoyito2:pits=12,laps=1","actions":[0,0,12,3,300,-1,1e9]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		j := NewJSONReader(bytes.NewReader(b))
		for {
			rec, err := j.Next()
			var bad *LineError
			if errors.As(err, &bad) {
				continue
			}
			if err != nil {
				return
			}
			if n, fault := rec.Replay(); fault != nil && (fault.Ply > len(rec.Actions) || n > len(rec.Actions)) {
				t.Errorf("%q: %v", b, fault)
			}
		}
	})
}
