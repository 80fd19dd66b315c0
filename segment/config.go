package segment

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/oddeven/oddeven/ticket"
)

const (
	defaultInterval   = 10 * time.Second
	defaultMaxAge     = 10 * time.Minute
	defaultMinStep    = 1000
	defaultMaxStep    = 100_000_000
	defaultWarnBefore = 365 * 24 * time.Hour
	// MaxN is the most IDs that one NextN may ask for.
	MaxN = 1_000_000
	// maxStep bounds MaxStep, so that nothing overflows.
	maxStep = int64(1) << 40
)

// Config says how an Allocator works. The zero value is ready to use.
type Config struct {
	// Interval is how long one refill is to last at the present rate of use. A
	// longer one means fewer statements and larger gaps when a process ends; at
	// most one and a half intervals of use are reserved ahead. More than half of
	// MaxAge counts as half of MaxAge. Defaults to 10 seconds.
	Interval time.Duration
	// MaxAge is how long a segment may be kept; what is left of it then is
	// dropped. It bounds how far the IDs of one process can be behind those of
	// another. Defaults to 10 minutes.
	MaxAge time.Duration
	// MinStep and MaxStep bound how many IDs are reserved at a time. Default to
	// 1,000 and 100 million. Of a sequence with a low ceiling it is never more than
	// 62,500 rounds, or a 16,000th of them all if that is more, so that no server is
	// left behind.
	MinStep, MaxStep int64
	// WaitAtMost is how long a call waits for a refill before it returns
	// ErrUnavailable. Defaults to 0, as long as its context allows.
	WaitAtMost time.Duration
	// FailFast makes calls that would have to wait return ErrUnavailable as soon
	// as one attempt to refill has failed, instead of waiting for the next ones,
	// and at once while the last attempt is known to have failed.
	FailFast bool
	// WarnBefore is how long before the sequence reaches its ceiling, at the
	// present rate, Stats and the log begin to warn. Defaults to 365 days.
	WarnBefore time.Duration
	// Create makes [Open] create a sequence that no server has, which needs every
	// server of the fleet; it starts with the first IDs there are, below the
	// fleet's ceiling. One that was deleted stays so. Defaults to false: a misspelt
	// name is an error.
	Create bool
	// Logger gets failures and warnings, never single IDs. Defaults to none.
	Logger *slog.Logger
}

// Check returns the *ticket.ConfigError with which New and Open would refuse the
// configuration, or nil.
func (c Config) Check() error {
	_, err := c.withDefaults()
	return err
}

// withDefaults fills in and checks the configuration.
func (c Config) withDefaults() (Config, error) {
	for _, d := range []struct {
		field    string
		value    *time.Duration
		instead  time.Duration
		shortest time.Duration
	}{
		{"Interval", &c.Interval, defaultInterval, time.Millisecond},
		{"MaxAge", &c.MaxAge, defaultMaxAge, time.Millisecond},
		{"WarnBefore", &c.WarnBefore, defaultWarnBefore, 0},
		{"WaitAtMost", &c.WaitAtMost, 0, 0},
	} {
		if *d.value == 0 {
			*d.value = d.instead
		}
		if *d.value < d.shortest {
			return c, &ticket.ConfigError{Field: d.field, Value: *d.value, Remedy: fmt.Sprintf("must be at least %s; 0 is the default, %s", d.shortest, d.instead)}
		}
	}
	if c.MinStep == 0 {
		c.MinStep = defaultMinStep
		if c.MaxStep > 0 {
			c.MinStep = min(c.MinStep, c.MaxStep)
		}
	}
	if c.MaxStep == 0 {
		c.MaxStep = max(defaultMaxStep, c.MinStep)
	}
	if c.MinStep < 1 || c.MinStep > maxStep {
		return c, &ticket.ConfigError{Field: "MinStep", Value: c.MinStep, Remedy: fmt.Sprintf("must be 1 to %d; 0 is the default, %d", maxStep, defaultMinStep)}
	}
	if c.MaxStep < c.MinStep || c.MaxStep > maxStep {
		return c, &ticket.ConfigError{Field: "MaxStep", Value: c.MaxStep, Remedy: fmt.Sprintf("must be MinStep, %d, to %d; 0 is the default, %d", c.MinStep, maxStep, defaultMaxStep)}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
