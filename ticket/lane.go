package ticket

import (
	"context"
	"runtime"
	"sync"
)

// maxIdleYields is how many yields in a row may bring no request before a
// statement is sent with those that are there.
const maxIdleYields = 16

// lane puts the tickets that callers ask of one server together into
// statements of up to stubsPerConn rows. One goroutine sends one statement at a
// time: what arrives while it waits for the reply makes up the next one, so a
// lone caller is never delayed and many share a round trip and a commit.
type lane struct {
	server *server
	bell   chan struct{} // says that queue is not empty; holds one

	mu     sync.Mutex // guards queue and closed; never held across I/O
	queue  []*request
	closed bool
}

// request is one call's share of a statement. done receives once, when first
// and err are set; the caller may have gone by then.
type request struct {
	rows  int
	first int64
	step  int64 // from one number to the next
	err   error
	done  chan struct{}
}

func newLane(s *server) *lane { return &lane{server: s, bell: make(chan struct{}, 1)} }

// draw asks for rows consecutive tickets, at most stubsPerConn. When ctx ends
// first, what the server may still issue for the call is a gap.
func (l *lane) draw(ctx context.Context, r *request) error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return ErrClosed
	}
	l.queue = append(l.queue, r)
	l.mu.Unlock()
	select {
	case l.bell <- struct{}{}:
	default:
	}
	select {
	case <-r.done:
		return r.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// run sends the statements until ctx ends, then fails what is left in the
// queue. The fleet starts it once for each server and joins it in Close.
func (l *lane) run(ctx context.Context) {
	defer l.close()
	batch := make([]*request, 0, stubsPerConn)
	for {
		batch = batch[:0]
		select {
		case <-ctx.Done():
			return
		case <-l.bell:
		}
		for {
			l.gather(len(batch))
			batch = l.take(batch[:0])
			if len(batch) == 0 {
				break
			}
			l.send(ctx, batch)
		}
	}
}

// gather lets those who were just served come back, so that the next statement
// is larger. It only yields, to nobody if nobody else can run, and no longer than
// some of them do come back.
func (l *lane) gather(served int) {
	want, had := -1, -1
	for idle := 0; idle < maxIdleYields; idle++ {
		l.mu.Lock()
		n := len(l.queue)
		l.mu.Unlock()
		if want < 0 {
			want = n + served
		}
		if n >= want && want > 0 || n >= stubsPerConn {
			return
		}
		if n != had {
			had, idle = n, 0
		}
		runtime.Gosched()
	}
}

// take moves requests from the queue into batch, up to stubsPerConn rows.
func (l *lane) take(batch []*request) []*request {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows, n := 0, 0
	for _, r := range l.queue {
		if rows+r.rows > stubsPerConn {
			break
		}
		rows += r.rows
		n++
	}
	batch = append(batch, l.queue[:n]...)
	rest := copy(l.queue, l.queue[n:])
	clear(l.queue[rest:])
	l.queue = l.queue[:rest]
	return batch
}

// send draws the tickets of a batch in one statement and deals them out. Callers
// that came before the server failed are sent on to the next one at once.
func (l *lane) send(ctx context.Context, batch []*request) {
	rows := 0
	for _, r := range batch {
		rows += r.rows
	}
	var first, step int64
	var err error
	if l.server.is(StateUp) {
		first, step, err = l.server.issue(ctx, rows)
	} else {
		err = l.server.lastError()
	}
	if ctx.Err() != nil {
		err = ErrClosed
	}
	for _, r := range batch {
		r.first, r.step, r.err = first, step, err
		first += int64(r.rows) * step
		r.done <- struct{}{} // has room for one
	}
}

// close fails whoever still waits and whoever comes later.
func (l *lane) close() {
	l.mu.Lock()
	l.closed = true
	left := l.queue
	l.queue = nil
	l.mu.Unlock()
	for _, r := range left {
		r.err = ErrClosed
		r.done <- struct{}{}
	}
}
