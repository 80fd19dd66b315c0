package oddeven

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/ticket"
)

// MaxN is the most IDs that one NextN may ask for.
const MaxN = segment.MaxN

// Generator hands out the IDs of a sequence: from its segments, and while these
// are used up and no server answers, from the worker that its Client has leased.
// [Client.Sequence] makes it, and it lives as long as the Client. All methods are
// safe for concurrent use.
//
// An ID is either claimed from the Allocator or from the worker, once, and what
// they make never meets: see scheme. There is one Allocator as long as the
// Generator lives, because it remembers, for the servers, how far they are.
type Generator struct {
	// What calls take from without looking any further: both are nil while the
	// Generator has fallen back, and plain is nil in a fleet with shards too.
	plain, fast atomic.Pointer[segment.Allocator]

	// Never changed.
	shards uint64 // 2^bits
	limit  int64  // of a number that is composed with a shard
	bits   uint8
	name   string
	plan   Failover
	client *Client

	opened atomic.Pointer[segment.Allocator] // set once; nil until a server had the sequence
	away   atomic.Bool                       // fallen back on the worker
	held   atomic.Bool                       // stays away until it is told to go back

	mu     sync.Mutex // guards all below, and changes of all that can change above
	refuse error      // why it can't be opened although every server answers
	err    error      // why it could not be opened yet, or fell back last
	since  time.Time  // of away
	counts counts
}

// counts are the counters of a Generator; guarded by its mu.
type counts struct{ failovers, returns, fromWorker, failed int64 }

func newGenerator(c *Client, name string, s scheme) *Generator {
	return &Generator{
		shards: 1 << s.bits, limit: s.limit(), bits: uint8(s.bits), name: name, plan: c.cfg.of(name), client: c, since: time.Now(),
	}
}

// Next returns the next ID. As long as there are IDs at hand, which is the rule,
// it neither waits nor locks, reads no clock, and does not look at ctx. If there are
// none it waits for a server, and when none has answered for Failover.After it does
// what Failover says. IDs of segments are below 2^53 and rise; those of the worker are
// above, and rise as long as it is the same one. So values jump up when the
// Generator falls back, and down when it returns. In a fleet with shards Next is an
// error: call NextFor.
//
// Errors: ErrClosed; ctx's own; a *ShardError; a *PlaneError if the lease that Open
// took up is another fleet's; an *UnavailableError (ErrUnavailable) that has the
// reasons; segment.ErrExhausted at the ceiling of the sequence;
// a *segment.UnknownSequenceError if every server answers and none has it.
func (g *Generator) Next(ctx context.Context) (ID, error) {
	if a := g.plain.Load(); a != nil {
		if v, ok := a.TryNext(); ok {
			return ID(v), nil
		}
	}
	return g.next(ctx)
}

// next is Next when there is nothing at hand.
func (g *Generator) next(ctx context.Context) (ID, error) {
	if err := g.needShard(); err != nil {
		return 0, err
	}
	return g.one(ctx, 0)
}

// NextN fills ids with IDs in the order of Next: all or nothing, and all of one plane.
// len(ids) must be 1 to MaxN, or a *ticket.ConfigError is returned. It waits and
// fails like Next; what it had claimed by then is a gap.
func (g *Generator) NextN(ctx context.Context, ids []ID) error {
	if err := g.needShard(); err != nil {
		return err
	}
	return g.many(ctx, 0, ids)
}

// All ranges over IDs as Next returns them, until the loop ends, ctx does or an
// error occurs, which is the last pair, with a zero ID.
func (g *Generator) All(ctx context.Context) iter.Seq2[ID, error] {
	return func(yield func(ID, error) bool) {
		for {
			err := ctx.Err()
			var id ID
			if err == nil {
				id, err = g.Next(ctx)
			}
			if !yield(id, err) || err != nil {
				return
			}
		}
	}
}

// Name is the name of the sequence.
func (g *Generator) Name() string { return g.name }

func checkLen(n int) error {
	if n < 1 || n > MaxN {
		return &ticket.ConfigError{Field: "len(ids)", Value: n, Remedy: fmt.Sprintf("must be 1 to %d", MaxN)}
	}
	return nil
}
