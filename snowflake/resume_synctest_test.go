package snowflake

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// crashed is a state file that a process has left which was killed, and a server.
func crashed(t *testing.T) (*fakeStore, Config, nonce) {
	t.Helper()
	s := newFakeStore(t, time.Hour)
	cfg, err := Config{StateFile: filepath.Join(t.TempDir(), "state")}.withDefaults()
	require.NoError(t, err)
	w := openFake(t, s, cfg)
	_, err = w.Next(t.Context())
	require.NoError(t, err)
	crash(t, w)
	return s, cfg, w.lease.held.nonce
}

// resume opens a worker on a state file.
func resume(t *testing.T, s store, cfg Config) (*Worker, error) {
	t.Helper()
	return openOn(t.Context(), s, cfg, "0f", func(int64) string { return "fake" })
}

func TestResumedLeaseIsRenewedBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, cfg, before := crashed(t)
		time.Sleep(time.Minute)
		w, err := resume(t, s, cfg)
		require.NoError(t, err)
		require.Equal(t, before, w.lease.held.nonce)
		st := w.Stats()
		require.Equal(t, int64(1), st.Renewals)
		require.Equal(t, s.terms.layout.TimeOf(s.end()), st.Until)
		synctest.Wait()
		require.Equal(t, 1, s.renewed(), "and not again at once")
		_, err = w.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, w.Close())
	})
}

// A lease that the server has given up makes no ID any more.
func TestResumedLeaseThatIsOfNoUse(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]error{"Lost": &LeaseLostError{Worker: 5, Problem: "somebody took it"}, "Over": errOver} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, cfg, before := crashed(t)
				s.fail(why)
				w, err := resume(t, s, cfg)
				require.NoError(t, err)
				require.NotEqual(t, before, w.lease.held.nonce)
				require.FileExists(t, cfg.StateFile)
				require.Zero(t, w.Stats().Renewals)
				after := w.lease.held.nonce
				crash(t, w)
				s.fail(nil)
				w, err = resume(t, s, cfg)
				require.NoError(t, err)
				require.Equal(t, after, w.lease.held.nonce)
				require.NoError(t, w.Close())
			})
		})
	}
}

// full is a server that has given the lease up, and has no number.
type full struct{ *fakeStore }

func (full) grant(context.Context) (hold, error) { return hold{}, &NoNumberError{} }

// The file of a lost lease is gone also if there is no other lease: the next
// process may find no server.
func TestResumedLeaseThatIsLostLeavesNoFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, cfg, _ := crashed(t)
		s.fail(&LeaseLostError{Worker: 5, Problem: "somebody took it"})
		_, err := resume(t, full{s}, cfg)
		require.ErrorIs(t, err, ErrNoNumber)
		require.NoFileExists(t, cfg.StateFile)
		_, err = resume(t, nil, cfg)
		require.ErrorIs(t, err, ErrStateFile)
		require.ErrorContains(t, err, "there is no lease to take up")
	})
}

func TestResumedLeaseGoesOnWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	for name, hangs := range map[string]bool{"Down": false, "Silent": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, cfg, before := crashed(t)
				if hangs {
					s.hang = make(chan struct{})
				} else {
					s.fail(errDown)
				}
				began := time.Now()
				w, err := resume(t, s, cfg)
				require.NoError(t, err)
				require.LessOrEqual(t, time.Since(began), askWithin)
				require.Equal(t, before, w.lease.held.nonce)
				_, err = w.Next(t.Context())
				require.NoError(t, err)
				if hangs {
					close(s.hang)
				}
				s.fail(nil)
				time.Sleep(time.Second)
				synctest.Wait()
				require.Equal(t, int64(1), w.Stats().Renewals, "as soon as there is one")
				require.NoError(t, w.Close())
			})
		})
	}
}

func TestResumingEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, cfg, before := crashed(t)
		s.hang = make(chan struct{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := openOn(ctx, s, cfg, "0f", func(int64) string { return "fake" })
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, time.Second, time.Since(began))
		close(s.hang)
		w, err := resume(t, s, cfg)
		require.NoError(t, err, "the locks are free")
		require.Equal(t, before, w.lease.held.nonce, "the file has stayed")
		require.NoError(t, w.Close())
	})
}

// A file that can't be removed is left to the operator, who is told.
func TestStateFileOfALostLeaseIsStuck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newFakeStore(t, time.Hour)
		path := filepath.Join(t.TempDir(), "state")
		log := newLogged()
		w := openFake(t, s, Config{StateFile: path, Logger: slog.New(log)})
		require.NoError(t, os.Remove(path))
		require.NoError(t, os.MkdirAll(filepath.Join(path, "in the way"), 0o700)) // os.Remove fails
		s.fail(&LeaseLostError{Worker: 5, Problem: "somebody took it"})
		sleepUntil(t, func() bool { return s.renewed() > 0 })
		synctest.Wait()
		require.Contains(t, log.lines, "snowflake: the state file of a lease that has ended can't be removed; remove it, or another process may take the lease up")
		require.ErrorIs(t, w.Stats().Err, ErrLeaseLost)
		require.ErrorIs(t, w.Close(), ErrStateFile)
		require.Empty(t, s.released)
	})
}

// A worker that learns that its lease is lost removes its file before Close: it
// may be killed before that.
func TestStateFileOfALostLeaseIsRemoved(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]error{"Lost": &LeaseLostError{Worker: 5, Problem: "somebody took it"}, "Over": errOver} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newFakeStore(t, time.Hour)
				path := filepath.Join(t.TempDir(), "state")
				w := openFake(t, s, Config{StateFile: path})
				s.fail(why)
				sleepUntil(t, func() bool { return s.renewed() > 0 })
				synctest.Wait()
				_, err := os.Stat(path)
				require.True(t, errors.Is(err, fs.ErrNotExist), "%v", err)
				require.Error(t, w.Stats().Err)
				other := openFake(t, newFakeStore(t, time.Hour), Config{StateFile: path})
				require.NoError(t, w.Close())
				require.FileExists(t, path, "of somebody else by now")
				require.NoError(t, other.Close())
			})
		})
	}
}
