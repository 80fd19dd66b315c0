package ticket

import (
	"fmt"
	"strconv"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
)

// The reasons for a fence; one of our own, such as a number that went back, is
// any other text. They are counted by [FenceCounts] and stored for people.
const (
	reasonRestarted = "restarted"
	reasonReplaced  = "another server in its place"
	reasonEarlier   = "started earlier than its row says"
	reasonPeer      = "a peer remembers generation "
)

// judge decides what has to happen before a server may issue: nothing, a fence
// (its reason is returned), or that it stays out (an error). It compares the
// server's row with what the server process is now, and with the newest record
// that a peer has of it. forced is a reason of our own, such as a number that
// went back. trusted says that only one copy of the server can be alive, because
// an operator says so now, or says so of the whole fleet.
func judge(s *survey, newest record, remembered bool, forced string, trusted bool) (fence string, err error) {
	row, inc := s.row, s.incarnation
	trusted = trusted || row.SingleWriter
	switch {
	case inc.ServerUUID != row.ServerUUID:
		if !trusted {
			return "", stranger(row.ServerUUID, inc.ServerUUID)
		}
		fence = reasonReplaced
	case inc.StartedAt > row.StartedAt:
		fence = reasonRestarted
	case inc.StartedAt < row.StartedAt:
		if !trusted {
			return "", secondCopy(row.StartedAt, inc.StartedAt)
		}
		fence = reasonEarlier
	}
	if remembered {
		reason, err := compare(newest, row, inc, trusted)
		if err != nil {
			return "", err
		}
		if fence == "" {
			fence = reason
		}
	}
	if fence == "" {
		fence = forced
	}
	return fence, nil
}

// compare holds a server against what a peer remembers of it. A later start of the
// same server counts whatever the generations are: what a server that is out is
// told raises its own, until it is above that of its second copy.
func compare(newest record, row schema.Server, inc schema.Incarnation, trusted bool) (string, error) {
	same := newest.UUID == inc.ServerUUID && newest.StartedAt == inc.StartedAt
	later := newest.UUID == inc.ServerUUID && newest.StartedAt > inc.StartedAt
	switch {
	case newest.Retired:
		return "", &ServerError{
			Problem: "was declared dead for good", Kind: ErrNotAccepted,
			Remedy: "Its offset may belong to another server now. Do not start it again.",
		}
	case !later && newest.Gen < row.Gen, newest.Gen == row.Gen && same:
		return "", nil
	case trusted:
	case newest.UUID != inc.ServerUUID:
		return "", stranger(newest.UUID, inc.ServerUUID)
	case later:
		return "", secondCopy(newest.StartedAt, inc.StartedAt)
	}
	return reasonPeer + strconv.FormatInt(newest.Gen, 10), nil
}

func stranger(was, is string) error {
	return &ServerError{
		Problem: fmt.Sprintf("is another server (%s) in the place of the one known (%s)", is, was), Kind: ErrNotAccepted,
		Remedy: "If the old one is dead and will stay so, run `oddeven fleet accept` for this server.",
	}
}

func secondCopy(known, is int64) error {
	return &ServerError{
		Problem: fmt.Sprintf("started at %s, but a later start, at %s, is known", clock(is), clock(known)), Kind: ErrNotAccepted,
		Remedy: "A second copy of it may be alive, or its clock was set back. If no other copy runs, run `oddeven fleet accept` for this server.",
	}
}

// clock writes Unix seconds for people.
func clock(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }
