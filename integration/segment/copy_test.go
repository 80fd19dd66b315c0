package segment_test

import (
	"bytes"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/sequence"
)

// openCopy opens a client that uses a second copy of a server besides another server.
func openCopy(t testing.TB, twin, other *testfleet.Server) client {
	t.Helper()
	fleet := clienttest.OpenCopy(t, twin, other)
	return client{openOn(t, fleet, orders, small), fleet}
}

// The analogue for segments of what package ticket tests with its levelling: a
// client of the original must not carry to it, as a floor, what the copy issues.
func TestSecondCopyIsNotFollowedWithTheOriginal(t *testing.T) {
	servers := newFleet(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	l := newLedger()
	original := open(t, small, servers.DSNs()...)
	l.draw(t, original.Allocator, 500)
	twin := one.StartCopy(one.Snapshot())
	l.draw(t, original.Allocator, 500) // after the copy was taken
	uses := l.start(t, original.Allocator, 8)

	copied := openCopy(t, twin, two)
	require.Contains(t, byServer(l.draw(t, copied.Allocator, 500)), int64(1), "the copy is in use")
	uses2 := l.start(t, copied.Allocator, 8)
	clienttest.Until(t, "the original out", func() bool { return clienttest.Refused(original.fleet, 0) })
	for _, c := range []client{original, copied} {
		refills := c.Stats().Refills
		clienttest.Until(t, "both go on", func() bool { return c.Stats().Refills > refills+200 })
	}
	require.Empty(t, uses.end())
	require.Empty(t, uses2.end())
	require.Greater(t, rounds(t, two), int64(1_000_000), "the copy's leap was carried to the other server")
	require.Less(t, rounds(t, one), int64(1_000_000), "and not to the original")
	l.requireUnique(t)
}

// A client of the original that has not used the other server since opens another
// sequence: what it reads there is not what it was when its connections were made.
func TestOpeningASequenceDoesNotFollowASecondCopy(t *testing.T) {
	servers := newFleet(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	const users = "users"
	createAs(t, servers.DSNs(), sequence.Spec{Name: users})
	at := func(s *testfleet.Server) int64 {
		return clienttest.Value(t, s, "SELECT rounds FROM sequences WHERE name = ?", users)
	}
	original := open(t, small, servers.DSNs()...)
	l := newLedger()
	twin := one.StartCopy(one.Snapshot())
	copied := openOn(t, openCopy(t, twin, two).fleet, users, small)
	clienttest.Until(t, "the copy's leap carried to the other server", func() bool {
		l.draw(t, copied, 100)
		return at(two) > 1_000_000
	})
	late := openOn(t, original.fleet, users, small)
	for range 20 {
		l.draw(t, late, 100)
		l.draw(t, copied, 100)
	}
	require.Less(t, at(one), int64(1_000_000), "and not to the original")
	l.requireUnique(t)
}

// A refill that waits for its turn on the original, while its client learns from
// the other server how far the copy is, must not take that along.
func TestFloorIsFromBeforeTheServerWasChosen(t *testing.T) {
	servers := newFleet(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Conns = 1
	fleet := clienttest.Open(t, cfg)
	source := newSource(t, fleet)
	l := newLedger()
	var wg sync.WaitGroup
	defer wg.Wait()
	reserve := func() {
		r, err := source.Reserve(t.Context(), 0, 10)
		if err == nil { // else nobody uses it
			l.note(span{r.First, r.First + (r.Count-1)*stride})
		}
	}
	// Servers take turns: let the next one be the original's.
	for clienttest.Value(t, two, "SELECT refills FROM sequences") != 1 {
		reserve()
	}
	snapshot := one.Snapshot()
	tx, err := one.DB().BeginTx(clienttest.Bounded(t), nil)
	require.NoError(t, err)
	defer tx.Rollback()
	_, err = tx.ExecContext(clienttest.Bounded(t), "SELECT * FROM sequences FOR UPDATE")
	require.NoError(t, err)
	one.Mark()
	wg.Go(reserve) // has the connection to the original, and waits for the row
	clienttest.Until(t, "one under way", func() bool { return len(one.Statements().Matching(isReserve)) > 0 })
	reserve()      // on the other server
	wg.Go(reserve) // waits for the connection
	clienttest.Until(t, "one waits", waitsForAConnection)

	copied := openCopy(t, one.StartCopy(snapshot), two)
	l.draw(t, copied.Allocator, 100)
	wg.Go(reserve) // is thrown out by the other server
	clienttest.Until(t, "the original out", func() bool { return clienttest.Refused(fleet, 0) })
	for range 4 {
		reserve()
	}
	require.NoError(t, tx.Rollback())
	wg.Wait()
	l.draw(t, copied.Allocator, 200)
	require.Greater(t, rounds(t, two), int64(1_000_000), "the copy's leap was carried to the other server")
	require.Less(t, rounds(t, one), int64(1_000_000), "and not to the original")
	l.requireUnique(t)
}

// waitsForAConnection reports whether a goroutine of this process does. No
// method tells.
func waitsForAConnection() bool {
	stacks := make([]byte, 1<<22)
	return bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("ticket.(*pool).acquire("))
}
