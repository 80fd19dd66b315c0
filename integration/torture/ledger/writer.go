package ledger

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/oddeven/oddeven/ticket"
)

// ErrClosed is what a Writer returns after Close.
var ErrClosed = errors.New("ledger: closed")

// maxText is how much of the text of an error is kept.
const maxText = 4096

// Writer appends records to one file. Records that a call has written when it
// returns are with the kernel: they survive the death of the process, not that of
// the machine. All methods are safe for concurrent use. An error of the file stays:
// all later calls return it.
type Writer struct {
	mu      sync.Mutex // guards all below. Held while the file is written: frames are numbered
	file    *os.File
	index   uint64
	streams []*StreamWriter
	err     error
	closed  bool
}

// Create makes a file, which must not exist, and whose name must end in Extension:
// otherwise Check would not see it.
func Create(path string) (*Writer, error) {
	if !strings.HasSuffix(path, Extension) || filepath.Base(path) == Extension {
		return nil, &ticket.ConfigError{Field: "path", Value: path, Remedy: "end it in " + Extension + ", which is what Check looks for"}
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create ledger: %w", err)
	}
	if _, err := file.WriteString(magic); err != nil {
		return nil, errors.Join(fmt.Errorf("write ledger: %w", err), file.Close())
	}
	return &Writer{file: file}, nil
}

// Stream begins a stream. Several may be open at a time.
func (w *Writer) Stream(s Stream) (*StreamWriter, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	payload, err := encode(kindStream, s)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.appendLocked(payload); err != nil {
		return nil, err
	}
	sw := &StreamWriter{w: w, number: uint64(len(w.streams))}
	w.streams = append(w.streams, sw)
	return sw, nil
}

// Lease notes a lease that was granted, renewed, taken up or is to be released.
func (w *Writer) Lease(l Lease) error {
	if err := l.check(); err != nil {
		return err
	}
	return w.record(kindLease, l)
}

// Call notes a call that failed or took long.
func (w *Writer) Call(c Call) error {
	if len(c.Err) > maxText {
		c.Err = strings.ToValidUTF8(c.Err[:maxText], "")
	}
	return w.record(kindCall, c)
}

// Event notes a fault or a recovery.
func (w *Writer) Event(e Event) error {
	if err := e.check(); err != nil {
		return err
	}
	return w.record(kindEvent, e)
}

// Close flushes all streams and ends the file. It may be called again, and does
// nothing then.
func (w *Writer) Close() error {
	w.mu.Lock()
	streams := w.streams
	if w.closed {
		streams = nil
	}
	w.mu.Unlock()
	var err error
	for _, s := range streams {
		err = errors.Join(err, s.Flush())
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil
	}
	if err == nil {
		err = w.appendLocked([]byte{kindEnd})
	}
	w.closed = true
	return errors.Join(err, w.file.Close())
}

func (w *Writer) record(kind byte, v any) error {
	payload, err := encode(kind, v)
	if err != nil {
		return err
	}
	return w.append(payload)
}

func encode(kind byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode %T: %w", v, err)
	}
	if len(text) >= maxPayload {
		return nil, &ticket.ConfigError{Field: fmt.Sprintf("%T", v), Value: fmt.Sprintf("%d bytes", len(text)), Remedy: fmt.Sprintf("make its texts shorter, to less than %d bytes together", maxPayload)}
	}
	return append([]byte{kind}, text...), nil
}

func (w *Writer) append(payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.appendLocked(payload)
}

// appendLocked writes a frame, in one piece.
func (w *Writer) appendLocked(payload []byte) error {
	switch {
	case w.err != nil:
		return w.err
	case w.closed:
		return ErrClosed
	}
	h := header(w.index, payload)
	if _, err := w.file.Write(append(h[:], payload...)); err != nil {
		// Part of the frame may be there. Nothing may follow it.
		w.err = fmt.Errorf("write ledger: %w", err)
		return w.err
	}
	w.index++
	return nil
}
