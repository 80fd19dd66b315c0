package demo

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/oddeven/oddeven"
)

// tempo is how often a paced caller draws what is due.
const tempo = 10 * time.Millisecond

// stream is a sequence with one caller, who draws at a steady rate.
type stream struct {
	name      string
	rate      int      // IDs a second
	callers   []caller // one
	generator *oddeven.Generator
	sources   sources // of its IDs, over time
}

// openStreams opens three sequences that are used at very different rates.
func openStreams(ctx context.Context, client *oddeven.Client) ([]*stream, error) {
	streams := []*stream{{name: "users", rate: 10}, {name: "orders", rate: 1_000}, {name: "events", rate: 100_000}}
	for _, s := range streams {
		var err error
		s.callers = make([]caller, 1)
		if s.generator, err = client.Sequence(ctx, s.name); err != nil {
			return nil, err
		}
	}
	return streams, nil
}

// start lets the callers of all streams draw until ctx ends.
func startStreams(ctx context.Context, streams []*stream, began time.Time, wg *sync.WaitGroup) {
	for _, s := range streams {
		s.sources.began = began
		wg.Go(func() { s.callers[0].pace(ctx, s.rate, s.next) })
	}
}

// next draws one ID, and notes where it comes from. Only the caller of the stream
// calls it.
func (s *stream) next(ctx context.Context) (int64, error) {
	id, err := s.generator.Next(ctx)
	if err == nil {
		s.sources.note(int64(id), time.Now())
	}
	return int64(id), err
}

// pace draws at a rate until ctx ends: at every tick as many as are due by then.
func (c *caller) pace(ctx context.Context, rate int, next func(context.Context) (int64, error)) {
	tick := time.NewTicker(tempo)
	defer tick.Stop()
	began := time.Now()
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for due := int(time.Since(began).Seconds() * float64(rate)); n < due; n++ {
			c.once(ctx, next)
		}
	}
}

// streamResult is what the caller of a stream got.
type streamResult struct {
	name string
	*result
	stats   oddeven.SequenceStats
	sources sources
}

func collectStreams(streams []*stream, took time.Duration) []streamResult {
	var all []streamResult
	for _, s := range streams {
		all = append(all, streamResult{name: s.name, result: collect(s.callers, took), stats: s.generator.Stats(), sources: s.sources})
	}
	return all
}

func (r streamResult) print(w io.Writer) {
	seg := r.stats.Segment
	fmt.Fprintf(w, "  %-6s %8d IDs, %6.0f a second: %d segments of %d IDs or so, and %d IDs from the worker;\n",
		r.name, len(r.ids), float64(len(r.ids))/r.took.Seconds(), seg.Refills, seg.Reserved/max(1, seg.Refills), r.stats.FromWorker)
	fmt.Fprintf(w, "         the longest call took %s, %d of %d calls failed\n", r.quantile(1), r.failed, r.failed+len(r.ids))
}
