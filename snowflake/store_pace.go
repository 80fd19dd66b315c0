package snowflake

import (
	"context"
	"fmt"
	"time"

	"github.com/oddeven/oddeven/internal/pause"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// paceOver is how far apart, at least, the two readings are that compare the
	// server's clock with ours.
	paceOver = 100 * time.Millisecond
	// paceFactor is how much faster one may be than the other, and paceSlack what
	// a clock that is being set may be off besides.
	paceFactor = 2
	paceSlack  = 50 * time.Millisecond
)

// reading is a time of the server, and ours before and after it was read.
type reading struct {
	ms             int64
	sent, received time.Time
}

// paceApart waits until a second reading says enough.
func paceApart(ctx context.Context, first reading) error {
	if !pause.For(ctx, paceOver-time.Since(first.received)) {
		return ctx.Err()
	}
	return nil
}

// checkPace refuses a server whose second grossly differs from ours: what a
// lease lasts would mean different things to it and to us. How long the replies
// took does not matter, because the time between the two readings is known from
// below and from above.
func checkPace(first, second reading) error {
	theirs := time.Duration(second.ms-first.ms) * time.Millisecond
	least, most := second.sent.Sub(first.received), second.received.Sub(first.sent)
	if theirs <= paceFactor*most+paceSlack && paceFactor*theirs+paceSlack >= least {
		return nil
	}
	return &ticket.ServerError{
		Problem: fmt.Sprintf("its clock went on by %s while ours went on by %s", theirs, (least + (most-least)/2).Round(time.Millisecond)),
		Remedy:  "Grants are refused until the two agree on what a second is: check the clocks of that server and of this host.",
	}
}
