package bench

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oddeven/oddeven/internal/pause"
)

// afterFailure is how long a caller rests whose call has failed.
const afterFailure = 10 * time.Millisecond

// load is some callers at work for a while.
type load struct {
	callers  int
	duration time.Duration
	limit    int64 // of calls altogether
	set      *seen // of the IDs; nil if the calls return none
}

// caller is one of them. Its goroutine owns it.
type caller struct {
	until  time.Time
	left   *atomic.Int64 // calls that all may still make
	begun  bool          // has made a call: one is made however late the caller comes to it
	ids    *tape
	lat    latencies
	failed int64
	err    error // first one
}

// more reports whether the caller may make one more call. The last one is not
// cut short, as that would close its connection: it is bounded by the client.
func (c *caller) more(ctx context.Context) bool {
	if ctx.Err() != nil || c.begun && !time.Now().Before(c.until) {
		return false
	}
	c.begun = true
	return c.left.Add(-1) >= 0
}

// note notes the end of a call. One that ctx has ended counts as nothing.
func (c *caller) note(ctx context.Context, began time.Time, id int64, err error) {
	switch {
	case err == nil:
		c.lat.add(time.Since(began))
		if c.ids != nil {
			c.ids.note(id)
		}
	case ctx.Err() == nil:
		c.failed++
		if c.err == nil {
			c.err = err
		}
		pause.For(ctx, afterFailure)
	}
}

// run lets the callers work, and joins them.
func (l load) run(ctx context.Context, work func(context.Context, *caller)) (Measurement, error) {
	var left atomic.Int64
	left.Store(l.limit)
	callers := make([]*caller, l.callers)
	began := time.Now()
	var all sync.WaitGroup
	for i := range callers {
		c := &caller{until: began.Add(l.duration), left: &left}
		if l.set != nil {
			c.ids = &tape{set: l.set}
		}
		callers[i] = c
		all.Go(func() {
			work(ctx, c)
			if c.ids != nil {
				c.ids.flush()
			}
		})
	}
	all.Wait()
	m := Measurement{Callers: l.callers, Seconds: time.Since(began).Seconds()}
	var lat latencies
	var first error
	for _, c := range callers {
		lat.merge(&c.lat)
		m.Failed += c.failed
		if first == nil {
			first = c.err
		}
	}
	m.Count, m.Latency = lat.count, lat.summary()
	m.PerSecond = float64(m.Count) / m.Seconds
	return m, first
}

// each calls something again and again. It returns the ID that it has got.
func each(call func(context.Context) (int64, error)) func(context.Context, *caller) {
	return func(ctx context.Context, c *caller) {
		for c.more(ctx) {
			began := time.Now()
			id, err := call(ctx)
			c.note(ctx, began, id, err)
		}
	}
}
