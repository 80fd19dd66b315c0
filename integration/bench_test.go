package integration

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/bench"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// until calls f for each line that is written.
type until func(line string)

func (f until) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}

// A run that is interrupted, whatever it is doing, reports what it has, leaves no
// connection behind and gives its worker number back.
func TestBenchCanBeInterrupted(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	create(t, fleet, sequence.Spec{Name: "bench"})
	for _, at := range []string{"measuring refills", "measuring Next of a worker", "connections silent"} {
		ctx, cancel := context.WithCancel(bounded(t))
		report, err := bench.Run(ctx, bench.Config{
			Servers: parse(t, servers.DSNs()...), Sequence: "bench", Duration: bench.ShortestDuration, Callers: []int{1}, Timeout: patience,
			Progress: until(func(line string) {
				if strings.Contains(line, at) {
					cancel()
				}
			}),
		})
		cancel()
		require.ErrorIs(t, err, bench.ErrInterrupted, at)
		require.True(t, report.Interrupted, at)
		require.False(t, report.OK, at)
		require.Zero(t, report.Duplicates, at)
		require.Positive(t, report.Used.Tickets, at)
		requireNoWorkers(t, fleet)
	}
}

// The report agrees with the servers about what was used up, and the client that
// is cut off is the only one.
func TestBenchMeasures(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	create(t, fleet, sequence.Spec{Name: "bench"})
	before := issued(t, servers.DSNs())
	cfg := bench.Config{Servers: parse(t, servers.DSNs()...), Sequence: "bench", Duration: bench.ShortestDuration, Callers: []int{1, 2}, Timeout: patience}
	plan, err := bench.NewPlan(bounded(t), cfg)
	require.NoError(t, err)
	require.Equal(t, before, issued(t, servers.DSNs()), "planning uses nothing up")
	other, cancel := context.WithCancel(bounded(t))
	drawing := make(chan error, 1)
	go func() {
		var first error
		for other.Err() == nil {
			if _, err := fleet.Next(other); err != nil && other.Err() == nil && first == nil {
				first = err
			}
		}
		drawing <- first
	}()
	report, err := bench.Run(bounded(t), cfg)
	cancel()
	require.NoError(t, <-drawing)
	require.NoError(t, err)
	require.True(t, report.OK)
	require.Empty(t, report.LeftOut)
	require.LessOrEqual(t, report.Used.Tickets, plan.Tickets)
	require.LessOrEqual(t, report.Used.Rounds, plan.Rounds)
	for _, m := range report.Measurements {
		require.Positive(t, m.Count, m.Name)
		require.Positive(t, m.PerSecond, m.Name)
		require.Zero(t, m.Failed, m.Name)
		if m.NsPerID == 0 {
			require.GreaterOrEqual(t, m.Latency.Max, m.Latency.P50, m.Name)
			require.Positive(t, m.Latency.P50, m.Name)
		}
	}
	require.Len(t, report.Failovers, 2)
	for _, f := range report.Failovers {
		require.Empty(t, f.Error, f.Variant)
		require.Zero(t, f.Failed, f.Variant)
		require.Positive(t, f.Worker, f.Variant)
		require.Positive(t, f.Back, f.Variant)
		require.GreaterOrEqual(t, f.Outage, bench.ShortestDuration.Nanoseconds(), f.Variant)
	}
	requireNoWorkers(t, fleet)
	rounds := readOne(t, fleet, "bench").HighestID() / 2
	require.GreaterOrEqual(t, rounds, report.Used.Rounds/2, "on one of two servers")
}

// Servers that go away fail the run, which ends all the same and says how.
func TestBenchSaysWhatFailed(t *testing.T) {
	t.Parallel()
	servers, fleet := sequenced(t, 2)
	create(t, fleet, sequence.Spec{Name: "bench"})
	report, err := bench.Run(bounded(t), bench.Config{
		Servers: parse(t, servers.DSNs()...), Sequence: "bench", Duration: bench.ShortestDuration, Callers: []int{1}, Timeout: patience,
		Progress: until(func(line string) {
			if strings.Contains(line, "measuring refills") {
				for _, s := range servers.Servers {
					s.Cut()
				}
			}
		}),
	})
	require.ErrorIs(t, err, bench.ErrFailed)
	require.ErrorIs(t, err, ticket.ErrUnavailable)
	require.False(t, report.OK)
	require.False(t, report.Interrupted)
	require.NotEmpty(t, report.LeftOut)
	for _, m := range report.Measurements {
		switch m.Name {
		case bench.Ticket:
			require.Zero(t, m.Failed)
		case bench.Refill:
			require.Positive(t, m.Failed)
			require.NotEmpty(t, m.Error)
		}
	}
}

// issued is the highest ticket on each server.
func issued(t testing.TB, dsns []string) []int64 {
	t.Helper()
	all, err := ticket.Inspect(bounded(t), ticket.Config{Servers: parse(t, dsns...)})
	require.NoError(t, err)
	tops := make([]int64, len(all))
	for i, s := range all {
		require.NoError(t, s.Err)
		tops[i] = s.Top
	}
	return tops
}

// requireNoWorkers waits until no worker number is leased: what was released is
// free a tick or two later.
func requireNoWorkers(t testing.TB, fleet *ticket.Fleet) {
	t.Helper()
	require.Eventually(t, func() bool {
		leases, errs := snowflake.Leases(bounded(t), fleet)
		return errors.Join(errs...) == nil && !slices.ContainsFunc(leases, func(l snowflake.Lease) bool { return l.State == snowflake.LeaseHeld })
	}, time.Minute, 10*time.Millisecond)
}
