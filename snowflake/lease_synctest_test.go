package snowflake

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLeaseIsRenewedLongBeforeItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		w := openFake(t, s, Config{})
		began := time.Now()
		for s.renewed() < 10 {
			time.Sleep(time.Minute)
			_, err := w.Next(t.Context())
			require.NoError(t, err)
		}
		for i, at := range s.renewals {
			require.InDelta(t, 20*time.Minute*time.Duration(i+1), at.Sub(began), float64(time.Duration(i+1)*3*time.Minute+time.Second))
		}
		st := w.Stats()
		require.Equal(t, int64(10), st.Renewals)
		require.Zero(t, st.Failed)
		require.False(t, st.Overdue)
		require.NoError(t, st.Ended)
		require.Equal(t, "fake", st.Server)
		require.Equal(t, "0f", st.Fleet)
		require.Equal(t, s.terms.layout.TimeOf(s.end()), st.Until)
		require.InDelta(t, time.Until(st.Until), st.Left, float64(time.Millisecond))
		require.NoError(t, w.Close())
		require.ErrorIs(t, w.Stats().Ended, ErrClosed)
		require.Zero(t, w.Stats().Left)
		require.Len(t, s.released, 1)
		require.Less(t, s.released[0], s.end())
		require.Greater(t, s.released[0], s.row.from)
	})
}

func TestLeaseThatCanNotBeRenewedShowsLongBeforeItEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		log := newLogged()
		w := openFake(t, s, Config{Logger: slog.New(log)})
		s.fail(errDown)
		time.Sleep(29 * time.Minute)
		synctest.Wait()
		require.False(t, w.Stats().Overdue)
		require.ErrorIs(t, w.Stats().Err, errDown)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.True(t, w.Stats().Overdue)
		require.Equal(t, []string{"snowflake: lease is overdue for renewal; the worker stops when it ends"}, log.lines)
		require.Less(t, s.renewed(), 40, "it does not hammer the server")
		require.Greater(t, s.renewed(), 8)

		s.fail(nil)
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		require.False(t, w.Stats().Overdue)
		require.NoError(t, w.Stats().Err)

		s.fail(errDown)
		until := s.end()
		time.Sleep(time.Until(s.terms.layout.TimeOf(until)) - time.Second)
		_, err := w.Next(t.Context())
		require.NoError(t, err, "to the end")
		time.Sleep(6 * time.Minute)
		_, err = w.Next(t.Context())
		require.ErrorIs(t, err, ErrLeaseEnded)
		require.ErrorIs(t, w.Stats().Ended, ErrLeaseEnded)
		require.Zero(t, w.Stats().Left)
		s.fail(nil)
		time.Sleep(6 * time.Minute)
		_, err = w.Next(t.Context())
		require.ErrorIs(t, err, ErrLeaseEnded, "the end is final")
		require.Equal(t, until, s.end())
		require.NoError(t, w.Close())
		require.Empty(t, s.released, "there is nothing to give back")
	})
}

func TestLostLeaseStopsTheGeneratorAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		w := openFake(t, s, Config{})
		_, err := w.Next(t.Context())
		require.NoError(t, err)
		s.fail(&LeaseLostError{Worker: 5, Problem: "somebody took it"})
		time.Sleep(25 * time.Minute)
		_, err = w.Next(t.Context())
		require.ErrorIs(t, err, ErrLeaseLost)
		require.ErrorIs(t, w.Stats().Ended, ErrLeaseLost)
		require.True(t, w.Stats().Overdue)
		require.NoError(t, w.Close())
		require.Empty(t, s.released)
	})
}

func TestCloseDoesNotWaitForARenewal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		s.hang = make(chan struct{})
		w := openFake(t, s, Config{})
		time.Sleep(25 * time.Minute)
		began := time.Now()
		require.NoError(t, w.Close())
		require.Less(t, time.Since(began), time.Second)
		require.Len(t, s.released, 1)
		require.NoError(t, w.Close())
		require.Len(t, s.released, 1)
	})
}

// A server whose clock stands still or goes back is not asked in a loop.
func TestRenewalThatAddsNothingIsNotRepeatedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		s.adds /= 4 // within what there is
		w := openFake(t, s, Config{})
		time.Sleep(40 * time.Minute)
		synctest.Wait()
		require.LessOrEqual(t, s.renewed(), 12)
		require.NoError(t, w.Close())
	})
}

func TestGeneratorStaysBeforeTheMarkOfTheStateFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		path := filepath.Join(t.TempDir(), "state")
		w := openFake(t, s, Config{StateFile: path})
		mark := func() int64 {
			f, err := os.Open(path)
			require.NoError(t, err)
			defer func() { require.NoError(t, f.Close()) }()
			r, err := readRecord(f)
			require.NoError(t, err)
			return r.Mark
		}
		for range 300 {
			id, err := w.Next(t.Context())
			require.NoError(t, err)
			parts, err := s.terms.layout.Decompose(id)
			require.NoError(t, err)
			require.Less(t, parts.Tick, mark())
			time.Sleep(37 * time.Millisecond)
		}
		require.NoError(t, w.Close())
		require.NoFileExists(t, path)
		require.Len(t, s.released, 1)
	})
}

// If the mark is not advanced, because the disk is slow, the generator waits for
// nobody and uses nothing.
func TestGeneratorStopsAtTheMarkOfTheStateFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		cfg, err := Config{StateFile: filepath.Join(t.TempDir(), "state")}.withDefaults()
		require.NoError(t, err)
		l, _, err := openLease(t.Context(), newFakeStore(t, time.Hour), cfg, "", func(int64) string { return "fake" })
		require.NoError(t, err)
		require.True(t, l.advance())
		_, err = l.g.next(t.Context())
		require.NoError(t, err)
		time.Sleep(2 * markAhead)
		_, err = l.g.next(t.Context())
		require.ErrorIs(t, err, ErrLeaseEnded)
		require.True(t, l.advance())
		_, err = l.g.next(t.Context())
		require.NoError(t, err)
		l.g.stop()
		require.NoError(t, l.close(t.Context()))
	})
}

// A file that can't be written any more (disk full, unmounted) is removed, and
// the worker goes on without one.
func TestStateFileThatCanNotBeWrittenIsRemoved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		path := filepath.Join(t.TempDir(), "state")
		log := newLogged()
		w := openFake(t, s, Config{StateFile: path, Logger: slog.New(log)})
		breakFile(t, w.lease, "/dev/full")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.NoFileExists(t, path)
		_, err := w.Next(t.Context())
		require.NoError(t, err)
		require.Equal(t, []string{"snowflake: state file removed, because it can't be written"}, log.lines)
		require.NoError(t, w.Close())
		require.Len(t, s.released, 1)
	})
}

// If it can't be removed either, somebody could take up the lease: the worker
// stops, and its number is not released.
func TestStateFileThatIsStuckStopsTheWorker(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		path := filepath.Join(t.TempDir(), "state")
		w := openFake(t, s, Config{StateFile: path})
		stick(t, w.lease, path)
		time.Sleep(time.Minute)
		synctest.Wait()
		_, err := w.Next(t.Context())
		require.ErrorIs(t, err, ErrStateFile)
		var stuck *StateFileError
		require.ErrorAs(t, w.Stats().Err, &stuck)
		until := w.Stats().Until
		time.Sleep(30 * time.Minute)
		_, err = w.Next(t.Context())
		require.ErrorIs(t, err, ErrStateFile)
		require.ErrorIs(t, w.Stats().Err, ErrStateFile)
		require.Zero(t, s.renewed(), "a worker that has stopped renews nothing")
		require.Equal(t, until, w.Stats().Until)
		require.ErrorIs(t, w.Close(), ErrStateFile)
		require.Empty(t, s.released)
	})
}

// The worker stops while a renewal is under way: what comes of that changes nothing.
func TestRenewalUnderWayDoesNotHideWhyTheWorkerHasStopped(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]error{"Confirmed": nil, "Lost": &LeaseLostError{Worker: 5, Problem: "somebody took it"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newFakeStore(t, time.Hour)
				s.hang = make(chan struct{})
				s.err = answer
				path := filepath.Join(t.TempDir(), "state")
				w := openFake(t, s, Config{StateFile: path})
				sleepUntil(t, func() bool { return s.asked.Load() > 0 })
				until := w.Stats().Until
				stick(t, w.lease, path)
				sleepUntil(t, func() bool { return w.Stats().Err != nil })
				close(s.hang)
				time.Sleep(30 * time.Minute)
				require.Equal(t, 1, s.renewed())
				st := w.Stats()
				require.ErrorIs(t, st.Err, ErrStateFile)
				require.Equal(t, until, st.Until)
				require.Zero(t, st.Renewals)
				_, err := w.Next(t.Context())
				require.ErrorIs(t, err, ErrStateFile)
				require.ErrorIs(t, w.Close(), ErrStateFile)
			})
		})
	}
}

// Such a file stops the worker before it was opened: nothing renews its lease.
func TestStateFileThatIsStuckFromTheBeginning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		cfg, err := Config{StateFile: filepath.Join(t.TempDir(), "state")}.withDefaults()
		require.NoError(t, err)
		l, _, err := openLease(t.Context(), s, cfg, "", func(int64) string { return "fake" })
		require.NoError(t, err)
		stick(t, l, cfg.StateFile)
		require.ErrorIs(t, l.run(true), ErrStateFile)
		time.Sleep(30 * time.Minute)
		require.Zero(t, s.renewed())
		_, err = l.g.next(t.Context())
		require.ErrorIs(t, err, ErrStateFile)
		require.ErrorIs(t, l.close(t.Context()), ErrStateFile)
		require.Empty(t, s.released)
	})
}

// sleepUntil lets time pass in a bubble until the answer is yes.
func sleepUntil(t testing.TB, yes func() bool) {
	t.Helper()
	for range 100_000 {
		if yes() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	require.Fail(t, "waited in vain")
}

// stick makes a state file one that can neither be written nor removed.
func stick(t testing.TB, l *lease, path string) {
	t.Helper()
	breakFile(t, l, "/dev/full")
	require.NoError(t, os.Remove(path))
	require.NoError(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700)) // os.Remove fails
}

// breakFile puts something that can't be written in the place of the open file.
func breakFile(t testing.TB, l *lease, device string) {
	t.Helper()
	broken, err := os.OpenFile(device, os.O_RDWR, 0)
	require.NoError(t, err)
	l.mu.Lock()
	defer l.mu.Unlock()
	require.NoError(t, errors.Join(l.file.file.Close()))
	l.file.file = broken
}

// What a revoked lease was given since must not bring it back.
func TestRectangleAfterARevocationBeginsWhereTheLastOneEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		h, err := s.grant(t.Context())
		require.NoError(t, err)
		g, err := newGenerator(h.terms.layout, h.number, time.Millisecond)
		require.NoError(t, err)
		g.grant(h.rect, h.time)
		g.revoke(errDown)
		g.grant(rectangle{from: h.rect.from, until: h.rect.until + 1000}, h.time)
		_, err = g.next(t.Context())
		require.ErrorIs(t, err, errDown)
		time.Sleep(time.Hour)
		now, _ := s.now()
		g.grant(rectangle{from: h.rect.until, until: h.rect.until + 1000}, now)
		_, err = g.next(t.Context())
		require.NoError(t, err)
		g.stop()
	})
}
