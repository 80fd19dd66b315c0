package ticket

import (
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
)

// A reply that comes while the server is being checked, because of another one.
func TestSchemeBrokenDuringACheckIsNotOverlooked(t *testing.T) {
	t.Parallel()
	f := &Fleet{ctx: t.Context()}
	s := &server{log: slog.New(slog.DiscardHandler), wake: make(chan struct{}, 1), resolved: make(chan struct{})}
	before := s.doubts // as check reads it
	_ = s.failed(&ServerError{Problem: "issued 7 although it had issued 9 before", Kind: ErrScheme})
	require.False(t, f.conclude(s, before, schema.Server{}, schema.Incarnation{}, nil), "it has to be checked again, and fenced")
	require.True(t, s.is(StateChecking))
	require.True(t, f.conclude(s, s.doubts, schema.Server{}, schema.Incarnation{}, nil))
	require.True(t, s.is(StateUp))
}

func TestClockBeforeItsOwnStartIsNamed(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, unsettled(ctx, schema.Incarnation{StartedAt: 100, Now: 100}), context.Canceled, "its first second is not over")
	var problem *ServerError
	require.ErrorAs(t, NewServerError("db1:3306/oddeven", unsettled(ctx, schema.Incarnation{StartedAt: 100, Now: 40})), &problem)
	require.Equal(t, "db1:3306/oddeven", problem.Server)
	require.Contains(t, problem.Error(), "its clock is 60 seconds before its own start")
	require.NotEmpty(t, problem.Remedy)
}
