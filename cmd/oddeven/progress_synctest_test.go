package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// shownProgress is a progress whose output can be read between two ticks.
type shownProgress struct {
	progress
	text  bytes.Buffer
	owing []string
}

func newShownProgress(width int, owing ...string) *shownProgress {
	s := &shownProgress{owing: owing}
	s.progress = progress{to: &s.text, width: width, waits: func() []string { return s.owing }}
	return s
}

// owe changes which servers owe an answer.
func (s *shownProgress) owe(labels ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owing = labels
}

// after waits until the clock has moved on and everything has happened, and
// returns what was written meanwhile.
func (s *shownProgress) after(d time.Duration) string {
	time.Sleep(d) // of the fake clock
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.text.Reset()
	return s.text.String()
}

func TestProgressSaysNothingForASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, width := range []int{0, 80} {
			p := newShownProgress(width, "db1:3306/oddeven")
			stop := p.start("drawing numbers")
			require.Empty(t, p.after(999*time.Millisecond))
			stop()
			require.Empty(t, p.after(time.Hour), "the goroutine has ended")
		}
	})
}

func TestProgressIsRedrawnOnATerminal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newShownProgress(80, "db1:3306/oddeven", "db2:3306/oddeven")
		stop := p.start("drawing numbers")
		require.Equal(t, "\r\x1b[KDrawing numbers … 1s, waiting for db1:3306/oddeven, db2:3306/oddeven", p.after(time.Second))
		p.owe("db2:3306/oddeven")
		require.Equal(t, "\r\x1b[KDrawing numbers … 2s, waiting for db2:3306/oddeven", p.after(time.Second))
		p.owe()
		require.Equal(t, "\r\x1b[KDrawing numbers … 3s", p.after(time.Second))
		stop()
		require.Equal(t, "\r\x1b[K", p.after(time.Hour))

		stop = p.start("closing")
		require.Equal(t, "\r\x1b[KClosing … 1s", p.after(time.Second), "for every piece of work anew")
		stop()
	})
}

func TestProgressIsErasedBeforeAnythingElseIsWritten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newShownProgress(80)
		out := p.above(&p.text)
		stop := p.start("drawing numbers")
		p.after(time.Second)
		_, err := io.WriteString(out, "7\n")
		require.NoError(t, err)
		_, err = io.WriteString(out, "8\n")
		require.NoError(t, err)
		require.Equal(t, "\r\x1b[K7\n8\n", p.after(0))
		require.Equal(t, "\r\x1b[KDrawing numbers … 2s", p.after(time.Second))
		stop()
	})
}

func TestProgressFitsInOneLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, width := range []int{80, 20, 2, 1} {
			p := newShownProgress(width, strings.Repeat("ü", 100), "db2")
			stop := p.start("drawing numbers")
			line := strings.TrimPrefix(p.after(time.Second), eraseLine)
			stop()
			require.Len(t, []rune(line), width-1, "the last column is left free: %q", line)
			require.True(t, width <= len(leftOut)+1 || strings.HasSuffix(line, leftOut))
		}
	})
}

func TestProgressIsOneLineElsewhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newShownProgress(0, "db1:3306/oddeven")
		stop := p.start("drawing numbers")
		require.Equal(t, "Still waiting for db1:3306/oddeven: drawing numbers\n", p.after(time.Second))
		require.Empty(t, p.after(time.Hour))
		stop()
		stop = p.start("closing")
		require.Empty(t, p.after(time.Hour), "once in the life of the program")
		stop()

		p = newShownProgress(0)
		stop = p.start("drawing numbers")
		require.Equal(t, "Still drawing numbers …\n", p.after(time.Second))
		stop()
	})
}

func TestNoProgressAtAll(t *testing.T) {
	t.Parallel()
	var p *progress
	p.start("drawing numbers")()
}
