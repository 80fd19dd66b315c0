package schedule

import "time"

// Kind is a kind of fault.
type Kind string

// The kinds of faults.
const (
	// ServerKill ends a server with SIGKILL and starts it again.
	ServerKill Kind = "server-kill"
	// ServerFreeze stops a server with SIGSTOP and lets it go on.
	ServerFreeze Kind = "server-freeze"
	// ServerRewind kills a server and starts it from an older data directory.
	ServerRewind Kind = "server-rewind"
	// ServerPromote kills a server for good; a replica that lags takes its place.
	ServerPromote Kind = "server-promote"
	// ServerRewindAlone is ServerRewind while all clients are replaced by new ones, who
	// know nothing of what the others had. It is planned only if it is asked for: it
	// leaves little time for anything else.
	ServerRewindAlone Kind = "server-rewind-alone"
	// ReadOnly sets read_only.
	ReadOnly Kind = "read-only"
	// DiskFull fills the file system of a server's data.
	DiskFull Kind = "disk-full"
	// TooManyConnections takes all connections that a server allows.
	TooManyConnections Kind = "too-many-connections"
	// Variables sets global variables that oddeven depends on, behind its back.
	Variables Kind = "variables"
	// AllDown kills every server.
	AllDown Kind = "all-down"

	// NetCut resets all connections to a server and refuses new ones.
	NetCut Kind = "net-cut"
	// NetHalfOpen lets everything vanish between clients and a server.
	NetHalfOpen Kind = "net-half-open"
	// NetLostReplies loses replies after the server has committed.
	NetLostReplies Kind = "net-lost-replies"
	// NetLatency delays replies.
	NetLatency Kind = "net-latency"

	// ClientKill ends a client with SIGKILL and starts it again.
	ClientKill Kind = "client-kill"
	// ClientFreeze stops a client with SIGSTOP and lets it go on.
	ClientFreeze Kind = "client-freeze"
	// ClientClock steps the wall clock of a client, and back.
	ClientClock Kind = "client-clock"

	// ClusterKill kills the primary node of a cluster that counts as one server;
	// another node takes its place.
	ClusterKill Kind = "cluster-kill"
)

// A lane has faults one after the other; those of different lanes overlap. The
// two server lanes have the same kinds, on different servers.
const (
	laneServer = iota
	laneServerToo
	laneNetwork
	laneClient
	lanes
)

// spec says how a kind of fault is planned.
type spec struct {
	kind          Kind
	lane          int
	least, most   time.Duration // how long it lasts
	forgets       bool          // the server loses what it has committed
	asked         bool          // only planned if it is asked for
	cluster, rest bool          // whether a server that is a cluster, or any other, can have it
	amounts       []int64       // one of these; none means 0
}

const (
	hour = 3600
	year = 365 * 24 * hour
)

// all are the kinds in the order of the deck they are dealt from.
var all = []spec{
	{kind: ServerKill, lane: laneServer, least: 100 * ms, most: 2 * time.Second, rest: true},
	{kind: ServerFreeze, lane: laneServer, least: 500 * ms, most: 3 * time.Second, cluster: true, rest: true},
	// The amount says which snapshot: the oldest, or the newest.
	{kind: ServerRewind, lane: laneServer, least: 0, most: time.Second, forgets: true, rest: true, amounts: []int64{0, 1}},
	{kind: ServerRewindAlone, lane: laneServer, least: 0, most: time.Second, forgets: true, asked: true, rest: true, amounts: []int64{0, 1}},
	{kind: ServerPromote, lane: laneServer, least: 300 * ms, most: 1500 * ms, forgets: true, rest: true},
	{kind: ReadOnly, lane: laneServer, least: 500 * ms, most: 3 * time.Second, rest: true},
	{kind: DiskFull, lane: laneServer, least: 500 * ms, most: 3 * time.Second, rest: true},
	{kind: TooManyConnections, lane: laneServer, least: 500 * ms, most: 3 * time.Second, rest: true},
	// The amount says which variables.
	{kind: Variables, lane: laneServer, least: 500 * ms, most: 3 * time.Second, cluster: true, rest: true, amounts: []int64{0, 1, 2, 3}},
	{kind: AllDown, lane: laneServer, least: 500 * ms, most: 4 * time.Second, rest: true},
	{kind: ClusterKill, lane: laneServer, least: 500 * ms, most: 3 * time.Second, cluster: true},

	{kind: NetCut, lane: laneNetwork, least: 200 * ms, most: 3 * time.Second, cluster: true, rest: true},
	{kind: NetHalfOpen, lane: laneNetwork, least: 500 * ms, most: 3 * time.Second, cluster: true, rest: true},
	{kind: NetLostReplies, lane: laneNetwork, least: 500 * ms, most: 3 * time.Second, cluster: true, rest: true},
	// The amount is milliseconds.
	{kind: NetLatency, lane: laneNetwork, least: 500 * ms, most: 3 * time.Second, cluster: true, rest: true, amounts: []int64{5, 50, 300}},

	{kind: ClientKill, lane: laneClient, least: 0, most: time.Second},
	// Some longer than the mark of a state file is ahead, none longer than a lease
	// can be renewed before it ends.
	{kind: ClientFreeze, lane: laneClient, least: 200 * ms, most: 4 * time.Second},
	// The amount is seconds.
	{kind: ClientClock, lane: laneClient, least: 500 * ms, most: 3 * time.Second,
		amounts: []int64{1, -1, 37, -37, hour, -hour, 25 * hour, -25 * hour, year, -year, 20 * year, -20 * year}},
}

const ms = time.Millisecond

// lookup is the spec of a kind.
func lookup(kind Kind) (spec, bool) {
	for _, s := range all {
		if s.kind == kind {
			return s, true
		}
	}
	return spec{}, false
}

// OnClient reports whether the target of such faults is a client.
func (k Kind) OnClient() bool { s, found := lookup(k); return found && s.lane == laneClient }

// OnNetwork reports whether such faults are between the clients and a server.
func (k Kind) OnNetwork() bool { s, found := lookup(k); return found && s.lane == laneNetwork }

// Default reports whether such faults are planned without being asked for, if the
// fleet can have them.
func (k Kind) Default() bool { s, found := lookup(k); return found && !s.asked }

// Forgets reports whether such a fault makes a server forget what it has committed.
// The next one must not begin before clients use that server again.
func (k Kind) Forgets() bool { s, found := lookup(k); return found && s.forgets }

// Kinds are all kinds of faults, those of clusters included.
func Kinds() []Kind {
	kinds := make([]Kind, len(all))
	for i, s := range all {
		kinds[i] = s.kind
	}
	return kinds
}
