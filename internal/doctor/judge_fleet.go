package doctor

import (
	"errors"
	"fmt"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

// What the servers of a fleet say of one another.

// uninspected is the finding when clients' own survey did not get through.
func uninspected(f *facts) finding {
	if f.row == nil && f.rowErr != nil {
		return unread(f.rowErr)
	}
	return unread(f.inspection.Err)
}

func judgeIdentity(f *facts) finding {
	if !f.inspected() {
		return uninspected(f)
	}
	i := f.inspection
	if errors.Is(i.Verdict, ticket.ErrForeign) {
		problem, remedy := explain(i.Verdict)
		return bad(remedy, "%s", problem)
	}
	return ok("server %.8s of fleet %.8s, offset %d of %d", i.Identity, i.Fleet, i.Offset, i.Increment)
}

func judgeGeneration(f *facts, fleet []*facts) finding {
	if !f.inspected() {
		return uninspected(f)
	}
	i := f.inspection
	switch {
	case errors.Is(i.Verdict, ticket.ErrForeign):
		return cannotTell("Mend what the identity check reports.", "it does not belong to the fleet")
	case errors.Is(i.Verdict, ticket.ErrNotAccepted):
		problem, remedy := explain(i.Verdict)
		return bad(remedy, "%s", problem)
	}
	others := 0
	for _, o := range fleet {
		if o != f && o.inspected() {
			others++
		}
	}
	switch {
	case others == 0:
		return ok("%d; no other server was asked what it remembers", i.Gen)
	case i.Remembered < i.Gen:
		return warning("Run `oddeven next`, or any client: it tells the other servers.",
			"%d, but the newest that another server remembers is %d: if this one forgets, they would not notice", i.Gen, i.Remembered)
	}
	return ok("%d, as the other servers remember", i.Gen)
}

func judgeFence(f *facts) finding {
	if !f.inspected() {
		return uninspected(f)
	}
	i := f.inspection
	switch {
	case errors.Is(i.Verdict, ticket.ErrBehind):
		problem, remedy := explain(i.Verdict)
		return bad(remedy, "%s", problem)
	case i.Fence != "" && i.Verdict == nil:
		return warning("Nothing needs to be done: the next client does it. Until one longest lease has passed the server then grants no worker number.",
			"the next client will fence it (%s): its numbers go on from %d at least", i.Fence, max(i.Line, i.Top))
	case i.FencedAt.IsZero():
		return ok("none pending, none so far")
	}
	return ok("none pending; the last one was at %s (%s)", i.FencedAt.Format(time.RFC3339), i.FenceReason)
}

const (
	// clockClose is how far apart clocks may be that are kept by a time service.
	clockClose = 5 * time.Second
	// clockFar is the margin of the clock line: a server that is set right by more
	// than this can leap to where it has been before.
	clockFar = schema.ClockMargin * time.Second
)

// apart is how far two clocks differ at least.
func apart(a, b clock) time.Duration {
	d := (a.ahead - b.ahead).Abs() - a.slack - b.slack
	return max(0, d)
}

func judgeClock(f *facts, fleet []*facts) finding {
	host := apart(f.clock, clock{})
	var other *facts
	var farthest time.Duration
	for _, o := range fleet {
		if o == f || o.err != nil {
			continue
		}
		if d := apart(f.clock, o.clock); other == nil || d > farthest {
			other, farthest = o, d
		}
	}
	const remedy = "Let a time service (chrony, ntpd) set the clocks. Never set a server's clock back by hand while clients run: the clock line and the leases count on it."
	switch {
	case host <= clockClose:
		return ok("differs from this host's by %s", f.clock.ahead.Abs().Round(time.Millisecond))
	case other != nil && farthest <= clockClose:
		return warning("Let a time service set this host's clock.", "all servers agree, but this host's clock is %s %s", span(f.clock.ahead), reverse(f.clock.ahead))
	}
	text := fmt.Sprintf("the server's clock is %s %s this host's", span(f.clock.ahead), direction(f.clock.ahead))
	if other != nil {
		d := f.clock.ahead - other.clock.ahead
		text += fmt.Sprintf(" and %s %s that of %s", span(d), direction(d), other.label)
	}
	if max(host, farthest) > clockFar {
		return bad(remedy, "%s; that is more than the %s that the clock line allows for", text, clockFar)
	}
	return warning(remedy, "%s", text)
}

func span(d time.Duration) string { return d.Abs().Round(time.Second).String() }

func direction(d time.Duration) string {
	if d < 0 {
		return "behind"
	}
	return "ahead of"
}

func reverse(d time.Duration) string {
	if d < 0 {
		return "ahead of theirs"
	}
	return "behind theirs"
}
