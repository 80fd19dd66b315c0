// Package oddeven hands out unique 64-bit IDs to applications whose data is
// sharded over many databases.
//
// Two or more independent MySQL or MariaDB servers issue them. Each server owns
// a residue class: of two servers, one issues the odd numbers and the other the
// even ones, so no two servers ever need to agree on anything and none of them
// is a single point of failure. When no server answers, a worker whose number was
// leased from one in advance makes the IDs from time, until one is back.
//
//	Client ── Sequence("orders") ──> Generator ── Next ──> ID
//	                                   │ segments of the servers, below 2^53
//	                                   └ while no server answers: the worker, above 2^53
//
// [Open] makes a [Client], [Client.Sequence] a [Generator], and [Generator.Next]
// an [ID]:
//
//	client, err := oddeven.Open(ctx, oddeven.Config{DSNs: dsns})
//	…
//	defer client.Close()
//	orders, err := client.Sequence(ctx, "orders")
//	…
//	id, err := orders.Next(ctx)
//
// # What is promised
//
// An ID is handed out once: by all processes and servers, whichever of them are
// killed, restored from a backup, frozen or cut off, as packages segment, snowflake
// and ticket say. It is unique in its sequence; those of workers are unique in the
// fleet. IDs are gone when a call that was to return them fails: there are gaps.
//
//	order                             | promised
//	----------------------------------|------------------------------------------
//	one Generator, of segments        | strictly rising
//	one Generator, of one worker      | strictly rising, if the layout begins with time
//	across processes and servers      | roughly, see segment.Config.MaxAge
//	when a Generator falls back       | up, to 2^53 and above
//	when it returns                   | down, to where the segments are
//	after a restart of a server       | up: the fence leaps
//
// # Planes and shards
//
// IDs of segments are below 2^53 and those of workers are not, for all time that the
// fleet's layout lasts: Open checks the layout, and its error has the arithmetic.
//
// A fleet may have shard bits: then every ID has a shard in its lowest bits, in
// both planes, which [Generator.NextFor] puts there and [ID.Shard] reads.
//
// # Outages
//
// [Failover] says what a Generator does when its segments are used up and no
// server answers. To fall back takes a lease, which is taken in the background
// while a server is there: [Client.Ready] waits for it. The lease lasts
// snowflake.Config.Lease after the last renewal; in an outage that is longer, calls
// fail with a *snowflake.LeaseEndedError that has the time. With
// snowflake.Config.StateFile a process that is restarted in an outage goes on.
package oddeven
