package bench

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/rivals/plot"
	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

const (
	bucket        = 10 * time.Millisecond
	plane         = int64(1) << 53 // where IDs of the worker begin
	sequenceRate  = 100_000        // IDs a second of the one caller of the sequence
	ticketRate    = 500            // tickets a second of each of their callers
	ticketCallers = 8
	shortSegments = 250 * time.Millisecond // so that they do not bridge the outage
	afterwards    = 2 * time.Second        // drawn on after every server is used again
	comeBack      = time.Minute
)

// The sources of IDs, and what no source answered.
const (
	fromFirst = iota
	fromSecond
	fromWorker
	failed
	sources
)

// A scene happens to servers, by their index, at a time at the earliest.
type scene struct {
	at      time.Duration
	servers []int
	kill    bool // or start
}

// A trace is the longest call in each bucket of time, by where its ID came from.
// One goroutine writes it.
type trace struct {
	longest [sources][]time.Duration
	ids     []int64
	calls   [sources]int
	worst   time.Duration // of the calls that succeeded
	err     error         // the first
}

func (r *trace) note(at, took time.Duration, id int64, err error) {
	source := failed
	switch {
	case err != nil:
		if r.err == nil {
			r.err = err
		}
	case id >= plane:
		source = fromWorker
	default:
		source = int(id-1) % 2
	}
	if err == nil {
		r.ids = append(r.ids, id)
		r.worst = max(r.worst, took)
	}
	r.calls[source]++
	i := int(at / bucket)
	for len(r.longest[source]) <= i {
		r.longest[source] = append(r.longest[source], 0)
	}
	r.longest[source][i] = max(r.longest[source][i], took)
}

// merge adds what another caller saw.
func (r *trace) merge(other *trace) {
	for source, longest := range other.longest {
		r.calls[source] += other.calls[source]
		for i, took := range longest {
			for len(r.longest[source]) <= i {
				r.longest[source] = append(r.longest[source], 0)
			}
			r.longest[source][i] = max(r.longest[source][i], took)
		}
	}
	r.ids, r.worst = append(r.ids, other.ids...), max(r.worst, other.worst)
	if r.err == nil {
		r.err = other.err
	}
}

// duplicates sorts what was handed out and counts what came twice.
func (r *trace) duplicates() (n int) {
	slices.Sort(r.ids)
	for i := 1; i < len(r.ids); i++ {
		if r.ids[i] == r.ids[i-1] {
			n++
		}
	}
	return n
}

// A failover is what callers saw while servers were killed.
type failover struct {
	server             string // its kind
	events             []string
	spans              []plot.Span
	length             time.Duration
	sequence, tickets  trace
	before, after      time.Duration // the outage of all servers
	firstWorker, again time.Duration // first ID of the worker, and of a server after that outage
}

// failover lets callers draw through the scenes.
func (o Options) failover(t testing.TB, flavor string) *failover {
	servers := newFleet(t, 2, flavor)
	dsns := make([]string, len(servers))
	for i, s := range servers {
		dsns[i] = s.DSN() // through the proxies, which refuse as a dead host does
	}
	client, err := oddeven.Open(t.Context(), oddeven.Config{DSNs: dsns, Segment: segment.Config{Create: true, Interval: shortSegments}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	g, err := client.Sequence(t.Context(), "events")
	require.NoError(t, err)
	tickets, err := client.Tickets()
	require.NoError(t, err)
	require.NoError(t, client.Ready(t.Context()))

	f := &failover{server: title(servers[0])}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := time.Now()
	var wg sync.WaitGroup
	wg.Go(func() {
		f.sequence.pace(ctx, began, sequenceRate, func(ctx context.Context) (int64, error) {
			id, err := g.Next(ctx)
			return int64(id), err
		})
	})
	callers := make([]trace, ticketCallers)
	for i := range callers {
		wg.Go(func() { callers[i].pace(ctx, began, ticketRate, tickets.Next) })
	}
	o.direct(t, f, servers, tickets, g, began)
	cancel()
	wg.Wait()
	f.length = time.Since(began)
	for i := range callers {
		f.tickets.merge(&callers[i])
	}
	f.noteOutage()
	return f
}

// direct makes things happen at their time, or later: no server comes back from an
// outage of all before the worker has taken over.
func (o Options) direct(t testing.TB, f *failover, servers []*testfleet.Server, tickets *ticket.Fleet, g *oddeven.Generator, began time.Time) {
	down := map[int]time.Duration{}
	wait := func(d time.Duration) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-t.Context().Done():
		}
	}
	allUp := func() bool {
		return !slices.ContainsFunc(tickets.Stats().Servers, func(s ticket.ServerStats) bool { return s.State != ticket.StateUp })
	}
	var made int64 // by the worker before the outage of all
	for _, scene := range o.Scenes {
		wait(time.Until(began.Add(scene.at)))
		if scene.kill {
			until(t, "every server is used", allUp)
			made = g.Stats().FromWorker
		}
		for _, i := range scene.servers {
			what := "killed"
			if scene.kill {
				servers[i].Kill()
				down[i] = time.Since(began)
			} else {
				if len(down) == len(servers) {
					until(t, "the worker takes over", func() bool { return g.Stats().FromWorker > made })
				}
				servers[i].Start()
				what = "answers again"
				f.spans = append(f.spans, plot.Span{Row: fmt.Sprintf("server %d", i+1), From: down[i], To: time.Since(began)})
				if len(down) == len(servers) {
					f.before, f.after = max(down[0], down[1]), time.Since(began)
				}
				delete(down, i)
			}
			f.events = append(f.events, fmt.Sprintf("%.2f s: server %d %s", time.Since(began).Seconds(), i+1, what))
			fmt.Fprintf(o.Progress, "  %s\n", f.events[len(f.events)-1])
		}
	}
	until(t, "every server is used again", allUp)
	wait(afterwards)
}

// until waits for something that takes as long as it takes.
func until(t testing.TB, what string, done func() bool) {
	require.Eventually(t, done, comeBack, bucket, what)
}

// pace draws at a rate until ctx ends: with every tick as many as are due by then.
// A call that ctx cuts short counts as nothing.
func (r *trace) pace(ctx context.Context, began time.Time, rate int, next func(context.Context) (int64, error)) {
	tick := time.NewTicker(bucket / 5)
	defer tick.Stop()
	for n := 0; ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for due := int(time.Since(began).Seconds() * float64(rate)); n < due && ctx.Err() == nil; n++ {
			at := time.Since(began)
			id, err := next(ctx)
			if took := time.Since(began) - at; err == nil || ctx.Err() == nil {
				r.note(at, took, id, err)
			}
		}
	}
}

// noteOutage finds when the worker took over in the outage of all servers, and
// when a server served again after it.
func (f *failover) noteOutage() {
	f.firstWorker, f.again = -1, -1
	served := func(source int, i int) bool {
		longest := f.sequence.longest[source]
		return i < len(longest) && longest[i] > 0
	}
	for i := int(f.before / bucket); time.Duration(i)*bucket < f.length; i++ {
		at := time.Duration(i) * bucket
		if f.firstWorker < 0 && served(fromWorker, i) {
			f.firstWorker = at
		}
		if f.again < 0 && at >= f.after && (served(fromFirst, i) || served(fromSecond, i)) {
			f.again = at
		}
	}
}

// chart is the picture.
func (f *failover) chart() plot.Chart {
	names := [sources]string{"server 1", "server 2", "Snowflake worker", "failed"}
	colors := [sources]string{"#1f6fb4", "#e08214", "#2a8a3e", "#c0392b"}
	panel := func(title string, r *trace) plot.Panel {
		p := plot.Panel{Title: title}
		for source := range sources {
			s := plot.Series{Name: names[source], Color: colors[source]}
			for i, took := range r.longest[source] {
				if took > 0 {
					s.Points = append(s.Points, plot.Point{At: time.Duration(i) * bucket, Took: took})
				}
			}
			if len(s.Points) > 0 {
				p.Series = append(p.Series, s)
			}
		}
		return p
	}
	return plot.Chart{
		Title:  "Calls while servers are killed with SIGKILL and started again, " + f.server,
		Note:   fmt.Sprintf("Each dot: the longest call that began within %s, by where its ID came from. Logarithmic.", bucket),
		Length: f.length, Spans: f.spans,
		Panels: []plot.Panel{
			panel(fmt.Sprintf("Generator.Next, %s a second", thousands(sequenceRate)), &f.sequence),
			panel(fmt.Sprintf("tickets, %s a second", thousands(ticketRate*ticketCallers)), &f.tickets),
		},
	}
}
