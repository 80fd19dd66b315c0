package migrations

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

// member is one server during a command. It is worked on by one goroutine at a time.
type member struct {
	report  ServerReport
	session *session // nil if unreachable
	inc     schema.Incarnation
	met     time.Time // when inc was asked for, with its monotonic reading; zero if it was not read
	version int64
	row     *schema.Server // nil if it has none
	absent  []int64        // offsets of servers that it remembers and that are not in the crew
}

// ok reports whether the server can still be worked on.
func (m *member) ok() bool { return m.session != nil && m.report.Err == nil }

// fail records the first error of the server.
func (m *member) fail(err error) {
	if err == nil || m.report.Err != nil {
		return
	}
	m.report.State = StateFailed
	m.report.Err = ticket.NewServerError(m.report.Server, err)
}

// refuse records a problem that was found and not met.
func (m *member) refuse(cause error, problem, remedy string) {
	if m.report.Err != nil {
		return
	}
	m.report.State = StateFailed
	m.report.Err = &ticket.ServerError{Server: m.report.Server, Problem: problem, Remedy: remedy, Kind: cause}
}

// crew is all servers of the fleet during one command.
type crew struct {
	cfg     Config
	members []*member
	halted  bool // nothing more is done on any server

	warnings []string
}

// muster connects to every server, side by side. A server that does not answer
// is in the crew all the same, with its error.
func muster(ctx context.Context, cfg Config) *crew {
	c := &crew{cfg: cfg, members: make([]*member, len(cfg.Servers))}
	for i, s := range cfg.Servers {
		c.members[i] = &member{report: ServerReport{Server: dsn.Label(s), Latest: Latest()}}
	}
	var wg sync.WaitGroup
	for i, m := range c.members {
		wg.Go(func() {
			s, err := openSession(ctx, cfg.Servers[i])
			if err != nil {
				m.fail(err)
				m.report.State = StateUnreachable
				return
			}
			m.session = s
			m.fail(m.inspect(ctx))
		})
	}
	wg.Wait()
	return c
}

// inspect reads what the server is and how far its schema is.
func (m *member) inspect(ctx context.Context) error {
	met := time.Now()
	var err error
	if m.inc, err = schema.ReadIncarnation(ctx, m.session.db); err != nil {
		return err
	}
	m.met = met
	if err = m.checkTables(ctx); err != nil {
		return err
	}
	return m.readState(ctx)
}

// readState reads schema version and server row, before and after the changes.
func (m *member) readState(ctx context.Context) error {
	var err error
	if m.version, err = schema.ReadVersion(ctx, m.session.db); err != nil {
		return err
	}
	m.report.Before, m.report.Version = m.version, m.version
	return m.readRow(ctx)
}

func (m *member) readRow(ctx context.Context) error {
	row, err := schema.ReadServer(ctx, m.session.db)
	if errors.Is(err, schema.ErrNoSchema) || errors.Is(err, schema.ErrNotInitialized) {
		m.row = nil
		return nil
	}
	if err != nil {
		return err
	}
	m.row = &row
	m.report.Offset, m.report.Identity = row.Offset, row.Identity.String()
	return nil
}

// dismiss closes every connection and with it frees every lock.
func (c *crew) dismiss() {
	for _, m := range c.members {
		if m.session != nil {
			m.session.close()
		}
	}
}

// each runs f on every server that can still be worked on, side by side.
func (c *crew) each(f func(*member) error) {
	var wg sync.WaitGroup
	for _, m := range c.working() {
		wg.Go(func() { m.fail(f(m)) })
	}
	wg.Wait()
}

// halt refuses the command for the whole fleet because of what was found at m:
// the servers given do not belong together, so that none of them is touched.
func (c *crew) halt(m *member, cause error, problem, remedy string) {
	m.refuse(cause, problem, remedy)
	c.halted = true
	for _, other := range c.members {
		if other.ok() {
			other.report.State = StateUntouched
		}
	}
}

// working are the servers without an error so far.
func (c *crew) working() []*member {
	var ok []*member
	if c.halted {
		return nil
	}
	for _, m := range c.members {
		if m.ok() {
			ok = append(ok, m)
		}
	}
	return ok
}

// report sums up.
func (c *crew) report() *Report {
	r := &Report{Warnings: c.warnings}
	for _, m := range c.members {
		r.Servers = append(r.Servers, m.report)
		if m.row != nil && r.Fleet == "" {
			r.Fleet, r.Increment = m.row.Fleet.String(), m.row.Increment
			r.ShardBits, r.Layout = m.row.ShardBits, m.row.Layout
		}
	}
	return r
}

// probeTwice finds out whether two DSNs lead to one server: a lock of a random
// name is taken everywhere, and who finds it taken has been met already.
func (c *crew) probeTwice(ctx context.Context) {
	probe := "oddeven.probe." + randomToken()[:16]
	for _, m := range c.working() {
		fresh, err := m.session.lock(ctx, probe, 0)
		if err != nil {
			m.fail(err)
		} else if !fresh {
			c.halt(m, ErrSameServer, "given twice", "Remove one of the DSNs that lead to it.")
		}
	}
}

// lock takes the migration lock of every server, always in the same order, so
// that two commands never wait for each other in a ring.
func (c *crew) lock(ctx context.Context) {
	order := c.working()
	slices.SortStableFunc(order, func(a, b *member) int {
		return cmp.Or(cmp.Compare(a.inc.ServerUUID, b.inc.ServerUUID), cmp.Compare(a.report.Server, b.report.Server))
	})
	for _, m := range order {
		m.fail(m.lock(ctx, c.cfg.LockTimeout))
	}
}

func (m *member) lock(ctx context.Context, wait time.Duration) error {
	got, err := m.session.lock(ctx, lockMigrate, wait)
	if err != nil || got {
		return err
	}
	id, err := m.session.holder(ctx, lockMigrate)
	if err != nil {
		return err
	}
	return &ticket.ServerError{
		Server: m.report.Server, Problem: fmt.Sprintf("locked by connection %d for more than %s", id, wait),
		Remedy: "Wait for the other migration to end, or end that connection (KILL) if nobody owns it.", Kind: ErrLocked,
	}
}
