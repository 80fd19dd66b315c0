package oddeven

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/oddeven/oddeven/segment"
)

// errNoAnswer is why a call stopped waiting for a server.
var errNoAnswer = errors.New("oddeven: no server has answered in time")

// watchdog ends a context when an Allocator has had no answer from a server for
// a while. How long a call waits says nothing: a large batch takes many answers,
// and others may be faster to take what an answer has brought.
type watchdog struct {
	a     *segment.Allocator
	after time.Duration
	end   context.CancelCauseFunc
	work  sync.WaitGroup

	mu      sync.Mutex // guards all below
	answers int64
	timer   *time.Timer
	done    bool
}

// watch returns a context that also ends when no server has answered for a time.
// end must be called.
func watch(ctx context.Context, a *segment.Allocator, after time.Duration) (watched context.Context, end func()) {
	watched, cancel := context.WithCancelCause(ctx)
	w := &watchdog{a: a, after: after, end: cancel, answers: a.Stats().Refills}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.work.Add(1)
	w.timer = time.AfterFunc(after, w.look)
	return watched, w.stop
}

// look is called by the timer.
func (w *watchdog) look() {
	defer w.work.Done()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.done {
		return
	}
	answers := w.a.Stats().Refills
	if answers == w.answers {
		w.end(errNoAnswer)
		return
	}
	w.answers = answers
	w.work.Add(1)
	w.timer.Reset(w.after)
}

func (w *watchdog) stop() {
	w.mu.Lock()
	w.done = true
	if w.timer.Stop() {
		w.work.Done()
	}
	w.mu.Unlock()
	w.work.Wait()
	w.end(nil)
}
