package bench

// Report is what was measured. Its JSON is what `oddeven bench -o json` prints.
type Report struct {
	Client       Client        `json:"client"`
	Servers      []Server      `json:"servers"`
	Measurements []Measurement `json:"measurements"`
	Failovers    []Failover    `json:"failovers"`
	LeftOut      []LeftOut     `json:"left_out"`
	Used         Used          `json:"used"`
	Checked      int64         `json:"checked"`    // IDs that were compared with all others
	Duplicates   int64         `json:"duplicates"` // IDs that came twice
	FirstTwice   int64         `json:"first_duplicate,omitempty"`
	Interrupted  bool          `json:"interrupted"`
	OK           bool          `json:"ok"` // nothing came twice, nothing failed, not interrupted
}

// Client is this program and this machine.
type Client struct {
	Version    string  `json:"version"`
	Go         string  `json:"go"`
	OS         string  `json:"os"`
	Arch       string  `json:"arch"`
	GOMAXPROCS int     `json:"gomaxprocs"`
	Conns      int     `json:"conns"`            // to each server at most
	Seconds    float64 `json:"duration_seconds"` // of a measurement
}

// Server is a server of the fleet.
type Server struct {
	Server  string `json:"server"`           // host:port/database
	Offset  int64  `json:"offset,omitempty"` // 0 if it could not be reached
	Version string `json:"version,omitempty"`
	State   string `json:"state"` // up, down or checking
	Error   string `json:"error,omitempty"`
}

// Names of measurements.
const (
	RoundTrip     = "round_trip"       // DO 1, once for each server
	Ticket        = "ticket"           // ticket.Fleet.Next
	Refill        = "refill"           // segment.Source.Reserve of one round
	SegmentNext   = "segment_next"     // segment.Allocator.Next
	SegmentTry    = "segment_try_next" // segment.Allocator.TryNext
	GeneratorNext = "generator_next"   // oddeven.Generator.Next, NextFor with shard bits
	WorkerNext    = "worker_next"      // snowflake.Worker.Next without a rest
	WorkerBurst   = "worker_burst"     // the same in bursts of at most a tick
)

// Measurement is one line of what was measured.
type Measurement struct {
	Name      string   `json:"name"`
	Server    string   `json:"server,omitempty"` // of a round trip
	Offset    int64    `json:"offset,omitempty"`
	Callers   int      `json:"callers"`
	Count     int64    `json:"count"`  // calls that succeeded
	Failed    int64    `json:"failed"` // calls that returned an error
	Error     string   `json:"error,omitempty"`
	Seconds   float64  `json:"seconds"`
	PerSecond float64  `json:"per_second"`
	NsPerID   float64  `json:"ns_per_id,omitempty"`  // from memory: how long a call takes
	Latency   *Latency `json:"latency_ns,omitempty"` // over the network
}

// Latency is how long calls took, in nanoseconds: not less than the truth, and at
// most 1/64 more. Max is exact.
type Latency struct {
	P50  int64 `json:"p50"`
	P90  int64 `json:"p90"`
	P99  int64 `json:"p99"`
	P999 int64 `json:"p99_9"`
	Max  int64 `json:"max"`
}

// Variants of failing over.
const (
	Refused = "refused" // connections are closed, and new ones refused
	Silent  = "silent"  // nothing comes back any more
)

// Failover is what callers of a Generator noticed while this client was cut off
// from every server. Times are in nanoseconds.
type Failover struct {
	Variant string `json:"variant"`
	Callers int    `json:"callers"`
	Count   int64  `json:"count"`  // calls that succeeded, from the cut to the return
	Failed  int64  `json:"failed"` // calls that returned an error
	Error   string `json:"error,omitempty"`
	Longest int64  `json:"longest_call_ns"`
	Worker  int64  `json:"first_worker_id_ns"`  // from the cut on
	Outage  int64  `json:"outage_ns"`           // how long the client was cut off
	Back    int64  `json:"first_segment_id_ns"` // from the end of the outage on
}

// LeftOut is something that was not measured, and why.
type LeftOut struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// Used is what this run has used up.
type Used struct {
	Tickets  int64  `json:"tickets"`
	Sequence string `json:"sequence,omitempty"`
	Rounds   int64  `json:"rounds"` // of the sequence, reserved
}
