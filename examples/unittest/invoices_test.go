package invoices

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
)

var _ IDs = (*oddeven.Generator)(nil)

// memory gives IDs out of memory, by the same Allocator as with servers.
type memory struct{ *segment.Allocator }

func (m memory) Next(ctx context.Context) (oddeven.ID, error) {
	id, err := m.Allocator.Next(ctx)
	return oddeven.ID(id), err
}

func TestAdd(t *testing.T) {
	a, err := segment.New(t.Context(), &segment.Memory{}, segment.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close()) })
	b := NewBook(memory{a})
	one, err := b.Add(t.Context(), 500)
	require.NoError(t, err)
	two, err := b.Add(t.Context(), 700)
	require.NoError(t, err)
	require.NotEqual(t, one.ID, two.ID)
	require.Len(t, b.invoices, 2)
}

// none has no IDs.
type none struct{ err error }

func (n none) Next(context.Context) (oddeven.ID, error) { return 0, n.err }

func TestAddWithoutAnID(t *testing.T) {
	why := errors.New("no server answers")
	b := NewBook(none{why})
	_, err := b.Add(t.Context(), 500)
	require.ErrorIs(t, err, why)
	require.Empty(t, b.invoices)
}
