package clienttest

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/ticket"
)

// Until asks again and again until the answer is yes.
func Until(t testing.TB, what string, yes func() bool) {
	t.Helper()
	ctx := Bounded(t)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !yes() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			require.Fail(t, "waited in vain", what)
		}
	}
}

// State is the state of server i as the client sees it.
func State(fleet *ticket.Fleet, i int) ticket.State { return fleet.Stats().Servers[i].State }

// Refused reports whether the client keeps server i out until it is accepted.
func Refused(fleet *ticket.Fleet, i int) bool {
	return errors.Is(fleet.Stats().Servers[i].Err, ticket.ErrNotAccepted)
}

// UntilUp waits until the client uses server i.
func UntilUp(t testing.TB, fleet *ticket.Fleet, i int) {
	t.Helper()
	defer func() {
		if t.Failed() {
			t.Log("why it is not up:", fleet.Stats().Servers[i].Err)
		}
	}()
	Until(t, "server up", func() bool { return State(fleet, i) == ticket.StateUp })
}

// Value reads one number as root.
func Value(t testing.TB, s *testfleet.Server, query string, args ...any) int64 {
	t.Helper()
	var v int64
	require.NoError(t, s.DB().QueryRowContext(Bounded(t), query, args...).Scan(&v))
	return v
}

// Exec runs a statement as root.
func Exec(t testing.TB, s *testfleet.Server, query string, args ...any) {
	t.Helper()
	_, err := s.DB().ExecContext(Bounded(t), query, args...)
	require.NoError(t, err)
}

// Gen is the generation in the server's row.
func Gen(t testing.TB, s *testfleet.Server) int64 {
	t.Helper()
	return Value(t, s, "SELECT gen FROM server")
}

// ForceFence makes the next client believe that the server was restarted.
func ForceFence(t testing.TB, s *testfleet.Server) {
	t.Helper()
	Exec(t, s, "UPDATE server SET started_at = started_at - 1")
}
