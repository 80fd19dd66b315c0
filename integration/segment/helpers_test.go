package segment_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// orders is the sequence of most tests.
const orders = "orders"

// small makes a refill of every ten IDs, so that much can happen between them.
var small = segment.Config{MinStep: 10, MaxStep: 10}

// newFleet returns n migrated servers with the sequence.
func newFleet(t testing.TB, n int, opts ...testfleet.Option) *testfleet.Fleet {
	t.Helper()
	servers := clienttest.New(t, n, opts...)
	create(t, servers.DSNs(), orders)
	return servers
}

// create creates sequences, as a client of its own.
func create(t testing.TB, dsns []string, names ...string) {
	t.Helper()
	for _, name := range names {
		createAs(t, dsns, sequence.Spec{Name: name})
	}
}

func createAs(t testing.TB, dsns []string, spec sequence.Spec) {
	t.Helper()
	fleet, err := ticket.Open(clienttest.Bounded(t), clienttest.Config(t, dsns...))
	require.NoError(t, err)
	_, err = sequence.Create(clienttest.Bounded(t), fleet, spec)
	require.NoError(t, err)
	require.NoError(t, fleet.Close())
}

// client is a process of its own: a fleet and an Allocator on it.
type client struct {
	*segment.Allocator
	fleet *ticket.Fleet
}

// open opens a client of the sequence and closes it at the end of the test.
func open(t testing.TB, cfg segment.Config, dsns ...string) client {
	t.Helper()
	return openAs(t, clienttest.Config(t, dsns...), cfg)
}

func openAs(t testing.TB, servers ticket.Config, cfg segment.Config) client {
	t.Helper()
	fleet := clienttest.Open(t, servers)
	return client{openOn(t, fleet, orders, cfg), fleet}
}

// openOn opens an Allocator and closes it at the end of the test.
func openOn(t testing.TB, fleet *ticket.Fleet, name string, cfg segment.Config) *segment.Allocator {
	t.Helper()
	a, err := segment.Open(clienttest.Bounded(t), fleet, name, cfg)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	return a
}

// close ends the client before the end of the test.
func (c client) close(t testing.TB) {
	t.Helper()
	require.NoError(t, c.Close())
	require.NoError(t, c.fleet.Close())
}

// isReserve matches the statement of a refill.
func isReserve(query string) bool {
	return strings.HasPrefix(query, "UPDATE `sequences` SET `hour_round`")
}

// rounds is the last round reserved in the server's row.
func rounds(t testing.TB, s *testfleet.Server) int64 {
	t.Helper()
	return clienttest.Value(t, s, "SELECT rounds FROM sequences WHERE name = ?", orders)
}

// byServer counts how many IDs are of each server.
func byServer(ids []int64) map[int64]int {
	n := map[int64]int{}
	for _, id := range ids {
		n[id%stride]++
	}
	return n
}
