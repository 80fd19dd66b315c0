package snowflake

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

const (
	defaultMaxAhead   = 20 * time.Millisecond
	defaultWarnBefore = 365 * 24 * time.Hour

	// longestAhead bounds MaxAhead.
	longestAhead = time.Minute

	// MaxN is the most IDs that one NextN may ask for.
	MaxN = 1_000_000
)

// Config says how a Worker works. The zero value is ready to use.
type Config struct {
	// Layout is the layout of the IDs. It must have a worker field. Defaults to
	// that of the fleet in Open, and to Default() in New.
	Layout Layout

	// MaxAhead is how far a burst may borrow from the ticks to come: no tick of an
	// ID begins later than that after now. With less than 10 ms the sustained rate
	// may stay below that of the layout, because timers are late. 1 ms to 1 minute,
	// used in whole milliseconds. Defaults to 20 ms.
	MaxAhead time.Duration

	// Ceiling is where the plane of Snowflake IDs begins: tickets and segment IDs
	// are below it. New and Open fail with a *LayoutError if IDs made from now on could be
	// below it too. -1 turns the check off, for IDs that meet no others. Defaults to
	// 2^53.
	Ceiling int64

	// Lease is how long Open leases a worker number for each time; New ignores it.
	// At most the longest lease of the fleet. Defaults to 1 hour, or the longest
	// lease of the fleet if that is shorter.
	Lease time.Duration

	// StateFile is the path of a file from which a restarted process takes up its
	// own lease, also while no server answers; New ignores it. The worker uses no
	// tick beyond a mark in the file, about 2 seconds ahead: a process that was
	// frozen for longer may get one *LeaseEndedError, and one that was restarted goes
	// on slowly until time has come to the mark. It needs Linux, and is of no use
	// after a reboot or in another place. Defaults to none.
	StateFile string

	// WarnBefore is how long before the time bits are used up Stats and the log begin
	// to warn. Not negative. Defaults to 365 days.
	WarnBefore time.Duration

	// Logger gets failures and warnings, never single IDs. Defaults to none.
	Logger *slog.Logger
}

// withDefaults fills in and checks what New and Open have in common. Layout,
// Lease and StateFile stay as they are.
func (c Config) withDefaults() (Config, error) {
	if c.MaxAhead == 0 {
		c.MaxAhead = defaultMaxAhead
	}
	if c.MaxAhead < time.Millisecond || c.MaxAhead > longestAhead {
		return c, &ticket.ConfigError{Field: "MaxAhead", Value: c.MaxAhead,
			Remedy: fmt.Sprintf("must be %s to %s; 0 is the default, %s", time.Millisecond, longestAhead, defaultMaxAhead)}
	}
	if c.Ceiling == 0 {
		c.Ceiling = schema.Ceiling
	}
	if c.Ceiling < -1 {
		return c, &ticket.ConfigError{Field: "Ceiling", Value: c.Ceiling,
			Remedy: fmt.Sprintf("must be at least 1, or -1 for none; 0 is the default, %d", schema.Ceiling)}
	}
	if c.WarnBefore == 0 {
		c.WarnBefore = defaultWarnBefore
	}
	if c.WarnBefore < 0 {
		return c, &ticket.ConfigError{Field: "WarnBefore", Value: c.WarnBefore,
			Remedy: fmt.Sprintf("must not be negative; 0 is the default, %s", defaultWarnBefore)}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Check returns the *ticket.ConfigError with which New and Open would refuse the
// configuration without looking at its Layout and its Lease, or nil.
func (c Config) Check() error {
	_, err := c.withDefaults()
	return err
}
