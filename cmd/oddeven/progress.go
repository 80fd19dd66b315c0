package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
)

const (
	// progressInterval is how long nothing is said, and how often a line is
	// redrawn from then on.
	progressInterval = time.Second
	eraseLine        = "\r\x1b[K"
)

// progress tells whoever waits what for: on a terminal in a line that is
// redrawn in place and erased before anything else is written, elsewhere in one
// line for the whole run of the program. nil tells nothing. Safe for concurrent use.
type progress struct {
	mu    sync.Mutex
	to    io.Writer       // standard error
	width int             // of the terminal that it is; 0 if it is none
	waits func() []string // the servers that owe an answer
	drawn bool            // there is a line to be erased
	told  bool            // the one line has been written
}

// start begins to tell of something, unless it takes less than a second. The
// function it returns ends that, and returns when the goroutine has ended.
func (p *progress) start(doing string) (stop func()) {
	if p == nil {
		return func() {}
	}
	done := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		begun := time.Now()
		tick := time.NewTicker(progressInterval)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.tell(doing, time.Since(begun))
			case <-done:
				p.erase()
				return
			}
		}
	})
	return func() {
		close(done)
		running.Wait()
	}
}

// tell writes or redraws the line. An error of standard error has nowhere to go.
func (p *progress) tell(doing string, since time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	waits := p.waits()
	switch {
	case p.width > 0:
		text := fmt.Sprintf("%s … %ds", upperFirst(doing), int(since.Seconds()))
		if len(waits) > 0 {
			text += ", waiting for " + strings.Join(waits, ", ")
		}
		// A line that fills the last column would wrap, and not be erased.
		_, _ = io.WriteString(p.to, eraseLine+end(text, p.width-1))
		p.drawn = true
	case p.told:
	case len(waits) > 0:
		_, _ = fmt.Fprintf(p.to, "Still waiting for %s: %s\n", strings.Join(waits, ", "), doing)
		p.told = true
	default:
		_, _ = fmt.Fprintf(p.to, "Still %s …\n", doing)
		p.told = true
	}
}

func (p *progress) erase() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.eraseLocked()
}

func (p *progress) eraseLocked() {
	if p.drawn {
		_, _ = io.WriteString(p.to, eraseLine)
		p.drawn = false
	}
}

// above is a writer to w that erases the line first.
func (p *progress) above(w io.Writer) io.Writer { return &erasing{p, w} }

type erasing struct {
	p *progress
	w io.Writer
}

func (e *erasing) Write(text []byte) (int, error) {
	e.p.mu.Lock()
	defer e.p.mu.Unlock()
	e.p.eraseLocked()
	return e.w.Write(text)
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
