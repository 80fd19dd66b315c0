package ticket_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/ticket"
)

func isReplace(query string) bool { return strings.HasPrefix(query, "REPLACE INTO `tickets`") }

// A million tickets through the coalesced path, half of them one by one.
func TestMillionTicketsAreUniqueAndOfTheirClass(t *testing.T) {
	t.Parallel()
	const callers, total = 64, 1_000_000
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	ctx := t.Context()
	results := make([][]int64, callers)
	errs := make([]error, callers)
	var wg sync.WaitGroup
	for c := range callers {
		wg.Go(func() {
			ids := make([]int64, 0, total/callers)
			batch := make([]int64, 100)
			for len(ids) < total/callers && errs[c] == nil {
				if c%2 == 0 {
					errs[c] = fleet.NextN(ctx, batch)
					ids = append(ids, batch...)
					continue
				}
				var id int64
				id, errs[c] = fleet.Next(ctx)
				ids = append(ids, id)
			}
			results[c] = ids
		})
	}
	wg.Wait()
	seen := make(map[int64]struct{}, total)
	n := 0
	for c := range callers {
		require.NoError(t, errs[c])
		for _, id := range results[c] {
			seen[id] = struct{}{}
			n++
		}
	}
	require.Len(t, seen, n, "duplicates")
	require.GreaterOrEqual(t, n, total)

	st := fleet.Stats()
	classes := map[int64]int64{}
	for id := range seen {
		require.Positive(t, id)
		classes[id%2]++
	}
	for _, s := range st.Servers {
		require.Equal(t, classes[s.Offset%2], s.Issued, "tickets of the class of %s", s.Server)
		require.Less(t, s.Statements, s.Issued/4, "calls share statements")
		require.Equal(t, s.Statements, s.Latency.Count())
	}
}

func TestLoneCallerSendsOneStatementPerTicketAndWaitsForNobody(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	for _, s := range servers.Servers {
		s.Mark()
	}
	new(ledger).draw(t, fleet, 100)
	for _, s := range servers.Servers {
		sent := s.Statements().Matching(isReplace)
		require.Len(t, sent, 50, "round-robin, one statement each, on %s", s.Name)
		for _, q := range sent.Queries() {
			require.NotContains(t, q, ")), (", "one row")
		}
	}
}

func TestNextNIsAllOrNothingAndBounded(t *testing.T) {
	t.Parallel()
	fleet := clienttest.Open(t, clienttest.Config(t, clienttest.New(t, 2).DSNs()...))
	for _, n := range []int{0, ticket.MaxN + 1} {
		var bad *ticket.ConfigError
		require.ErrorAs(t, fleet.NextN(clienttest.Bounded(t), make([]int64, n)), &bad)
		require.Equal(t, n, bad.Value)
	}
	l := &ledger{}
	for _, n := range []int{1, 2, 63, 64, 65, 1000, ticket.MaxN} {
		ids := make([]int64, n)
		require.NoError(t, fleet.NextN(clienttest.Bounded(t), ids))
		l.add(ids...)
	}
	require.NotContains(t, l.ids, int64(0))
	l.requireUnique(t)
}

func TestTenThousandReconnectsLeaveTheTableAsLargeAsItWas(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 1)
	cfg := clienttest.Config(t, servers.DSNs()...)
	fleet := clienttest.Open(t, cfg)
	one := servers.Servers[0]
	batch := make([]int64, 64)
	reconnect := func(n int) {
		for range n {
			cut := one.CutBeforeQuery(isReplace)
			require.NoError(t, fleet.NextN(t.Context(), batch))
			<-cut
		}
	}
	require.NoError(t, fleet.NextN(t.Context(), batch)) // a connection that breaks before its first use is the server's fault
	reconnect(2 * cfg.Conns)
	rows := clienttest.Value(t, one, "SELECT COUNT(*) FROM tickets")
	reconnect(10_000)
	require.Equal(t, rows, clienttest.Value(t, one, "SELECT COUNT(*) FROM tickets"))
	require.GreaterOrEqual(t, fleet.Stats().Servers[0].Connections, int64(10_000))
}

func TestCallsEndWithTheirContext(t *testing.T) {
	servers := clienttest.New(t, 1)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Timeout = clienttest.Patience
	fleet := clienttest.Open(t, cfg)
	l := &ledger{}
	l.draw(t, fleet, 3)

	before, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := fleet.Next(before)
	require.ErrorIs(t, err, context.Canceled)

	servers.Servers[0].Pause()
	while, cancel := context.WithCancel(t.Context())
	failed := make(chan error)
	go func() { _, err := fleet.Next(while); failed <- err }()
	clienttest.Until(t, "statement sent", func() bool { return len(servers.Servers[0].Statements().Matching(isReplace)) > 3 })
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	servers.Servers[0].Resume()

	l.draw(t, fleet, 3)
	l.requireUnique(t)
}

func TestCloseEndsCallsAndJoins(t *testing.T) {
	servers := clienttest.New(t, 2)
	cfg := clienttest.Config(t, servers.DSNs()...)
	cfg.Timeout = clienttest.FrozenTimeout
	fleet := clienttest.Open(t, cfg)
	l := &ledger{}
	callers := l.start(t, fleet, 16)
	clienttest.Until(t, "load", func() bool { return fleet.Stats().Servers[0].Issued > 100 })
	servers.Servers[1].Pause() // a call that hangs must not hold Close up
	clienttest.Until(t, "frozen", func() bool { return fleet.Stats().Servers[1].State != ticket.StateUp })
	require.NoError(t, fleet.Close())
	require.NoError(t, fleet.Close())
	callers.stop()
	for _, err := range callers.end() {
		require.ErrorIs(t, err, ticket.ErrClosed)
	}
	_, err := fleet.Next(t.Context())
	require.ErrorIs(t, err, ticket.ErrClosed)
	require.ErrorIs(t, fleet.NextN(t.Context(), make([]int64, 1)), ticket.ErrClosed)
	require.ErrorIs(t, fleet.Do(t.Context(), nil), ticket.ErrClosed)
	l.requireUnique(t)
	require.Positive(t, fleet.Stats().Servers[0].Issued, "Stats works after Close")
}
