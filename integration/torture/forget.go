package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// What a server may forget: see docs/guarantees.md. What lies below its clock line is
// safe whoever else can be asked. What lies above, because much was reserved right
// after a fence, the other servers have to remember. So with the server read-only the
// driver looks where everything is; if something is above, another server that has
// been told has to be there, undisturbed, until clients use this one again.

const (
	// tellWithin is how long the driver waits for another server to be told.
	tellWithin = 15 * time.Second
	tellPause  = 200 * time.Millisecond
	// ticketMargin is what a fence adds to tickets that are past their line, at least.
	ticketMargin = 10_000
)

// errUnsafe says that a fault was left out because the documents exclude it.
var errUnsafe = errors.New("no other server was told in time")

// mayForget waits until the server may forget all that it has issued, and leaves it
// read-only. Another server may be held until the forgetful one is used again. The
// error is errUnsafe when it may not, and then it is as it was.
func (r *run) mayForget(ctx context.Context, v *server) error {
	for began := time.Now(); ; {
		if err := v.exec(ctx, "SET GLOBAL read_only = 1"); err != nil {
			return err
		}
		own, err := v.places(ctx, int64(len(r.servers)))
		if err != nil {
			return err
		}
		if above := aboveLine(own); len(above) == 0 || r.holdWitness(ctx, v, above) {
			return nil
		}
		if err := v.exec(ctx, "SET GLOBAL read_only = 0"); err != nil {
			return err
		}
		if time.Since(began) > tellWithin || ctx.Err() != nil {
			return fmt.Errorf("server %s: %w", v.name(), errUnsafe)
		}
		wait(ctx, tellPause)
	}
}

// aboveLine are those places that are above their clock line.
func aboveLine(all []place) (above []place) {
	for _, p := range all {
		if p.round > p.line {
			above = append(above, p)
		}
	}
	return above
}

// holdWitness looks for a server without a fault that a fence of v can ask and that
// takes it above all of that, and holds it.
func (r *run) holdWitness(ctx context.Context, v *server, above []place) bool {
	for _, w := range r.servers {
		if w == v || !tryAll(w.use, w.network) {
			continue
		}
		if known, err := w.places(ctx, int64(len(r.servers))); err == nil && covered(above, known) {
			r.witness = []chan struct{}{w.use, w.network}
			return true
		}
		free([]chan struct{}{w.use, w.network})
	}
	return false
}

// tryAll takes all targets if none is taken.
func tryAll(targets ...chan struct{}) bool {
	for i, use := range targets {
		select {
		case use <- struct{}{}:
		default:
			free(targets[:i])
			return false
		}
	}
	return true
}

// covered reports whether a fence that asks the other server lands above all places,
// which are above their own line.
func covered(above, known []place) bool {
	for _, p := range above {
		landing := p.line
		for _, k := range known {
			if k.name != p.name {
				continue
			}
			landing = max(landing, k.line)
			if k.round > landing {
				landing = k.round + k.margin
			}
		}
		if landing < p.round {
			return false
		}
	}
	return true
}
