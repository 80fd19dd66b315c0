package migrations

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/ticket"
)

func TestFleetErrorListsServersAndUnwrapsToThem(t *testing.T) {
	t.Parallel()
	r := &Report{Servers: []ServerReport{
		{Server: "a", State: StateMigrated},
		{Server: "b", Err: &ticket.ServerError{Server: "b", Problem: "locked", Remedy: "Wait.", Kind: ErrLocked}},
		{Server: "c", Err: &ticket.ServerError{Server: "c", Problem: "access denied"}},
	}}
	err := r.err()
	require.EqualError(t, err, "migrations: 2 of 3 servers failed\n  server b: locked. Wait.\n  server c: access denied")
	require.ErrorIs(t, err, ErrLocked)
	require.NotErrorIs(t, err, ErrAdopt)
	var fleet *FleetError
	require.ErrorAs(t, err, &fleet)
	require.Equal(t, 2, fleet.Failed)
	require.Equal(t, 3, fleet.Total)
	var first *ticket.ServerError
	require.ErrorAs(t, err, &first)
	require.Equal(t, "b", first.Server)
}

func TestReportWithoutErrors(t *testing.T) {
	t.Parallel()
	require.NoError(t, (&Report{}).err())
	require.NoError(t, (&Report{Servers: []ServerReport{{Server: "a"}, {Server: "b"}}}).err())
}

func TestMemberKeepsItsFirstError(t *testing.T) {
	t.Parallel()
	m := &member{report: ServerReport{Server: "db1:3306/oddeven"}, session: &session{}}
	m.fail(nil)
	require.True(t, m.ok())
	m.fail(errors.New("first"))
	m.fail(errors.New("second"))
	m.refuse(ErrLocked, "third", "")
	require.False(t, m.ok())
	require.Equal(t, StateFailed, m.report.State)
	require.EqualError(t, m.report.Err, "server db1:3306/oddeven: first")
}

func TestHaltLeavesTheOthersUntouched(t *testing.T) {
	t.Parallel()
	a := &member{report: ServerReport{Server: "a", State: StateUpToDate}, session: &session{}}
	b := &member{report: ServerReport{Server: "b"}, session: &session{}}
	down := &member{report: ServerReport{Server: "down", State: StateUnreachable}}
	c := &crew{members: []*member{a, b, down}}
	require.Equal(t, []string{"down"}, c.absent())
	c.halt(b, ErrMixedFleets, "belongs to another", "Take it away.")
	require.Empty(t, c.working())
	require.Equal(t, StateUntouched, a.report.State)
	require.Equal(t, StateFailed, b.report.State)
	require.Equal(t, StateUnreachable, down.report.State)
	require.ErrorIs(t, c.report().err(), ErrMixedFleets)
}
