package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/oddeven/oddeven/integration/torture/ledger"
	"github.com/oddeven/oddeven/integration/torture/order"
	"github.com/oddeven/oddeven/internal/pause"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// fillFunc fills a slice with IDs.
type fillFunc func(ctx context.Context, ids []int64) error

// loop draws until ctx ends or a failure is of a kind that ends it, which it then
// returns. What it was handed is in the ledger a beat later, or before it waits.
func (p *process) loop(ctx context.Context, j order.Job, st stream, fill fillFunc, ends func(error) bool) error {
	ids := make([]int64, max(j.Batch, 1))
	pace := newPacer(j.Rate / max(j.Callers, 1))
	flushed := time.Now()
	for ctx.Err() == nil {
		err := p.call(ctx, j.Kind, func(ctx context.Context) error { return fill(ctx, ids) })
		wait := time.Duration(0)
		switch {
		case err == nil:
			st.IssuedAll(ids)
			p.ids.Add(int64(len(ids)))
			wait = pace.drew(len(ids))
		case ctx.Err() != nil:
		case ends(err):
			return errors.Join(err, st.Flush())
		default:
			wait = again
		}
		if wait > 0 || time.Since(flushed) >= beat {
			if err := st.Flush(); err != nil {
				return err
			}
			flushed = time.Now()
		}
		if wait > 0 {
			pause.For(ctx, wait)
		}
	}
	return st.Flush()
}

// stream is where a caller's IDs go.
type stream interface {
	IssuedAll(ids []int64)
	Flush() error
}

// together runs callers, each with a stream of its own, until all have ended. The
// error is the first caller's that had one.
func (p *process) together(j order.Job, s ledger.Stream, one func(st *ledger.StreamWriter) error) error {
	n := max(j.Callers, 1)
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		st, err := p.ledger.Stream(s)
		if err != nil {
			return errors.Join(err, joined(&wg, errs))
		}
		wg.Go(func() { errs[i] = one(st) })
	}
	return joined(&wg, errs)
}

func joined(wg *sync.WaitGroup, errs []error) error {
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func never(error) bool { return false }

// tickets draws tickets.
func (p *process) tickets(ctx context.Context, fleet *ticket.Fleet, j order.Job) error {
	return p.together(j, ledger.Stream{Process: p.order.Process, Source: order.JobTicket, Ordered: true}, func(st *ledger.StreamWriter) error {
		return p.loop(ctx, j, st, func(ctx context.Context, ids []int64) (err error) {
			if len(ids) == 1 {
				ids[0], err = fleet.Next(ctx)
			} else {
				err = fleet.NextN(ctx, ids)
			}
			if err == nil {
				p.saw(ids[len(ids)-1], 0)
			}
			return err
		}, never)
	})
}

// small makes segments that are used up soon after the servers have gone, so that
// there are many of them.
var small = segment.Config{MinStep: 100, Interval: 200 * time.Millisecond}

// segments draws from an Allocator of its own.
func (p *process) segments(ctx context.Context, fleet *ticket.Fleet, j order.Job) error {
	a, ok := open(ctx, p, "open", func(ctx context.Context) (*segment.Allocator, error) {
		return segment.Open(ctx, fleet, j.Sequence, small)
	})
	if !ok {
		return nil
	}
	s := ledger.Stream{Process: p.order.Process, Source: order.JobSegment, Sequence: j.Sequence, Ordered: true}
	err := p.together(j, s, func(st *ledger.StreamWriter) error {
		return p.loop(ctx, j, st, func(ctx context.Context, ids []int64) (err error) {
			if len(ids) == 1 {
				ids[0], err = a.Next(ctx)
				return err
			}
			return a.NextN(ctx, ids)
		}, never)
	})
	return errors.Join(err, a.Close())
}
