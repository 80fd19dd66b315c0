package segment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

// Open makes an Allocator of a sequence of a fleet and reserves a first segment.
// It reads the sequence on every server that answers; one is enough. Of a server
// that does not answer it is then not known how far it is: its own row and, if it
// has forgotten, its fence see to it that it repeats nothing, and IDs from it may
// be below others at first.
//
// The Allocator uses the fleet and does not own it: close the Allocator first.
// ctx bounds the opening only. Errors: a *ticket.ConfigError for a bad name or
// configuration, an *UnknownSequenceError (ErrUnknownSequence), ErrExhausted,
// ErrScheme if one server is further ahead than the others can believe, ctx's own,
// ticket.ErrClosed, or ticket.ErrUnavailable with one *ticket.ServerError per server,
// with Config.Create also if one of them does not answer and the sequence is to be
// created; and with it an error of no exported type for what an operator has to mend.
func Open(ctx context.Context, fleet *ticket.Fleet, name string, cfg Config) (*Allocator, error) {
	if err := sequence.CheckName(name); err != nil {
		return nil, err
	}
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	source := &fleetSource{fleet: fleet, name: name, log: log}
	a, err := New(ctx, source, cfg)
	if _, unknown := errors.AsType[*UnknownSequenceError](err); !cfg.Create || !unknown || errors.Is(err, errDeleted) {
		return a, err
	}
	if err := create(ctx, fleet, name); err != nil {
		return nil, err
	}
	return New(ctx, source, cfg)
}

// create creates the sequence on every server. Another client may be doing the
// same.
func create(ctx context.Context, fleet *ticket.Fleet, name string) error {
	_, err := sequence.Create(ctx, fleet, sequence.Spec{Name: name})
	failed, ok := errors.AsType[*sequence.Error](err)
	switch {
	case errors.Is(err, sequence.ErrExists):
		return nil
	case ok && errors.Is(failed.Kind, sequence.ErrServers) && failed.Err != nil: // one did not answer
		return fmt.Errorf("%w: %w", ticket.ErrUnavailable, err)
	}
	return err
}
