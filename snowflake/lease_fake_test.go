package snowflake

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fakeStore is a server in a bubble of package synctest. Its clock is the
// bubble's and its tick a millisecond.
type fakeStore struct {
	terms rowTerms
	adds  int64 // ticks of a renewal; never changed

	asked atomic.Int64 // renewals that have begun

	mu       sync.Mutex
	row      rectangle
	err      error         // of every renewal
	hang     chan struct{} // a renewal waits for it or its context, if it is not nil
	renewals []time.Time
	released []int64 // first unused ticks
}

var errDown = errors.New("server is down")

func newFakeStore(t testing.TB, length time.Duration) *fakeStore {
	t.Helper()
	layout, err := ParseLayout("time:44,worker:3,sequence:16;unit=1ms;epoch=1999-01-01T00:00:00Z")
	require.NoError(t, err)
	return &fakeStore{terms: rowTerms{fleet: "0f", layout: layout, length: length.Milliseconds()}, adds: length.Milliseconds()}
}

func (s *fakeStore) now() (serverTime, int64) {
	now := time.Now()
	return serverTime{ms: now.UnixMilli(), read: now}, s.terms.tick(now.UnixMilli())
}

func (s *fakeStore) grant(context.Context) (hold, error) {
	now, tick := s.now()
	s.row = rectangle{from: tick, until: tick + s.terms.length}
	return hold{number: 5, offset: 1, nonce: newNonce(), rect: s.row, time: now, terms: s.terms}, nil
}

func (s *fakeStore) renew(ctx context.Context, h hold, _ int64) (hold, error) {
	s.asked.Add(1)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.renewals = append(s.renewals, time.Now())
	if s.hang != nil {
		select {
		case <-s.hang:
		case <-ctx.Done():
			return h, ctx.Err()
		}
	}
	if s.err != nil {
		return h, s.err
	}
	now, tick := s.now()
	if tick >= h.rect.until {
		return h, errOver
	}
	s.row.until = max(s.row.until, tick+s.adds)
	h.rect.until, h.time = s.row.until, now
	return h, nil
}

func (s *fakeStore) release(_ context.Context, _ hold, firstUnused, _ int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.released = append(s.released, firstUnused)
	return nil
}

func (s *fakeStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

// end is where the lease ends by the row.
func (s *fakeStore) end() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.row.until
}

func (s *fakeStore) renewed() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.renewals)
}

// openFake opens a worker on a fake server.
func openFake(t testing.TB, s *fakeStore, cfg Config) *Worker {
	t.Helper()
	cfg, err := cfg.withDefaults()
	require.NoError(t, err)
	w, err := openOn(t.Context(), s, cfg, "", func(int64) string { return "fake" })
	require.NoError(t, err)
	return w
}

// crash ends a worker as a kill does: its locks go, and its state file stays.
func crash(t testing.TB, w *Worker) {
	t.Helper()
	l := w.lease
	l.cancel()
	l.work.Wait()
	l.g.stop()
	require.NoError(t, l.file.keep())
}

// logged counts the lines of a log that are at least warnings.
type logged struct {
	slog.Handler
	mu    sync.Mutex
	lines []string
}

func newLogged() *logged { return &logged{Handler: slog.DiscardHandler} }

func (l *logged) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

func (l *logged) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, r.Message)
	return nil
}
