package migrations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

// To brings every server to one version, up or down. On the way up it does
// what Up does, and rows are made only when the newest version is reached. On
// the way down it refuses, with ErrAllocations, a server on which a table to be
// dropped says which numbers have been issued, unless DestroyAllocations is
// set: whoever issues from that server again would issue them again.
func To(ctx context.Context, cfg Config, version int64) (*Report, error) {
	if version < 0 || version > Latest() {
		return nil, &ticket.ConfigError{Field: "version", Value: version, Remedy: fmt.Sprintf("must be 0 to %d", Latest())}
	}
	if version == Latest() {
		return Up(ctx, cfg)
	}
	return change(ctx, cfg, func(int64) int64 { return version })
}

// Down takes the newest migration of every server back; see [To].
func Down(ctx context.Context, cfg Config) (*Report, error) {
	return change(ctx, cfg, func(have int64) int64 { return max(0, have-1) })
}

func change(ctx context.Context, cfg Config, target func(have int64) int64) (*Report, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := muster(ctx, cfg)
	defer c.dismiss()
	c.begin(ctx)
	c.checkFleet()
	c.guardAllocations(ctx, target)
	c.each(func(m *member) error {
		version := target(m.version)
		if version >= m.version {
			return c.migrate(ctx, m, version)
		}
		return c.revert(ctx, m, version)
	})
	r := c.report()
	return r, r.err()
}

// revert takes the migrations above version back.
func (c *crew) revert(ctx context.Context, m *member, version int64) error {
	for _, change := range between(version, m.version) {
		m.report.Done = append(m.report.Done, "revert "+change.Name)
		if c.cfg.DryRun {
			m.report.SQL = append(m.report.SQL, withoutSemicolon(change.Down))
		}
	}
	if c.cfg.DryRun {
		m.report.State, m.report.Version = StatePlanned, version
		return nil
	}
	provider, err := newProvider(m.session.db)
	if err != nil {
		return err
	}
	_, err = provider.DownTo(ctx, version)
	if now, readErr := schema.ReadVersion(ctx, m.session.db); readErr == nil {
		m.report.Version = now
	}
	if err != nil {
		return fmt.Errorf("revert migrations: %w", err)
	}
	m.report.State = StateMigrated
	return nil
}

// between returns the migrations above low, up to high, newest first.
func between(low, high int64) []Migration {
	var some []Migration
	for _, change := range slices.Backward(All()) {
		if change.Version > low && change.Version <= high {
			some = append(some, change)
		}
	}
	return some
}

// guardAllocations refuses to drop what says which numbers have been issued,
// before anything is done on any server.
func (c *crew) guardAllocations(ctx context.Context, target func(have int64) int64) {
	if c.cfg.DestroyAllocations {
		return
	}
	c.each(func(m *member) error { return m.guardAllocations(ctx, between(target(m.version), m.version)) })
	for _, m := range c.members {
		if errors.Is(m.report.Err, ErrAllocations) {
			c.halted = true
		}
	}
	for _, m := range c.members {
		if c.halted && m.ok() {
			m.report.State = StateUntouched
		}
	}
}

// guardAllocations is that for one server. Without the server's row the other
// tables mean nothing, so it counts for all.
func (m *member) guardAllocations(ctx context.Context, undo []Migration) error {
	used, err := m.allocations(ctx)
	if err != nil {
		return err
	}
	var lost []string
	for _, change := range undo {
		for table, what := range used {
			if drops(change, table) || drops(change, "server") {
				lost = append(lost, what)
			}
		}
	}
	if len(lost) == 0 {
		return nil
	}
	slices.Sort(lost)
	return &ticket.ServerError{
		Server: m.report.Server, Problem: "would lose the record of " + strings.Join(slices.Compact(lost), ", "),
		Remedy: "Every one of these numbers could then be issued a second time. If nothing uses them any more, say --destroy-allocations.",
		Kind:   ErrAllocations,
	}
}

// drops reports whether taking the change back drops the table.
func drops(change Migration, table string) bool {
	return strings.Contains(strings.ToUpper(change.Down), "DROP TABLE IF EXISTS `"+strings.ToUpper(table)+"`")
}
