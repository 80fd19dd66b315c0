package ticket

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/internal/schema"
)

const (
	defaultConns   = 8
	maxConns       = 1000
	defaultTimeout = 2 * time.Second
	// MaxN is the largest number of tickets that one NextN may ask for.
	MaxN = 10_000
)

// Config says which servers make up a fleet and how to talk to them.
type Config struct {
	// Servers are all servers of the fleet, in any order, with an account that
	// may SELECT, INSERT, UPDATE and DELETE in the database. At least one; each
	// is copied. Name all of them: what a server that is left out remembers of
	// the others is not asked, and that is what finds second copies, and covers
	// counters that are past their clock line. Every server owns the numbers
	// congruent to its offset, whoever is named.
	Servers []*mysql.Config
	// Conns is how many connections are opened to each server at most, 1 to
	// 1000. Defaults to 8.
	Conns int
	// Timeout bounds one statement on one server; when it passes, the next
	// server is asked. Defaults to 2 seconds.
	Timeout time.Duration
	// Logger gets changes of state, never single tickets. Defaults to none.
	Logger *slog.Logger
}

// withDefaults copies and checks the configuration.
func (c Config) withDefaults() (Config, error) {
	if len(c.Servers) == 0 {
		return c, &ConfigError{Field: "Servers", Remedy: "is empty; name at least one server, better two"}
	}
	if len(c.Servers) > schema.MaxIncrement {
		return c, &ConfigError{Field: "Servers", Value: len(c.Servers), Remedy: fmt.Sprintf("are too many; at most %d", schema.MaxIncrement)}
	}
	servers := make([]*mysql.Config, len(c.Servers))
	for i, s := range c.Servers {
		prepared, err := dsn.Prepare(s)
		if err != nil {
			return c, &ConfigError{Field: fmt.Sprintf("Servers[%d]", i), Remedy: err.Error()}
		}
		servers[i] = prepared
	}
	c.Servers = servers
	if c.Conns == 0 {
		c.Conns = defaultConns
	}
	if c.Conns < 1 || c.Conns > maxConns {
		return c, &ConfigError{Field: "Conns", Value: c.Conns, Remedy: fmt.Sprintf("must be 1 to %d; 0 is the default, %d", maxConns, defaultConns)}
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Timeout < 0 {
		return c, &ConfigError{Field: "Timeout", Value: c.Timeout, Remedy: fmt.Sprintf("is negative; 0 is the default, %s", defaultTimeout)}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}
