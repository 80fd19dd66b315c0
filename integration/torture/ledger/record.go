package ledger

import (
	"fmt"
	"strings"
	"time"

	"github.com/oddeven/oddeven/ticket"
)

// What issued the IDs of a stream: values of Stream.Source.
const (
	SourceTicket  = "ticket"  // a ticket.Fleet
	SourceSegment = "segment" // a segment.Allocator
	SourceWorker  = "worker"  // a snowflake.Worker
	SourceFacade  = "facade"  // an oddeven.Generator
)

// Stream says what a series of IDs is.
type Stream struct {
	// Process is unique for each client process and each time it was started, such as
	// "c3.2". Needed.
	Process string

	// Source is one of SourceTicket, SourceSegment, SourceWorker and SourceFacade.
	Source string

	// Sequence is the name of the sequence; empty for tickets and workers, which have
	// none, and needed for the others.
	Sequence string

	// Ordered says that IDs must rise in this stream: it is what one goroutine was
	// handed by one Allocator, Generator, Worker or Fleet. Of a Generator those of
	// each plane rise for themselves, of workers those of each worker number, of
	// tickets those of each server.
	Ordered bool

	// ShardBits is how many of the lowest bits of the IDs name a shard: those of the
	// fleet for IDs of a Generator, 0 for all others.
	ShardBits int
}

// check is what Writer.Stream refuses, and Check calls a damaged log.
func (s Stream) check() error {
	named := s.Source == SourceSegment || s.Source == SourceFacade
	switch {
	case s.Process == "":
		return &ticket.ConfigError{Field: "Stream.Process", Value: `""`, Remedy: "name the process, differently each time it is started"}
	case !named && s.Source != SourceTicket && s.Source != SourceWorker:
		return &ticket.ConfigError{Field: "Stream.Source", Value: fmt.Sprintf("%q", s.Source), Remedy: "must be ticket, segment, worker or facade"}
	case named != (s.Sequence != ""):
		return &ticket.ConfigError{Field: "Stream.Sequence", Value: fmt.Sprintf("%q", s.Sequence), Remedy: "name the sequence of a segment or facade; tickets and workers have none"}
	case s.ShardBits < 0 || s.ShardBits > 32 || s.ShardBits > 0 && s.Source != SourceFacade:
		return &ticket.ConfigError{Field: "Stream.ShardBits", Value: s.ShardBits, Remedy: "must be 0 to 32, and 0 unless the source is the facade"}
	}
	return nil
}

// Lease is the rectangle of a worker number as its client knows it. Of several
// records of a process, a number and a holder, the last one's UntilTick counts, and
// the smallest FromTick: log each renewal. Before a client releases a lease, and
// after it has stopped using it, it logs it once more with Released.
type Lease struct {
	Process string // as in Stream
	Worker  int64  // number
	// FromTick is the first tick of the rectangle, UntilTick the first after it.
	FromTick, UntilTick int64
	// Holder is another one for each lease, also of the same process. Only a process
	// that takes up the lease of an earlier one, from its state file, has the same.
	Holder string
	// Released says that the lease ends with UntilTick, the first tick without IDs,
	// whatever was logged before.
	Released bool
}

func (l Lease) check() error {
	switch {
	case l.Process == "":
		return &ticket.ConfigError{Field: "Lease.Process", Value: `""`, Remedy: "name the process"}
	case l.Holder == "":
		return &ticket.ConfigError{Field: "Lease.Holder", Value: `""`, Remedy: "name the holder, differently for each lease"}
	case l.Worker < 0:
		return &ticket.ConfigError{Field: "Lease.Worker", Value: l.Worker, Remedy: "must not be negative"}
	case l.FromTick < 0 || l.UntilTick < l.FromTick:
		return &ticket.ConfigError{Field: "Lease.UntilTick", Value: l.UntilTick, Remedy: fmt.Sprintf("must not be before FromTick, which is %d and must not be negative", l.FromTick)}
	}
	return nil
}

// Call is a call that failed or took long.
type Call struct {
	Process string        // as in Stream
	Source  string        // as in Stream
	Began   time.Time     // for people: clients' clocks may be wrong
	Took    time.Duration // by the monotonic clock
	Err     string        // empty if it did not fail; cut off after a few thousand bytes
	Allowed bool          // by the documents, at that time: neither the failure nor the wait is a finding
}

// What an Event is: values of Event.Kind.
const (
	EventFault     = "fault"     // made
	EventHealed    = "healed"    // its cause is gone
	EventRecovered = "recovered" // the server or client does its work again
)

// Event is a fault, or what became of it. All events of a run are of one clock, the
// scheduler's.
type Event struct {
	At   time.Time
	Kind string // EventFault, EventHealed or EventRecovered

	// Server or Client is what it is about. Both may be empty: then it is about the
	// fleet as a whole.
	Server, Client string

	// Detail begins with the name of the fault, up to the first blank; of EventHealed
	// too, where an empty one means all faults of this server or client. After the
	// blank is anything, for people.
	Detail string
}

func (e Event) check() error {
	switch {
	case e.Kind != EventFault && e.Kind != EventHealed && e.Kind != EventRecovered:
		return &ticket.ConfigError{Field: "Event.Kind", Value: fmt.Sprintf("%q", e.Kind), Remedy: "must be fault, healed or recovered"}
	case e.Kind == EventFault && e.fault() == "":
		return &ticket.ConfigError{Field: "Event.Detail", Value: `""`, Remedy: "begin it with the name of the fault"}
	case e.Server != "" && e.Client != "":
		return &ticket.ConfigError{Field: "Event.Client", Value: fmt.Sprintf("%q", e.Client), Remedy: fmt.Sprintf("name one: the event is about server %q already", e.Server)}
	case e.At.IsZero():
		return &ticket.ConfigError{Field: "Event.At", Value: e.At, Remedy: "say when it was"}
	}
	return nil
}

// fault is the name of the fault.
func (e Event) fault() string {
	name, _, _ := strings.Cut(e.Detail, " ")
	return name
}
