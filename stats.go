package oddeven

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oddeven/oddeven/internal/pause"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// Stats is a snapshot of a Client. Counts are of this Client alone, since Open.
type Stats struct {
	Fleet     ticket.Stats    // zero while no server has been reached
	Unreached error           // why none has been; nil if one has
	ShardBits int             // of the fleet
	Worker    WorkerStats     //
	Sequences []SequenceStats // by name
}

// WorkerStats is a snapshot of the worker that Generators fall back on.
type WorkerStats struct {
	Needed bool            // a Generator may fall back on it
	Leased bool            // there is one whose lease lasts
	Worker snowflake.Stats // zero if there is none
	Err    error           // why not; nil if Leased
}

// SequenceStats is a snapshot of a Generator.
type SequenceStats struct {
	Name       string
	Plane      Plane         // where IDs come from
	For        time.Duration // how long they have come from there
	Opened     bool          // a server has told of the sequence
	Segment    segment.Stats // zero until then
	Failovers  int64         // times the Generator fell back on the worker
	Returns    int64         // times it went back to segments
	FromWorker int64         // IDs made by the worker
	Failed     int64         // calls that returned an error
	Err        error         // why IDs come from the worker; nil if they do not
}

// Stats returns a snapshot. It does no I/O, and works after Close.
func (c *Client) Stats() Stats {
	c.mu.Lock()
	st := Stats{Unreached: c.unreached, ShardBits: c.scheme.bits}
	c.mu.Unlock()
	if fleet := c.fleet.Load(); fleet != nil {
		st.Fleet = fleet.Stats()
	}
	st.Worker = c.reserve.stats()
	st.Worker.Needed = c.cfg.needsWorker()
	for _, g := range c.all() {
		st.Sequences = append(st.Sequences, g.Stats())
	}
	slices.SortFunc(st.Sequences, func(a, b SequenceStats) int { return strings.Compare(a.Name, b.Name) })
	return st
}

// Stats returns a snapshot. It does no I/O, and works after Close.
func (g *Generator) Stats() SequenceStats {
	st := SequenceStats{Name: g.name, Plane: PlaneSegment}
	if a := g.opened.Load(); a != nil {
		st.Opened, st.Segment = true, a.Stats()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	st.For, st.Err = time.Since(g.since), g.err
	st.Failovers, st.Returns, st.FromWorker, st.Failed = g.counts.failovers, g.counts.returns, g.counts.fromWorker, g.counts.failed
	if g.away.Load() {
		st.Plane = PlaneSnowflake
	}
	return st
}

// readyLook is how often Ready looks.
const readyLook = 10 * time.Millisecond

// Ready waits until the Client can issue IDs and would go on if it lost every
// server: a worker is leased, if any Generator may fall back, or else a server is
// up; and no sequence was unknown to all servers when it was opened. It returns nil
// at once if that is so, and for as long as it stays so, outages included. The error
// is ErrClosed, a *PlaneError as Next returns it, or a *NotReadyError (ErrNotReady)
// when ctx ends first.
func (c *Client) Ready(ctx context.Context) error {
	for {
		if err := c.refused(); err != nil {
			return err
		}
		missing := c.missing()
		if len(missing) == 0 {
			return nil
		}
		if !pause.For(ctx, readyLook) {
			return &NotReadyError{Missing: missing, Err: ctx.Err()}
		}
	}
}

// missing is what Ready waits for.
func (c *Client) missing() []error {
	var missing []error
	if c.cfg.needsWorker() {
		if err := c.reserve.missing(); err != nil {
			missing = append(missing, fmt.Errorf("worker: %w", err))
		}
	} else if err := c.whyDown(); err != nil {
		missing = append(missing, err)
	}
	for _, g := range c.all() {
		g.mu.Lock()
		if g.refuse != nil {
			missing = append(missing, g.refuse)
		}
		g.mu.Unlock()
	}
	return missing
}
