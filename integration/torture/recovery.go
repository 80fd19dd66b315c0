package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/oddeven/oddeven/integration/torture/ledger"
)

// recoverWithin is how soon after the last fault of a server is healed every client
// has IDs from it again. A client that has given a server up tries again after a
// second at most, and a fence takes less than one, so this is for slow machines.
const recoverWithin = 20 * time.Second

// window is a time in which a server may be of no use to clients: from before the
// fault until a client has an ID from it again.
type window struct {
	server int
	began  time.Time
	healed time.Time            // zero until then
	seen   map[string]time.Time // by process: the first ID of the server after that
}

// health follows what the servers suffer and what the clients see of it. All methods
// are safe for concurrent use.
type health struct {
	ledger *ledger.Writer

	mu      sync.Mutex
	windows []*window
	servers []patient
	took    []time.Duration // recoveries
}

// patient is the state of one server.
type patient struct {
	faults int       // that are not healed
	healed time.Time // the last one; zero while there are any, and after the recovery
	well   time.Time // when it recovered last
}

func newHealth(w *ledger.Writer, servers int) *health {
	return &health{ledger: w, servers: make([]patient, servers)}
}

// failed notes a fault that is about to be made.
func (h *health) failed(server int, kind, detail string) (*window, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	w := &window{server: server, began: time.Now(), seen: map[string]time.Time{}}
	h.windows = append(h.windows, w)
	h.servers[server].faults++
	h.servers[server].healed = time.Time{}
	return w, h.event(ledger.EventFault, server, w.began, kind+" "+detail)
}

// mended notes that its cause is gone.
func (h *health) mended(w *window, kind string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	w.healed = time.Now()
	p := &h.servers[w.server]
	if p.faults--; p.faults == 0 {
		p.healed = w.healed
	}
	return h.event(ledger.EventHealed, w.server, w.healed, kind)
}

func (h *health) event(kind string, server int, at time.Time, detail string) error {
	return h.ledger.Event(ledger.Event{At: at, Kind: kind, Server: fmt.Sprint(server + 1), Detail: detail})
}

// saw notes when a process had the last ID of each server.
func (h *health) saw(process string, seen []time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, w := range h.windows {
		if _, have := w.seen[process]; !have && !w.healed.IsZero() && w.server < len(seen) && seen[w.server].After(w.healed) {
			w.seen[process] = seen[w.server]
		}
	}
}

// look finds servers that have recovered: all clients that have been running since
// the fault was healed have an ID of them, and one at least. It reports whether all
// servers have.
func (h *health) look(clients []seenBy) (all bool, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all = true
	for i := range h.servers {
		p := &h.servers[i]
		if p.faults > 0 {
			all = false
		}
		if p.healed.IsZero() {
			continue
		}
		last, recovered := p.healed, false
		for _, c := range clients {
			at := c.seen[i]
			if at.After(p.healed) {
				recovered = true
				last = later(last, at)
			} else if c.since.Before(p.healed) {
				recovered = false
				break
			}
		}
		if !recovered {
			all = false
			continue
		}
		h.took = append(h.took, last.Sub(p.healed))
		p.healed, p.well = time.Time{}, time.Now()
		err = errors.Join(err, h.event(ledger.EventRecovered, i, last, ""))
	}
	return all, err
}

// wellSince reports whether a server has recovered after a time.
func (h *health) wellSince(server int, t time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.servers[server].well.After(t)
}

// seenBy is what a client that runs has seen, and since when it runs undisturbed.
type seenBy struct {
	since time.Time
	seen  []time.Time
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// affected is how many servers were at some moment of a call.
func (h *health) affected(process string, began, ended time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for server := range h.servers {
		if slices.ContainsFunc(h.windows, func(w *window) bool {
			return w.server == server && !w.began.After(ended) && !w.over(process).Before(began)
		}) {
			n++
		}
	}
	return n
}

// settle is how long some of a process may go on without a server that another part
// of it uses already: an Allocator spaces its attempts by up to a second.
const settle = 1500 * time.Millisecond

// over is when a window ended for a process.
func (w *window) over(process string) time.Time {
	if w.healed.IsZero() {
		return time.Now()
	}
	if at, have := w.seen[process]; have {
		return at.Add(settle)
	}
	return w.healed.Add(recoverWithin)
}

// figures are how many recoveries there were, and how long they took.
func (h *health) figures() (n int, median, longest time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.took) == 0 {
		return 0, 0, 0
	}
	slices.Sort(h.took)
	return len(h.took), h.took[len(h.took)/2], h.took[len(h.took)-1]
}
