package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/ticket"
)

// setUp makes a fleet of servers that run, with its sequences.
func (r *run) setUp(ctx context.Context) error {
	layout, err := r.opts.layout()
	if err != nil {
		return err
	}
	cfg := migrations.Config{Settings: migrations.Settings{
		Increment: int64(len(r.servers)), ShardBits: &r.opts.shardBits, Layout: layout.String(), LongestLease: lease}}
	for _, v := range r.servers {
		cfg.Servers = append(cfg.Servers, v.migrate())
	}
	if _, err := migrations.Up(ctx, cfg); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if r.opts.cluster {
		if err := ticket.SetSingleWriter(ctx, r.tickets(), true); err != nil {
			return fmt.Errorf("mark as single writer: %w", err)
		}
	}
	fleet, err := ticket.Open(ctx, r.tickets())
	if err != nil {
		return err
	}
	for _, name := range sequences {
		if _, err = sequence.Create(ctx, fleet, sequence.Spec{Name: name}); err != nil {
			break
		}
	}
	return errors.Join(err, fleet.Close())
}
