package integration

import (
	"database/sql"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

// sequenced returns migrated servers and a client of them.
func sequenced(t testing.TB, n int, opts ...testfleet.Option) (*testfleet.Fleet, *ticket.Fleet) {
	t.Helper()
	servers := patients(t, n, opts...)
	return servers, clientOf(t, servers.DSNs()...)
}

// clientOf opens a client and closes it at the end of the test.
func clientOf(t testing.TB, dsns ...string) *ticket.Fleet {
	t.Helper()
	fleet, err := ticket.Open(bounded(t), ticket.Config{Servers: parse(t, dsns...), Timeout: 15 * time.Second, Conns: 4})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, fleet.Close()) })
	return fleet
}

// create creates a sequence and returns what was done.
func create(t testing.TB, fleet *ticket.Fleet, spec sequence.Spec) sequence.Plan {
	t.Helper()
	plan, err := sequence.Create(bounded(t), fleet, spec)
	require.NoError(t, err)
	return plan
}

// readOne reads a sequence that must be there.
func readOne(t testing.TB, fleet *ticket.Fleet, name string) sequence.Sequence {
	t.Helper()
	all, errs := sequence.Read(bounded(t), fleet, name)
	for _, err := range errs {
		require.NoError(t, err)
	}
	require.Len(t, all, 1)
	require.Equal(t, name, all[0].Name)
	return all[0]
}

// requireInOrder fails the test unless every server has the sequence as it should be.
func requireInOrder(t testing.TB, fleet *ticket.Fleet, name string) sequence.Sequence {
	t.Helper()
	s := readOne(t, fleet, name)
	for _, o := range s.Servers {
		require.Empty(t, o.Problems, "%s: %+v", o.Server, o.Row)
		require.Equal(t, s.State, o.Row.State)
	}
	return s
}

// rounds are the rounds of a sequence on the servers, as root sees them.
func rounds(t testing.TB, servers *testfleet.Fleet, name string) []int64 {
	t.Helper()
	var all []int64
	for _, s := range servers.Servers {
		var r sql.Null[int64]
		err := s.DB().QueryRowContext(bounded(t), "SELECT rounds FROM sequences WHERE name = ?", []byte(name)).Scan(&r)
		if err != nil {
			require.ErrorIs(t, err, sql.ErrNoRows)
		}
		all = append(all, r.V)
	}
	return all
}

// reserve reserves rounds on one server as a client does that knows no floor.
func reserve(t testing.TB, s *testfleet.Server, name string, count int64) {
	t.Helper()
	asRoot(t, s, "UPDATE sequences SET rounds = rounds + "+itoa(count)+", peak = GREATEST(peak, "+itoa(count)+") WHERE name = '"+name+"'")
}

func TestSequenceIsCreatedOnEveryServer(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	plan := create(t, fleet, sequence.Spec{Name: "orders", Start: 1001, Description: "of the shop"})
	require.Empty(t, plan.Warnings)
	s := requireInOrder(t, fleet, "orders")
	require.Equal(t, sequence.State{Base: 499, Birth: s.State.Birth, Ceiling: schema.CeilingFor(0), Description: "of the shop"}, s.State)
	require.InDelta(t, time.Now().Unix(), s.State.Birth, 300)
	require.Equal(t, []int64{499, 499}, rounds(t, servers, "orders"))
	require.Equal(t, []int64{1001, 1002}, []int64{plan.Changes[0].FirstID(), plan.Changes[1].FirstID()})
	require.Equal(t, s.Servers[0].Row.CreatedAt, s.Servers[1].Row.CreatedAt)
	require.Equal(t, int64(1), s.Servers[0].Row.Gen)

	_, err := sequence.Create(bounded(t), fleet, sequence.Spec{Name: "orders"})
	require.ErrorIs(t, err, sequence.ErrExists)
	require.Equal(t, s.State, requireInOrder(t, fleet, "orders").State)
}

func TestSequenceWithDefaultsBeginsAtTheFirstRound(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	plan := create(t, fleet, sequence.Spec{Name: "s"})
	require.Equal(t, []int64{0, 0}, rounds(t, servers, "s"))
	require.Equal(t, int64(3), plan.Changes[0].FirstID())
	require.Zero(t, requireInOrder(t, fleet, "s").HighestID())
}

func TestLowCeilingIsWarnedOf(t *testing.T) {
	t.Parallel()
	_, fleet := sequenced(t, 2)
	plan := create(t, fleet, sequence.Spec{Name: "s", Ceiling: math.MaxInt32})
	require.Len(t, plan.Warnings, 1)
	require.Contains(t, plan.Warnings[0], "rises by only 0.34 IDs a second")
}

func TestSpecsThatCannotBe(t *testing.T) {
	t.Parallel()
	_, fleet := sequenced(t, 2)
	for name, spec := range map[string]sequence.Spec{
		"sequence":    {Name: "a\tb"},
		"Ceiling":     {Name: "s", Ceiling: 3},
		"Ceiling ":    {Name: "s", Ceiling: schema.CeilingFor(0) + 1},
		"Ceiling  ":   {Name: "s", Ceiling: -1},
		"Start":       {Name: "s", Start: -1},
		"Start ":      {Name: "s", Start: 1000, Ceiling: 1000},
		"Start  ":     {Name: "s", Start: math.MaxInt64},
		"Description": {Name: "s", Description: strings.Repeat("x", 256)},
	} {
		_, err := sequence.Create(bounded(t), fleet, spec)
		var config *ticket.ConfigError
		require.ErrorAs(t, err, &config, name)
		require.Equal(t, strings.TrimSpace(name), config.Field)
	}
	create(t, fleet, sequence.Spec{Name: "s", Start: 997, Ceiling: 1000, Description: strings.Repeat("é", 255)})
	all, _ := sequence.Read(bounded(t), fleet)
	require.Len(t, all, 1)
}

func TestNamesAreComparedByteByByte(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	names := []string{
		"a", "A", "a ", " a", "a  ", "á", "a\u0301", "'; DROP TABLE sequences; --", "%", "_", `\`, `"`, "`", "NULL", "0", "00",
		strings.Repeat("x", 127), strings.Repeat("x", 128), strings.Repeat("é", 64), "命令", "🎫",
	}
	for i, name := range names {
		create(t, fleet, sequence.Spec{Name: name, Start: int64(10 + 2*i)})
	}
	all, _ := sequence.Read(bounded(t), fleet)
	var found []string
	for _, s := range all {
		found = append(found, s.Name)
	}
	slices.Sort(names)
	require.Equal(t, names, found)
	for _, name := range names {
		requireInOrder(t, fleet, name)
	}
	_, err := sequence.Bump(bounded(t), fleet, "A", 1001)
	require.NoError(t, err)
	require.Equal(t, []int64{500 - 1, 500 - 1}, rounds(t, servers, "A"))
	require.Less(t, rounds(t, servers, "a")[0], int64(100))
	require.Less(t, rounds(t, servers, "a ")[0], int64(100))
}

func TestNothingIsCreatedUnlessEveryServerIsUp(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	create(t, fleet, sequence.Spec{Name: "old"})
	servers.Servers[1].Cut()
	short := clientOf(t, servers.DSNs()...)
	for name, do := range map[string]func() error{
		"create": func() error { _, err := sequence.Create(bounded(t), short, sequence.Spec{Name: "new"}); return err },
		"bump":   func() error { _, err := sequence.Bump(bounded(t), short, "old", 100); return err },
		"repair": func() error { _, err := sequence.Repair(bounded(t), short, "old"); return err },
		"delete": func() error { _, err := sequence.Delete(bounded(t), short, "old"); return err },
	} {
		err := do()
		require.ErrorIs(t, err, sequence.ErrServers, name)
		require.ErrorContains(t, err, servers.Servers[1].Addr(), name)
		var server *ticket.ServerError
		require.ErrorAs(t, err, &server)
	}
	require.Equal(t, []int64{0, 0}, rounds(t, servers, "old"))
	all, errs := sequence.Read(bounded(t), short)
	require.Len(t, all, 1, "what answers is shown")
	require.NoError(t, errs[0])
	require.Error(t, errs[1])
	require.Len(t, all[0].Servers, 1)
}

// A server that was restored may know nothing of the sequence, and the one that
// does is not asked.
func TestNothingIsCreatedUnlessEveryServerIsGiven(t *testing.T) {
	t.Parallel()
	servers := patients(t, 3)
	fleet := clientOf(t, servers.DSNs()[:2]...)
	_, err := sequence.Create(bounded(t), fleet, sequence.Spec{Name: "s"})
	require.ErrorIs(t, err, sequence.ErrServers)
	require.ErrorContains(t, err, "without the server with offset 3, which is not among those given")
	asRoot(t, servers.Servers[0], "UPDATE peers SET retired_at = NOW(6) WHERE server_offset = 3")
	asRoot(t, servers.Servers[1], "UPDATE peers SET retired_at = NOW(6) WHERE server_offset = 3")
	create(t, fleet, sequence.Spec{Name: "s"})
}

func TestUnknownSequence(t *testing.T) {
	t.Parallel()
	_, fleet := sequenced(t, 2)
	_, err := sequence.Bump(bounded(t), fleet, "s", 5)
	require.ErrorIs(t, err, sequence.ErrUnknown)
	_, err = sequence.Repair(bounded(t), fleet, "s")
	require.ErrorIs(t, err, sequence.ErrUnknown)
	_, err = sequence.Delete(bounded(t), fleet, "s")
	require.ErrorIs(t, err, sequence.ErrUnknown)
	all, errs := sequence.Read(bounded(t), fleet, "s")
	require.Empty(t, all)
	require.Equal(t, []error{nil, nil}, errs)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
