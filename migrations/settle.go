package migrations

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// rowsPerInsert keeps a statement far below max_allowed_packet.
const rowsPerInsert = 1000

// settle notes which servers are dead, gives every server without a row its row,
// its worker numbers and its floors, completes the worker numbers of the others,
// and writes every server into the records of its peers.
func (c *crew) settle(ctx context.Context) {
	c.each(func(m *member) error { return c.retire(ctx, m) }) // before another server has the offset
	c.warnUnknown()
	c.found(ctx)
	c.each(func(m *member) error { return c.completeWorkers(ctx, m) })
	c.each(func(m *member) error { return c.recordPeers(ctx, m) })
}

// found makes the rows of new servers. It needs to see the whole fleet: the
// offset of a server that does not answer might be given away.
func (c *crew) found(ctx context.Context) {
	if c.halted {
		return
	}
	var fresh []*member
	var positions []int
	for i, m := range c.members {
		if m.ok() && m.row == nil {
			fresh = append(fresh, m)
			positions = append(positions, i)
		}
	}
	if len(fresh) == 0 {
		return
	}
	if missing := c.absent(); len(missing) > 0 {
		for _, m := range fresh {
			m.refuse(ErrWaiting, "has its tables, but gets no offset while "+strings.Join(missing, ", ")+" cannot be asked for theirs",
				"Run `oddeven migrate up` again when every server answers.")
		}
		return
	}
	if apart := c.apart(); farApart(apart) {
		for _, m := range fresh {
			m.refuse(ErrClocks, fmt.Sprintf("has its tables, but gets no offset while the clocks of the servers are %d seconds apart", apart),
				"Set the clocks, and run `oddeven migrate up` again.")
		}
		return
	}
	past, err := c.survey(ctx)
	if err == nil && len(past.held) > 0 {
		for _, m := range fresh {
			m.refuse(ErrWaiting, "has its tables, but gets no offset while "+strings.Join(past.held, " and "),
				"`oddeven sequence repair` says what to do about it; then run `oddeven migrate up` again.")
		}
		return
	}
	if err == nil {
		err = past.assign(c, fresh, positions)
	}
	for _, m := range fresh {
		if err != nil {
			m.fail(err)
			continue
		}
		m.fail(c.create(ctx, m, past))
	}
}

// absent are the servers that could not be worked on.
func (c *crew) absent() []string {
	var names []string
	for _, m := range c.members {
		if !m.ok() {
			names = append(names, m.report.Server)
		}
	}
	return names
}

// past is what the fleet has issued so far, as far as its servers know.
type past struct {
	template  schema.Server // settings of the fleet
	virgin    bool          // nothing has ever been issued, so nothing must be leapt over
	ticketTop int64         // round that no ticket of the fleet lies above
	// ticketLine is the highest clock line of all servers, also of those that
	// have issued nothing: a server that is not here may have been as far.
	ticketLine int64
	ticketPeak int64 // most rounds of tickets that a server has used in an hour
	sequences  map[string]sequencePast
	claims     []claim
	held       []string // sequences of which nobody may know how far they are
	unnamed    []string // servers of the fleet that are remembered and not here
	offsets    map[*member]int64
}

// survey reads it, under the locks of all servers.
func (c *crew) survey(ctx context.Context) (*past, error) {
	p := &past{virgin: true, sequences: map[string]sequencePast{}}
	known := map[schema.Identity]bool{}
	for _, m := range c.members {
		if m.row != nil {
			p.template = *m.row
			known[m.row.Identity] = true
			p.claims = append(p.claims, claim{m.row.Offset, m.report.Server})
		}
	}
	if len(known) == 0 {
		r, err := c.cfg.Settings.resolve(len(c.members), time.Now())
		if err != nil {
			return nil, err
		}
		p.template = newFleet(r)
	}
	for _, m := range c.members {
		if err := p.add(ctx, c, m, known); err != nil {
			return nil, fmt.Errorf("survey %s: %w", m.report.Server, err)
		}
	}
	if !p.virgin {
		// As in the fence: past the line a server that is not here may have been further.
		last := p.template.Class().LastRound(p.template.TicketCeiling)
		p.ticketTop = schema.Leap(p.ticketLine, p.ticketTop, max(p.ticketPeak, schema.LevelAfter), last)
	}
	return p, nil
}

func newFleet(r resolved) schema.Server {
	s := schema.Server{
		Increment: r.increment, ShardBits: r.shardBits, Layout: r.layout.String(),
		TickMS: r.layout.Unit().Milliseconds(), EpochMS: r.layout.Epoch().UnixMilli(),
		LongestLeaseMS: r.longestLease.Milliseconds(), MinClient: schema.Client,
		TicketCeiling: schema.CeilingFor(r.shardBits),
	}
	_, _ = rand.Read(s.Fleet[:]) // never fails
	return s
}

// add takes in what one server knows.
func (p *past) add(ctx context.Context, c *crew, m *member, known map[schema.Identity]bool) error {
	if m.report.Version == 0 || (c.cfg.DryRun && m.version == 0) {
		return nil // no tables, so nothing issued
	}
	last, err := m.lastTicket(ctx)
	if err != nil {
		return err
	}
	now, err := c.now(ctx, m)
	if err != nil {
		return err
	}
	used, err := m.allocations(ctx)
	if err != nil {
		return err
	}
	p.virgin = p.virgin && len(used) == 0
	p.ticketTop = max(p.ticketTop, p.roundsFor(last))
	if m.row == nil {
		return nil
	}
	highest, err := m.committedTicket(ctx)
	if err != nil {
		return err
	}
	p.ticketLine = max(p.ticketLine, m.row.TicketLine().At(now))
	p.ticketPeak = max(p.ticketPeak, m.row.TicketPeak, p.roundsFor(highest)-m.row.TicketHourRound)
	rows, err := m.sequences(ctx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if row.Held {
			p.held = append(p.held, fmt.Sprintf("sequence %q is held back on %s", row.Name, m.report.Server))
		}
		p.addSequence(row, m.row.Class(), now)
	}
	peers, err := m.peers(ctx)
	if err != nil {
		return err
	}
	p.addPeers(c, peers, known)
	return nil
}

// roundsFor is the first round in which every class of the fleet is above id.
func (p *past) roundsFor(id int64) int64 {
	n := p.template.Increment
	return (id + n - 1) / n
}

// sequencePast is how far the servers know a sequence to be.
type sequencePast struct {
	sequenceRow       // the newest state of a server, the greatest rounds and peak of any
	reached     int64 // the greatest clock line of any
}

// addSequence raises what is known of a sequence.
func (p *past) addSequence(row sequenceRow, class schema.Class, now int64) {
	have, found := p.sequences[string(row.Name)]
	all := have
	if !found || row.newer(have.sequenceRow) {
		all.sequenceRow = row
	}
	all.Rounds, all.Peak = max(have.Rounds, row.Rounds), max(have.Peak, row.Peak)
	all.reached = max(have.reached, row.line(class).At(now))
	p.sequences[string(row.Name)] = all
}

// start is the round that a new row begins at: above every server's value and
// every server's clock line.
func (s sequencePast) start(class schema.Class, now int64) int64 {
	line := s.line(class)
	reached := max(s.reached, line.At(now))
	round := schema.Leap(reached, s.Rounds, s.Peak, line.Last)
	if s.Rounds > reached {
		// No less than an hour at the rate of the line, where the servers that are
		// left have hardly been used.
		round = max(round, schema.ClockLine{Base: s.Rounds, Birth: now, Last: line.Last}.At(now))
	}
	return round
}

// addPeers finds servers that are remembered but not here.
func (p *past) addPeers(c *crew, peers []peerRow, known map[schema.Identity]bool) {
	for _, peer := range peers {
		if known[peer.Identity] {
			continue
		}
		p.virgin = false // it may have issued anything
		if peer.RetiredAt.Valid || slices.Contains(c.cfg.Retired, peer.Offset) {
			continue
		}
		who := fmt.Sprintf("offset %d belongs to server %s, which is not named here", peer.Offset, peer.Identity)
		if !slices.Contains(p.unnamed, who) {
			p.unnamed = append(p.unnamed, who)
		}
	}
}

// assign chooses the offsets of the new servers, if the whole fleet is here.
func (p *past) assign(c *crew, fresh []*member, positions []int) error {
	offsets, err := assignOffsets(positions, p.template.Increment, p.claims)
	if len(p.unnamed) > 0 { // it may know of more servers, whose offsets are not free
		err = errors.New("no offset can be given away: " + strings.Join(p.unnamed, "; "))
	}
	if err != nil {
		return &ticket.ServerError{
			Problem: err.Error(), Kind: ErrOffsets,
			Remedy: "Name all servers of the fleet. If one is dead for good, give its offset free with --retired OFFSET.",
		}
	}
	p.offsets = map[*member]int64{}
	for i, m := range fresh {
		p.offsets[m] = offsets[i]
	}
	return nil
}

// create writes everything that makes a server one of the fleet, in one transaction.
func (c *crew) create(ctx context.Context, m *member, p *past) error {
	now, err := c.now(ctx, m)
	if err != nil {
		return err
	}
	row := p.template
	row.Offset, row.Gen = p.offsets[m], 1
	row.ServerUUID, row.StartedAt = m.inc.ServerUUID, m.inc.StartedAt
	row.TicketBase, row.TicketBirth = p.ticketTop, now
	floor := p.ticketTop
	if !p.virgin {
		floor = row.TicketLine().At(now)
	}
	row.TicketPeak, row.TicketHour, row.TicketHourRound = 0, now/3600, floor // a leap is no use
	_, _ = rand.Read(row.Identity[:])                                        // never fails

	statements := []stmt{insertServer(row, now)}
	if floor > 0 || !p.virgin {
		statements = append(statements, insertFloor(row.Class().ID(floor)))
	}
	for _, name := range sortedKeys(p.sequences) {
		statements = append(statements, insertSequence(p.sequences[name], row, now))
	}
	layout, err := snowflake.ParseLayout(row.Layout)
	if err != nil {
		return err
	}
	var free int64 // a number of a new fleet has never been leased
	if !p.virgin {
		free = row.Tick((now+1)*1000 + row.LongestLeaseMS)
	}
	statements = append(statements, insertWorkers(row.Class().Workers(layout.MaxWorker()+1), row.Gen, free)...)

	m.report.Done = append(m.report.Done, fmt.Sprintf("join the fleet as offset %d of %d", row.Offset, row.Increment))
	if err := c.perform(ctx, m, statements); err != nil {
		return err
	}
	m.report.Offset = row.Offset
	if !c.cfg.DryRun {
		m.report.Identity = row.Identity.String()
		m.row = &row
	}
	return nil
}

// perform runs the statements in one transaction, or notes them in a dry run.
func (c *crew) perform(ctx context.Context, m *member, statements []stmt) error {
	if len(statements) == 0 {
		return nil
	}
	if c.cfg.DryRun {
		m.report.State = StatePlanned
		for _, s := range statements {
			m.report.SQL = append(m.report.SQL, s.String())
		}
		return nil
	}
	if err := m.runAll(ctx, statements); err != nil {
		return err
	}
	m.report.State = StateMigrated
	return nil
}

// completeWorkers inserts numbers whose row is missing. Nobody knows whether
// such a number is leased, so it stays parked for one longest lease.
func (c *crew) completeWorkers(ctx context.Context, m *member) error {
	if m.row == nil || c.cfg.DryRun && m.version < Latest() {
		return nil
	}
	layout, err := snowflake.ParseLayout(m.row.Layout)
	if err != nil {
		return err
	}
	missing, err := m.missingWorkers(ctx, m.row.Class(), layout.MaxWorker()+1)
	if err != nil || len(missing) == 0 {
		return err
	}
	now, err := c.now(ctx, m)
	if err != nil {
		return err
	}
	m.report.Done = append(m.report.Done, fmt.Sprintf("add %d missing worker numbers, parked for %s", len(missing), m.row.LongestLease()))
	parked := m.row.Tick((now+1)*1000 + m.row.LongestLeaseMS)
	return c.perform(ctx, m, insertWorkers(missing, m.row.Gen, parked))
}
