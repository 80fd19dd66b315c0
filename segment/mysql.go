package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/oddeven/oddeven/internal/mysqlerr"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

const (
	// maxSends bounds how often a statement is sent again on one connection: after
	// a deadlock, closer to the end, or with a floor that was held against the
	// clock line.
	maxSends = 4
	// maxRefused bounds how many ranges in a row are refused because their server
	// is ahead of all others.
	maxRefused = 3
	// maxShare bounds a refill to this part of what a server follows the others by,
	// so that several in a row of one server leave none behind.
	maxShare = 16
)

// fleetSource reserves rounds of one sequence, on the servers of a fleet in
// turn. There is one for each Allocator.
type fleetSource struct {
	fleet *ticket.Fleet
	name  string
	log   *slog.Logger

	mu      sync.Mutex // guards all below; never held across I/O
	highs   []high     // of servers that have answered
	ceiling int64      // as last read
	base    int64      // of the clock line, likewise
	lost    int64      // reservations whose outcome is not known, or that were refused
}

// high is the highest round seen from the server with an offset.
type high struct {
	offset, round int64
	server        string // host:port/database, when that was
}

// NewSource returns the source that Open uses, for callers who put something
// between it and the Allocator. It does no I/O. The error is a
// *ticket.ConfigError for a name that no sequence can have.
func NewSource(fleet *ticket.Fleet, name string) (Source, error) {
	if err := sequence.CheckName(name); err != nil {
		return nil, err
	}
	return &fleetSource{fleet: fleet, name: name, log: slog.New(slog.DiscardHandler)}, nil
}

// state is a sequence on the server with an offset.
type state struct {
	offset int64
	server string // host:port/database
	row
}

// Floor returns the highest round reserved on any server that answers, but for
// one that is further ahead than the others can believe: that is reported in the
// log. Servers that do not answer are not waited for longer than
// ticket.Config.Timeout. An error of kind ErrUnknownSequence says that no server
// that answers has the sequence.
func (s *fleetSource) Floor(ctx context.Context) (int64, error) {
	states, err := s.states(ctx)
	if len(states) == 0 {
		return 0, err
	}
	if err != nil {
		s.log.Warn("segment: floor of the sequence not known from every server", "sequence", s.name, "error", err)
	}
	var floor int64
	for _, st := range states {
		s.noteLine(st.row)
		if !believed(states, st.offset, st.Rounds) {
			s.log.Error("segment: floor ignored, no other server can believe it; `oddeven sequence repair` says what to do", "sequence", s.name, "server", st.server, "round", st.Rounds)
			continue
		}
		floor = max(floor, st.Rounds)
	}
	return floor, nil
}

// states asks all servers side by side. The error joins why some did not answer,
// and is of kind ErrUnknownSequence alone if all that answer lack the sequence.
func (s *fleetSource) states(ctx context.Context) ([]state, error) {
	var mu sync.Mutex
	var states []state
	rows := 0 // of any kind
	errs := s.fleet.Each(ctx, func(ctx context.Context, c *ticket.Conn) error {
		r, err := read(ctx, c, s.name)
		if err != nil {
			return err
		}
		offset, _ := c.Class()
		mu.Lock()
		defer mu.Unlock()
		rows++
		switch {
		case r.Gen > c.Gen():
			return c.Changed() // it has heard of something that this client has not
		case r.Gen < c.Gen(): // where it stands says nothing of what was issued
			return s.outdated(r, c)
		}
		states = append(states, state{offset: offset, server: c.Server(), row: r})
		return nil
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	err := errors.Join(errs...)
	if len(states) == 0 {
		if rows == 0 && errors.Is(err, ErrUnknownSequence) {
			return nil, &UnknownSequenceError{Sequence: s.name, Err: err}
		}
		return nil, errors.Join(ticket.ErrUnavailable, err)
	}
	return states, err
}

// believed reports whether the round that a server is at can be honest: another
// one would follow it there, or there is no other one to ask.
func believed(states []state, offset, round int64) bool {
	asked := false
	for _, st := range states {
		if st.offset == offset {
			continue
		}
		asked = true
		if round <= st.reach {
			return true
		}
	}
	return !asked
}

// Reserve reserves rounds on the next server that is up; if that fails, on the
// ones after it. The floor was taken before it is looked up which servers are up,
// which is what keeps it from a server that is a second copy: see ticket.
func (s *fleetSource) Reserve(ctx context.Context, floor, count int64) (Range, error) {
	for range maxRefused {
		var r Range
		var offset int64
		var server string
		err := s.fleet.Do(ctx, func(ctx context.Context, c *ticket.Conn) (err error) {
			server = c.Server()
			offset, _ = c.Class()
			r, err = s.reserve(ctx, c, floor, count)
			return err
		})
		if err != nil {
			return Range{}, s.final(err)
		}
		began := round(r.First, r.Stride) - 1
		if began-floor <= drift(r) || s.confirmed(ctx, offset, began) {
			s.fleet.Seen(s.name, began+r.Count)
			return r, nil
		}
		s.gap()
		s.log.Error("segment: range refused, its server is further ahead than the others can believe",
			"sequence", s.name, "server", server, "round", began)
	}
	return Range{}, fmt.Errorf("%w: one server is further ahead with sequence %q than the others can believe; "+
		"`oddeven sequence show` says which, and if it is right `oddeven sequence bump` takes the others there", ErrScheme, s.name)
}

// drift is how far a server may be ahead of the floor before the others are asked:
// what a line from zero allows, which is no less than that of the sequence's row.
func drift(r Range) int64 {
	return schema.ClockLine{Last: r.Ceiling/r.Stride - 1}.MaxDrift()
}

// confirmed asks the other servers whether the round can be honest.
func (s *fleetSource) confirmed(ctx context.Context, offset, round int64) bool {
	states, _ := s.states(ctx) // of those that answer
	return len(states) > 0 && believed(states, offset, round)
}

// reserve reserves rounds on one server.
func (s *fleetSource) reserve(ctx context.Context, c *ticket.Conn, floor, count int64) (Range, error) {
	offset, increment := c.Class()
	count = min(count, s.most(increment))
	res := reservation{name: s.name, by: s.fleet.Name(), floor: floor, count: count}
	var undone error // why the server did not do it the last time
	for range maxSends {
		before := s.high(offset)
		last, ok, err := res.send(ctx, c)
		switch {
		case mysqlerr.IsRetryable(err):
			undone = err
			continue
		case err != nil:
			if mysqlerr.Number(err) == 0 {
				s.gap() // nobody knows whether it was done
			}
			return Range{}, err
		case ok:
			if err := s.check(last-res.count, max(before, floor)); err != nil {
				return Range{}, err
			}
			s.seen(offset, c.Server(), last)
			class := schema.Class{Offset: offset, Increment: increment}
			r := Range{First: class.ID(last - res.count + 1), Stride: increment, Count: res.count}
			r.Ceiling, err = s.ceilingOf(ctx, c, r.last())
			return r, err
		}
		undone = nil
		if err := s.explain(ctx, c, &res); err != nil {
			return Range{}, err
		}
	}
	if undone != nil {
		return Range{}, undone
	}
	return Range{}, c.Changed()
}

// check holds the round after which a segment begins against what was seen from
// the server when the statement was sent, and against the floor.
func (s *fleetSource) check(began, above int64) error {
	if began >= above {
		return nil
	}
	s.gap()
	return &ticket.ServerError{
		Problem: fmt.Sprintf("reserved rounds of sequence %q from %d on although %d had been reserved", s.name, began+1, above),
		Remedy:  "It has forgotten what it issued: an older backup, a lagging replica, or another server in its place.", Kind: ticket.ErrScheme,
	}
}

// explain finds out why no row matched. It returns nil if the statement, which
// it may change, is to be sent again.
func (s *fleetSource) explain(ctx context.Context, c *ticket.Conn, res *reservation) error {
	r, err := read(ctx, c, s.name)
	if err != nil {
		return err
	}
	s.noteLine(r)
	left := r.last - max(r.Rounds, res.floor)
	switch {
	case r.Gen < c.Gen():
		return s.outdated(r, c)
	case r.Gen > c.Gen():
		return c.Changed()
	case left < 1:
		return &ticket.ServerError{
			Problem: fmt.Sprintf("sequence %q has reached its ceiling %d", s.name, r.Ceiling), Kind: ErrExhausted,
			Remedy: "Use a sequence with a higher ceiling that starts above this one (`oddeven sequence create --start`).",
		}
	case res.floor > r.reach:
		return &ticket.ServerError{
			Problem: fmt.Sprintf("sequence %q is at round %d there and cannot follow to %d, which this client has seen elsewhere", s.name, r.Rounds, res.floor),
			Remedy:  "`oddeven sequence show` compares the servers; `oddeven sequence repair` or `bump` brings them together.",
		}
	case left < res.count:
		res.count = left
	case !res.far:
		res.far = true
	default:
		return c.Changed() // matched by now, or the connection is not the one it was
	}
	return nil
}

// outdated is why nothing may be reserved from a row that lacks its server's generation.
func (s *fleetSource) outdated(r row, c *ticket.Conn) error {
	if r.Gen == schema.HeldBack {
		return &ticket.ServerError{
			Problem: fmt.Sprintf("sequence %q is held back there at round %d: the others are so far ahead that it has forgotten what it issued, or a row of theirs was damaged", s.name, r.Rounds),
			Remedy:  "`oddeven sequence repair` says what to do.",
		}
	}
	return &ticket.ServerError{
		Problem: fmt.Sprintf("sequence %q has generation %d there, the server %d: the row was put back by hand", s.name, r.Gen, c.Gen()),
		Remedy:  "Run `oddeven sequence repair` for it.",
	}
}

// final turns the failure of a call into ErrExhausted alone, or into an
// *UnknownSequenceError, if every server says so.
func (s *fleetSource) final(err error) error {
	joined, ok := err.(interface{ Unwrap() []error }) // what Do made
	if !ok || !errors.Is(err, ticket.ErrUnavailable) {
		return err
	}
	all := joined.Unwrap()[1:] // without ErrUnavailable
	say := func(kind error) bool {
		return !slices.ContainsFunc(all, func(e error) bool { return !errors.Is(e, kind) })
	}
	switch {
	case len(all) == 0:
		return err
	case say(ErrExhausted):
		return fmt.Errorf("%w: %w", ErrExhausted, errors.Join(all...))
	case say(ErrUnknownSequence):
		return &UnknownSequenceError{Sequence: s.name, Err: errors.Join(all...)}
	}
	return err
}

// high is the highest round seen from the server with that offset.
func (s *fleetSource) high(offset int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.highs {
		if h.offset == offset {
			return h.round
		}
	}
	return 0
}

// seen raises it.
func (s *fleetSource) seen(offset int64, server string, round int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, h := range s.highs {
		if h.offset == offset {
			s.highs[i].round, s.highs[i].server = max(h.round, round), server
			return
		}
	}
	s.highs = append(s.highs, high{offset, round, server})
}

// servers is for Stats.
func (s *fleetSource) servers() []ServerStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]ServerStats, 0, len(s.highs))
	for _, h := range s.highs {
		all = append(all, ServerStats{Server: h.server, Offset: h.offset, Round: h.round})
	}
	slices.SortFunc(all, func(a, b ServerStats) int { return cmp.Compare(a.Offset, b.Offset) })
	return all
}

// gap counts a reservation of which nothing is used.
func (s *fleetSource) gap() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lost++
}

// gaps is for Stats: a failed call of Reserve may be none, or several.
func (s *fleetSource) gaps() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// ceilingOf is the ceiling of a range that ends with id. The server has held it
// against its own, which is another one than known if the sequence was made anew.
func (s *fleetSource) ceilingOf(ctx context.Context, c *ticket.Conn, id int64) (int64, error) {
	if known := s.knownCeiling(); id <= known {
		return known, nil
	}
	r, err := read(ctx, c, s.name)
	if err != nil {
		s.gap()
		return 0, err
	}
	s.noteLine(r)
	return r.Ceiling, nil
}

func (s *fleetSource) noteLine(r row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ceiling, s.base = r.Ceiling, r.Base
}

// most is how many rounds one refill may take.
func (s *fleetSource) most(increment int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return schema.ClockLine{Base: s.base, Last: s.ceiling/increment - 1}.MaxDrift() / maxShare
}

func (s *fleetSource) knownCeiling() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ceiling
}
