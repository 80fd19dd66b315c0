// Package snowflake makes 64-bit IDs locally, from time, a worker number and a sequence.
//
// # Layouts
//
// A [Layout] says which bits of an ID are which field, how long a tick is and when tick 0 was:
//
//	 63  62                    22  21        12  11         0
//	┌───┬────────────────────────┬─────────────┬─────────────┐
//	│ 0 │ time, 41 bits of 1 ms  │ worker, 10  │ sequence, 12│   the default
//	└───┴────────────────────────┴─────────────┴─────────────┘
//
// Layouts are values: made once by [NewLayout], [ParseLayout] or [Preset], checked there, compared
// with ==, stored as [Layout.String]. A fleet with shard bits has them at the lowest end, taken from
// the sequence ([Layout.WithShardBits]).
//
// [Layout.Compose] and [Layout.Decompose] check every value against the width of its field and
// never let one spill into another; all arithmetic is in 64 bits, whatever the width of a field.
// When the time bits are used up there is an error, not a wrap ([Layout.Exhausted]).
//
// # Workers
//
// A [Worker] issues with one worker number: leased from a fleet by [Open], or
// assigned by hand with [New]. Its state is logical time, tick and sequence as one
// number, which only grows:
//
//	next = max(previous + 1, now << sequence bits | start)
//
// start goes on from the low 6 bits of the previous ID, so that slow producers
// too fill 2, 4, … 64 shards evenly. A burst borrows from the ticks to come, up to
// Config.MaxAhead; after that callers wait on a timer, so that the sustained rate
// is that of the layout: 4,096 IDs per millisecond in the default one.
//
//	                         borrowed MaxAhead
//	in use ────────────────────────────────────────> callers wait
//	 ^   │ a tick of the timer without use               │ time passes
//	 │   v                                               │
//	 │ idle: no timer                                    │
//	 └───┴───────────────────────────────────────────────┘
//
// A leased number is good for ticks [from, until), and no ID has another tick,
// whatever clocks do and however long a process is frozen. At until [Worker.Next]
// fails with a [*LeaseEndedError]; before that with a [*LeaseLostError] if the
// server has given the lease up, and with a [*StateFileError] if the state file can
// neither be written nor removed. Time is what the server's clock said, plus
// monotonic time since; it never goes back. The host's wall clock is not read,
// but once in [New].
//
// In a bubble of package testing/synctest it is the year 2000, before the epoch
// of the default layout: take a layout with an earlier epoch there, and
// Config.Ceiling -1.
//
// # Planes
//
// Tickets and segment IDs stay below a ceiling, 2^53 as a rule, and IDs of this package stay at or
// above it, so the two never meet ([Layout.CheckAbove]).
package snowflake
