package datasets

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// Parquet has checksums of its pages, none of its footer: a flipped bit there changes a name, a number or a place
// unseen. So the footer's metadata holds a CRC-32C, in eight hexadecimal digits, of all bytes of the file, taken
// with the digits as zeros. It is filled in when the file is complete.

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const unsealed = "00000000"

// mark is the checksum's entry in the footer up to its digits: a Thrift compact string field, twice.
var mark = append(append([]byte{0x18, byte(len(keyChecksum))}, keyChecksum...), 0x18, byte(len(unsealed)))

var magic = []byte("PAR1")

var (
	errNotParquet = errors.New("not a whole Parquet file: it must begin and end with PAR1")
	errForeign    = errors.New("not written by mancalagym: it has no " + keyChecksum + " in its metadata")
)

// checksumAt finds the place of the digits in a file of the given size.
func checksumAt(r io.ReaderAt, size int64) (int64, error) {
	var head [4]byte
	var tail [8]byte
	if size < int64(len(head)+len(tail)) {
		return 0, errNotParquet
	}
	if err := readAt(r, head[:], 0); err != nil {
		return 0, err
	}
	if err := readAt(r, tail[:], size-int64(len(tail))); err != nil {
		return 0, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:4]))
	at := size - int64(len(tail)) - n
	if !bytes.Equal(head[:], magic) || !bytes.Equal(tail[4:], magic) || at < int64(len(head)) {
		return 0, errNotParquet
	}
	footer := make([]byte, n)
	if err := readAt(r, footer, at); err != nil {
		return 0, err
	}
	i := bytes.LastIndex(footer, mark)
	if i < 0 || i+len(mark)+len(unsealed) > len(footer) {
		return 0, errForeign
	}
	return at + int64(i+len(mark)), nil
}

func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	return fmt.Errorf("reading: %w", err)
}

// checkSeal compares the checksum with the bytes.
func checkSeal(r io.ReaderAt, size int64) error {
	at, err := checksumAt(r, size)
	if err != nil {
		return err
	}
	var want [len(unsealed)]byte
	if err := readAt(r, want[:], at); err != nil {
		return err
	}
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, io.NewSectionReader(r, 0, at)); err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	io.WriteString(sum, unsealed)
	at += int64(len(unsealed))
	if _, err := io.Copy(sum, io.NewSectionReader(r, at, size-at)); err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	if got := fmt.Sprintf("%08x", sum.Sum32()); got != string(want[:]) {
		return fmt.Errorf("damaged: got checksum %s want %s", got, want[:])
	}
	return nil
}
