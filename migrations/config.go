package migrations

import (
	"fmt"
	"log/slog"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

const (
	defaultLockTimeout  = 30 * time.Second
	defaultLongestLease = 4 * time.Hour
	minLongestLease     = time.Second
	maxLongestLease     = 30 * 24 * time.Hour
)

// Config says which fleet to work on, and how.
type Config struct {
	// Servers are all servers of the fleet, with an account that may create and
	// alter tables. Each is copied.
	Servers []*mysql.Config
	// Settings are those asked for; only Up reads them.
	Settings Settings
	// Retired are offsets whose former server is dead and will never come back,
	// so that Up may give them to a new server.
	Retired []int64
	// DestroyAllocations lets Down and To drop tables that say which numbers
	// have been issued.
	DestroyAllocations bool
	// DryRun makes nothing change; the report holds the SQL.
	DryRun bool
	// LockTimeout is how long to wait for another migration of the same fleet.
	// Defaults to 30 seconds.
	LockTimeout time.Duration
	// Logger gets one line per server and step. Defaults to none.
	Logger *slog.Logger
}

// Settings are chosen once for a fleet. A zero field means: as the fleet has
// it, and for a new fleet the default.
type Settings struct {
	// Increment is the capacity of the fleet in servers, 1 to 1000. Defaults to
	// the number of servers, at least 2.
	Increment int64
	// ShardBits is how many of the lowest bits of every ID name a shard, 0 to
	// 32. nil is the default, 0.
	ShardBits *int
	// Layout is the Snowflake layout, a preset's name or a specification as
	// [snowflake.ParseLayout] reads it. Defaults to "oddeven".
	Layout string
	// LongestLease is the longest lease of a worker number, 1 second to 30
	// days. After a restart a server grants no number for that long. Defaults to
	// 4 hours.
	LongestLease time.Duration
}

// resolved are settings without gaps.
type resolved struct {
	increment    int64
	shardBits    int
	layout       snowflake.Layout
	longestLease time.Duration
}

// withDefaults copies and checks the configuration.
func (c Config) withDefaults() (Config, error) {
	if len(c.Servers) == 0 {
		return c, &ticket.ConfigError{Field: "Servers", Remedy: "is empty; name at least one server"}
	}
	servers := make([]*mysql.Config, len(c.Servers))
	for i, s := range c.Servers {
		prepared, err := dsn.Prepare(s)
		if err != nil {
			return c, &ticket.ConfigError{Field: fmt.Sprintf("Servers[%d]", i), Remedy: err.Error()}
		}
		servers[i] = prepared
	}
	c.Servers = servers
	if c.LockTimeout == 0 {
		c.LockTimeout = defaultLockTimeout
	}
	if c.LockTimeout < 0 {
		return c, &ticket.ConfigError{Field: "LockTimeout", Value: c.LockTimeout, Remedy: "is negative; give 0 for the default or a positive time"}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	for _, k := range c.Retired {
		if k < 1 || k > schema.MaxIncrement {
			return c, &ticket.ConfigError{Field: "Retired", Value: k, Remedy: "is no offset; offsets are 1 to the increment"}
		}
	}
	return c, nil
}

// resolve fills the gaps with the defaults for a fleet of n servers and checks
// ranges and arithmetic.
func (s Settings) resolve(n int, now time.Time) (resolved, error) {
	r := resolved{increment: s.Increment, longestLease: s.LongestLease}
	if r.increment == 0 {
		r.increment = int64(max(n, 2))
	}
	if r.increment < 1 || r.increment > schema.MaxIncrement {
		return r, &ticket.ConfigError{Field: "Increment", Value: s.Increment, Remedy: fmt.Sprintf("must be 1 to %d", schema.MaxIncrement)}
	}
	if int64(n) > r.increment {
		return r, &ticket.ConfigError{Field: "Increment", Value: s.Increment, Remedy: fmt.Sprintf("is less than the number of servers, %d; each server needs an offset of its own", n)}
	}
	if s.ShardBits != nil {
		r.shardBits = *s.ShardBits
	}
	if r.shardBits < 0 || r.shardBits > schema.MaxShardBits {
		return r, &ticket.ConfigError{Field: "ShardBits", Value: r.shardBits, Remedy: fmt.Sprintf("must be 0 to %d", schema.MaxShardBits)}
	}
	if r.longestLease == 0 {
		r.longestLease = defaultLongestLease
	}
	if r.longestLease < minLongestLease || r.longestLease > maxLongestLease {
		return r, &ticket.ConfigError{Field: "LongestLease", Value: s.LongestLease, Remedy: fmt.Sprintf("must be %s to %s", minLongestLease, maxLongestLease)}
	}
	layout, err := resolveLayout(s.Layout, r.shardBits, now)
	if err != nil {
		return r, err
	}
	r.layout = layout
	return r, nil
}
