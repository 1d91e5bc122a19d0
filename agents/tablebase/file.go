package tablebase

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mancalagym/mancalagym/internal/whole"
)

// A table file is
//
//	"mancala table 1\n"
//	the length of the header, 4 bytes, little endian
//	the header: JSON
//	its CRC-32C, 4 bytes, little endian
//	zeros up to a multiple of 64 bytes
//	for each level, 0 … seeds: a byte of value for each position, then a byte of distance for each
//
// Positions stand in the order of index. A value byte has the value in its lower seven bits, in two's complement, and the mark in
// the upper one. A distance of 255 is none, and 254 is 254 or more. A part holds one level in the same form, with "mancala level 1\n", and
// after the two planes, where endless turns are known, two more with the values of the games hope and threat.
const (
	tableMagic = "mancala table 1\n"
	levelMagic = "mancala level 1\n"
	align      = 64
)

// header is the JSON of a table and of a part.
type header struct {
	Spec    string  `json:"spec"`
	Version int     `json:"rules_version"`
	Seeds   int     `json:"seeds"`
	Levels  []Level `json:"levels"`          // of a part: the one
	Games   int     `json:"games,omitempty"` // of a part: 1, or 3 with the planes of hope and threat
	Sum     uint32  `json:"sum,omitempty"`   // of a part: the CRC-32C of these two
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// write writes what comes before the planes.
func (h *header) write(w io.Writer, magic string) error {
	text, err := json.Marshal(h)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString(magic)
	binary.Write(&b, binary.LittleEndian, uint32(len(text)))
	b.Write(text)
	binary.Write(&b, binary.LittleEndian, crc32.Checksum(text, castagnoli))
	b.Write(make([]byte, (align-b.Len()%align)%align))
	_, err = w.Write(b.Bytes())
	return err
}

// maxHeader is the most bytes of a header.
const maxHeader = 1 << 20

// readHeader reads what write wrote from the beginning of a file. start is where the planes begin.
func readHeader(r io.ReaderAt, magic string) (h header, start int, err error) {
	head := make([]byte, len(magic)+4)
	if n, err := r.ReadAt(head, 0); err != nil && n < len(head) {
		if !errors.Is(err, io.EOF) {
			return h, 0, err
		}
		return h, 0, errors.New("no table: want a file that mancala solve has written")
	}
	switch got := string(head[:len(magic)]); {
	case got == magic:
	case got[:len(magic)-2] == magic[:len(magic)-2]:
		return h, 0, fmt.Errorf("format %q: want %q", strings.TrimSpace(got), strings.TrimSpace(magic))
	default:
		return h, 0, errors.New("no table: want a file that mancala solve has written")
	}
	n := int(binary.LittleEndian.Uint32(head[len(magic):]))
	if n > maxHeader {
		return h, 0, errors.New("damaged: the header has no end")
	}
	text := make([]byte, n+4)
	if _, err := r.ReadAt(text, int64(len(head))); err != nil {
		return h, 0, errors.New("damaged: cut short within the header")
	}
	if crc32.Checksum(text[:n], castagnoli) != binary.LittleEndian.Uint32(text[n:]) {
		return h, 0, errors.New("damaged: the checksum of the header is wrong")
	}
	if err := json.Unmarshal(text[:n], &h); err != nil {
		return h, 0, fmt.Errorf("damaged: header: %w", err)
	}
	end := len(head) + n + 4
	start = (end + align - 1) / align * align
	pad := make([]byte, start-end)
	if _, err := r.ReadAt(pad, int64(end)); err != nil || len(bytes.Trim(pad, "\x00")) > 0 {
		return h, 0, errors.New("damaged: what follows the header is not zeros")
	}
	return h, start, nil
}

// plane streams n bytes, the one of place i from at, in pieces.
func plane(n int, at func(i int) byte, yield func([]byte) error) error {
	piece := make([]byte, 0, 1<<16)
	for i := range n {
		if piece = append(piece, at(i)); len(piece) == cap(piece) || i == n-1 {
			if err := yield(piece); err != nil {
				return err
			}
			piece = piece[:0]
		}
	}
	return nil
}

// planes streams the values and distances of a level.
func (s *solver) planes(k int, distances []uint16, yield func([]byte) error) error {
	values := s.known[plain][k]
	err := plane(len(values), func(i int) byte {
		b := byte(values[i]) & 0x7f
		if s.annul && s.marked(k, i) {
			b |= 0x80
		}
		return b
	}, yield)
	if err != nil {
		return err
	}
	return plane(len(values), func(i int) byte {
		if distances[i] == far {
			return never
		}
		return byte(min(distances[i], longestKept))
	}, yield)
}

// extra streams the values of hope and threat.
func (s *solver) extra(k int, yield func([]byte) error) error {
	for game := hope; game <= threat; game++ {
		values := s.known[game][k]
		if err := plane(len(values), func(i int) byte { return byte(values[i]) }, yield); err != nil {
			return err
		}
	}
	return nil
}

func partName(parts string, k int) string { return filepath.Join(parts, fmt.Sprintf("%02d", k)) }

// keep writes a level to its part and completes l.
func (s *solver) keep(parts string, l Level, distances []uint16) (Level, error) {
	sum := func(stream func(yield func([]byte) error) error) (c uint32) {
		stream(func(b []byte) error {
			c = crc32.Update(c, castagnoli, b)
			return nil
		})
		return c
	}
	planes := func(yield func([]byte) error) error { return s.planes(l.Seeds, distances, yield) }
	extra := func(yield func([]byte) error) error { return s.extra(l.Seeds, yield) }
	l.Checksum = sum(planes)
	h := header{Spec: s.spec, Version: s.version, Seeds: l.Seeds, Levels: []Level{l}, Games: 1}
	if s.annul {
		h.Games, h.Sum = games, sum(extra)
	}
	err := whole.Write(partName(parts, l.Seeds), func(w io.Writer) error {
		if err := h.write(w, levelMagic); err != nil {
			return err
		}
		yield := func(b []byte) error {
			_, err := w.Write(b)
			return err
		}
		if err := planes(yield); err != nil || !s.annul {
			return err
		}
		return extra(yield)
	})
	if err != nil {
		return l, fmt.Errorf("tablebase: %w", err)
	}
	return l, nil
}

// resume reads level k from its part. A part that is missing or damaged is not found; one of another table is an error.
func (s *solver) resume(parts string, k int) (l Level, found bool, err error) {
	path := partName(parts, k)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return l, false, nil
	}
	if err != nil {
		return l, false, fmt.Errorf("tablebase: %w", err)
	}
	defer f.Close()
	h, start, err := readHeader(f, levelMagic)
	if err != nil {
		return l, false, nil
	}
	if h.Spec != s.spec || h.Version != s.version {
		return l, false, fmt.Errorf("tablebase: %s: a level of %s, rules version %d: want %s, version %d: remove it or write elsewhere", path, h.Spec, h.Version, s.spec, s.version)
	}
	size := s.index.size(k)
	if len(h.Levels) != 1 || h.Levels[0].Seeds != k || h.Levels[0].Positions != size || h.Games != 1 && h.Games != games || h.Games == 1 && s.annul {
		return l, false, nil
	}
	l = h.Levels[0]
	body := io.NewSectionReader(f, int64(start), int64(size)*int64(1+h.Games))
	read := func(c *uint32, at func(i int, b byte)) bool {
		piece := make([]byte, 1<<16)
		for i := 0; i < size; {
			n, err := io.ReadFull(body, piece[:min(len(piece), size-i)])
			if err != nil {
				return false
			}
			*c = crc32.Update(*c, castagnoli, piece[:n])
			for j, b := range piece[:n] {
				at(i+j, b)
			}
			i += n
		}
		return true
	}
	var sum, more uint32
	values := make([]int8, size)
	if !read(&sum, func(i int, b byte) { values[i] = int8(b<<1) >> 1 }) || !read(&sum, func(int, byte) {}) || sum != l.Checksum {
		return l, false, nil
	}
	known := [games][]int8{values, values, values}
	if h.Games == games {
		for game := hope; game <= threat; game++ {
			values := make([]int8, size)
			if !read(&more, func(i int, b byte) { values[i] = int8(b) }) {
				return l, false, nil
			}
			known[game] = values
		}
		if more != h.Sum {
			return l, false, nil
		}
		s.annul = true
	}
	for game := range known {
		s.known[game][k] = known[game]
	}
	s.done += 2 * size
	s.tell(k, "found", 0)
	return l, true, nil
}

// assemble writes the table from its parts.
func (s *solver) assemble(parts, path string, levels []Level) error {
	h := header{Spec: s.spec, Version: s.version, Seeds: s.seeds, Levels: levels}
	err := whole.Write(path, func(w io.Writer) error {
		if err := h.write(w, tableMagic); err != nil {
			return err
		}
		for _, l := range levels {
			if err := copyPart(w, partName(parts, l.Seeds), 2*int64(l.Positions)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("tablebase: %w", err)
	}
	return nil
}

func copyPart(w io.Writer, path string, n int64) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, start, err := readHeader(f, levelMagic)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = io.CopyN(w, io.NewSectionReader(f, int64(start), n), n)
	return err
}
