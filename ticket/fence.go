package ticket

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"

	"github.com/oddeven/oddeven/internal/schema"
)

// fence is everything that is known when a server is fenced. It is used once.
type fence struct {
	reason string
	by     string // this client, for people
	survey *survey
	newest record     // what the peers remember of the server; zero if nothing
	peers  []*survey  // of all other servers that are reachable
	above  []sequence // the sequences on those servers, and as this client has seen them on any
	seen   int64      // highest ticket that this client has seen from this server
	floor  int64      // highest ticket that this client has seen from any server
	clock  int64      // latest time of this server that this client has read, carried on to now; Unix seconds
	latest int64      // latest time of any server that is reachable, carried on to now; Unix seconds

	now  int64 // server time inside the transaction, never before clock
	line int64 // the same, and never before latest: where clock lines are looked at
	gen  int64 // the new generation
	held []heldBack

	before map[string]int64 // rounds of the server's sequences before they leapt
}

// sequence is what the fence reads of one, on one server.
type sequence struct {
	Name    []byte `db:"name"`
	Rounds  int64  `db:"rounds"`
	Base    int64  `db:"base"`
	Birth   int64  `db:"birth"`
	Ceiling int64  `db:"ceiling"`
	Peak    int64  `db:"peak"`
	Held    bool   `db:"held"` // back: others are known to be further
}

func (s sequence) line(class schema.Class) schema.ClockLine {
	return schema.ClockLine{Base: s.Base, Birth: s.Birth, Last: class.LastRound(s.Ceiling)}
}

// heldBack is a sequence that the fence found too far behind.
type heldBack struct {
	name        string
	own, others int64 // rounds
}

// errFencedMeanwhile is returned when the row is no longer what it was: another
// client was faster. Looking again tells.
var errFencedMeanwhile = errors.New("ticket: fenced by another client meanwhile")

// run fences the server behind c: see the package documentation. What it
// returns is trusted only after the commit was confirmed; any error means that
// nobody knows, and that the row has to be read again on a new connection.
func (f *fence) run(ctx context.Context, c *Conn) (err error) {
	if _, _, err := c.Exec(ctx, queryFencePatience); err != nil {
		return fmt.Errorf("set wait_timeout: %w", err)
	}
	err = c.inTx(ctx, func(tx *txn) error {
		for _, step := range []func(context.Context, *txn) error{f.lock, f.leapTickets, f.leapSequences, f.raiseSequences, f.parkWorkers, f.store} {
			if err := step(ctx, tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if _, _, err := c.Exec(ctx, queryNormalPatience); err != nil {
		return fmt.Errorf("restore wait_timeout: %w", err)
	}
	return nil
}

// txn is a transaction of the keeper's.
type txn struct{ *sqlx.Tx }

// inTx runs f in a transaction, which is undone if f fails. Any error means that
// nobody knows what became of it, unless it is f's own.
func (c *Conn) inTx(ctx context.Context, f func(*txn) error) (err error) {
	t, err := c.conn.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	if err := f(&txn{t}); err != nil {
		if undo := t.Rollback(); undo != nil && !errors.Is(undo, sql.ErrTxDone) {
			err = errors.Join(err, undo)
		}
		return err
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// lock takes the server's row and makes sure that the reason still stands.
func (f *fence) lock(ctx context.Context, tx *txn) error {
	var gen int64
	if err := tx.GetContext(ctx, &gen, queryLockServer); err != nil {
		return fmt.Errorf("lock server row: %w", err)
	}
	row, err := schema.ReadServer(ctx, tx)
	if err != nil {
		return err
	}
	inc, err := schema.ReadIncarnation(ctx, tx)
	if err != nil {
		return err
	}
	had := f.survey.row
	if row.Gen != had.Gen || row.ServerUUID != had.ServerUUID || row.StartedAt != had.StartedAt {
		return errFencedMeanwhile
	}
	if inc.ServerUUID != f.survey.incarnation.ServerUUID || inc.StartedAt != f.survey.incarnation.StartedAt {
		return errFencedMeanwhile
	}
	f.survey.row = row
	f.now = max(inc.Now, f.clock)
	f.line = max(f.now, f.latest)
	f.gen = max(row.Gen, f.newest.Gen) + 1
	return nil
}

// leapTickets moves the counter beyond everything that the server may have
// issued and forgotten.
func (f *fence) leapTickets(ctx context.Context, tx *txn) error {
	row := f.survey.row
	n := row.Increment
	highest, top, err := readTickets(ctx, tx.Tx)
	if err != nil {
		return err
	}
	own, reached := roundsFor(top, n), ticketLines(row, f.peers, f.line)
	theirs, ahead := mostTickets(f.peers, f.floor, n)
	// What this client has seen from the server itself is certain, however far it is.
	if err := checkBehind(row, max(top, f.seen), reached, theirs, ahead); err != nil {
		return err
	}
	floor := max(roundsFor(f.seen, n), theirs)
	if max(own, floor) > reached {
		// Beyond the clock line. What the server issued last, and forgot, its peers
		// know up to how far they are levelled, or what is used in an hour. What was
		// used is committed; the counter may also have been moved by a fence that
		// was cut off, and that leap must not make the next one larger.
		row.TicketPeak = max(row.TicketPeak, roundsFor(highest, n)-row.TicketHourRound)
		margin := max(row.TicketPeak, levelAfter)
		for _, p := range f.peers {
			margin = max(margin, p.row.TicketPeak)
		}
		own, floor = own+margin, floor+margin
	}
	target := min(row.TicketLine().Last, max(own, reached, floor))
	row.TicketHour, row.TicketHourRound = f.now/3600, max(target, own)
	f.survey.row = row
	if id := row.Class().ID(target); id > top {
		if _, err := tx.ExecContext(ctx, queryLeapTickets, id); err != nil {
			return fmt.Errorf("leap tickets: %w", err)
		}
	}
	return nil
}

// roundsFor is the first round in which every class of increment n is above id.
func roundsFor(id, n int64) int64 { return id/n + min(1, id%n) }

// ticketLines is the highest clock line of the tickets of all servers that are known,
// at a time in Unix seconds.
func ticketLines(row schema.Server, peers []*survey, now int64) int64 {
	reached := row.TicketLine().At(now)
	for _, p := range peers {
		reached = max(reached, p.row.TicketLine().At(now))
	}
	return reached
}

// mostTickets is the highest round of tickets that is known of other servers, and the
// one that stands there, nil if only this client has seen it.
func mostTickets(peers []*survey, seen, n int64) (round int64, ahead *survey) {
	for _, p := range peers {
		if p.top > seen {
			seen, ahead = p.top, p
		}
	}
	return roundsFor(seen, n), ahead
}

// checkBehind keeps a server out whose tickets are so far behind that either it has
// forgotten more than a fence can make good, or another counter was damaged. reached
// is where the clock lines are.
func checkBehind(row schema.Server, top, reached, theirs int64, ahead *survey) error {
	line := row.TicketLine()
	theirs = min(theirs, line.Last)
	if theirs <= max(reached, roundsFor(top, row.Increment)+line.MaxDrift()) {
		return nil
	}
	other, offset := "which this client has seen", "OFFSET"
	if ahead != nil {
		other, offset = fmt.Sprintf("where the server with offset %d stands", ahead.row.Offset), strconv.FormatInt(ahead.row.Offset, 10)
	}
	there := row.Class().ID(theirs)
	return &ServerError{
		Problem: fmt.Sprintf("its tickets stand at %d, too far behind %d, %s: it has forgotten what it issued, or the other counter was moved by hand", top, there, other),
		// The second statement keeps the leap from counting as use, which would be the
		// margin of the next one.
		Remedy: fmt.Sprintf("If tickets up to there may be in use, take this server there: REPLACE INTO tickets (stub, id) VALUES (0, %d); "+
			"UPDATE server SET ticket_hour_round = GREATEST(ticket_hour_round, %d); "+
			"if none is, leave the other server out of every client's configuration and retire it (`oddeven migrate up --retired %s`).", there, theirs+1, offset),
		Kind: ErrBehind,
	}
}

// leapSequences takes every sequence to its clock line and gives it the new
// generation, unless it is held back.
func (f *fence) leapSequences(ctx context.Context, tx *txn) error {
	var before []sequence
	if err := tx.SelectContext(ctx, &before, querySequenceRounds); err != nil {
		return fmt.Errorf("read sequences: %w", err)
	}
	for _, s := range before {
		f.before[string(s.Name)] = s.Rounds
	}
	n := f.survey.row.Increment
	_, err := tx.ExecContext(ctx, queryLeapSequences, n, f.line, n, f.line, n, schema.HeldBack, f.gen)
	if err != nil {
		return fmt.Errorf("leap sequences: %w", err)
	}
	return nil
}

// raiseSequences takes the sequences to what the other servers know, where
// that is more than the clock line. A sequence that is too far behind to follow
// has forgotten more than it can make good, or a row of another server was
// damaged. Nobody can tell, so it is held back until an operator has.
func (f *fence) raiseSequences(ctx context.Context, tx *txn) error {
	var own []sequence
	if err := tx.SelectContext(ctx, &own, querySequenceRounds); err != nil {
		return fmt.Errorf("read sequences: %w", err)
	}
	class := f.survey.row.Class()
	at := make(map[string]int, len(own))
	reached := make([]int64, len(own))
	for i, s := range own {
		at[string(s.Name)], reached[i] = i, s.line(class).At(f.line)
	}
	for _, s := range f.above {
		if i, found := at[string(s.Name)]; found {
			reached[i] = max(reached[i], s.line(class).At(f.line))
		}
	}
	target := append([]int64{}, reached...)
	known := make([]int64, len(own)) // highest round of a row that nothing is held against
	for i, s := range own {
		known[i] = f.before[string(s.Name)]
	}
	for _, s := range f.above {
		i, found := at[string(s.Name)]
		if !found {
			continue
		}
		if !s.Held {
			known[i] = max(known[i], s.Rounds)
		}
		line := own[i].line(class)
		if s.Rounds > max(reached[i], own[i].Rounds+line.MaxDrift(), s.Base+s.line(class).MaxDrift()) {
			if err := f.holdBack(ctx, tx, own[i], s.Rounds); err != nil {
				return err
			}
			continue
		}
		// What the server reserved last, and forgot, its peers need not know.
		theirs := schema.Leap(reached[i], s.Rounds, max(s.Peak, own[i].Peak), line.Last)
		target[i] = max(target[i], theirs)
	}
	for _, s := range f.above {
		// Others were further than this one when it was held back, and nobody who can
		// be asked says how far.
		if i, found := at[string(s.Name)]; found && s.Held && known[i] <= s.Rounds {
			if err := f.holdBack(ctx, tx, own[i], s.Rounds); err != nil {
				return err
			}
		}
	}
	for i, s := range own {
		if target[i] <= s.Rounds {
			continue
		}
		last := s.line(class).Last
		if _, err := tx.ExecContext(ctx, queryRaiseSequence, min(target[i], max(last, s.Rounds)), s.Name); err != nil {
			return fmt.Errorf("raise sequence %q: %w", s.Name, err)
		}
	}
	return nil
}

// holdBack keeps everybody from reserving on the server.
func (f *fence) holdBack(ctx context.Context, tx *txn, own sequence, others int64) error {
	f.held = append(f.held, heldBack{name: string(own.Name), own: own.Rounds, others: others})
	if _, err := tx.ExecContext(ctx, queryHoldBack, schema.HeldBack, own.Name); err != nil {
		return fmt.Errorf("hold sequence %q back: %w", own.Name, err)
	}
	return nil
}

// parkWorkers keeps every worker number from being granted until the longest
// lease that may have been forgotten has run out.
func (f *fence) parkWorkers(ctx context.Context, tx *txn) error {
	row := f.survey.row
	until := row.Tick((f.now+1)*1000 + row.LongestLeaseMS)
	if _, err := tx.ExecContext(ctx, queryParkWorkers, until, until, f.gen); err != nil {
		return fmt.Errorf("park workers: %w", err)
	}
	return nil
}

// store writes generation, incarnation and reason.
func (f *fence) store(ctx context.Context, tx *txn) error {
	row, inc := f.survey.row, f.survey.incarnation
	_, err := tx.ExecContext(ctx, queryStoreFence, f.gen, inc.ServerUUID, inc.StartedAt, shorten(f.reason, 255), shorten(f.by, 255),
		row.TicketPeak, row.TicketHour, row.TicketHourRound)
	if err != nil {
		return fmt.Errorf("store fence: %w", err)
	}
	return nil
}

// shorten cuts s to at most n bytes, whole characters only.
func shorten(s string, n int) string {
	for len(s) > n {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
