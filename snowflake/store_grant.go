package snowflake

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// maxRounds times maxTries bounds the statements of one grant on one server.
	maxRounds = 16
	maxTries  = 4
)

// nonce names one lease. It is never used again.
type nonce [16]byte

func newNonce() nonce {
	var n nonce
	_, _ = rand.Read(n[:]) // never fails
	return n
}

// hold is a lease as its holder knows it.
type hold struct {
	number int64
	offset int64 // of the server that granted it
	nonce  nonce
	rect   rectangle
	time   serverTime // of the server, when it last said so
	terms  rowTerms
}

// fleetStore keeps leases in the rows of a fleet's servers.
type fleetStore struct {
	fleet         *ticket.Fleet
	cfg           Config
	host, process string // for people
}

func newFleetStore(fleet *ticket.Fleet, cfg Config) *fleetStore {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	process := fmt.Sprintf("%d %s", os.Getpid(), filepath.Base(os.Args[0]))
	return &fleetStore{fleet: fleet, cfg: cfg, host: printable(host), process: printable(process)}
}

// printable makes text fit its column.
func printable(s string) string {
	s = strings.ToValidUTF8(s, "?")
	return strings.ToValidUTF8(s[:min(len(s), 255)], "")
}

// grant leases a number of the next server that has one. Errors: the fleet's,
// *NoNumberError, *LayoutConflictError, *ticket.ConfigError.
func (s *fleetStore) grant(ctx context.Context) (hold, error) {
	g := granting{store: s}
	err := s.fleet.Do(ctx, g.on)
	switch {
	case err == nil:
		return g.got, nil
	case g.fatal != nil:
		return hold{}, g.fatal
	case g.none != nil:
		return hold{}, errors.Join(g.none, err)
	default:
		return hold{}, err
	}
}

// granting is one call of grant, over all servers.
type granting struct {
	store *fleetStore
	got   hold
	fatal error          // no server can help
	none  *NoNumberError // of the servers that have none free the one that will be first
}

// on tries one server.
func (g *granting) on(ctx context.Context, c *ticket.Conn) error {
	row, first, err := readSettings(ctx, c)
	if err != nil {
		return err
	}
	terms, err := agree(row, g.store.cfg)
	if err != nil {
		g.fatal = err
		return &ticket.ServerError{Problem: "cannot lease a worker number", Err: err}
	}
	if row.Oldest == nil || *row.Oldest > terms.tick(row.Now) {
		return g.noneFree(ctx, c, terms)
	}
	if err := paceApart(ctx, first); err != nil {
		return err
	}
	return g.draw(ctx, c, terms, first, *row.Oldest)
}

func readSettings(ctx context.Context, c *ticket.Conn) (settingsRow, reading, error) {
	var row settingsRow
	sent := time.Now()
	if err := c.Get(ctx, &row, querySettings); err != nil {
		return row, reading{}, err
	}
	return row, reading{ms: row.Now, sent: sent, received: time.Now()}, nil
}

// noneFree says when the next number of the server is free.
func (g *granting) noneFree(ctx context.Context, c *ticket.Conn, terms rowTerms) error {
	var rows []leaseRow
	if err := c.Select(ctx, &rows, queryNext); err != nil {
		return err
	}
	none := &NoNumberError{}
	if len(rows) > 0 {
		r := rows[0]
		none.Next, none.Parked = terms.layout.TimeOf(r.Until), r.Until == r.ParkedUntil
		none.In = max(0, none.Next.Sub(time.UnixMilli(r.Now)))
	}
	if g.none == nil || !none.Next.IsZero() && (g.none.Next.IsZero() || none.Next.Before(g.none.Next)) {
		g.none = none
	}
	return &ticket.ServerError{Problem: "has no free worker number", Kind: ErrNoNumber}
}

// draw picks free numbers at random until one is granted. Many clients may be
// doing the same: whoever loses a race knows that somebody else has won.
func (g *granting) draw(ctx context.Context, c *ticket.Conn, terms rowTerms, first reading, oldest int64) error {
	for round := range maxRounds {
		rows, second, err := g.candidates(ctx, c, terms, first.ms, oldest, round)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return g.noneFree(ctx, c, terms)
		}
		if err := checkPace(first, second); err != nil {
			return err
		}
		for _, row := range rows[:min(len(rows), maxTries)] {
			if done, err := g.take(ctx, c, terms, row); done || err != nil {
				return err
			}
		}
	}
	return &ticket.ServerError{Problem: fmt.Sprintf("gave %d worker numbers to others that we had chosen", maxRounds*maxTries), Remedy: "Try again."}
}

// candidates are some free numbers in random order: from a random number on among
// those that have been free for longest, in every other round from a random time on.
func (g *granting) candidates(ctx context.Context, c *ticket.Conn, terms rowTerms, now, oldest int64, round int) ([]freeRow, reading, error) {
	tick := terms.tick(now)
	from, number := oldest, mathrand.Int64N(terms.layout.MaxWorker()+1)
	if round%2 == 1 {
		from = oldest + mathrand.Int64N(tick-oldest+1)
	}
	var rows []freeRow
	var read reading
	for _, start := range [][2]int64{{from, number}, {0, 0}} {
		read.sent = time.Now()
		if err := c.Select(ctx, &rows, queryFree, start[0], start[1], start[0], tick); err != nil {
			return nil, read, err
		}
		read.received = time.Now()
		if len(rows) > 0 {
			break
		}
	}
	offset, increment := c.Class()
	owner := schema.Class{Offset: offset, Increment: increment}
	for _, row := range rows {
		read.ms = row.Now
		if row.Gen != c.Gen() || !row.Commits {
			return nil, read, c.Changed()
		}
		if !owner.OwnsWorker(row.Number) || row.Number > terms.layout.MaxWorker() {
			return nil, read, &ticket.ServerError{Problem: fmt.Sprintf("has worker number %d, which is not its own", row.Number),
				Remedy: "Somebody changed the table workers by hand; restore it."}
		}
	}
	mathrand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows, read, nil
}

// take tries to get one number. What the server grants without our learning of
// it is lost until that lease has run out.
func (g *granting) take(ctx context.Context, c *ticket.Conn, terms rowTerms, row freeRow) (bool, error) {
	n, epoch, unit := newNonce(), terms.layout.epoch, terms.layout.unit
	sent := time.Now()
	now, matched, err := c.Exec(ctx, queryGrant, epoch, unit, epoch, unit, terms.length, n[:], g.store.host, g.store.process,
		row.Number, epoch, unit, c.Gen(), c.ID())
	if mysqlerr.IsRetryable(err) {
		return false, nil
	}
	if err != nil || matched == 0 {
		return false, err
	}
	offset, _ := c.Class()
	from := terms.tick(now)
	g.got = hold{
		number: row.Number, offset: offset, nonce: n, terms: terms,
		rect: rectangle{from: from, until: terms.end(from + terms.length)},
		time: serverTime{ms: now, read: sent},
	}
	return true, nil
}
