package snowflake_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// stateTest is a process with a state file, killed after a while.
type stateTest struct {
	t       testing.TB
	ledger  *ledger
	servers *testfleet.Fleet
	path    string
	number  int64
}

func newStateTest(t *testing.T) *stateTest {
	t.Helper()
	s := &stateTest{t: t, ledger: &ledger{}, servers: newFleet(t, 2, few, time.Minute), path: filepath.Join(t.TempDir(), "state")}
	first := s.spawn()
	s.number = first.working(300)
	first.Kill()
	return s
}

func (s *stateTest) spawn() *child {
	s.t.Helper()
	return s.ledger.spawn(s.t, order{DSNs: s.servers.DSNs(), StateFile: s.path})
}

// requireOwnLease checks that the next process goes on with the lease.
func (s *stateTest) requireOwnLease(dsns []string) *child {
	s.t.Helper()
	next := s.ledger.spawn(s.t, order{DSNs: dsns, StateFile: s.path})
	require.Equal(s.t, s.number, next.working(100))
	s.ledger.requireUnique(s.t)
	return next
}

// requireOtherLease checks that the next process gets another number, and that
// the one after it takes that one up.
func (s *stateTest) requireOtherLease() {
	s.t.Helper()
	next := s.spawn()
	number := next.working(300)
	require.NotEqual(s.t, s.number, number)
	next.Kill()
	after := s.spawn()
	require.Equal(s.t, number, after.working(100))
	s.ledger.requireUnique(s.t)
}

func TestStateFileRestartedProcessGoesOnWithItsLease(t *testing.T) {
	t.Parallel()
	s := newStateTest(t)
	for range 3 {
		s.requireOwnLease(s.servers.DSNs()).Kill()
	}
	held := "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"
	require.Equal(t, int64(1), clienttest.Value(t, s.servers.Servers[0], held)+clienttest.Value(t, s.servers.Servers[1], held))
	s.requireOwnLease(nil).Kill() // no server at all
	w := openWorker(t, openTickets(t, s.servers.DSNs()...), snowflake.Config{StateFile: s.path})
	require.Equal(t, s.number, w.Stats().Number)
	s.ledger.draw(t, w, 100)
	clienttest.Until(t, "renewed", func() bool { return w.Stats().Renewals > 0 })
	require.NoError(t, w.Close())
	require.NoFileExists(t, s.path)
	require.Zero(t, clienttest.Value(t, s.servers.Servers[0], held)+clienttest.Value(t, s.servers.Servers[1], held))
	s.ledger.requireUnique(t)
}

func TestStateFileIsUsedByOneProcessAtATime(t *testing.T) {
	t.Parallel()
	s := newStateTest(t)
	one := s.requireOwnLease(s.servers.DSNs())
	s.spawn().requireRefused("its lock can't be taken")
	one.Signal(syscall.SIGSTOP)
	require.NoError(t, os.Remove(s.path+".lock")) // somebody tidies up
	s.spawn().requireRefused("its lock can't be taken")
	one.Signal(syscall.SIGCONT)
	one.Kill()
	s.ledger.requireUnique(t)
}

func TestStateFileCopied(t *testing.T) {
	t.Parallel()
	s := newStateTest(t)
	copyFile(t, s.path, s.path+".copy")
	require.NoError(t, os.Rename(s.path+".copy", s.path))
	s.requireOtherLease()
}

func TestStateFileCopiedBesideTheOriginal(t *testing.T) {
	t.Parallel()
	s := newStateTest(t)
	copied := filepath.Join(t.TempDir(), "copy")
	copyFile(t, s.path, copied)
	copyFile(t, s.path+".lock", copied+".lock")
	one := s.requireOwnLease(s.servers.DSNs())
	other := s.ledger.spawn(t, order{DSNs: s.servers.DSNs(), StateFile: copied})
	require.NotEqual(t, s.number, other.working(100))
	one.working(100)
	s.ledger.requireUnique(t)
}

// An old copy is put back into the very file, which keeps its inode.
func TestStateFileRolledBack(t *testing.T) {
	t.Parallel()
	s := newStateTest(t)
	old, err := os.ReadFile(s.path)
	require.NoError(t, err)
	next := s.requireOwnLease(s.servers.DSNs())
	next.working(1000) // across a change of the mark
	next.Kill()
	write(t, s.path, old)
	s.requireOtherLease()
}

func TestStateFileDamaged(t *testing.T) {
	t.Parallel()
	damages := map[string]func([]byte) []byte{
		"Empty":     func([]byte) []byte { return nil },
		"Truncated": func(b []byte) []byte { return b[:len(b)/2] },
		"Longer":    func(b []byte) []byte { return append(b, '\n') },
		"OneBit":    func(b []byte) []byte { b[300] ^= 1; return b },
		"Garbage":   func(b []byte) []byte { clear(b); return b },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStateTest(t)
			b, err := os.ReadFile(s.path)
			require.NoError(t, err)
			write(t, s.path, damage(b))
			s.requireOtherLease()
		})
	}
}

func TestStateFileOfAnotherFleet(t *testing.T) {
	t.Parallel()
	s := newStateTest(t)
	others := newFleet(t, 2, few, time.Minute)
	w := openWorker(t, openTickets(t, others.DSNs()...), snowflake.Config{StateFile: s.path})
	require.Zero(t, w.Stats().Renewals)
	held := "SELECT COUNT(*) FROM workers WHERE holder IS NOT NULL"
	require.Equal(t, int64(1), clienttest.Value(t, others.Servers[0], held)+clienttest.Value(t, others.Servers[1], held))
	require.NoError(t, w.Close())
}

// An operator passes on the number of a process that is dead, which is started
// again all the same: it makes no ID with that number.
func TestStateFileOfAReleasedLease(t *testing.T) {
	t.Parallel()
	s := &stateTest{t: t, ledger: &ledger{}, servers: newFleet(t, 1, single, time.Hour), path: filepath.Join(t.TempDir(), "state")}
	first := s.spawn()
	s.number = first.working(300)
	first.Kill()
	fleet := openTickets(t, s.servers.DSNs()...)
	_, err := snowflake.ForceRelease(clienttest.Bounded(t), fleet, listed(t, fleet, s.number))
	require.NoError(t, err)
	clienttest.Exec(t, s.servers.Servers[0], "UPDATE workers SET until_tick = from_tick") // two minutes have passed
	other := openWorker(t, fleet, snowflake.Config{})
	require.Equal(t, s.number, other.Stats().Number)
	drawing := s.ledger.start(t, other)
	s.spawn().requireRefused("no worker number is free")
	require.NoFileExists(t, s.path)
	require.NoError(t, drawing.end())
	require.NoError(t, other.Close())
	next := s.spawn()
	require.Equal(t, s.number, next.working(100))
	require.FileExists(t, s.path)
	s.ledger.requireUnique(t)
}

// A worker that is told that its lease is lost removes the file at once: it may be
// killed before it is closed.
func TestStateFileGoesWhenTheLeaseIsLost(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1, few, time.Minute)
	fleet := openTickets(t, servers.DSNs()...)
	path := filepath.Join(t.TempDir(), "state")
	l := &ledger{}
	w := openWorker(t, fleet, snowflake.Config{Lease: 6 * time.Second, StateFile: path})
	l.draw(t, w, 10)
	require.FileExists(t, path)
	clienttest.Until(t, "released between two renewals", func() bool {
		_, err := snowflake.ForceRelease(clienttest.Bounded(t), fleet, listed(t, fleet, w.Stats().Number))
		if err != nil {
			require.ErrorIs(t, err, snowflake.ErrRenewed)
		}
		return err == nil
	})
	clienttest.Until(t, "the file is gone", func() bool {
		_, err := os.Stat(path)
		return errors.Is(err, fs.ErrNotExist)
	})
	require.ErrorIs(t, l.attempt(t, w), snowflake.ErrLeaseLost)
	l.requireUnique(t)
}

// listed is the lease of a number as its server's row has it.
func listed(t testing.TB, fleet *ticket.Fleet, number int64) snowflake.Lease {
	t.Helper()
	leases, errs := snowflake.Leases(clienttest.Bounded(t), fleet)
	require.NoError(t, errors.Join(errs...))
	i := slices.IndexFunc(leases, func(l snowflake.Lease) bool { return l.Number == number })
	require.GreaterOrEqual(t, i, 0)
	return leases[i]
}

func TestStateFileWithoutALeaseAndWithoutServers(t *testing.T) {
	t.Parallel()
	_, err := snowflake.Open(clienttest.Bounded(t), nil, snowflake.Config{StateFile: filepath.Join(t.TempDir(), "state")})
	require.ErrorIs(t, err, snowflake.ErrStateFile)
	_, err = snowflake.Open(clienttest.Bounded(t), nil, snowflake.Config{})
	require.ErrorContains(t, err, "fleet: is nil")
	_, err = snowflake.Open(clienttest.Bounded(t), nil, snowflake.Config{StateFile: filepath.Join(t.TempDir(), "missing", "state")})
	require.ErrorIs(t, err, snowflake.ErrStateFile)
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, b, 0o600))
}

// write puts bytes into a file, which stays the same file.
func write(t testing.TB, path string, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	require.NoError(t, err)
	_, err = f.Write(b)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
