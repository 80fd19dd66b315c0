package segment_test

import (
	"bytes"
	"log/slog"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

func TestCeilingIsReachedExactlyAndNeverPassed(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]int{"OneServer": 1, "TwoServers": 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const ceiling = 1000
			servers := clienttest.New(t, n)
			createAs(t, servers.DSNs(), sequence.Spec{Name: orders, Ceiling: ceiling})
			l := newLedger()
			var err error
			for err == nil { // one client after the other; the last finds nothing left, when it opens or later
				fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
				var a *segment.Allocator
				if a, err = segment.Open(clienttest.Bounded(t), fleet, orders, segment.Config{MinStep: 7, MaxStep: 7}); err != nil {
					break
				}
				require.Equal(t, int64(ceiling), a.Stats().Ceiling)
				for range 10 {
					var id int64
					if id, err = a.Next(clienttest.Bounded(t)); err != nil {
						break
					}
					require.LessOrEqual(t, id, int64(ceiling))
					l.rising(t, a, []int64{id})
				}
				client{a, fleet}.close(t)
			}
			require.ErrorIs(t, err, segment.ErrExhausted)
			require.NotErrorIs(t, err, ticket.ErrUnavailable)
			for _, s := range servers.Servers {
				require.LessOrEqual(t, rounds(t, s), int64(ceiling/stride-1))
			}
			l.requireUnique(t)
		})
	}
}

// A sequence that was deleted and made anew with a higher ceiling goes on in
// clients that were open all the time.
func TestSequenceMadeAnewWithAHigherCeilingGoesOn(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	const ceiling = 10_000
	createAs(t, servers.DSNs(), sequence.Spec{Name: orders, Ceiling: ceiling})
	c := open(t, segment.Config{MinStep: 100, MaxStep: 100}, servers.DSNs()...)
	l := newLedger()
	l.draw(t, c.Allocator, 10)
	fleet := clienttest.Open(t, clienttest.Config(t, servers.DSNs()...))
	_, err := sequence.Delete(clienttest.Bounded(t), fleet, orders)
	require.NoError(t, err)
	for err == nil { // first what it has reserved is used up
		var id int64
		if id, err = c.Next(clienttest.Bounded(t)); err == nil {
			l.rising(t, c.Allocator, []int64{id})
		}
	}
	var unknown *segment.UnknownSequenceError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, orders, unknown.Sequence)
	require.NotErrorIs(t, err, segment.ErrUnavailable)
	_, err = sequence.Create(clienttest.Bounded(t), fleet, sequence.Spec{Name: orders, Ceiling: 1 << 40})
	require.NoError(t, err)
	clienttest.Until(t, "IDs again", func() bool {
		id, err := c.Next(clienttest.Bounded(t))
		if err == nil {
			l.rising(t, c.Allocator, []int64{id})
		}
		return err == nil
	})
	ids := l.draw(t, c.Allocator, ceiling)
	require.Greater(t, ids[len(ids)-1], int64(ceiling))
	require.Equal(t, int64(1)<<40, c.Stats().Ceiling)
	l.requireUnique(t)
}

// A row that no honest server can be at is not followed, and said to be wrong.
func TestRowFarAheadIsNotFollowed(t *testing.T) {
	t.Parallel()
	const far = int64(1) << 51
	damage := "UPDATE sequences SET rounds = 2251799813685248"
	for name, running := range map[string]bool{"FoundWhenOpened": false, "DamagedWhileRunning": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			servers := newFleet(t, 2)
			one, two := servers.Servers[0], servers.Servers[1]
			var log safeBuffer
			cfg := small
			cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
			l := newLedger()
			if !running {
				clienttest.Exec(t, one, damage)
			}
			c := open(t, cfg, servers.DSNs()...)
			if running {
				l.draw(t, c.Allocator, 100)
				clienttest.Exec(t, one, damage)
			}
			for _, id := range l.draw(t, c.Allocator, 200) {
				require.Less(t, id, far)
			}
			require.Less(t, rounds(t, two), far, "one bad row must not poison the fleet")
			require.Contains(t, log.String(), "further ahead than the others can believe")
			require.Contains(t, log.String(), one.Addr())
			require.Positive(t, c.Stats().Abandoned, "what was reserved there is not used")
			for i := range servers.Servers {
				require.Equal(t, ticket.StateUp, clienttest.State(c.fleet, i))
			}
			l.requireUnique(t)
		})
	}
}

// Who has been led astray, because nobody else could be asked, does not lead the
// other servers there.
func TestFarFloorIsNotCarried(t *testing.T) {
	t.Parallel()
	const far = int64(1) << 51
	servers := newFleet(t, 2)
	one, two := servers.Servers[0], servers.Servers[1]
	clienttest.Exec(t, one, "UPDATE sequences SET rounds = ?", far)
	two.Cut()
	l := newLedger()
	c := open(t, small, servers.DSNs()...)
	require.Greater(t, l.draw(t, c.Allocator, 1)[0], far)
	two.Heal()
	clienttest.UntilUp(t, c.fleet, 1)
	two.Mark()
	l.draw(t, c.Allocator, 200)
	require.NotEmpty(t, two.Statements().Matching(isReserve), "it was asked")
	require.Less(t, rounds(t, two), far)
	fresh := open(t, small, servers.DSNs()...)
	for _, id := range l.draw(t, fresh.Allocator, 200) {
		require.Less(t, id, far)
	}
	l.requireUnique(t)
}

// safeBuffer is a log that may be read while it is written.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// Servers follow one another only so far; where that is not much, a refill takes a
// part of it, whatever the step.
func TestOneRefillDoesNotLeaveTheOtherServersBehind(t *testing.T) {
	t.Parallel()
	servers := clienttest.New(t, 2)
	createAs(t, servers.DSNs(), sequence.Spec{Name: orders, Ceiling: 1<<31 - 1})
	l := newLedger()
	huge := segment.Config{MinStep: 10_000_000, MaxStep: 10_000_000}
	for range 4 {
		c := open(t, huge, servers.DSNs()...)
		ids := make([]int64, 150_000)
		require.NoError(t, c.NextN(clienttest.Bounded(t), ids))
		l.rising(t, c.Allocator, ids)
		require.Zero(t, c.Stats().Abandoned, "none refused")
		c.close(t)
	}
	one, two := rounds(t, servers.Servers[0]), rounds(t, servers.Servers[1])
	require.Positive(t, one)
	require.Positive(t, two)
	require.InDelta(t, one, two, 500_000, "half of what a server follows")
	l.requireUnique(t)
}
