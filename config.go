package oddeven

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

const (
	defaultFailoverAfter  = 50 * time.Millisecond
	shortestFailoverAfter = time.Millisecond
)

// Outage says what a [Generator] does when both of its segments are used up and
// no server answers.
type Outage int

// What a Generator does in an outage. The zero value stands for the default.
const (
	_ Outage = iota
	// FallBack makes IDs with the leased worker. It is the default.
	FallBack
	// Wait waits for a server, for as long as the context of the call allows.
	Wait
	// Fail returns ErrUnavailable.
	Fail
)

// String is the name of the constant, "default" for 0.
func (o Outage) String() string { return nameOf(int(o), "default", "FallBack", "Wait", "Fail") }

// Return says how a [Generator] that has fallen back on the worker comes back to
// segments.
type Return int

// How a Generator comes back to segments. The zero value stands for the default.
const (
	_ Return = iota
	// ByItself goes back with the first call after a server has answered. It is the
	// default.
	ByItself
	// WhenTold stays with the worker until FailBack is called.
	WhenTold
)

// String is the name of the constant, "default" for 0.
func (r Return) String() string { return nameOf(int(r), "default", "ByItself", "WhenTold") }

func nameOf(i int, names ...string) string {
	if i < 0 || i >= len(names) {
		return fmt.Sprintf("unknown %d", i)
	}
	return names[i]
}

// Failover is what the Generator of a sequence does in an outage.
type Failover struct {
	// Outage is what happens when no server answers. Defaults to FallBack, and for a
	// sequence to that of the client.
	Outage Outage
	// After is how long a call whose IDs are used up waits without an answer of a
	// server before that happens; if all servers are known to be down it happens at once. With Wait it
	// does not matter. At least 1 ms. Defaults to 50 ms, and for a sequence to that of
	// the client.
	After time.Duration
	// Return is how the Generator comes back to segments. Defaults to ByItself, and
	// for a sequence to that of the client.
	Return Return
}

// Config says which servers make up the fleet and how IDs are drawn from it.
// Servers or DSNs are needed; every other zero field means its default.
type Config struct {
	// DSNs are the servers of the fleet, in any order, as
	// user:password@tcp(host:port)/database. Servers is the same for callers who have
	// the driver's configuration; both may be given. What is said about
	// ticket.Config.Servers holds.
	DSNs    []string
	Servers []*mysql.Config

	// Conns is how many connections are opened to each server at most, 1 to 1000.
	// Defaults to 8.
	Conns int

	// Timeout bounds one statement on one server. Defaults to 2 seconds.
	Timeout time.Duration

	// Failover is what the Generators do in an outage, and Failovers what those of
	// single sequences do, by the name of the sequence.
	Failover  Failover
	Failovers map[string]Failover

	// Segment is for the Allocator of every sequence. FailFast, WaitAtMost and Logger
	// must be zero: Failover and Logger say it.
	Segment segment.Config

	// Worker is for the worker that Generators fall back on. Ceiling and Logger must
	// be zero: IDs of workers are above 2^53, always. With StateFile, Open succeeds
	// also while no server answers, if it can take up the lease of the process before;
	// a file is for one process at a time, and for one fleet.
	Worker snowflake.Config

	// Logger gets changes of state, never single IDs. Defaults to none.
	Logger *slog.Logger
}

// withDefaults copies and checks the configuration, all but what package ticket
// checks and what depends on the fleet.
func (c Config) withDefaults() (Config, error) {
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	servers := make([]*mysql.Config, 0, len(c.DSNs)+len(c.Servers))
	for i, text := range c.DSNs {
		server, err := dsn.Parse(text)
		if err != nil {
			return c, &ticket.ConfigError{Field: fmt.Sprintf("DSNs[%d]", i), Remedy: err.Error()}
		}
		servers = append(servers, server)
	}
	for i, server := range c.Servers { // before they are counted together
		if _, err := dsn.Prepare(server); err != nil {
			return c, &ticket.ConfigError{Field: fmt.Sprintf("Servers[%d]", i), Remedy: err.Error()}
		}
	}
	c.Servers, c.DSNs = append(servers, c.Servers...), nil
	base := Failover{Outage: FallBack, After: defaultFailoverAfter, Return: ByItself}
	var err error
	if c.Failover, err = c.Failover.over(base, "Failover"); err != nil {
		return c, err
	}
	own := make(map[string]Failover, len(c.Failovers))
	for name, f := range c.Failovers {
		if own[name], err = f.over(c.Failover, fmt.Sprintf("Failovers[%q]", name)); err != nil {
			return c, err
		}
	}
	c.Failovers = own
	if err := c.checkSegment(); err != nil {
		return c, err
	}
	return c, c.checkWorker()
}

// over fills in what is zero from base, and checks the rest.
func (f Failover) over(base Failover, field string) (Failover, error) {
	if f.Outage == 0 {
		f.Outage = base.Outage
	}
	if f.After == 0 {
		f.After = base.After
	}
	if f.Return == 0 {
		f.Return = base.Return
	}
	switch {
	case f.Outage < FallBack || f.Outage > Fail:
		return f, &ticket.ConfigError{Field: field + ".Outage", Value: int(f.Outage), Remedy: "must be FallBack, Wait or Fail; 0 is the default"}
	case f.After < shortestFailoverAfter:
		return f, &ticket.ConfigError{Field: field + ".After", Value: f.After,
			Remedy: fmt.Sprintf("must be at least %s; 0 is the default, %s", shortestFailoverAfter, defaultFailoverAfter)}
	case f.Return < ByItself || f.Return > WhenTold:
		return f, &ticket.ConfigError{Field: field + ".Return", Value: int(f.Return), Remedy: "must be ByItself or WhenTold; 0 is the default"}
	}
	return f, nil
}

// checkSegment lets package segment check its part.
func (c Config) checkSegment() error {
	s := c.Segment
	if s.FailFast || s.WaitAtMost != 0 {
		return &ticket.ConfigError{Field: "Segment", Remedy: "has FailFast or WaitAtMost; say it by Failover"}
	}
	if s.Logger != nil {
		return &ticket.ConfigError{Field: "Segment.Logger", Remedy: "must be nil; set Logger"}
	}
	return within("Segment", s.Check())
}

// within names a field of a part of the configuration as the whole does.
func within(part string, err error) error {
	e, ok := err.(*ticket.ConfigError) //nolint:errorlint // as it was made
	if !ok {
		return err
	}
	named := *e
	named.Field = part + "." + e.Field
	return &named
}

// checkWorker lets package snowflake check its part.
func (c Config) checkWorker() error {
	w := c.Worker
	if w.Ceiling != 0 {
		return &ticket.ConfigError{Field: "Worker.Ceiling", Value: w.Ceiling, Remedy: "must be 0: it is 2^53 for every fleet"}
	}
	if w.Logger != nil {
		return &ticket.ConfigError{Field: "Worker.Logger", Remedy: "must be nil; set Logger"}
	}
	if w.Lease < 0 {
		return &ticket.ConfigError{Field: "Worker.Lease", Value: w.Lease, Remedy: "must not be negative; 0 is the default"}
	}
	if !w.Layout.IsZero() {
		if err := w.Layout.CheckIssue(); err != nil {
			return err
		}
	}
	return within("Worker", w.Check())
}

// of is what the Generator of a sequence does in an outage.
func (c Config) of(sequence string) Failover {
	if f, found := c.Failovers[sequence]; found {
		return f
	}
	return c.Failover
}

// needsWorker reports whether any Generator may fall back.
func (c Config) needsWorker() bool {
	if c.Failover.Outage == FallBack {
		return true
	}
	for _, f := range c.Failovers {
		if f.Outage == FallBack {
			return true
		}
	}
	return false
}

func (c Config) tickets() ticket.Config {
	return ticket.Config{Servers: c.Servers, Conns: c.Conns, Timeout: c.Timeout, Logger: c.Logger}
}

// segments is for the Allocator of a sequence: a call whose refill has failed is
// not to wait for the next one, unless it is told to.
func (c Config) segments(f Failover) segment.Config {
	s := c.Segment
	s.FailFast, s.Logger = f.Outage != Wait, c.Logger
	return s
}

func (c Config) worker() snowflake.Config {
	w := c.Worker
	w.Logger = c.Logger
	return w
}
