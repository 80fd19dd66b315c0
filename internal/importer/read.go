package importer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/ticket"
)

// Read reads the old tables, and changes nothing. All that cannot be imported is
// named in one error. It waits for the network and ends with ctx. Errors: a
// *ticket.ConfigError, a *ticket.ServerError, or *Error of kind ErrMissing or ErrRow.
func Read(ctx context.Context, cfg Config) ([]Numbering, error) {
	c, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	return c.read(ctx)
}

// read is Read with a configuration that was checked.
func (c Config) read(ctx context.Context) ([]Numbering, error) {
	var all []Reading
	var errs []error
	for i := range c.Sources {
		readings, err := c.readSource(ctx, i)
		all, errs = append(all, readings...), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := c.unread(all); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &Error{Subject: "table " + c.Tables[0], Problem: "is empty", Remedy: "Name the table that Leaf reserves from", Kind: ErrMissing}
	}
	return c.group(all)
}

// unread is an error for each tag, and each scattered table, that no source has.
func (c Config) unread(all []Reading) error {
	var errs []error
	nowhere := func(old string) bool {
		return !slices.ContainsFunc(all, func(r Reading) bool { return r.keys[0] == old })
	}
	for _, tag := range c.Tags {
		if nowhere(tag) {
			errs = append(errs, &Error{
				Subject: fmt.Sprintf("tag %q", tag), Problem: "is in no source", Kind: ErrMissing,
				Remedy: "Tags are compared byte by byte; write it as the table does",
			})
		}
	}
	for _, table := range c.Tables {
		if c.Scattered && nowhere(table) {
			errs = append(errs, &Error{
				Subject: "table " + table, Problem: "is in no source, or the accounts may not read it", Kind: ErrMissing,
				Remedy: "Name it as SHOW TABLES does",
			})
		}
	}
	return errors.Join(errs...)
}

// readSource reads all old tables of one source.
func (c Config) readSource(ctx context.Context, i int) (readings []Reading, err error) {
	s, err := openSource(ctx, c.Sources[i])
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	defer func() {
		for i := range readings {
			readings[i].warnings = append(readings[i].warnings, s.warnings()...)
		}
	}()
	var errs []error
	for _, text := range c.Tables {
		t, err := parseTable(text)
		if err != nil {
			return nil, err
		}
		var found []Reading
		if c.Kind == Leaf {
			found, err = s.readLeaf(ctx, s.locate(t), c.Tags)
		} else {
			found, err = s.readCounter(ctx, s.locate(t), text, c)
		}
		readings, errs = append(readings, found...), append(errs, s.explain(err))
	}
	return readings, errors.Join(errs...)
}

// warnings are those that go for every table of a source.
func (s *source) warnings() []string {
	if !s.readOnly {
		return nil
	}
	return []string{s.label + " is read-only. If it is a replica it may lag, and the highest number is not the one that counts: name the primary."}
}

// explain puts what a server says in our words. Other packages speak of the
// fleet's own tables and accounts.
func (s *source) explain(err error) error {
	if mysqlerr.Number(err) == 0 && !mysqlerr.IsUnreachable(err) {
		return err
	}
	if mysqlerr.IsMissingPrivilege(err) {
		return &ticket.ServerError{Server: s.label, Problem: "missing privilege", Remedy: "Grant the account SELECT on the old table.", Err: err}
	}
	return ticket.NewServerError(s.label, err)
}

// missing is for a table that does not show.
func (s *source) missing(t table) error {
	return &Error{
		Source: s.label, Subject: fmt.Sprintf("table %s.%s", t.database, t.name), Problem: "is not there, or the account may not read it", Kind: ErrMissing,
		Remedy: "Name it as SHOW TABLES does. Every source must have every table: import tables of different databases by separate commands",
	}
}

// number reads an integer as a server writes it. What is too large comes out as
// the largest there is.
func number(text string) (value int64, negative bool) {
	negative = strings.HasPrefix(text, "-")
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil && !negative {
		return math.MaxInt64, false
	}
	return value, negative
}

// numberOrNone is number for a value that may be NULL, which counts as 0.
func numberOrNone(text sql.NullString) int64 {
	if !text.Valid {
		return 0
	}
	value, _ := number(text.String)
	return value
}
