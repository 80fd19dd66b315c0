package main

import (
	"context"
	"errors"
	"time"

	"github.com/oddeven/oddeven/ticket"
)

const (
	// fleetTimeout bounds a command that works on a fleet, unless --timeout does.
	fleetTimeout = 30 * time.Second
	// statementTimeout bounds one statement on one server: a person waits, and
	// nothing else is asked instead.
	statementTimeout = 10 * time.Second
)

// job says how a command uses a fleet.
type job struct {
	doing     string        // what whoever waits is told: "reading the sequences"
	timeout   time.Duration // for all of it. Defaults to fleetTimeout
	statement time.Duration // for one statement on one server. Defaults to statementTimeout
}

// onFleet opens the servers, runs do and closes them, all within the job's
// time. It tells whoever waits longer than a second what for.
func (a *app) onFleet(ctx context.Context, j job, do func(context.Context, *ticket.Fleet) error) error {
	servers, err := a.fleetServers()
	if err != nil {
		return err
	}
	if j.timeout == 0 {
		j.timeout = fleetTimeout
	}
	if j.statement == 0 {
		j.statement = statementTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, j.timeout)
	defer cancel()
	defer a.progress.start(j.doing)()
	fleet, err := ticket.Open(ctx, ticket.Config{Servers: servers, Conns: 1, Timeout: j.statement, Logger: a.logger()})
	if err != nil {
		return err
	}
	return errors.Join(do(ctx, fleet), fleet.Close())
}

// inspect surveys the servers one by one; see [ticket.Inspect].
func (a *app) inspect(ctx context.Context) ([]ticket.Inspection, error) {
	servers, err := a.fleetServers()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, fleetTimeout)
	defer cancel()
	defer a.progress.start("looking at the servers")()
	return ticket.Inspect(ctx, ticket.Config{Servers: servers, Logger: a.logger()})
}
