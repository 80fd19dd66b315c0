package segment_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

func TestNamesOfEveryBadKindAreRefusedBeforeAnyStatement(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 1)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	servers.Servers[0].Mark()
	for what, name := range map[string]string{
		"Empty": "", "TooLong": strings.Repeat("x", 129), "TooManyBytes": strings.Repeat("é", 65), "NotUTF8": "a\xff", "HalfARune": "é"[:1],
		"NUL": "a\x00b", "Newline": "a\n", "Tab": "\ta", "Delete": "a\x7f", "C1": "a\u0085", "LineSeparator": "a\u2028",
	} {
		for _, create := range []bool{false, true} {
			_, err := segment.Open(clienttest.Bounded(t), fleet, name, segment.Config{Create: create})
			var bad *ticket.ConfigError
			require.ErrorAs(t, err, &bad, what)
			require.Equal(t, "sequence", bad.Field)
		}
		_, err := segment.NewSource(fleet, name)
		require.Error(t, err, what)
	}
	require.Zero(t, servers.Servers[0].Executed())
}

// Names differ by every byte: case, blanks at the end, normal forms.
func TestNamesAreComparedByteByByte(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	names := []string{"a", "A", "a ", " a", "a  ", "ä", "a\u0308", "`a`", "'", "%", "NULL", "0", "🎫", strings.Repeat("x", 128), strings.Repeat("é", 64)}
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	for _, name := range names {
		_, err := sequence.Create(clienttest.Bounded(t), fleet, sequence.Spec{Name: name})
		require.NoError(t, err, "%q", name)
	}
	for i, name := range names {
		l := newLedger()
		a := openOn(t, fleet, name, small)
		l.draw(t, a, 10*(i+1))
		require.NoError(t, a.Close())
		l.requireUnique(t)
	}
	for i, name := range names {
		a := openOn(t, fleet, name, segment.Config{MinStep: 1, MaxStep: 1})
		first := newLedger().draw(t, a, 1)[0]
		require.GreaterOrEqual(t, first, int64(stride*10*(i+1)), "%q goes on where it was", name)
		require.Less(t, first, int64(stride*20*(i+5)), "%q has numbers of its own", name)
		require.NoError(t, a.Close())
	}
}

func TestUnknownSequenceIsATypedErrorThatNamesTheCommand(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	_, err := segment.Open(clienttest.Bounded(t), fleet, "Orders", segment.Config{})
	var unknown *segment.UnknownSequenceError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "Orders", unknown.Sequence)
	require.ErrorIs(t, err, segment.ErrUnknownSequence)
	require.ErrorContains(t, err, "oddeven sequence create")
	for i := range servers.Servers {
		require.Equal(t, ticket.StateUp, clienttest.State(fleet, i), "it is not the server's fault")
	}
}

func TestSequenceIsCreatedOnFirstUseByWhoeverComesFirst(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	const clients = 6
	fleets := []*ticket.Fleet{clienttest.Open(t, clienttest.Config(t, servers.DSNs()...)), clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))}
	opened, errs := make([]*segment.Allocator, clients), make([]error, clients)
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			cfg := small
			cfg.Create = true
			opened[c], errs[c] = segment.Open(t.Context(), fleets[c%len(fleets)], orders, cfg)
		})
	}
	wg.Wait()
	l := newLedger()
	for c := range clients {
		require.NoError(t, errs[c])
		l.draw(t, opened[c], 100)
		require.NoError(t, opened[c].Close())
	}
	l.requireUnique(t)
	for _, s := range servers.Servers {
		require.Equal(t, int64(1), clienttest.Value(t, s, "SELECT COUNT(*) FROM sequences"))
	}
}

func TestCreatingOnFirstUseNeedsEveryServer(t *testing.T) {
	servers := clienttest.New(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	servers.Servers[1].Cut()
	_, err := segment.Open(clienttest.Bounded(t), fleet, orders, segment.Config{Create: true})
	require.ErrorIs(t, err, sequence.ErrServers)
	require.ErrorIs(t, err, ticket.ErrUnavailable, "an outage, and no mistake of the caller's")
	require.Zero(t, clienttest.Count(t, servers.Servers[0], "sequences"))
}

// With one server reachable the floor is that server's: IDs may be below what
// others have issued, and are never the same.
func TestOpenWithOneServerReachableKnowsItsFloorAlone(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	l := newLedger()
	ahead := open(t, segment.Config{MinStep: 1000, MaxStep: 1000}, two.DSN())
	high := l.draw(t, ahead.Allocator, 5000)
	two.Cut()
	c := open(t, small, servers.DSNs()...)
	for _, id := range l.draw(t, c.Allocator, 100) {
		require.Less(t, id, high[0]+1000, "nobody could tell how far the other server is")
	}
	two.Heal()
	clienttest.UntilUp(t, c.fleet, 1)
	clienttest.Until(t, "its floor is carried over", func() bool {
		return l.draw(t, c.Allocator, 1)[0] > high[len(high)-1]
	})
	require.GreaterOrEqual(t, stride*rounds(t, two), high[len(high)-1])
	for _, id := range l.draw(t, c.Allocator, 100) {
		require.Greater(t, id, high[len(high)-1])
	}
	require.Greater(t, stride*rounds(t, one), high[len(high)-1], "and remembered there")
	l.requireUnique(t)
}

func TestOpenWithoutAnyServerIsUnavailable(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	for _, s := range servers.Servers {
		s.Cut()
	}
	_, err := segment.Open(clienttest.Bounded(t), fleet, orders, segment.Config{})
	require.ErrorIs(t, err, ticket.ErrUnavailable)
	var one *ticket.ServerError
	require.ErrorAs(t, err, &one)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = segment.Open(ended, fleet, orders, segment.Config{})
	require.ErrorIs(t, err, context.Canceled)
	require.NoError(t, fleet.Close())
	_, err = segment.Open(clienttest.Bounded(t), fleet, orders, segment.Config{})
	require.ErrorIs(t, err, ticket.ErrClosed)
}

func TestLengthsOutOfRangeAndUseAfterClose(t *testing.T) {
	t.Parallel()
	servers := newFleet(t, 2)
	c := open(t, small, servers.DSNs()...)
	l := newLedger()
	for _, n := range []int{0, segment.MaxN + 1} {
		var bad *ticket.ConfigError
		require.ErrorAs(t, c.NextN(clienttest.Bounded(t), make([]int64, n)), &bad)
		require.Equal(t, n, bad.Value)
	}
	for _, n := range []int{1, 2, 9, 10, 11, 100, 1000} { // across segments of 10
		ids := make([]int64, n)
		require.NoError(t, c.NextN(clienttest.Bounded(t), ids))
		l.rising(t, c.Allocator, ids)
	}
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	_, err := c.Next(t.Context())
	require.ErrorIs(t, err, segment.ErrClosed)
	_, ok := c.TryNext()
	require.False(t, ok)
	require.ErrorIs(t, c.NextN(t.Context(), make([]int64, 1)), segment.ErrClosed)
	require.Positive(t, c.Stats().Refills)
	l.requireUnique(t)

	d := open(t, small, servers.DSNs()...)
	require.NoError(t, d.fleet.Close()) // in the wrong order
	for err = nil; err == nil; {
		var id int64
		if id, err = d.Next(clienttest.Bounded(t)); err == nil {
			l.rising(t, d.Allocator, []int64{id})
		}
	}
	require.ErrorIs(t, err, ticket.ErrClosed)
	l.requireUnique(t)
}
