package ticket_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/ticket"
)

// A leap of one server, to which the other one is pulled level, is no use of
// that one. If it were, it would be the margin of the next leap beyond the clock
// line; of servers fenced in turn each would outdo the other, up to the ceiling.
func TestLeapsAreNoUse(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	for _, s := range servers.Servers { // the clock line begins to rise tomorrow: all are beyond it
		clienttest.Exec(t, s, "UPDATE server SET ticket_birth = UNIX_TIMESTAMP() + 86400")
	}
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	l := &ledger{}
	l.draw(t, fleet, 10)
	highest := func(i int) int64 {
		return clienttest.Value(t, servers.Servers[i], "SELECT MAX(id) FROM tickets")
	}
	for turn := range 6 {
		fenced, other := servers.Servers[turn%2], 1-turn%2
		for range 3 {
			clienttest.ForceFence(t, fenced)
			gen := clienttest.Gen(t, fenced)
			next := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
			clienttest.Until(t, "fenced", func() bool { return clienttest.Gen(t, fenced) > gen })
			require.NoError(t, next.Close())
		}
		clienttest.Until(t, "levelled", func() bool {
			l.draw(t, fleet, 2)
			return highest(other) > highest(turn%2)-30_000
		})
	}
	l.requireUnique(t)
	for i := range servers.Servers {
		require.Less(t, highest(i), int64(3_000_000), "18 fences with a margin of ten or twenty thousand rounds each")
	}
}

// brittle is a connection that breaks in the middle of a fence, after its leap.
type brittle struct{ net.Conn }

func (c brittle) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "UPDATE `workers`") {
		return 0, errors.Join(net.ErrClosed, c.Close())
	}
	return c.Conn.Write(b)
}

// A fence that is cut off is rolled back, but not the counter that it has moved.
// What it moved is no use either.
func TestLeapsThatAreRolledBackAreNoUse(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 1)
	one := servers.Servers[0]
	clienttest.Exec(t, one, "UPDATE server SET ticket_birth = UNIX_TIMESTAMP() + 86400")
	l := &ledger{}
	for range 8 {
		before := clienttest.Gen(t, one)
		clienttest.ForceFence(t, one)
		for range 3 {
			cfg := clienttest.Config(t, servers.DSNs()...)
			cfg.Servers[0].DialFunc = func(ctx context.Context, network, addr string) (net.Conn, error) {
				var d net.Dialer
				c, err := d.DialContext(ctx, network, addr)
				return brittle{c}, err
			}
			_, err := ticket.Open(clienttest.Bounded(t), cfg)
			require.ErrorIs(t, err, ticket.ErrUnavailable)
		}
		fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
		l.draw(t, fleet, 10)
		require.NoError(t, fleet.Close())
		require.Equal(t, before+1, clienttest.Gen(t, one))
	}
	l.requireUnique(t)
	require.Less(t, clienttest.Value(t, one, "SELECT MAX(id) FROM tickets"), int64(2_000_000), "32 leaps with a margin of ten thousand rounds each")
}
