package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"sync"

	"github.com/oddeven/oddeven/integration/torture/ledger"
	"github.com/oddeven/oddeven/integration/torture/order"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// worker draws from a leased worker, and from another one when its lease is over,
// as the documents tell callers to.
func (p *process) worker(ctx context.Context, fleet *ticket.Fleet, j order.Job) error {
	cfg := snowflake.Config{Lease: p.order.Lease, StateFile: p.order.StateFile}
	for n := 1; ctx.Err() == nil; n++ {
		w, ok := open(ctx, p, "open worker", func(ctx context.Context) (*snowflake.Worker, error) {
			return snowflake.Open(ctx, fleet, cfg)
		})
		if !ok {
			return nil
		}
		holder, err := p.holder(n)
		if err != nil {
			return errors.Join(err, w.Close())
		}
		l := &leaseLog{p: p, w: w, holder: holder}
		err = p.drawLeased(ctx, j, w, l)
		if over(err) {
			err = nil
		}
		// Close releases the number. It may fail: then the number stays taken.
		if err = errors.Join(err, l.released()); err != nil {
			return errors.Join(err, w.Close())
		}
		_ = w.Close()
	}
	return nil
}

// drawLeased draws until ctx ends or the lease is over.
func (p *process) drawLeased(ctx context.Context, j order.Job, w *snowflake.Worker, l *leaseLog) error {
	s := ledger.Stream{Process: p.order.Process, Source: order.JobWorker, Ordered: true}
	return p.together(j, s, func(st *ledger.StreamWriter) error {
		return p.loop(ctx, j, &leased{StreamWriter: st, log: l}, func(ctx context.Context, ids []int64) (err error) {
			if len(ids) == 1 {
				ids[0], err = w.Next(ctx)
				return err
			}
			return w.NextN(ctx, ids)
		}, over)
	})
}

// nonce is how a state file says whose lease it holds.
var nonce = regexp.MustCompile(`"nonce":"([0-9a-f]+)"`)

// holder names the n-th lease of this process; that of a state file as the process
// before named it, if this one has taken it up.
func (p *process) holder(n int) (string, error) {
	own := fmt.Sprintf("%s#%d", p.order.Process, n)
	if p.order.StateFile == "" {
		return own, nil
	}
	text, err := os.ReadFile(p.order.StateFile)
	if err != nil {
		return "", fmt.Errorf("read state file: %w", err)
	}
	if found := nonce.FindSubmatch(text); found != nil {
		return string(found[1]), nil
	}
	return own, nil
}

// leaseLog keeps the ledger up to date about a lease. All methods are safe for
// concurrent use.
type leaseLog struct {
	p      *process
	w      *snowflake.Worker
	holder string

	mu                sync.Mutex // guards all below
	used              bool       // an ID was issued
	first, last, upTo int64      // ticks: of the first and last ID, and the end of the lease as logged
}

// issued notes IDs that are about to be written down, in any order.
func (l *leaseLog) issued(ids []int64) {
	st := l.w.Stats()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range []int64{ids[0], ids[len(ids)-1]} {
		parts, err := st.Layout.Decompose(id)
		if err != nil {
			continue // no ID of the layout at all: the checker says so
		}
		if !l.used {
			l.used, l.first, l.last = true, parts.Tick, parts.Tick
		}
		l.first, l.last = min(l.first, parts.Tick), max(l.last, parts.Tick)
	}
}

// confirmed writes down until when the lease lasts, if that has changed. What was
// issued before it was called is inside.
func (l *leaseLog) confirmed() error {
	st := l.w.Stats()
	until := st.Layout.TickOf(st.Until)
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.used || until == l.upTo {
		return nil
	}
	l.upTo = until
	return l.p.ledger.Lease(ledger.Lease{Process: l.p.order.Process, Worker: st.Number, FromTick: l.first, UntilTick: until, Holder: l.holder})
}

// released writes down that no more IDs come.
func (l *leaseLog) released() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.used {
		return nil
	}
	return l.p.ledger.Lease(ledger.Lease{
		Process: l.p.order.Process, Worker: l.w.Stats().Number, FromTick: l.first, UntilTick: l.last + 1, Holder: l.holder, Released: true})
}

// leased is a stream of a worker: the lease is in the ledger before its IDs are.
type leased struct {
	*ledger.StreamWriter
	log *leaseLog
}

func (s *leased) IssuedAll(ids []int64) {
	s.log.issued(ids)
	s.StreamWriter.IssuedAll(ids)
}

func (s *leased) Flush() error {
	if err := s.log.confirmed(); err != nil {
		return err
	}
	return s.StreamWriter.Flush()
}
