// Package ticket draws unique 64-bit numbers from a fleet of independent MySQL
// or MariaDB servers.
//
// A fleet has an increment n, its capacity, and each server an offset k of its
// own from 1 to n. A server owns the numbers congruent to k modulo n and hands
// them out by AUTO_INCREMENT, so no two servers ever need to agree on anything:
//
//	server 1, offset 1 of 2:  1  3  5  7 …
//	server 2, offset 2 of 2:    2  4  6  8 …
//
// A ticket is one row of one REPLACE and one round trip; its number comes back
// in the server's OK. Calls at the same time share a statement. The calls of a
// [Fleet] go round over the servers that are up; a call whose server fails goes
// on to the next. A server that failed is left alone and probed in the
// background until it is back.
//
// # What is promised
//
// A number is returned only after the server has confirmed the statement that
// made it. Whatever is uncertain, a lost reply or a timeout, is abandoned: it
// leaves a gap and is never returned. Every number is checked against the
// server's residue class, against the highest one seen before, and against the
// ceiling. Tickets are not ordered across servers.
//
// # The fence
//
// A server can forget: it is restored from a backup, a lagging replica is
// promoted, it crashes with relaxed durability. So before a server that was
// started anew may issue, one client fences it. In one transaction, with the
// server's row locked, it moves tickets and sequences to where the server
// cannot have been before, keeps the worker numbers back until every lease that
// may be forgotten has run out, and raises the server's generation. Every
// statement proves the generation it belongs to, so that none from before the
// fence takes effect after it.
//
//	    connection to a server
//	              │
//	survey: its row, what it is now, what its peers remember of it
//	              │
//	  judge ── as known ──────────────────────────────> up
//	    │  ├── restarted, or a peer knows more ── fence ──> up
//	    │  │                                        └─────> out: tickets too far behind
//	    │  └── another server, or a second copy ────────> out, until accepted
//	    └ (pure; judge.go)            (fence.go)
//
// The leap goes to the clock line: a round that grows with the server's clock,
// at the pace that uses up the space below 2^53 in a hundred years. A server
// that issued more slowly than that has never been above it, whatever it has
// forgotten. Numbers therefore jump after every restart of a server.
//
// Past the clock line the others' counters say where the server has been. One that is
// further behind than an honest server can be (schema.ClockLine.MaxDrift) has forgotten
// more than it can make good, or another counter was damaged. Nobody can tell, so an
// operator has to: until then such a sequence is held back on that server, and with
// such tickets the server stays out.
//
// What a server was fenced with is written to its peers. A server that hears of
// a new start of another one raises its own generation as well, so that every
// client looks at its records before it sees anything that the other has issued
// since. That is what keeps a second live copy of a server from being followed by
// the original (records.go).
//
// # What is not
//
// The clock line assumes that the server's clock was not set back past the
// loss. A virtual machine put back to a snapshot with its memory looks unchanged
// to every check but the highest values that clients have seen.
package ticket
