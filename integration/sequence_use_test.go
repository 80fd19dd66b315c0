package integration

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/segment"
)

// Clients draw, as fast as they get segments of 100 IDs, while rows are deleted,
// put back, repaired and bumped, and the sequence is deleted and created again.
func TestIDsAreUniqueWhileTheSequenceIsAdministered(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	create(t, fleet, sequence.Spec{Name: "s"})
	ctx, stop := context.WithCancel(t.Context())
	const clients, most = 3, 1_000_000
	drawn, errs := make([][]int64, clients), make([]error, clients)
	var wg sync.WaitGroup
	for i := range clients {
		own := clientOf(t, servers.DSNs()...)
		a, err := segment.Open(bounded(t), own, "s", segment.Config{MinStep: 100, MaxStep: 100})
		require.NoError(t, err)
		wg.Go(func() {
			ids := make([]int64, 50)
			for ctx.Err() == nil && len(drawn[i]) < most {
				if a.NextN(ctx, ids) == nil {
					drawn[i] = append(drawn[i], ids...)
				}
			}
			errs[i] = a.Close()
		})
	}
	two := servers.Servers[1]
	steps := []func() error{
		func() error { asRoot(t, two, "DELETE FROM sequences"); return nil },
		func() error { _, err := sequence.Repair(bounded(t), fleet, "s"); return err },
		func() error { _, err := sequence.Bump(bounded(t), fleet, "s", 1); return err },
		func() error { asRoot(t, two, "UPDATE sequences SET gen = 77"); return nil },
		func() error {
			s := readOne(t, fleet, "s")
			_, err := sequence.Bump(bounded(t), fleet, "s", s.HighestID()+10_000)
			return err
		},
		func() error { _, err := sequence.Delete(bounded(t), fleet, "s"); return err },
		func() error { _, err := sequence.Create(bounded(t), fleet, sequence.Spec{Name: "s"}); return err },
	}
	for range 5 {
		for _, step := range steps {
			require.NoError(t, step())
		}
	}
	requireInOrder(t, fleet, "s")
	stop()
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	all := slices.Concat(drawn...)
	slices.Sort(all)
	require.NotEmpty(t, all)
	require.Len(t, slices.Compact(slices.Clone(all)), len(all))
	t.Log("drawn:", len(all))
}
