package segment_test

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/ticket"
)

// Connections survive what happens to their server; the statement tells.
func TestConnectionThatOutlivesAFenceReservesNothing(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1)
	one := servers.Servers[0]
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Conns = 1
	fleet := clienttest.Open(t, cfg)
	source := newSource(t, fleet)
	before, err := source.Reserve(clienttest.Bounded(t), 0, 10)
	require.NoError(t, err)
	clienttest.ForceFence(t, one)
	clienttest.Open(t, clienttest.Config(t, one.DirectDSN())) // fences
	require.Equal(t, int64(2), clienttest.Gen(t, one))
	refills := clienttest.Value(t, one, "SELECT refills FROM sequences")
	after, err := source.Reserve(clienttest.Bounded(t), 0, 10)
	require.NoError(t, err)
	require.Greater(t, after.First, before.First+1_000_000, "above the leap")
	require.Equal(t, int64(2), fleet.Stats().Servers[0].Gen, "it has noticed, by its first statement")
	require.Equal(t, int64(1), fleet.Stats().Servers[0].Errors.Changed)
	require.Equal(t, refills+1, clienttest.Value(t, one, "SELECT refills FROM sequences"))
}

// A row of another generation than its server's was put back by hand, or the
// fence did not reach it.
func TestRowOfAnotherGenerationIsNotUsed(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	l := newLedger()
	c := open(t, small, servers.DSNs()...)
	l.draw(t, c.Allocator, 100)
	clienttest.Exec(t, servers.Servers[0], "UPDATE sequences SET gen = 0, rounds = 5")
	l.draw(t, c.Allocator, 50)
	require.NotContains(t, byServer(l.draw(t, c.Allocator, 200)), int64(1))
	require.Equal(t, int64(5), rounds(t, servers.Servers[0]))
	require.Equal(t, ticket.StateUp, clienttest.State(c.fleet, 0))
	repaired(t, l, servers, c)
	l.requireUnique(t)
}

// exchange is a proxy that gives the connections of its clients to one another,
// as some that share them do.
type exchange struct {
	mu    sync.Mutex
	lines []*line
}

// line is what one client takes for its connection.
type line struct {
	net.Conn
	now atomic.Pointer[net.Conn] // the one it has; Conn is the one it began with
}

func (l *line) Read(b []byte) (int, error)  { return (*l.now.Load()).Read(b) }
func (l *line) Write(b []byte) (int, error) { return (*l.now.Load()).Write(b) }

func (e *exchange) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	l := &line{Conn: c}
	l.now.Store(&c)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lines = append(e.lines, l)
	return l, nil
}

// swap exchanges the last two connections that were made.
func (e *exchange) swap() {
	e.mu.Lock()
	defer e.mu.Unlock()
	a, b := e.lines[len(e.lines)-2], e.lines[len(e.lines)-1]
	a.now.Store(b.now.Swap(a.now.Load()))
}

func TestConnectionThatIsExchangedReservesNothing(t *testing.T) {
	servers := newFleet(t, 1)
	one := servers.Servers[0]
	one.SetGlobal("max_prepared_stmt_count", 0) // statements prepared on one connection are not known on another
	proxy := &exchange{}
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Servers[0].DialFunc = proxy.dial
	fleet := clienttest.Open(t, cfg)
	source := newSource(t, fleet)
	reserve := func() {
		t.Helper()
		_, err := source.Reserve(clienttest.Bounded(t), 0, 10)
		require.NoError(t, err)
	}
	var ids []int64 // of two connections
	require.NoError(t, fleet.Do(clienttest.Bounded(t), func(ctx context.Context, c *ticket.Conn) error {
		ids = append(ids, c.ID())
		return fleet.Do(ctx, func(_ context.Context, c *ticket.Conn) error {
			ids = append(ids, c.ID())
			return nil
		})
	}))
	require.NotEqual(t, ids[0], ids[1])
	for range 4 {
		reserve()
	}
	require.Zero(t, fleet.Stats().Servers[0].Errors.Total())
	proxy.swap()
	refills := clienttest.Value(t, one, "SELECT refills FROM sequences")
	reserve()
	require.Equal(t, int64(1), fleet.Stats().Servers[0].Errors.Changed)
	require.Equal(t, int64(1), fleet.Stats().Servers[0].Errors.Total())
	require.Equal(t, refills+1, clienttest.Value(t, one, "SELECT refills FROM sequences"), "on a new connection, and on no other")
}

// The OK of a session that does not commit by itself confirms nothing.
func TestSessionThatDoesNotCommitReservesNothing(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Conns = 1
	fleet := clienttest.Open(t, cfg)
	source := newSource(t, fleet)
	for range 3 { // sent as text, and prepared
		require.NoError(t, fleet.Do(clienttest.Bounded(t), func(ctx context.Context, c *ticket.Conn) error {
			_, _, err := c.Exec(ctx, "SET SESSION autocommit = 0")
			return err
		}))
		connections := fleet.Stats().Servers[0].Connections
		for range 2 {
			r, err := source.Reserve(clienttest.Bounded(t), 0, 10)
			require.NoError(t, err)
			require.Equal(t, r.First+(r.Count-1)*r.Stride, 2*rounds(t, servers.Servers[0])+1, "others see it")
		}
		require.Greater(t, fleet.Stats().Servers[0].Connections, connections, "the connection was given up")
	}
}
