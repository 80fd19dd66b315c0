package migrations

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

// ErrAdopt is returned by Adopt when a table cannot be taken over.
var ErrAdopt = errors.New("migrations: table not adopted")

// AdoptedSuffix is appended to the name of a table that Adopt has taken over.
const AdoptedSuffix = "_adopted"

// tableName is what Adopt accepts: a table, or a table of another database on
// the same servers. It is the only identifier that ever gets into SQL.
var tableName = regexp.MustCompile(`^(?:([0-9A-Za-z_$-]{1,64})\.)?([0-9A-Za-z_$]{1,56})$`)

// Adopt takes over from a ticket table of Flickr's kind (an AUTO_INCREMENT
// column in a table that is written with REPLACE). On every server it first
// renames the table to NAME_adopted, so that a writer that was forgotten fails
// instead of issuing numbers beside us. Then it starts the tickets of every
// server above the largest value found on any of them, and reads back that it
// has. The fleet must be set up and every server must answer. It may be repeated
// and killed at any statement; nothing is ever lowered.
func Adopt(ctx context.Context, cfg Config, table string) (*Report, error) {
	parts := tableName.FindStringSubmatch(table)
	if parts == nil {
		return nil, &ticket.ConfigError{Field: "table", Value: table, Remedy: "is no plain table name; write TABLE or DATABASE.TABLE"}
	}
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	c := muster(ctx, cfg)
	defer c.dismiss()
	c.begin(ctx)
	c.checkFleet()
	c.takeOver(ctx, newAdoption(parts[1], parts[2]))
	r := c.report()
	return r, r.err()
}

// adoption is the table taken over, under its old and its new name.
type adoption struct {
	from, to string // quoted
	top      int64  // largest value on any server
	source   map[*member]string
}

func newAdoption(database, table string) *adoption {
	prefix := ""
	if database != "" {
		prefix = "`" + database + "`."
	}
	return &adoption{from: prefix + "`" + table + "`", to: prefix + "`" + table + AdoptedSuffix + "`", source: map[*member]string{}}
}

// takeOver goes through the steps; each needs the one before it on every server.
func (c *crew) takeOver(ctx context.Context, a *adoption) {
	for _, m := range c.working() {
		if m.row == nil {
			m.refuse(ErrAdopt, "belongs to no fleet yet", "Run `oddeven migrate up` first.")
		}
	}
	if len(c.absent()) > 0 {
		c.waitForAll()
		return
	}
	for _, step := range []func(context.Context, *member) error{
		a.find, a.measure, a.checkRoom, // before anything is touched
		a.rename(c), a.measure, a.checkRoom, a.raise(c), a.verify(c),
	} {
		for _, m := range c.working() {
			m.fail(step(ctx, m))
		}
		if len(c.absent()) > 0 {
			c.waitForAll()
			return
		}
	}
}

// waitForAll marks the servers on which nothing more is done.
func (c *crew) waitForAll() {
	missing := strings.Join(c.absent(), ", ")
	for _, m := range c.working() {
		m.refuse(ErrAdopt, "left alone because of "+missing, "Tickets may start above the old table only when the table is known on every server. Mend that and run the command again.")
	}
}

const queryShowCreate = "SHOW CREATE TABLE "

// find looks for the table under either name. Under both it is not the same
// table, and the rename would fail when other servers are done already.
func (a *adoption) find(ctx context.Context, m *member) error {
	for _, name := range []string{a.from, a.to} {
		definition, err := m.definition(ctx, name)
		if mysqlerr.IsNoSuchTable(err) || mysqlerr.IsUnknownDatabase(err) {
			continue
		}
		if err != nil {
			return err
		}
		if a.source[m] == "" && incrementColumn(definition) == "" {
			return &ticket.ServerError{Server: m.report.Server, Problem: "table " + name + " has no AUTO_INCREMENT column", Remedy: "Name the table that tickets are drawn from.", Kind: ErrAdopt}
		}
		if strings.Contains(definition, "COMMENT='"+schema.CommentPrefix) {
			return &ticket.ServerError{Server: m.report.Server, Problem: "table " + name + " is one of oddeven's own", Remedy: "Name the table that tickets were drawn from before.", Kind: ErrAdopt}
		}
		if a.source[m] != "" {
			return &ticket.ServerError{
				Server: m.report.Server, Problem: "has a table " + a.from + " and a table " + a.to,
				Remedy: "The first is renamed to the second. Rename the second, and see to it that nobody makes the first again.", Kind: ErrAdopt,
			}
		}
		a.source[m] = name
	}
	if a.source[m] != "" {
		return nil
	}
	return &ticket.ServerError{Server: m.report.Server, Problem: "has no table " + a.from, Remedy: "Name the table as SHOW TABLES does, with its database if it is another one.", Kind: ErrAdopt}
}

func (m *member) definition(ctx context.Context, quoted string) (string, error) {
	var name, definition string
	// The name was matched against tableName and is quoted.
	if err := m.session.db.QueryRowxContext(ctx, queryShowCreate+quoted).Scan(&name, &definition); err != nil {
		return "", fmt.Errorf("show table %s: %w", quoted, err)
	}
	return definition, nil
}

// incrementLine finds the column that the counter belongs to.
var incrementLine = regexp.MustCompile("(?im)^\\s*`((?:[^`]|``)+)` .*\\bAUTO_INCREMENT\\b")

// literals finds a literal in a definition, such as a comment.
var literals = regexp.MustCompile(`'(?:[^']|'')*'`)

func incrementColumn(definition string) string {
	found := incrementLine.FindStringSubmatch(literals.ReplaceAllString(definition, "''"))
	if found == nil {
		return ""
	}
	return "`" + found[1] + "`"
}

// rename takes the table away from whoever still writes to it.
func (a *adoption) rename(c *crew) func(context.Context, *member) error {
	return func(ctx context.Context, m *member) error {
		if a.source[m] == a.to {
			return nil
		}
		query := "RENAME TABLE " + a.from + " TO " + a.to
		m.report.Done = append(m.report.Done, "rename "+a.from+" to "+a.to)
		if c.cfg.DryRun {
			m.report.State = StatePlanned
			m.report.SQL = append(m.report.SQL, query)
			return nil
		}
		if _, err := m.session.db.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("rename %s: %w", a.from, err)
		}
		a.source[m] = a.to
		m.report.State = StateMigrated
		return nil
	}
}

// measure finds the largest value that the old table may have issued here.
func (a *adoption) measure(ctx context.Context, m *member) error {
	definition, err := m.definition(ctx, a.source[m])
	if err != nil {
		return err
	}
	next, err := schema.Counter(definition)
	if err != nil {
		return err
	}
	var highest sql.NullInt64
	query := "SELECT LEAST(MAX(" + incrementColumn(definition) + "), 9223372036854775807) FROM " + a.source[m]
	if err := m.session.db.GetContext(ctx, &highest, query); err != nil {
		return fmt.Errorf("read highest value of %s: %w", a.source[m], err)
	}
	a.top = max(a.top, highest.Int64, int64(min(next, math.MaxInt64))-1) // checkRoom refuses what is too large
	return nil
}

// checkRoom refuses a table whose numbers reach beyond ours.
func (a *adoption) checkRoom(_ context.Context, m *member) error {
	if a.top < m.row.TicketCeiling-m.row.Increment {
		return nil
	}
	return &ticket.ServerError{
		Server: m.report.Server, Problem: fmt.Sprintf("tickets cannot start above %d: they stay at or below %d", a.top, m.row.TicketCeiling),
		Remedy: "Numbers of oddeven stay below 2^53, which a JavaScript number holds exactly; that table cannot be taken over.", Kind: ErrAdopt,
	}
}

// Moves the clock line of the tickets; the row is locked, and lines only rise.
const queryRaiseBase = "UPDATE `server` SET `ticket_base` = ?, `ticket_birth` = ? WHERE `id` = 1 AND `ticket_base` < ?"

// What was taken over is no use of an hour, which would make the margin of fences.
const queryNoUse = "UPDATE `server` SET `ticket_hour_round` = GREATEST(`ticket_hour_round`, ?) WHERE `id` = 1"

// target is the first ID of the server's class above everything.
func (a *adoption) target(m *member) int64 { return m.row.Class().ID(m.row.Class().Round(a.top) + 1) }

// raise starts the tickets above the largest value of all.
func (a *adoption) raise(c *crew) func(context.Context, *member) error {
	return func(ctx context.Context, m *member) error {
		ours, err := m.committedTicket(ctx)
		if err != nil {
			return err
		}
		if ours >= a.target(m) {
			return nil
		}
		now, err := m.serverTime(ctx)
		if err != nil {
			return err
		}
		round := m.row.Class().Round(a.target(m))
		m.report.Done = append(m.report.Done, fmt.Sprintf("start tickets above %d", a.top))
		statements := []stmt{insertFloor(a.target(m)), {queryNoUse, []any{round}}}
		if reached := m.row.TicketLine().At(now - 3600); round > reached {
			statements = append(statements, stmt{queryRaiseBase, []any{round, now, round}})
		}
		return c.perform(ctx, m, statements)
	}
}

// verify reads back where the tickets stand.
func (a *adoption) verify(c *crew) func(context.Context, *member) error {
	return func(ctx context.Context, m *member) error {
		if c.cfg.DryRun {
			return nil
		}
		last, err := m.committedTicket(ctx)
		if err != nil {
			return err
		}
		if last <= a.top {
			return &ticket.ServerError{Server: m.report.Server, Problem: fmt.Sprintf("tickets stand at %d, not above %d", last, a.top), Remedy: "Run the command again.", Kind: ErrAdopt}
		}
		return nil
	}
}
