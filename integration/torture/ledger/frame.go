package ledger

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	// Extension is how names of ledger files end. Check reads these and no others.
	Extension = ".ledger"

	magic      = "oddeven ledger 1\n"
	headerSize = 12
	// maxPayload bounds what a reader allocates, whatever a file says.
	maxPayload = 1 << 18
	// maxBlock bounds the IDs of one frame, and so how much a few bytes can stand for.
	maxBlock = 1 << 24
)

// The first byte of a payload says what it is.
const (
	kindStream = 'S' // JSON of a Stream; streams are numbered as they come, from 0
	kindIDs    = 'I' // number of the stream, number of IDs, tokens
	kindLease  = 'L' // JSON
	kindCall   = 'C' // JSON
	kindEvent  = 'V' // JSON
	kindEnd    = 'E' // the file was closed; nothing follows
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header makes the header of a frame that is the index-th of its file, from 0.
func header(index uint64, payload []byte) (h [headerSize]byte) {
	binary.LittleEndian.PutUint32(h[0:], uint32(len(payload)))
	binary.LittleEndian.PutUint32(h[4:], crc32.Checksum(payload, castagnoli))
	binary.LittleEndian.PutUint32(h[8:], headerSum(index, h[:8]))
	return h
}

func headerSum(index uint64, h []byte) uint32 {
	var b [16]byte
	copy(b[:], h)
	binary.LittleEndian.PutUint64(b[8:], index)
	return crc32.Checksum(b[:], castagnoli)
}

// errTorn says that the file ends in the middle of a frame, as that of a killed
// process may.
var errTorn = errors.New("ends in the middle of a frame")

// frames reads the frames of a file.
type frames struct {
	r      *bufio.Reader
	index  uint64
	offset int64  // of the next frame
	buf    []byte // of the payload
}

func newFrames(r io.Reader) *frames {
	return &frames{r: bufio.NewReaderSize(r, 1<<18)}
}

// begin reads the line that names the format.
func (f *frames) begin() error {
	line := make([]byte, len(magic))
	n, err := io.ReadFull(f.r, line)
	switch {
	case string(line[:n]) != magic[:n]:
		return errors.New("does not begin like a ledger; is it one?")
	case isEnd(err):
		return errTorn
	}
	f.offset = int64(n)
	return err
}

// next returns the next payload, which is good until the next call. The error is
// io.EOF at the end, errTorn if the rest is a beginning of a frame, or what is wrong.
func (f *frames) next() ([]byte, error) {
	var h [headerSize]byte
	if n, err := io.ReadFull(f.r, h[:]); err != nil {
		if isEnd(err) && n > 0 {
			return nil, errTorn
		}
		return nil, err
	}
	size := binary.LittleEndian.Uint32(h[0:])
	if binary.LittleEndian.Uint32(h[8:]) != headerSum(f.index, h[:8]) {
		return nil, fmt.Errorf("frame %d is damaged, or one before it is missing", f.index)
	}
	if size == 0 || size > maxPayload {
		return nil, fmt.Errorf("frame %d has %d bytes; 1 to %d", f.index, size, maxPayload)
	}
	if cap(f.buf) < int(size) {
		f.buf = make([]byte, size, max(int(size), 1<<12))
	}
	f.buf = f.buf[:size]
	if _, err := io.ReadFull(f.r, f.buf); err != nil {
		if isEnd(err) {
			return nil, errTorn
		}
		return nil, err
	}
	if crc32.Checksum(f.buf, castagnoli) != binary.LittleEndian.Uint32(h[4:]) {
		return nil, fmt.Errorf("the payload of frame %d is damaged", f.index)
	}
	f.index++
	f.offset += headerSize + int64(size)
	return f.buf, nil
}

func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }
