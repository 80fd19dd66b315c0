package snowflake

import (
	"context"
	"errors"
	"fmt"

	"github.com/oddeven/oddeven/ticket"
)

// Open makes a Worker whose number is leased from a server of the fleet, any one
// that can be reached, renews the lease in the background, and releases it in
// Worker.Close. ctx bounds the opening only, which takes a tenth of a second for
// comparing clocks. The fleet must stay open for as long as the Worker.
//
// The lease is a rectangle, a worker number times ticks, which is in the
// server's row before any of it is used; no ID is made outside it. So neither
// clocks that are wrong, nor a process that was frozen or cut off while somebody
// else got the number, lead to an ID that exists already.
//
// With Config.StateFile a process that was killed goes on with its lease, if the
// file is still valid. The server that granted the lease is asked first, for 3
// seconds at most: a lease that it has given up is not taken up. If it does not
// answer the file counts; so no server need answer, and fleet may be nil: such a
// Worker lasts until the lease ends.
//
// Errors: a *ticket.ConfigError; a *LayoutConflictError if Config.Layout is not
// the fleet's; a *LayoutError if IDs of the fleet's layout could be below
// Config.Ceiling, or it can't issue; a *NoNumberError that says when to try again;
// a *StateFileError; ticket.ErrUnavailable with one *ticket.ServerError for each
// server, among them those whose clock runs at another pace than ours;
// ticket.ErrClosed; ctx's own.
func Open(ctx context.Context, fleet *ticket.Fleet, cfg Config) (*Worker, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	var s store
	name := func(int64) string { return "" }
	if fleet != nil {
		s = newFleetStore(fleet, cfg)
		name = func(offset int64) string { return serverAt(fleet, offset) }
	}
	w, err := openOn(ctx, s, cfg, fleetIdentity(fleet), name)
	if err != nil {
		return nil, fmt.Errorf("open worker: %w", err)
	}
	return w, nil
}

// openOn is Open on a store. cfg has its defaults.
func openOn(ctx context.Context, s store, cfg Config, identity string, name func(offset int64) string) (*Worker, error) {
	l, renew, err := openLease(ctx, s, cfg, identity, name)
	if err != nil {
		return nil, err
	}
	w := newWorker(l.g, cfg)
	w.lease = l
	if err := l.run(renew); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// openLease takes up the lease of the state file, or gets one from a server.
// renew says that it is to be renewed at once.
func openLease(ctx context.Context, s store, cfg Config, identity string, name func(offset int64) string) (l *lease, renew bool, err error) {
	if cfg.StateFile == "" {
		l, err = grantLease(ctx, s, cfg, name, nil)
		return l, false, err
	}
	file, found, why, err := openStateFile(cfg.StateFile, thisHost())
	if err != nil {
		return nil, false, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, file.keep())
		}
	}()
	if found != nil {
		var h hold
		if h, renew, why, err = takeUp(ctx, s, cfg, identity, file, *found); err != nil {
			return nil, false, err
		}
		if why == nil {
			if l, err = newLease(s, h, cfg, name(h.offset), file); err == nil && !renew {
				l.renewals = 1
			}
			return l, renew, err
		}
	}
	cfg.Logger.Info("snowflake: the state file has no lease to take up", "file", cfg.StateFile, "why", why)
	if s == nil {
		return nil, false, &StateFileError{Path: cfg.StateFile, Problem: "there is no lease to take up", Err: why, Remedy: "Open a fleet of servers to get one."}
	}
	l, err = grantLease(ctx, s, cfg, name, file)
	return l, false, err
}

// takeUp is what is left of the lease of a state file, or why it is of no use. It
// is renewed before any of it is used: an operator may have released it, and
// somebody else may have the number, which the file does not say; such a file goes.
// Without an answer the file counts, and renew says that it is still to be renewed.
func takeUp(ctx context.Context, s store, cfg Config, identity string, file *stateFile, rec record) (h hold, renew bool, why, err error) {
	h, why = rec.resume(cfg, identity, file.host)
	if why != nil || s == nil {
		return h, true, why, nil
	}
	asked, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	longer, err := s.renew(asked, h, 0)
	switch {
	case err == nil:
		return longer, false, nil, nil
	case errors.Is(err, ErrLeaseLost) || errors.Is(err, errOver):
		if gone := file.drop(); gone != nil {
			return h, false, nil, &StateFileError{Path: file.path, Problem: "its lease is of no use, and it can't be removed", Err: errors.Join(err, gone),
				Remedy: "Remove it yourself, or a process may take the lease up while no server answers."}
		}
		return h, false, err, nil
	}
	return h, true, nil, ctx.Err()
}

// grantLease gets a lease from a server.
func grantLease(ctx context.Context, s store, cfg Config, name func(offset int64) string, file *stateFile) (*lease, error) {
	if s == nil {
		return nil, &ticket.ConfigError{Field: "fleet", Remedy: "is nil; open a fleet of servers, or set StateFile"}
	}
	h, err := s.grant(ctx)
	if err != nil {
		return nil, err
	}
	if file != nil {
		if err := file.create(h); err != nil {
			cfg.Logger.Warn("snowflake: no state file, because it can't be made", "file", file.path, "error", err)
			_ = file.keep() // nothing is in it
			file = nil
		}
	}
	return newLease(s, h, cfg, name(h.offset), file)
}

// fleetIdentity is the fleet's, empty if there is none.
func fleetIdentity(fleet *ticket.Fleet) string {
	if fleet == nil {
		return ""
	}
	return fleet.Stats().Fleet
}

// serverAt is the server of a fleet that has the offset, for people.
func serverAt(fleet *ticket.Fleet, offset int64) string {
	for _, s := range fleet.Stats().Servers {
		if s.Offset == offset {
			return s.Server
		}
	}
	return ""
}
