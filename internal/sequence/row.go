package sequence

import (
	"cmp"
	"math"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
)

// State is what every server's row of a sequence has in common.
type State struct {
	Base        int64  // clock line: round at birth
	Birth       int64  // clock line: Unix seconds
	Ceiling     int64  // IDs, without shard bits, stay at or below it
	Description string // for people
	Deleted     bool   // a tombstone
}

// Row is a sequence's row on one server.
type Row struct {
	State
	Rounds     int64     // last round reserved
	Gen        int64     // generation of the server when the row was last leapt
	Peak       int64     // most rounds reserved in one hour
	Step       int64     // rounds asked for by the last refill
	Refills    int64     // segments reserved
	Reserved   int64     // rounds in these segments
	Start      int64     // round when the row was made
	RefilledAt time.Time // last refill; zero if there was none
	RefilledBy string    // client of the last refill
	CreatedAt  time.Time // or last created again
	DeletedAt  time.Time // zero if it is not deleted

	Usage
}

// line is the clock line of a state.
func (s State) line(class schema.Class) schema.ClockLine {
	return schema.ClockLine{Base: s.Base, Birth: s.Birth, Last: class.LastRound(s.Ceiling)}
}

// sameLine reports whether rows of both states may have issued the same.
func (s State) sameLine(as State) bool {
	s.Description = as.Description
	return s == as
}

// compare orders states: a later birth is newer, and of one birth the tombstone.
// The rest is for rows that were damaged or made by clients that know different
// servers: the lower base and ceiling count, and a leap takes care of the others.
func (s State) compare(with State) int {
	deleted := func(s State) int {
		if s.Deleted {
			return 1
		}
		return 0
	}
	return cmp.Or(
		cmp.Compare(s.Birth, with.Birth), cmp.Compare(deleted(s), deleted(with)), cmp.Compare(with.Base, s.Base),
		cmp.Compare(with.Ceiling, s.Ceiling), cmp.Compare(s.Description, with.Description),
	)
}

// OnServer is a sequence as one server has it.
type OnServer struct {
	Server   string       // host:port/database
	Class    schema.Class // residue class of the server
	Gen      int64        // generation of the server
	Now      int64        // its time at the reading, Unix seconds
	Row      *Row         // nil if the server does not have it
	Problems []Problem    // what a repair would mend, or FarAhead; empty if it is in order

	bits int // shard bits of the fleet
}

// HighestID is the highest ID that the server may have issued; 0 if it has issued none.
func (o OnServer) HighestID() int64 {
	if o.Row == nil || o.Row.Rounds == 0 {
		return 0
	}
	return idOf(o.Class, o.Row.Rounds)
}

// idOf is the ID of a round, without the wrap-around that a damaged row would cause.
func idOf(class schema.Class, round int64) int64 {
	if round > (math.MaxInt64-class.Offset)/class.Increment {
		return math.MaxInt64
	}
	return class.ID(round)
}

// Sequence is a sequence on all servers of a fleet that answered.
type Sequence struct {
	Name    string
	State   State      // the newest that a server has
	Servers []OnServer // in the order of the fleet's configuration; those that did not answer are left out
}

// HighestID is the highest ID that any server may have issued; 0 if none has issued any.
func (s Sequence) HighestID() int64 {
	var highest int64
	for _, o := range s.Servers {
		highest = max(highest, o.HighestID())
	}
	return highest
}

// InOrder reports whether no server has a problem with it.
func (s Sequence) InOrder() bool {
	for _, o := range s.Servers {
		if len(o.Problems) > 0 {
			return false
		}
	}
	return true
}

// Problem is something that is wrong with a sequence on one server.
type Problem string

// The problems, in the words in which they are shown.
const (
	Missing          Problem = "missing"            // has no row: it missed the creation, or forgot it
	OtherGen         Problem = "other generation"   // the row has another generation than its server: it was put there by hand
	HeldBack         Problem = "held back"          // a fence found it too far behind the others; a repair says what to do
	Older            Problem = "older state"        // it missed a later creation or bump, or forgot it
	NotDeleted       Problem = "not deleted"        // it missed the deletion, or forgot it
	DeletedHere      Problem = "deleted"            // it missed that the sequence was created again, or forgot it
	OtherCeiling     Problem = "other ceiling"      // of the same birth
	OtherBase        Problem = "other base"         // of the same birth
	OtherDescription Problem = "other description"  // of the same birth
	FarAhead         Problem = "far ahead"          // farther than the other servers believe; a repair cannot lower it
	BornInTheFuture  Problem = "born in the future" // a clock was wrong when it was created; the line does not rise until then
)
