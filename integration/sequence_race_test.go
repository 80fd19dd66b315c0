package integration

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

// A change that is cut off anywhere is completed by the same command again, by
// another client.
func TestChangeCutOffAnywhereIsCompletedByTheSameAgain(t *testing.T) {
	t.Parallel()
	servers := patients(t, 2)
	changes := []struct {
		name string
		do   func(*ticket.Fleet, string) error
	}{
		{"create", func(f *ticket.Fleet, name string) error {
			_, err := sequence.Create(bounded(t), f, sequence.Spec{Name: name, Start: 1001, Ceiling: 1 << 40})
			return err
		}},
		{"bump", func(f *ticket.Fleet, name string) error {
			_, err := sequence.Bump(bounded(t), f, name, 1<<30)
			return err
		}},
		{"delete", func(f *ticket.Fleet, name string) error {
			_, err := sequence.Delete(bounded(t), f, name)
			return err
		}},
		{"revive", func(f *ticket.Fleet, name string) error {
			_, err := sequence.Create(bounded(t), f, sequence.Spec{Name: name, Ceiling: 1 << 40})
			return err
		}},
	}
	interrupted := 0
	for _, again := range []string{"same", "repair"} {
		for k, s := range servers.Servers {
			for how, cut := range []func(func(string) bool) <-chan struct{}{s.CutBeforeQuery, s.CutReply} {
				name := again + itoa(int64(k)) + itoa(int64(how))
				var highest int64
				for _, c := range changes {
					hit := cut(prefixed(inserting))
					result, client := make(chan error, 1), clientOf(t, servers.DSNs()...)
					go func() { result <- c.do(client, name) }()
					<-hit
					s.Cut()
					err := <-result
					s.Heal()
					if err != nil {
						require.ErrorIs(t, err, sequence.ErrInterrupted, "%s on server %d", c.name, k+1)
						require.ErrorContains(t, err, "oddeven sequence repair")
						interrupted++
						other := clientOf(t, servers.DSNs()...)
						if again == "repair" {
							_, err = sequence.Repair(bounded(t), other, name)
							require.True(t, err == nil || k == 0, "%v", err) // else nothing was begun
						}
						if err := c.do(other, name); err != nil {
							require.ErrorIs(t, err, sequence.ErrExists, "%s on server %d", c.name, k+1)
						}
					}
					state := requireInOrder(t, clientOf(t, servers.DSNs()...), name)
					require.Equal(t, c.name == "delete", state.State.Deleted)
					require.GreaterOrEqual(t, state.HighestID(), highest, "after %s", c.name)
					highest = state.HighestID()
				}
			}
		}
	}
	require.Positive(t, interrupted)
	t.Log("interrupted:", interrupted)
}

func TestClientsThatCreateAtTheSameTimeAgree(t *testing.T) {
	t.Parallel()
	servers, _ := sequenced(t, 2)
	const clients = 4
	var fleets []*ticket.Fleet
	for range clients {
		fleets = append(fleets, clientOf(t, servers.DSNs()...))
	}
	for i := range 10 {
		name := "s" + itoa(int64(i))
		start := make(chan struct{})
		results := make(chan error, clients)
		var wg sync.WaitGroup
		for c, fleet := range fleets {
			spec := sequence.Spec{Name: name}
			if i%2 == 1 {
				spec.Start, spec.Ceiling = int64(100*c+1), 1<<40+int64(c)
			}
			wg.Go(func() {
				<-start
				_, err := sequence.Create(t.Context(), fleet, spec)
				results <- err
			})
		}
		close(start)
		wg.Wait()
		close(results)
		made := 0
		for err := range results {
			if err == nil {
				made++
				continue
			}
			require.True(t, errors.Is(err, sequence.ErrExists) || errors.Is(err, sequence.ErrIncomplete), "%v", err)
		}
		require.Positive(t, made)
		if i%2 == 1 {
			require.Equal(t, 1, made, "different specs")
		}
		requireInOrder(t, fleets[0], name)
	}
}

func TestClientsThatBumpAtTheSameTimeAgree(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 3)
	create(t, fleet, sequence.Spec{Name: "s"})
	const clients = 4
	results := make(chan error, clients)
	for c := range clients {
		f := clientOf(t, servers.DSNs()...)
		go func() {
			_, err := sequence.Bump(t.Context(), f, "s", int64(c+1)*1000)
			results <- err
		}()
	}
	for range clients {
		require.NoError(t, <-results)
	}
	s := requireInOrder(t, fleet, "s")
	require.GreaterOrEqual(t, s.State.Base, int64(4000/3-1))
}

// The statement that writes a row and a fence wait for one another: no row is
// left with the generation of before, and none misses the leap.
func TestRowsWrittenDuringFencesHaveTheServersGeneration(t *testing.T) {
	t.Parallel()
	servers, _ := sequenced(t, 1)
	one := servers.Servers[0]
	stop := make(chan struct{})
	errs := make(chan error, 1)
	creating := clientOf(t, servers.DSNs()...)
	go func() {
		defer close(errs)
		for i := range 200 {
			select {
			case <-stop:
				return
			default:
			}
			_, err := sequence.Create(t.Context(), creating, sequence.Spec{Name: "s" + itoa(int64(i))})
			if err != nil && !errors.Is(err, sequence.ErrInterrupted) {
				errs <- err
				return
			}
		}
	}()
	for range 10 {
		asRoot(t, one, "UPDATE server SET started_at = started_at - 1")
		fenced, err := ticket.Open(bounded(t), ticket.Config{Servers: parse(t, one.DSN()), Timeout: 15 * time.Second})
		require.NoError(t, err)
		require.NoError(t, fenced.Close())
	}
	close(stop)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, "0", text(t, one, "SELECT COUNT(*) FROM sequences WHERE gen <> (SELECT gen FROM server)"))
	require.NotEqual(t, "0", text(t, one, "SELECT COUNT(*) FROM sequences"))
}
