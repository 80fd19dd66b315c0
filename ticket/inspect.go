package ticket

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Inspection is what one server says of itself, and how it would be judged.
// Nothing was changed to find out.
type Inspection struct {
	Server      string    // host:port/database
	Err         error     // why it could not be asked; then all below is zero
	Fleet       string    // identity of the fleet, in hexadecimal
	Identity    string    // of the server, in hexadecimal
	Offset      int64     //
	Increment   int64     //
	ShardBits   int       //
	Layout      string    // of Snowflake IDs, a specification
	Schema      int64     // version
	Gen         int64     // generation
	UUID        string    // @@server_uuid or @@server_uid
	Started     time.Time // start of the server process, by its own clock
	Now         time.Time // its clock
	FencedAt    time.Time // last fence; zero if there was none
	FenceReason string    //
	FencedBy    string    // client that ran it
	Top         int64     // largest ticket that it may have issued
	Line        int64     // where a fence would leap to now: first ticket above the clock line
	Ceiling     int64     // tickets stay at or below it
	ReadOnly    bool      //
	Remembered  int64     // newest generation that a peer remembers; 0 if none does
	Fence       string    // reason why the next client will fence it; empty if none
	Verdict     error     // why it may not issue, of kind ErrNotAccepted, ErrForeign or ErrBehind; nil if it may
}

// Inspect surveys every server of a fleet, side by side, and changes nothing.
// Each is given Config.Timeout. The inspections are in the order of
// Config.Servers; a server that does not answer has Err set. The error is a
// *ConfigError.
func Inspect(ctx context.Context, cfg Config) ([]Inspection, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	f, err := newFleet(cfg)
	if err != nil {
		return nil, err
	}
	return f.inspect(ctx), f.Close()
}

// Inspect is the function Inspect over an open fleet. A server that is up is
// asked over a connection that the fleet keeps, any other one over a new one. It
// may be called concurrently, waits for the network, and ends with ctx; after
// Close every inspection has ErrClosed.
func (f *Fleet) Inspect(ctx context.Context) []Inspection {
	if err := f.enter(); err != nil {
		all := make([]Inspection, len(f.servers))
		for i, s := range f.servers {
			all[i] = Inspection{Server: s.label, Err: err}
		}
		return all
	}
	defer f.calls.Done()
	return f.inspect(ctx)
}

// inspect is for callers that keep the fleet from being closed.
func (f *Fleet) inspect(ctx context.Context) []Inspection {
	own, errs := f.surveyAll(ctx)
	all := make([]Inspection, len(f.servers))
	for i, s := range f.servers {
		if errs[i] != nil {
			all[i] = Inspection{Server: s.label, Err: NewServerError(s.label, errs[i])}
			continue
		}
		var peers []*survey
		for j := range own {
			if j != i && own[j] != nil {
				peers = append(peers, own[j])
			}
		}
		all[i] = f.inspection(s, own[i], peers)
	}
	return all
}

// surveyAll asks all servers side by side.
func (f *Fleet) surveyAll(ctx context.Context) ([]*survey, []error) {
	found, errs := make([]*survey, len(f.servers)), make([]error, len(f.servers))
	var wg sync.WaitGroup
	for i, s := range f.servers {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, s.timeout)
			defer cancel()
			found[i], errs[i] = s.inspect(ctx)
		})
	}
	wg.Wait()
	return found, errs
}

// inspect takes a survey and changes nothing, not even what is known of the
// server: a connection of the pool that fails says nothing that a new one does
// not say better.
func (s *server) inspect(ctx context.Context) (own *survey, err error) {
	if s.is(StateUp) {
		_, err = s.pool.run(ctx, func(ctx context.Context, c *Conn) (err error) {
			own, err = take(ctx, c)
			return err
		})
		if err == nil {
			return own, nil
		}
	}
	c, err := s.dial(ctx, 0)
	if err != nil {
		return nil, err
	}
	if own, err = take(ctx, c); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return own, c.close()
}

func (f *Fleet) inspection(s *server, own *survey, peers []*survey) Inspection {
	row, inc := own.row, own.incarnation
	newest, remembered := about(row.Identity, peers)
	i := Inspection{
		Server: s.label, Fleet: row.Fleet.String(), Identity: row.Identity.String(), Offset: row.Offset, Increment: row.Increment,
		ShardBits: row.ShardBits, Layout: row.Layout, Schema: own.version, Gen: row.Gen, UUID: inc.ServerUUID, Started: time.Unix(inc.StartedAt, 0).UTC(),
		Now: time.Unix(inc.Now, 0).UTC(), FencedAt: row.FencedAt.Time, FenceReason: row.FenceReason, FencedBy: row.FencedBy,
		Top: own.top, Line: row.Class().ID(row.TicketLine().At(inc.Now)), Ceiling: row.TicketCeiling, ReadOnly: own.readOnly,
		Remembered: newest.Gen,
	}
	i.Fence, i.Verdict = judge(own, newest, remembered, "", false)
	if i.Verdict == nil && i.Fence != "" {
		i.Verdict = own.behind(peers)
	}
	if err := f.admit(s, row); err != nil {
		i.Verdict = err
	}
	if i.Verdict != nil {
		i.Verdict = NewServerError(s.label, i.Verdict)
	}
	return i
}

// behind is why a fence would keep the server out, nil if it would not.
func (s *survey) behind(peers []*survey) error {
	latest := s.incarnation.Now
	for _, p := range peers {
		latest = max(latest, p.incarnation.Now)
	}
	theirs, ahead := mostTickets(peers, 0, s.row.Increment)
	return checkBehind(s.row, s.top, ticketLines(s.row, peers, latest), theirs, ahead)
}

// querySingleWriter is read by whoever connects from now on.
const querySingleWriter = "UPDATE `server` SET `single_writer` = ? WHERE `id` = 1"

// SetSingleWriter marks every server of the fleet as having one live copy for
// sure, guaranteed by something outside (managed failover, Group Replication
// with a majority, a volume attached once), or takes the mark back. Marked
// servers need no Accept when another server takes the place of one: they are
// fenced and go on. If the guarantee does not hold, two copies issue the same
// numbers. Every server must answer and belong to the fleet, or none is marked; the
// error joins one *ServerError for each that does not, or could not be marked.
func SetSingleWriter(ctx context.Context, cfg Config, on bool) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	f, err := newFleet(cfg)
	if err != nil {
		return err
	}
	return errors.Join(f.setSingleWriter(ctx, on), f.Close())
}

func (f *Fleet) setSingleWriter(ctx context.Context, on bool) error {
	found, errs := f.surveyAll(ctx)
	for i, s := range f.servers {
		if errs[i] == nil {
			errs[i] = f.admit(s, found[i].row)
		}
		if errs[i] != nil {
			errs[i] = NewServerError(s.label, errs[i])
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	var wg sync.WaitGroup
	for i, s := range f.servers {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, s.timeout)
			defer cancel()
			c, err := s.dial(ctx, 0)
			if err == nil {
				_, _, err = c.Exec(ctx, querySingleWriter, on)
				err = errors.Join(err, c.close())
			}
			if err != nil {
				errs[i] = NewServerError(s.label, err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// ErrNothingToAccept is returned by Accept for a server that is in order.
var ErrNothingToAccept = errors.New("ticket: nothing to accept")

// Accept lets a server issue that is out because it is another one than its
// peers remember, or might be a second copy. The caller vouches that the other
// one is dead and stays so: two live copies issue the same numbers. The server,
// named as in Inspection.Server, is fenced, so that its numbers go on above
// everything that the other may have issued. It returns ErrNothingToAccept for a
// server that needs none, a *ConfigError for an unknown name, and a *ServerError
// when the server could not be fenced.
func Accept(ctx context.Context, cfg Config, name string) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	f, err := newFleet(cfg)
	if err != nil {
		return err
	}
	err = f.accept(ctx, name)
	return errors.Join(err, f.Close())
}

func (f *Fleet) accept(ctx context.Context, name string) error {
	for i, s := range f.servers {
		if s.label != name {
			continue
		}
		found, errs := f.surveyAll(ctx)
		if errs[i] != nil {
			return NewServerError(s.label, errs[i])
		}
		peers := make([]*survey, 0, len(found))
		for j, p := range found {
			if j != i && p != nil {
				peers = append(peers, p)
			}
		}
		newest, remembered := about(found[i].row.Identity, peers)
		_, err := judge(found[i], newest, remembered, "", false)
		if err == nil {
			return fmt.Errorf("%w: server %s is in order", ErrNothingToAccept, s.label)
		}
		for range maxRaces {
			if _, _, err = f.verify(ctx, s, true); !errors.Is(err, errFencedMeanwhile) {
				break
			}
		}
		if err != nil {
			return NewServerError(s.label, err)
		}
		return nil
	}
	names := make([]string, len(f.servers))
	for i, s := range f.servers {
		names[i] = s.label
	}
	return &ConfigError{Field: "server", Value: name, Remedy: fmt.Sprintf("is none of the fleet's servers %q", names)}
}
