package demo

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"github.com/oddeven/oddeven/ticket"
)

// caller draws IDs one after the other and keeps every one.
type caller struct {
	count     atomic.Int64 // len(ids), for whoever watches
	ids       []int64      // owned by draw until it returns, as all below
	latencies []time.Duration
	failed    int
	firstErr  error
}

// draw goes on until ctx ends.
func (c *caller) draw(ctx context.Context, next func(context.Context) (int64, error)) {
	for ctx.Err() == nil {
		c.once(ctx, next)
	}
}

// once draws one ID. The call that ctx cuts short counts as nothing.
func (c *caller) once(ctx context.Context, next func(context.Context) (int64, error)) {
	began := time.Now()
	id, err := next(ctx)
	switch {
	case err == nil:
		c.ids = append(c.ids, id)
		c.latencies = append(c.latencies, time.Since(began))
		c.count.Add(1)
	case ctx.Err() == nil:
		c.failed++
		if c.firstErr == nil {
			c.firstErr = err
		}
	}
}

// result is what all callers of tickets got, or of one sequence.
type result struct {
	ids        []int64 // sorted
	latencies  []time.Duration
	duplicates int
	failed     int
	firstErr   error
	took       time.Duration
	events     []string
	sequences  []streamResult // drawn from beside the tickets
	back       time.Duration  // when the first server was back after all were down
}

// collect counts duplicates over every ID handed out.
func collect(callers []caller, took time.Duration) *result {
	r := &result{took: took}
	for i := range callers {
		c := &callers[i]
		r.ids = append(r.ids, c.ids...)
		r.latencies = append(r.latencies, c.latencies...)
		r.failed += c.failed
		if r.firstErr == nil {
			r.firstErr = c.firstErr
		}
	}
	slices.Sort(r.ids)
	slices.Sort(r.latencies)
	for i := 1; i < len(r.ids); i++ {
		if r.ids[i] == r.ids[i-1] {
			r.duplicates++
		}
	}
	return r
}

// print writes the summary. It returns ErrFailed if there was a duplicate, a
// failed call, or no ticket at all.
func (r *result) print(w io.Writer, stats ticket.Stats) error {
	fmt.Fprintf(w, "\n%d tickets in %.1f s: %.0f a second\n", len(r.ids), r.took.Seconds(), float64(len(r.ids))/r.took.Seconds())
	for _, s := range stats.Servers {
		share := 100 * float64(s.Issued) / max(1, float64(len(r.ids)))
		fmt.Fprintf(w, "  %s, offset %d of %d: %d tickets (%.0f %%), %d failures, fenced %d times, now %s\n",
			s.Server, s.Offset, stats.Increment, s.Issued, share, s.Errors.Total(), s.Fences, s.State)
	}
	fmt.Fprintf(w, "a call took %s in the middle (p50), %s at p99, %s at most\n", r.quantile(0.5), r.quantile(0.99), r.quantile(1))
	fmt.Fprintf(w, "what the callers noticed: the longest call took %s, and %d of %d calls failed\n", r.quantile(1), r.failed, r.failed+len(r.ids))
	if len(r.sequences) > 0 {
		fmt.Fprintln(w, "three sequences beside the tickets, from segments in memory, and from a leased Snowflake worker while no server answers:")
	}
	for _, s := range r.sequences {
		s.print(w)
	}
	if n := len(r.sequences); n > 0 {
		busiest := &r.sequences[n-1]
		busiest.sources.print(w, busiest.name)
		fmt.Fprintf(w, "  from segments again %.1f s after the first server was back\n", max(0, busiest.sources.lastOf(servers)-r.back).Seconds())
	}
	fmt.Fprintln(w, "what happened to the servers:")
	for _, e := range r.events {
		fmt.Fprintln(w, " ", e)
	}
	return r.verdict(w)
}

// verdict prints the last line, over all IDs of tickets and sequences.
func (r *result) verdict(w io.Writer) error {
	ids, duplicates, failed, first := len(r.ids), r.duplicates, r.failed, r.firstErr
	for _, s := range r.sequences {
		ids, duplicates, failed = ids+len(s.ids), duplicates+s.duplicates, failed+s.failed
		if first == nil {
			first = s.firstErr
		}
	}
	verdict, err := "ok", error(nil)
	if duplicates > 0 || failed > 0 || len(r.ids) == 0 {
		verdict, err = "FAILED", ErrFailed
		if first != nil {
			fmt.Fprintf(w, "first error a caller got: %v\n", first)
		}
	}
	fmt.Fprintf(w, "demo: %s ids=%d duplicates=%d failed=%d\n", verdict, ids, duplicates, failed)
	return err
}

// quantile is the latency that a share q of the calls stayed within.
func (r *result) quantile(q float64) time.Duration {
	if len(r.latencies) == 0 {
		return 0
	}
	at := int(q * float64(len(r.latencies)-1))
	return r.latencies[at].Round(10 * time.Microsecond)
}
