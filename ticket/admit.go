package ticket

import (
	"fmt"

	"github.com/oddeven/oddeven/internal/schema"
)

// admitted is the server that was first seen with an offset.
type admitted struct {
	identity schema.Identity
	server   *server
}

// admit compares a server's row with what the fleet has seen so far. It refuses
// two DSNs that lead to one server, equal offsets, and a server of another fleet.
func (f *Fleet) admit(s *server, row schema.Server) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fleet.Increment == 0 {
		f.fleet = row
	}
	if problem := differs(f.fleet, row); problem != "" {
		return &ServerError{Problem: problem, Remedy: "Name the servers of one fleet only.", Kind: ErrForeign}
	}
	have := f.admitted[row.Offset]
	for _, other := range f.admitted {
		if other.identity == row.Identity && other.server != s {
			return &ServerError{Problem: "is the same server as " + other.server.label, Remedy: "Remove one of the two DSNs.", Kind: ErrForeign}
		}
	}
	if have != nil && have.server != s && have.identity != row.Identity {
		return &ServerError{
			Problem: fmt.Sprintf("has offset %d, which %s has too", row.Offset, have.server.label),
			Remedy:  "They would issue the same numbers: take one of them away.", Kind: ErrForeign,
		}
	}
	for offset, other := range f.admitted {
		if other.server == s {
			delete(f.admitted, offset) // it may have had another one
		}
	}
	f.admitted[row.Offset] = &admitted{identity: row.Identity, server: s}
	return nil
}

// differs says how a row contradicts the fleet's, "" if it does not.
func differs(fleet, row schema.Server) string {
	switch {
	case row.Fleet != fleet.Fleet:
		return fmt.Sprintf("belongs to fleet %s, not to %s", row.Fleet, fleet.Fleet)
	case row.Increment != fleet.Increment:
		return fmt.Sprintf("has increment %d, the fleet has %d", row.Increment, fleet.Increment)
	case row.ShardBits != fleet.ShardBits:
		return fmt.Sprintf("has %d shard bits, the fleet has %d", row.ShardBits, fleet.ShardBits)
	case row.Layout != fleet.Layout:
		return fmt.Sprintf("has layout %s, the fleet has %s", row.Layout, fleet.Layout)
	case row.LongestLeaseMS != fleet.LongestLeaseMS:
		return fmt.Sprintf("has a longest lease of %s, the fleet has %s", row.LongestLease(), fleet.LongestLease())
	}
	return ""
}
