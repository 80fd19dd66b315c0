package ledger

import (
	"encoding/binary"
	"math"
	"sync"
)

const (
	// flushAt is how many bytes of tokens are written without being asked to.
	flushAt = 1 << 16
	// farthest is the largest difference that a token can hold.
	farthest = 1 << 61
)

// StreamWriter takes the IDs of one stream. All methods are safe for concurrent
// use; but the IDs of an ordered stream come from one goroutine, or their order
// means nothing.
//
// IDs are buffered and compacted. They reach the file with Flush, with Writer.Close,
// or when there are many.
type StreamWriter struct {
	w      *Writer
	number uint64

	mu     sync.Mutex // guards all below; taken before the Writer's
	last   int64      // ID
	stride int64      // between the last repeat IDs and the one before each
	repeat uint64     // not in tokens yet
	count  uint64     // IDs since the last flush
	tokens []byte
	err    error // stays
}

// Issued notes an ID that a caller was handed. It does not wait, unless there is so
// much to write that it flushes; the error of that is Flush's.
func (s *StreamWriter) Issued(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked(id)
	s.flushIfLargeLocked()
}

// IssuedAll notes IDs in the order in which they were handed out, like Issued.
func (s *StreamWriter) IssuedAll(ids []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		s.addLocked(id)
		s.flushIfLargeLocked()
	}
}

// Flush writes what was noted. When it returns nil, all of it is with the kernel.
func (s *StreamWriter) Flush() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flushLocked()
	return s.err
}

func (s *StreamWriter) addLocked(id int64) {
	s.count++
	stride := id - s.last
	if s.repeat > 0 && stride == s.stride && near(s.last, id) {
		s.repeat++
		s.last = id
		return
	}
	s.endRunLocked()
	if near(s.last, id) {
		s.stride, s.repeat = stride, 1
	} else {
		s.tokens = binary.LittleEndian.AppendUint64(append(s.tokens, absolute, 0), uint64(id))
	}
	s.last = id
}

// near reports whether the difference of two IDs fits into a token.
func near(a, b int64) bool {
	d := b - a
	return (d >= 0) == (b >= a) && d < farthest && d > -farthest
}

// A token is a difference to the ID before, zigzag-encoded, with a lowest bit of 0;
// or of 1, and then the number of IDs that follow each other by this difference. The
// difference 0, 0 times, stands for an ID of 8 bytes, which follows.
const absolute = 1

// endRunLocked puts the IDs that are not in tokens yet into one.
func (s *StreamWriter) endRunLocked() {
	token := uint64(s.stride<<1^s.stride>>63) << 1
	switch {
	case s.repeat == 1:
		s.tokens = binary.AppendUvarint(s.tokens, token)
	case s.repeat > 1:
		s.tokens = binary.AppendUvarint(binary.AppendUvarint(s.tokens, token|1), s.repeat)
	}
	s.repeat = 0
}

func (s *StreamWriter) flushIfLargeLocked() {
	if len(s.tokens) >= flushAt || s.count >= maxBlock {
		s.flushLocked()
	}
}

func (s *StreamWriter) flushLocked() {
	if s.count == 0 {
		return
	}
	s.endRunLocked()
	if s.err == nil {
		payload := make([]byte, 0, 1+2*binary.MaxVarintLen64+len(s.tokens))
		payload = binary.AppendUvarint(append(payload, kindIDs), s.number)
		payload = binary.AppendUvarint(payload, s.count)
		s.err = s.w.append(append(payload, s.tokens...))
	}
	s.tokens, s.count = s.tokens[:0], 0
}

// run is IDs that follow each other by a stride, which may be 0 or negative.
type run struct{ first, stride, count int64 }

// last is the last ID.
func (r run) last() int64 { return r.first + r.stride*(r.count-1) }

// reachable reports whether count strides from an ID stay inside 64 bits.
func reachable(from, stride int64, count uint64) bool {
	if stride == 0 {
		return true
	}
	room := uint64(math.MaxInt64) - uint64(from)
	size := uint64(stride)
	if stride < 0 {
		room, size = uint64(from)-1<<63, -uint64(stride)
	}
	return count <= room/size
}
