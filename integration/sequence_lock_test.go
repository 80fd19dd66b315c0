package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/sequence"
)

// inserting begins the statement that makes or changes a row.
const inserting = "INSERT INTO `sequences`"

// sent is how many such statements the server was sent.
func sent(s *testfleet.Server, prefix string) int {
	n := 0
	for _, statement := range s.Statements() {
		if strings.HasPrefix(statement.Query, prefix) {
			n++
		}
	}
	return n
}

// waiting waits until a statement stands still on the server.
func waiting(t testing.TB, s *testfleet.Server, prefix string) {
	t.Helper()
	require.Eventually(t, func() bool {
		return text(t, s, "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND INFO LIKE ?", prefix+"%") != "0"
	}, 20*time.Second, 10*time.Millisecond)
}

// A fence that has begun holds the server's row: a creation waits for it, finds
// another generation, and is done anew with that one.
func TestCreationWaitsForTheFence(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 1)
	one := servers.Servers[0]
	fence, err := one.DB().BeginTx(bounded(t), nil)
	require.NoError(t, err)
	defer fence.Rollback()
	_, err = fence.ExecContext(bounded(t), "SELECT gen FROM server WHERE id = 1 FOR UPDATE")
	require.NoError(t, err)
	result := make(chan error, 1)
	go func() {
		_, err := sequence.Create(t.Context(), fleet, sequence.Spec{Name: "s"})
		result <- err
	}()
	waiting(t, one, inserting)
	_, err = fence.ExecContext(bounded(t), "UPDATE server SET gen = gen + 1")
	require.NoError(t, err)
	require.NoError(t, fence.Commit())
	require.NoError(t, <-result)
	s := requireInOrder(t, fleet, "s")
	require.Equal(t, int64(2), s.Servers[0].Row.Gen)
	require.Zero(t, s.Servers[0].Row.Rounds, "created after the fence, not mended after it")
	require.Equal(t, 2, sent(one, inserting), "the first found another generation")
}

// A client that has planned, and then waits, does not write over what another
// one has made meanwhile.
func TestCreationGivesWayToTheOneThatWasFaster(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 1)
	one := servers.Servers[0]
	other, err := one.DB().BeginTx(bounded(t), nil)
	require.NoError(t, err)
	defer other.Rollback()
	_, err = other.ExecContext(bounded(t), "SELECT gen FROM server WHERE id = 1 FOR UPDATE")
	require.NoError(t, err)
	result := make(chan error, 1)
	go func() {
		_, err := sequence.Create(t.Context(), fleet, sequence.Spec{Name: "s", Description: "mine"})
		result <- err
	}()
	waiting(t, one, inserting)
	_, err = other.ExecContext(bounded(t), "INSERT INTO sequences (name, rounds, gen, base, birth, ceiling, description, hour, hour_round, peak, refills, step, refilled_by, created_at) "+
		"VALUES ('s', 7, 1, 7, UNIX_TIMESTAMP() - 60, 1000, 'theirs', 0, 7, 0, 0, 0, '', UTC_TIMESTAMP(6))")
	require.NoError(t, err)
	require.NoError(t, other.Commit())
	require.ErrorIs(t, <-result, sequence.ErrExists)
	s := requireInOrder(t, fleet, "s")
	require.Equal(t, "theirs", s.State.Description)
	require.Equal(t, int64(1000), s.State.Ceiling)
}

// Refills go on between the plan of a change and the change.
func TestRefillDuringABumpIsKept(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 1)
	one := servers.Servers[0]
	create(t, fleet, sequence.Spec{Name: "s"})
	refill, err := one.DB().BeginTx(bounded(t), nil)
	require.NoError(t, err)
	defer refill.Rollback()
	_, err = refill.ExecContext(bounded(t), "UPDATE sequences SET rounds = rounds + 5000")
	require.NoError(t, err)
	result := make(chan error, 1)
	go func() {
		_, err := sequence.Bump(t.Context(), fleet, "s", 1001)
		result <- err
	}()
	waiting(t, one, inserting)
	require.NoError(t, refill.Commit())
	require.NoError(t, <-result)
	require.Equal(t, []int64{5000}, rounds(t, servers, "s"))
}
