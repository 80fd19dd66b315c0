//go:build ratios

package ratios

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/measure"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/ticket"
)

const (
	window        = 600 * time.Millisecond // of one side of one round
	latencyWindow = time.Second            // of a round
)

// tickets are the claims about package ticket, on servers of one flavour.
func tickets(t *testing.T, flavor string) []claim {
	fleet := newFleet(t, 2, flavor)
	server := fleet.Servers[0]
	one, two := openTickets(t, server), openTickets(t, fleet.Servers...)
	innodb, innodbTuned := newFlickr(t, server, "InnoDB")
	myisam, myisamTuned := newFlickr(t, server, "MyISAM")
	myisamBound := 0.125
	if server.Flavor() == testfleet.MariaDB {
		myisamBound = 0.5
	}
	on := " (" + string(server.Flavor()) + " " + server.Version() + ")"
	return []claim{
		{
			name: "tickets, 64 callers, one server, against the Flickr recipe on InnoDB, 16 connections" + on, bound: 0.04,
			measure: shared(next(one)), baseline: shared(draws(innodb.Next)),
		},
		{
			name: "tickets, 64 callers, one server, against the Flickr recipe on MyISAM, 16 connections" + on, bound: myisamBound,
			measure: shared(next(one)), baseline: shared(draws(myisam.Next)),
		},
		{
			name:    "tickets, 64 callers, one server, against the recipe on InnoDB with its best pool" + on,
			measure: shared(next(one)), baseline: shared(draws(innodbTuned.Next)),
		},
		{
			name:    "tickets, 64 callers, one server, against the recipe on MyISAM with its best pool" + on,
			measure: shared(next(one)), baseline: shared(draws(myisamTuned.Next)),
		},
		{
			name:    "tickets, 64 callers, two servers against one" + on,
			measure: shared(next(two)), baseline: shared(next(one)),
		},
		{
			name: "ticket, one caller, median latency against a bare REPLACE" + on, bound: 1.3,
			both: alone(next(one), bareReplace(t, server, one)),
		},
	}
}

// shared is the cost of an operation that 64 callers repeat.
func shared(op func(context.Context) error) func(context.Context) (float64, error) {
	return func(ctx context.Context) (float64, error) { return measure.PerOperation(ctx, callers, window, op) }
}

// alone is the median latency of two operations that one caller does in turn.
func alone(op, base func(context.Context) error) func(context.Context) (float64, float64, error) {
	return func(ctx context.Context) (float64, float64, error) {
		return measure.MedianLatencies(ctx, latencyWindow, op, base)
	}
}

const (
	queryBareSession   = "SET SESSION auto_increment_increment = ?, SESSION auto_increment_offset = ?, SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'"
	queryBareIsolation = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
	queryBareReplace   = "REPLACE INTO `tickets` (`stub`) VALUES (?)"
	// bareStub lies above the stubs of all clients.
	bareStub = 1_000_000
)

// bareReplace is what a ticket costs at least: a statement on one connection
// with the same session, on the same table, without any check.
func bareReplace(t *testing.T, s *testfleet.Server, fleet *ticket.Fleet) func(context.Context) error {
	conn, err := openPool(t, s, 1).Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	stats := fleet.Stats()
	_, err = conn.ExecContext(t.Context(), queryBareSession, stats.Increment, stats.Servers[0].Offset)
	require.NoError(t, err)
	_, err = conn.ExecContext(t.Context(), queryBareIsolation)
	require.NoError(t, err)
	return func(ctx context.Context) error {
		result, err := conn.ExecContext(ctx, queryBareReplace, int64(bareStub))
		if err == nil {
			_, err = result.LastInsertId()
		}
		return err
	}
}
