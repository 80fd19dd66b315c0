package segment_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/segment/sourcetest"
	"github.com/oddeven/oddeven/ticket"
)

func newSource(t testing.TB, fleet *ticket.Fleet) segment.Source {
	t.Helper()
	s, err := segment.NewSource(fleet, orders)
	require.NoError(t, err)
	return s
}

func TestFleetIsASource(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"OneServer": 1, "TwoServers": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsns := newFleet(t, n).DSNs()
			fleets := []*ticket.Fleet{clienttest.Open(t, clienttest.Config(t, dsns...)), clienttest.Open(t, clienttest.Config(t, dsns...))}
			opened := 0
			sourcetest.Run(t, func() segment.Source {
				opened++
				return newSource(t, fleets[opened%len(fleets)])
			})
		})
	}
}

func TestRefillIsOneStatementAndServersTakeTurns(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	source := newSource(t, fleet)
	reserve := func(n int) {
		var floor int64
		for range n {
			r, err := source.Reserve(clienttest.Bounded(t), floor, 10)
			require.NoError(t, err)
			floor = (r.First-1)/stride + r.Count - 1
		}
	}
	reserve(2) // connections are opened and statements prepared
	for _, s := range servers.Servers {
		s.Mark()
	}
	reserve(100)
	for _, s := range servers.Servers {
		require.Len(t, s.Statements().Matching(isReserve), 50)
		require.Equal(t, 50, s.Executed(), "and nothing else")
	}
}

// The refills of an Allocator are its statements: none is sent that it does not
// know of, and none that nobody needs.
func TestAllocatorSendsOneStatementForEachRefill(t *testing.T) {
	t.Parallel()
	const ids, step = 10_000, 100
	servers := newFleet(t, 2)
	c := open(t, segment.Config{MinStep: step, MaxStep: step}, servers.DSNs()...)
	l := newLedger()
	drawn := l.draw(t, c.Allocator, ids)
	require.NoError(t, c.Close())
	st := c.Stats()
	sent := 0
	for _, s := range servers.Servers {
		n := len(s.Statements().Matching(isReserve))
		require.InDelta(t, st.Refills/2, n, 3+float64(st.Hedges), "of %d refills", st.Refills)
		sent += n
	}
	require.GreaterOrEqual(t, int64(sent), st.Refills)
	require.LessOrEqual(t, int64(sent), st.Refills+st.Abandoned, "what Close has cancelled may never have been sent")
	require.Len(t, byServer(drawn), 2)
	if st.Hedges == 0 { // up to two numbers are skipped when callers wait for a segment
		require.LessOrEqual(t, st.Refills, int64(ids/(step-2)+3), "%+v", st)
		require.InDelta(t, ids/2, byServer(drawn)[1], 3*step)
	}
	l.requireUnique(t)
}

func TestIDsRiseFromServerToServer(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	clienttest.Exec(t, one, "UPDATE sequences SET rounds = 99") // as text, more than all that follow
	clienttest.Exec(t, two, "UPDATE sequences SET rounds = 5")
	l := newLedger()
	for range 3 {
		c := open(t, small, servers.DSNs()...)
		ids := l.draw(t, c.Allocator, 500)
		require.Greater(t, ids[0], int64(99*stride), "above what any server had reserved when it was opened")
		require.Len(t, byServer(ids), 2)
	}
	l.requireUnique(t)
}
