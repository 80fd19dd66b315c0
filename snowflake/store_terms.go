package snowflake

import (
	"encoding/hex"
	"fmt"
	"time"

	"github.com/oddeven/oddeven/ticket"
)

const (
	defaultLease = time.Hour
	// minLeaseTicks is the shortest lease: it has to outlast its own renewal.
	minLeaseTicks = 2
)

// rowTerms are what the server's row and the configuration say about every
// lease of the fleet.
type rowTerms struct {
	fleet  string // identity of the fleet in hexadecimal
	layout Layout
	length int64 // of a lease or a renewal, in ticks
}

// tick is the tick that a server time in milliseconds lies in.
func (t rowTerms) tick(ms int64) int64 { return floorDiv(ms-t.layout.epoch, t.layout.unit) }

// end bounds a tick by the end of the layout's time.
func (t rowTerms) end(tick int64) int64 { return min(tick, t.layout.MaxTick()+1) }

// agree compares what a server's row says with the configuration. Everybody who
// writes a rectangle must mean the same by a tick, the fence that parks included.
func agree(row settingsRow, cfg Config) (rowTerms, error) {
	t := rowTerms{fleet: hex.EncodeToString(row.Fleet)}
	var err error
	if t.layout, err = ParseLayout(row.Layout); err != nil {
		return t, fmt.Errorf("read layout of the fleet: %w", err)
	}
	if t.layout.unit != row.TickMS || t.layout.epoch != row.EpochMS {
		return t, fmt.Errorf("snowflake: the server's row has the layout %s, but ticks of %d ms since %s: somebody changed it by hand; restore it",
			t.layout, row.TickMS, formatEpoch(row.EpochMS))
	}
	if !cfg.Layout.IsZero() && cfg.Layout != t.layout {
		return t, &LayoutConflictError{Config: cfg.Layout, Fleet: t.layout}
	}
	if err := t.layout.CheckIssue(); err != nil {
		return t, err
	}
	if cfg.Ceiling > 0 {
		if err := t.layout.CheckAbove(cfg.Ceiling, time.UnixMilli(row.Now).UTC()); err != nil {
			return t, err
		}
	}
	t.length, err = leaseTicks(cfg.Lease, row)
	return t, err
}

// leaseTicks is the length of a lease, at most what the fence parks for.
func leaseTicks(lease time.Duration, row settingsRow) (int64, error) {
	longest := time.Duration(row.Longest) * time.Millisecond
	if lease == 0 {
		lease = min(defaultLease, longest)
	}
	if lease > longest {
		return 0, &ticket.ConfigError{Field: "Lease", Value: lease,
			Remedy: fmt.Sprintf("the fleet allows at most %s, which is set when it is made; take that or less", longest)}
	}
	ticks := lease.Milliseconds() / row.TickMS
	if ticks < minLeaseTicks {
		return 0, &ticket.ConfigError{Field: "Lease", Value: lease,
			Remedy: fmt.Sprintf("must be at least %d ticks of %s", minLeaseTicks, formatUnit(row.TickMS))}
	}
	return ticks, nil
}
