package overview

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// Reader reads pictures of one fleet, and keeps connections in between. Its
// methods are for one goroutine.
type Reader struct {
	cfg   ticket.Config
	names []string
	fleet *ticket.Fleet // nil until a server is in order
}

// NewReader returns a reader of a fleet, and of all its sequences or of those
// named. It does no I/O. Config.Timeout bounds what each server is given.
func NewReader(cfg ticket.Config, names ...string) *Reader {
	cfg.Conns = 3 // what is read side by side
	return &Reader{cfg: cfg, names: names}
}

// Read reads a picture from all servers side by side. What a server does not say
// is missing in the picture; why is in its Problem. The error is a
// *ticket.ConfigError, or ctx's own.
//
// Like every client the reader fences a server that was restarted.
func (r *Reader) Read(ctx context.Context) (*Picture, error) {
	if r.fleet == nil {
		fleet, err := ticket.Open(ctx, r.cfg)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if _, wrong := errors.AsType[*ticket.ConfigError](err); wrong {
			return nil, err
		}
		if err != nil {
			return r.closed(ctx)
		}
		r.fleet = fleet
	}
	var found []ticket.Inspection
	var leases []snowflake.Lease
	var sequences []sequence.Sequence
	var leaseErrs, errs []error
	var wg sync.WaitGroup
	wg.Go(func() { found = r.fleet.Inspect(ctx) })
	wg.Go(func() { leases, leaseErrs = snowflake.Leases(ctx, r.fleet) })
	wg.Go(func() { sequences, errs = sequence.Read(ctx, r.fleet, r.names...) })
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	p := Of(found, leases, sequences)
	p.explain(leaseErrs, errs)
	return p, nil
}

// closed is the picture of a fleet of which no server is in order.
func (r *Reader) closed(ctx context.Context) (*Picture, error) {
	found, err := ticket.Inspect(ctx, r.cfg)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	return Of(found, nil, nil), nil
}

// Names returns the names of all sequences that can be read.
func (r *Reader) Names(ctx context.Context) []string {
	var names []string
	if r.fleet != nil {
		all, _ := sequence.Read(ctx, r.fleet)
		for _, s := range all {
			if !s.State.Deleted {
				names = append(names, s.Name)
			}
		}
	}
	return names
}

// Close closes the connections.
func (r *Reader) Close() error {
	if r.fleet == nil {
		return nil
	}
	return r.fleet.Close()
}

// explain notes why the worker numbers or the sequences could not be read, by
// errors in the order of the servers.
func (p *Picture) explain(leases, sequences []error) {
	for i := range p.Servers {
		p.Servers[i].ReadErr = cmp.Or(leases[i], sequences[i])
	}
}
