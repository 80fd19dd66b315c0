package migrations

import (
	"context"
	"fmt"
	"slices"

	"github.com/oddeven/oddeven/internal/schema"
)

// retire notes in m's records that the servers of the retired offsets are dead.
// A client that still uses one of them is thrown out here, reads that, and
// leaves it alone.
func (c *crew) retire(ctx context.Context, m *member) error {
	if m.row == nil || c.cfg.DryRun && m.version < Latest() || len(c.cfg.Retired) == 0 {
		return nil
	}
	have, now, err := m.records(ctx)
	if err != nil {
		return err
	}
	var statements []stmt
	for _, p := range have {
		if c.has(p.Identity) {
			continue
		}
		m.absent = append(m.absent, p.Offset)
		if !p.RetiredAt.Valid && slices.Contains(c.cfg.Retired, p.Offset) {
			m.report.Done = append(m.report.Done, fmt.Sprintf("retire server %s of offset %d", p.Identity, p.Offset))
			statements = append(statements, retirePeer(p.Identity, now))
		}
	}
	if len(statements) == 0 {
		return nil
	}
	if err := c.perform(ctx, m, append(statements, raiseGen(m.row.Gen)...)); err != nil {
		return err
	}
	m.row.Gen++
	return nil
}

// warnUnknown says which of the retired offsets no server has a record for that could
// be retired.
func (c *crew) warnUnknown() {
	members := c.working()
	for _, k := range c.cfg.Retired {
		remembered := slices.ContainsFunc(members, func(m *member) bool { return slices.Contains(m.absent, k) })
		if !remembered && len(members) > 0 {
			c.warnings = append(c.warnings, fmt.Sprintf("No server remembers another one with offset %d than those named, so there is none to retire.", k))
		}
	}
}

// recordPeers writes servers that m does not know into its records. What it knows
// of a server is left to the clients to renew: they throw out whoever uses m when
// they tell it of a new start of another one, and must not find that known.
func (c *crew) recordPeers(ctx context.Context, m *member) error {
	if m.row == nil || c.cfg.DryRun {
		return nil
	}
	have, now, err := m.records(ctx)
	if err != nil {
		return err
	}
	var statements []stmt
	for _, other := range c.members {
		if other == m || other.row == nil || other.row.Fleet != m.row.Fleet || other.row.Identity == m.row.Identity {
			continue
		}
		if !slices.ContainsFunc(have, func(p peerRow) bool { return p.Identity == other.row.Identity }) {
			statements = append(statements, recordPeer(*other.row, now))
		}
	}
	before := m.report.State
	if err := c.perform(ctx, m, statements); err != nil {
		return err
	}
	m.report.State = before // records alone are nothing to report
	return nil
}

// has reports whether a server of that identity is in the crew.
func (c *crew) has(identity schema.Identity) bool {
	return slices.ContainsFunc(c.members, func(m *member) bool { return m.row != nil && m.row.Identity == identity })
}

// records are the servers that m knows of, and m's time.
func (m *member) records(ctx context.Context) ([]peerRow, int64, error) {
	have, err := m.peers(ctx)
	if err != nil {
		return nil, 0, err
	}
	now, err := m.serverTime(ctx)
	return have, now, err
}
