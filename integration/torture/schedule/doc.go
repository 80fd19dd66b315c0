// Package schedule plans the faults of a torture run. A plan is a function of its
// [Config] alone: the same seed plans the same faults. When they really happen
// depends on the machine, too: a server needs its time to start.
//
// # Lanes
//
// Faults are dealt from decks, so that all kinds come up equally often, in four
// lanes that overlap: two of faults of servers, one of the network, one of clients.
// So a fault comes alone or in any combination, also two on one server (a slow
// network and a full disk), or one on each of two servers.
//
// # What is never planned
//
// What the documents exclude. No two servers forget at a time: one that was put
// back to an older data directory, or replaced by a replica that lags, is up again
// before another one forgets. No clock of a server is set back; no two live
// copies of a server's data are there at once, because a replica takes over only
// when its source has been killed for good; no row is changed by hand; and the
// clients together draw more slowly than the clock line rises.
package schedule
