package main

import (
	"context"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/integration/torture/ledger"
	"github.com/oddeven/oddeven/integration/torture/order"
)

// throughFacade does the jobs with an oddeven.Client, which leases a worker of its
// own.
func (p *process) throughFacade(ctx context.Context) error {
	cfg := oddeven.Config{DSNs: p.order.DSNs, Timeout: p.order.Timeout, Conns: conns, Segment: small}
	cfg.Worker.Lease = p.order.Lease
	if p.order.StateFile != "" {
		cfg.Worker.StateFile = p.order.StateFile + "-facade"
	}
	c, ok := open(ctx, p, "open", func(ctx context.Context) (*oddeven.Client, error) { return oddeven.Open(ctx, cfg) })
	if !ok {
		return nil
	}
	err := p.all(ctx, source{client: c, fleet: c.Tickets})
	// Close releases the worker's number. It may fail: then the number stays taken.
	_ = c.Close()
	return err
}

// facade draws from a Generator.
func (p *process) facade(ctx context.Context, c *oddeven.Client, j order.Job) error {
	g, ok := open(ctx, p, "open", func(ctx context.Context) (*oddeven.Generator, error) { return c.Sequence(ctx, j.Sequence) })
	if !ok {
		return nil
	}
	return p.generate(ctx, g, j)
}

// generate draws from a Generator: for shards in turn, if the fleet has any.
func (p *process) generate(ctx context.Context, g *oddeven.Generator, j order.Job) error {
	// Another name than that of the worker's IDs of this process: the checker wants to
	// see those inside leases that were logged, and the facade shows none.
	s := ledger.Stream{Process: p.order.Process + "-facade", Source: order.JobFacade, Sequence: j.Sequence, Ordered: true, ShardBits: p.order.ShardBits}
	shards := int64(1) << p.order.ShardBits
	return p.together(j, s, func(st *ledger.StreamWriter) error {
		shard, drawn := int64(0), make([]oddeven.ID, max(j.Batch, 1))
		return p.loop(ctx, j, st, func(ctx context.Context, ids []int64) (err error) {
			shard = (shard + 1) % shards
			switch {
			case len(ids) == 1 && shards == 1:
				drawn[0], err = g.Next(ctx)
			case len(ids) == 1:
				drawn[0], err = g.NextFor(ctx, shard)
			case shards == 1:
				err = g.NextN(ctx, drawn)
			default:
				err = g.NextNFor(ctx, shard, drawn)
			}
			for i, id := range drawn {
				ids[i] = int64(id)
			}
			return err
		}, never)
	})
}
