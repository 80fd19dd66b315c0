package snowflake

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/oddeven/oddeven/ticket"
)

// releaseMargin is how far into the future a holder that is dead may have used
// ticks: MaxAhead, and the time that a reply of the server took.
const releaseMargin = longestAhead + time.Minute

// LeaseState says whether a worker number can be leased.
type LeaseState string

// The states of a worker number.
const (
	LeaseFree   LeaseState = "free"   // can be leased
	LeaseHeld   LeaseState = "leased" // somebody has it until Lease.Until, unless he renews
	LeaseParked LeaseState = "parked" // kept back until Lease.Until, because its server was restarted; its holder, if there is one, goes on
)

// Lease is the lease of one worker number as its server's row has it. All times
// are of the server's clock, in UTC.
type Lease struct {
	Number  int64
	Server  string // host:port/database
	State   LeaseState
	Host    string    // of the last holder
	Process string    // of the last holder: ID and name
	Since   time.Time // when it was granted; zero if it never was
	Renewed time.Time // when it was last renewed; zero if it was not
	Until   time.Time // end of the ticks that were granted or parked; zero if there never were any
	Last    time.Time // tick used last, as of the last renewal or the release; zero if not known
	Read    time.Time // when this was so

	offset int64
	until  int64 // tick
	holder []byte
}

// listRow is what queryList reads.
type listRow struct {
	Number  int64        `db:"number"`
	Holder  []byte       `db:"holder"`
	Until   int64        `db:"until_tick"`
	Parked  int64        `db:"parked_until"`
	Last    int64        `db:"last_tick"`
	Host    string       `db:"host"`
	Process string       `db:"process"`
	Granted sql.NullTime `db:"granted_at"`
	Renewed sql.NullTime `db:"renewed_at"`
}

// Leases lists all worker numbers of the servers that are up, in order. The errors
// are in the order of ticket.Config.Servers: nil for a server that answered, else a
// *ticket.ServerError, ticket.ErrClosed, or ctx's own. It reads without locking.
// ctx bounds it.
func Leases(ctx context.Context, fleet *ticket.Fleet) ([]Lease, []error) {
	var mu sync.Mutex // guards all
	var all []Lease
	errs := fleet.Each(ctx, func(ctx context.Context, c *ticket.Conn) error {
		leases, err := listOn(ctx, c)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, leases...)
		return nil
	})
	slices.SortFunc(all, func(a, b Lease) int { return cmp.Compare(a.Number, b.Number) })
	return all, errs
}

// listOn reads all rows of one server.
func listOn(ctx context.Context, c *ticket.Conn) ([]Lease, error) {
	row, _, err := readSettings(ctx, c)
	if err != nil {
		return nil, err
	}
	layout, err := ParseLayout(row.Layout)
	if err != nil {
		return nil, fmt.Errorf("read layout of the fleet: %w", err)
	}
	var rows []listRow
	if err := c.Select(ctx, &rows, queryList); err != nil {
		return nil, err
	}
	offset, _ := c.Class()
	terms := rowTerms{layout: layout}
	leases := make([]Lease, len(rows))
	for i, r := range rows {
		leases[i] = r.lease(terms, row.Now)
		leases[i].Server, leases[i].offset = c.Server(), offset
	}
	return leases, nil
}

// lease says what a row means at a time of the server.
func (r listRow) lease(terms rowTerms, now int64) Lease {
	l := Lease{
		Number: r.Number, State: LeaseFree, Host: r.Host, Process: r.Process, Since: r.Granted.Time, Renewed: r.Renewed.Time,
		Read: time.UnixMilli(now).UTC(), until: r.Until, holder: r.Holder,
	}
	if r.Until > 0 {
		l.Until = terms.layout.TimeOf(r.Until)
	}
	if r.Last > 0 {
		l.Last = terms.layout.TimeOf(r.Last)
	}
	switch {
	case r.Until <= terms.tick(now):
	case r.Until <= r.Parked:
		l.State = LeaseParked
	default:
		l.State = LeaseHeld
	}
	return l
}

// ErrRenewed is returned by ForceRelease when the row has another end or holder
// than was read: the holder has renewed the lease, so the process is alive, or
// somebody else has the number, or the server was restarted and has parked it.
// Nothing was changed.
var ErrRenewed = errors.New("snowflake: the lease is not as it was read: its holder is alive, somebody else has the number by now, or its server was restarted")

// ForceRelease makes a worker number free although its lease can still be in use,
// and returns when it will be: two minutes after now, or when the lease ends if
// that is earlier. It is for an operator who knows that the holder is dead and
// stays so: one who is alive, frozen or cut off, makes the same IDs as whoever
// gets the number next, until it learns of the release. A holder that can reach
// the server learns of it at its next renewal, and stops.
//
// If the holder had a Config.StateFile, remove that too before the process is
// started again: a process that takes a lease up asks the server first, but goes
// on with it if the server does not answer.
//
// Errors: ErrRenewed; ticket.ErrUnavailable with the reason if the number's
// server can't be reached; ctx's own.
func ForceRelease(ctx context.Context, fleet *ticket.Fleet, l Lease) (free time.Time, err error) {
	var renewed error
	err = fleet.DoOn(ctx, l.offset, func(ctx context.Context, c *ticket.Conn) error {
		row, _, err := readSettings(ctx, c)
		if err != nil {
			return err
		}
		layout, err := ParseLayout(row.Layout)
		if err != nil {
			return err
		}
		until := min(l.until, rowTerms{layout: layout}.tick(row.Now+releaseMargin.Milliseconds())+1)
		_, matched, err := execAgain(ctx, c, queryForceRelease, until, until, l.Number, l.until, l.holder, c.Gen(), c.ID())
		if renewed = nil; err == nil && matched == 0 {
			until, renewed, err = notReleased(ctx, c, l)
		}
		free = layout.TimeOf(until)
		return err
	})
	if err == nil {
		err = renewed
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("release worker number %d: %w", l.Number, err)
	}
	return free, nil
}

// notReleased is why a row was not released: renewed if it is not as it was read.
// If it is, the server or the connection is not what it was, and it is tried again.
// Without any error it was released before, until when the number is kept back: by
// this call, whose reply was lost, or by its holder.
func notReleased(ctx context.Context, c *ticket.Conn, l Lease) (until int64, renewed, err error) {
	var row leaseRow
	err = c.Get(ctx, &row, queryLease, l.Number)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, errors.New("snowflake: its row is gone"), nil
	case err != nil:
		return 0, nil, err
	case row.Gen == c.Gen() && row.Holder == nil && row.Until < l.until:
		return row.Until, nil, nil
	case row.Gen == c.Gen() && (row.Until != l.until || !bytes.Equal(row.Holder, l.holder)):
		return 0, ErrRenewed, nil
	}
	return 0, nil, c.Changed()
}
