package segment

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var errDown = errors.New("server is down")

// servers is a Source like a fleet: calls go round over servers of one class
// each, every one with a delay of its own.
type servers struct {
	mu      sync.Mutex
	rounds  []int64         // last reserved, by server
	delay   []time.Duration // before the answer; the rounds are reserved at once
	down    []bool
	lose    int                              // replies to come that are lost after the reservation
	spoil   func(Range) Range                // changes what comes back
	calls   int                              //
	counts  []int64                          // asked for
	entered func(server int, floor, n int64) // on every call, without the lock
}

func newServers(n int, delay time.Duration) *servers {
	return &servers{rounds: make([]int64, n), delay: slices.Repeat([]time.Duration{delay}, n), down: make([]bool, n)}
}

func (s *servers) Floor(context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Max(s.rounds), nil
}

func (s *servers) Reserve(ctx context.Context, floor, count int64) (Range, error) {
	s.mu.Lock()
	n := int64(len(s.rounds))
	k := s.calls % len(s.rounds)
	s.calls++
	for range s.rounds {
		if s.down[k] {
			k = (k + 1) % len(s.rounds)
		}
	}
	s.counts = append(s.counts, count)
	delay, down := s.delay[k], s.down[k]
	lost := !down && s.lose > 0
	if lost {
		s.lose--
	}
	var r Range
	if !down {
		from := max(s.rounds[k], floor)
		s.rounds[k] = from + count
		r = Range{First: (from+1)*n + int64(k) + 1, Stride: n, Count: count}
	}
	if s.spoil != nil {
		r = s.spoil(r)
	}
	entered := s.entered
	s.mu.Unlock()
	if entered != nil {
		entered(k, floor, count)
	}
	if delay > 0 {
		timer := time.NewTimer(delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return Range{}, ctx.Err()
		}
	}
	if down || lost {
		return Range{}, errDown
	}
	return r, nil
}

// set changes the servers.
func (s *servers) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

func (s *servers) asked() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.counts)
}

// open opens an allocator and closes it at the end of the test.
func open(t testing.TB, source Source, cfg Config) *Allocator {
	t.Helper()
	a, err := New(t.Context(), source, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

// ledger checks the numbers of one caller.
type ledger struct {
	t    testing.TB
	last int64
	n    int
}

func (l *ledger) add(ids ...int64) {
	for _, id := range ids {
		if id <= l.last {
			l.t.Fatalf("%d after %d", id, l.last)
		}
		l.last = id
		l.n++
	}
}

// draw draws n IDs one by one.
func (l *ledger) draw(a *Allocator, n int) {
	for range n {
		id, err := a.Next(l.t.Context())
		if err != nil {
			l.t.Fatal(err)
		}
		l.add(id)
	}
}

// pace draws at a rate for a time, in portions of a tick.
func (l *ledger) pace(a *Allocator, rate int, for_, tick time.Duration) {
	portion := int(int64(rate) * int64(tick) / int64(time.Second))
	for end := time.Now().Add(for_); time.Now().Before(end); {
		if portion > 10 {
			ids := make([]int64, portion)
			if err := a.NextN(l.t.Context(), ids); err != nil {
				l.t.Fatal(err)
			}
			l.add(ids...)
		} else {
			l.draw(a, portion)
		}
		time.Sleep(tick) //nolint:forbidigo // in a synctest bubble
	}
}
