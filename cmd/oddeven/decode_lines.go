package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	ids "github.com/oddeven/oddeven/internal/decode"
)

// decodeBuffer is how much is read and written at a time, in bytes. A longer
// line is no ID.
const decodeBuffer = 64 << 10

// decodeRun is one run of `decode`.
type decodeRun struct {
	decoder *ids.Decoder
	scheme  scheme
	format  format
	out     *bufio.Writer
	err     *bufio.Writer
	line    []byte // reused for every result
	done    int    // texts read
	bad     int    // of these no ID
	guessed bool   // one was read by a layout that nobody has named
}

// decode reads the arguments or, if there are none, standard input.
func (a *app) decode(ctx context.Context, args []string, s scheme, f format) error {
	run := &decodeRun{
		decoder: ids.New(s.Config), scheme: s, format: f,
		out: bufio.NewWriterSize(a.out, decodeBuffer), err: bufio.NewWriterSize(a.err, decodeBuffer),
	}
	read := func() error { return run.lines(&interruptible{ctx: ctx, in: a.in}) }
	if len(args) > 0 {
		read = func() error { return run.arguments(args) }
	}
	err := read()
	if end := run.end(); err == nil || errors.Is(end, err) { // an output that fails, fails again
		return end
	}
	return err
}

func (r *decodeRun) arguments(args []string) error {
	for i, arg := range args {
		if err := r.one("argument", i+1, arg); err != nil {
			return err
		}
	}
	return nil
}

// lines reads until the end. It writes out what it has whenever the input has
// no more at hand, so that whoever types a line sees the answer.
func (r *decodeRun) lines(in io.Reader) error {
	buffer := bufio.NewReaderSize(in, decodeBuffer)
	for n := 1; ; n++ {
		text, err := buffer.ReadSlice('\n')
		tooLong := 0
		for errors.Is(err, bufio.ErrBufferFull) {
			tooLong += len(text)
			text, err = buffer.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read line %d: %w", n, err)
		}
		if err != nil && len(text)+tooLong == 0 {
			return nil
		}
		text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("\n")), []byte("\r"))
		if tooLong > 0 {
			r.report("line", n, "", fmt.Errorf("a text of %d bytes is no ID: give one ID per line", tooLong+len(text)))
		} else if err := r.one("line", n, string(text)); err != nil {
			return err
		}
		if buffer.Buffered() == 0 {
			if err := r.flush(); err != nil {
				return err
			}
		}
		if err != nil {
			return nil
		}
	}
}

// one reads one text. The error is that of the output.
func (r *decodeRun) one(kind string, n int, text string) error {
	result, err := r.decoder.Decode(text)
	if err != nil {
		r.report(kind, n, text, err)
		return nil
	}
	if result.Plane == ids.PlaneSnowflake {
		r.guessed = true
	}
	r.line = r.line[:0]
	if r.format == formatJSON {
		r.line = append(result.AppendJSON(r.line), '\n')
	} else {
		if r.done > r.bad {
			r.line = append(r.line, '\n')
		}
		r.line = r.scheme.appendTable(r.line, &result)
	}
	r.done++
	_, err = r.out.Write(r.line)
	return err
}

// report tells of a text that is no ID, without a password that is in it.
func (r *decodeRun) report(kind string, n int, text string, err error) {
	r.done++
	r.bad++
	fmt.Fprintf(r.err, "%s %d: %s\n", kind, n, told(err, text))
}

func (r *decodeRun) flush() error { return errors.Join(r.out.Flush(), r.err.Flush()) }

// end writes out the rest and sums up.
func (r *decodeRun) end() error {
	if r.guessed && r.scheme.assumed {
		fmt.Fprintf(r.err, "No servers and no --layout were given: Snowflake IDs were read by the layout %s.\n", r.decoder.Layout())
	}
	if err := r.flush(); err != nil {
		return err
	}
	if r.bad > 0 {
		return fmt.Errorf("%d of %d could not be read", r.bad, r.done)
	}
	return nil
}

// interruptible ends a Read with its ctx: one from a terminal would otherwise
// go on until somebody presses a key. The goroutine of a Read that was given up
// ends with the next input or the program. It is used by one goroutine.
type interruptible struct {
	ctx context.Context
	in  io.Reader
	buf []byte
}

type readResult struct {
	n   int
	err error
}

func (r *interruptible) Read(p []byte) (int, error) {
	if len(r.buf) < len(p) {
		r.buf = make([]byte, len(p))
	}
	into := r.buf[:len(p)] // not p, which the caller may use again after ctx has ended
	done := make(chan readResult, 1)
	go func() {
		n, err := r.in.Read(into)
		done <- readResult{n, err}
	}()
	select {
	case <-r.ctx.Done():
		r.buf = nil
		return 0, r.ctx.Err()
	case got := <-done:
		return copy(p, into[:got.n]), got.err
	}
}
