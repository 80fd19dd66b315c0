package bench

import (
	"context"
	"time"

	"github.com/oddeven/oddeven/internal/pause"
	"github.com/oddeven/oddeven/snowflake"
)

// leaseWanted is how long a worker number is leased for, if the fleet allows it:
// not long, because a run that is killed leaves the number taken until then.
const leaseWanted = time.Minute

// mostBursts is how many bursts are tried in vain beyond the time for them.
const mostBursts = 100

// lease is how long worker numbers are leased for.
func (r *runner) lease() time.Duration {
	if r.facts.longest > 0 {
		return min(leaseWanted, r.facts.longest)
	}
	return leaseWanted
}

// fromWorker measures IDs of a Snowflake worker, if a number can be leased.
func (r *runner) fromWorker(ctx context.Context) (leased bool, err error) {
	if !r.begin(ctx, "the lease of a worker number") {
		return false, nil
	}
	open, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	w, err := snowflake.Open(open, r.fleet, snowflake.Config{Lease: r.lease(), Logger: r.cfg.Logger})
	if err != nil {
		if ctx.Err() == nil {
			r.leaveOut("IDs of a Snowflake worker, and failing over", err.Error())
		}
		return false, nil
	}
	r.drains(ctx, WorkerNext, "Next of a worker, without a rest", drain{limit: unlimited, fill: fillWorker(w)})
	r.bursts(ctx, w)
	return true, w.Close()
}

// bursts measures what Next of a worker costs while it need not wait. A worker
// makes so many IDs in a tick, and may borrow a few; callers who ask for more wait.
func (r *runner) bursts(ctx context.Context, w *snowflake.Worker) {
	if !r.begin(ctx, "Next of a worker in bursts, %s", number(1)) {
		return
	}
	layout := w.Stats().Layout
	ids := make([]int64, min(batch, 1<<layout.Width(snowflake.KindSequence)))
	rest := 2 * max(layout.Unit(), time.Millisecond)
	m := Measurement{Name: WorkerBurst, Callers: 1}
	var took time.Duration
	began := time.Now()
	until := began.Add(r.cfg.Duration)
	for tries := 0; (time.Now().Before(until) || m.Count == 0 && tries < mostBursts) && pause.For(ctx, rest); tries++ {
		drawing := time.Now()
		n := 0
		for n < len(ids) {
			id, ok := w.TryNext()
			if !ok {
				break
			}
			ids[n] = id
			n++
		}
		if n == len(ids) { // else a part of the time is that of finding none
			took += time.Since(drawing)
			m.Count += int64(n)
		}
		r.ids.addSample(ids[:n])
	}
	m.Seconds = time.Since(began).Seconds()
	if m.Count > 0 {
		m.PerSecond = float64(m.Count) / m.Seconds
		m.NsPerID = float64(took.Nanoseconds()) / float64(m.Count)
	}
	r.add(ctx, m, nil)
}
