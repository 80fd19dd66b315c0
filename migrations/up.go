package migrations

import (
	"context"
	"fmt"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

// Up brings every server of the fleet to the newest schema, gives each that has
// none its row, and completes what an interrupted Up has left. It may be
// repeated, run by two people at once, and killed at any statement.
//
// The report is there also with an error. The error is a [*FleetError] when
// servers failed (the others were worked on), or a [*ticket.ConfigError] or
// [*snowflake.LayoutError] when nothing was tried. ctx bounds the whole command;
// an Up cut short by it is finished by the next.
func Up(ctx context.Context, cfg Config) (*Report, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	// Checked before anything is touched, with the settings as they were asked for.
	if _, err := cfg.Settings.resolve(len(cfg.Servers), time.Now()); err != nil {
		return nil, err
	}
	c := muster(ctx, cfg)
	defer c.dismiss()
	c.begin(ctx)
	c.checkFleet()
	c.checkSettings()
	c.warnAlone()
	c.each(func(m *member) error { return c.migrate(ctx, m, Latest()) })
	c.settle(ctx)
	r := c.report()
	return r, r.err()
}

// begin takes the locks and reads everything again under them.
func (c *crew) begin(ctx context.Context) {
	c.probeTwice(ctx)
	c.lock(ctx)
	c.each(func(m *member) error {
		if err := m.checkTables(ctx); err != nil {
			return err
		}
		if err := m.readState(ctx); err != nil {
			return err
		}
		m.report.State = StateUpToDate
		if m.version > Latest() {
			return &ticket.ServerError{
				Server: m.report.Server, Problem: fmt.Sprintf("its schema has version %d, this build knows %d", m.version, Latest()),
				Remedy: "Use the oddeven that made it, or a newer one.", Kind: ErrNewerSchema,
			}
		}
		return nil
	})
}

// checkFleet makes sure that the servers with a row belong together.
func (c *crew) checkFleet() {
	var first *member
	offsets := map[int64]*member{}
	identities := map[schema.Identity]*member{}
	for _, m := range c.working() {
		if m.row == nil {
			continue
		}
		if first == nil {
			first = m
		}
		if m.row.Fleet != first.row.Fleet {
			c.halt(m, ErrMixedFleets, fmt.Sprintf("belongs to fleet %s, %s to fleet %s", m.row.Fleet, first.report.Server, first.row.Fleet),
				"Name servers of one fleet only.")
			return
		}
		if diff := differences(*first.row, *m.row); diff != "" {
			c.halt(m, ErrMixedFleets, "its row says "+diff+" of "+first.report.Server,
				"These are the same on every server of a fleet; somebody changed a row by hand. Restore it.")
			return
		}
		if other := identities[m.row.Identity]; other != nil {
			c.halt(m, ErrSameServer, fmt.Sprintf("has the same identity %s as %s", m.row.Identity, other.report.Server),
				"One is a copy of the other: take the copy away.")
			return
		}
		if other := offsets[m.row.Offset]; other != nil {
			c.halt(m, ErrOffsets, fmt.Sprintf("has the same offset %d as %s", m.row.Offset, other.report.Server),
				"They would issue the same numbers: take one of them away.")
			return
		}
		offsets[m.row.Offset], identities[m.row.Identity] = m, m
	}
}

// differences says what fleet-wide setting of b differs from a's, "" if none.
func differences(a, b schema.Server) string {
	switch {
	case a.Increment != b.Increment:
		return fmt.Sprintf("increment %d, not the %d", b.Increment, a.Increment)
	case a.ShardBits != b.ShardBits:
		return fmt.Sprintf("shard bits %d, not the %d", b.ShardBits, a.ShardBits)
	case a.Layout != b.Layout:
		return fmt.Sprintf("layout %q, not the %q", b.Layout, a.Layout)
	case a.LongestLeaseMS != b.LongestLeaseMS:
		return fmt.Sprintf("longest lease %s, not the %s", b.LongestLease(), a.LongestLease())
	}
	return ""
}

// checkSettings refuses settings other than the fleet's. When one is refused,
// nothing at all is done.
func (c *crew) checkSettings() {
	for _, m := range c.working() {
		if m.row == nil {
			continue
		}
		if problem := c.cfg.Settings.conflict(*m.row); problem != "" {
			c.halt(m, ErrSettings, problem,
				"Leave the setting out. It was chosen for good when the fleet was made: numbers issued under it would be issued again under another.")
			return
		}
	}
}

// warnAlone warns of a new fleet of one server: whoever names the servers of a
// fleet one at a time makes several fleets, all of which issue the same numbers.
func (c *crew) warnAlone() {
	if len(c.members) > 1 || c.cfg.Settings.Increment != 0 || !c.members[0].ok() || c.members[0].row != nil {
		return
	}
	c.warnings = append(c.warnings, "This makes a new fleet of one server. If there are others, take it back "+
		"(`oddeven migrate to 0`) and name all of them at once: one at a time they become separate fleets, which issue the same numbers.")
}

// conflict says which setting asked for differs from the row, "" if none.
func (s Settings) conflict(row schema.Server) string {
	switch {
	case s.Increment != 0 && s.Increment != row.Increment:
		return fmt.Sprintf("increment is %d, asked for %d", row.Increment, s.Increment)
	case s.ShardBits != nil && *s.ShardBits != row.ShardBits:
		return fmt.Sprintf("shard bits is %d, asked for %d", row.ShardBits, *s.ShardBits)
	case s.LongestLease != 0 && s.LongestLease != row.LongestLease():
		return fmt.Sprintf("longest lease is %s, asked for %s", row.LongestLease(), s.LongestLease)
	case s.Layout != "":
		layout, err := resolveLayout(s.Layout, row.ShardBits, time.Now())
		if err != nil {
			return err.Error()
		}
		if layout.String() != row.Layout {
			return fmt.Sprintf("layout is %s, asked for %s", row.Layout, layout)
		}
	}
	return ""
}

// migrate runs the migrations up to and including version.
func (c *crew) migrate(ctx context.Context, m *member, version int64) error {
	for _, change := range All() {
		if change.Version > m.version && change.Version <= version {
			m.report.Done = append(m.report.Done, "apply "+change.Name)
			if c.cfg.DryRun {
				m.report.SQL = append(m.report.SQL, withoutSemicolon(change.Up))
			}
		}
	}
	if len(m.report.Done) == 0 {
		return nil
	}
	if c.cfg.DryRun {
		m.report.State = StatePlanned
		m.report.Version = version
		return nil
	}
	provider, err := newProvider(m.session.db)
	if err != nil {
		return err
	}
	_, err = provider.UpTo(ctx, version)
	if now, readErr := schema.ReadVersion(ctx, m.session.db); readErr == nil {
		m.report.Version = now
	}
	if err != nil {
		return fmt.Errorf("apply migrations: %w", err)
	}
	m.report.State = StateMigrated
	c.cfg.Logger.InfoContext(ctx, "schema migrated", "server", m.report.Server, "from", m.report.Before, "to", m.report.Version)
	return nil
}
