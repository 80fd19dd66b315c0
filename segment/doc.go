// Package segment hands out the IDs of a named sequence at memory speed. It
// reserves them from the servers of a fleet, in turn, in segments, and fetches the
// next segment before the present one is used up.
//
//	          claimed by Next                 trigger
//	current   ████████████████████░░░░░░░░░░░░░░│░░░░░░░░░░
//	next                                        └─ refill ──> ░░░░░░░░░░░░
//
// An [Allocator] is made by [Open], over a fleet, or by [New], over a [Source] of
// one's own; [Memory] is one for unit tests.
//
// # What is promised
//
// IDs are unique over all processes and servers, and strictly increasing from
// one Allocator. Between processes and servers they are roughly in order: an
// Allocator never hands out an ID of a segment that it began to reserve longer
// than Config.MaxAge ago. (A process that is frozen, or its machine, may hand
// out a few right after it wakes.)
//
// IDs are below 2^53, or the ceiling of the sequence. There are gaps: what is
// left of a segment when a process ends or MaxAge is over, what was reserved by
// a refill whose answer got lost, and a jump when a server was restarted (see
// package ticket: the fence leaps). Nothing is ever given back or handed out
// twice.
//
// # How
//
// A segment is used only after its server has confirmed it and after it was
// checked: of the right class, above the floor that was sent. Each refill
// carries a floor, the highest round seen from any server, and reserves above
// it; so IDs rise from server to server, and one server remembers for the others.
//
// How many IDs a refill reserves follows the rate of use, so that one lasts for
// about Config.Interval. A refill that takes long is hedged by asking the next
// server, and one that turns out too small when callers wait is joined by a
// larger one; the answer that comes second is used as far as it lies above
// everything before it.
//
//	                    trigger                 landed
//	segment in use ───────────────> refilling ──────────> next one queued
//	      ^                             │                        │
//	      │                     used up │                used up │
//	      │                             v                        │
//	      │                    dry: callers wait                 │
//	      │                             │ landed                 │
//	      └─────────────────────────────┴────────────────────────┘
//
// # Sequences
//
// A sequence has a row on every server: the last round reserved there. With an
// increment of n, round r of the server with offset k is the ID r × n + k, so
// floors are the same on every server, and a sequence uses one value in n. Rows
// are made by `oddeven sequence create`, or by Open with Config.Create.
//
// A name has 1 to 128 bytes of UTF-8 without control characters and is compared
// byte by byte: case and trailing blanks count.
//
// A refill is one statement. It proves that the row has the generation that the
// server had when it was verified, so a refill and a fence never overlap, and that
// the floor is one the server can believe: a floor far above its own round and
// above its clock line comes from a damaged row; it is not followed, and reported.
// A range whose server is that far ahead of all others is refused likewise. While
// that server is the only one that answers there is nobody to ask, and it is
// believed.
//
// A server that was fenced while its row was that far behind the others may have
// forgotten what it issued. Nothing is reserved there until an operator has
// decided (`oddeven sequence repair` says what there is to decide); the other
// servers go on.
//
// When no server answers and everything at hand is used up, callers wait or
// fail, as Config says; refills are tried again as long as somebody asks for IDs.
package segment
