package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"
)

// What is wrong: values of Finding.Kind.
const (
	KindDuplicate = "duplicate"   // an ID was handed out twice
	KindResidue   = "residue"     // of no server's class
	KindPlane     = "plane"       // outside the numbers of its sequence, or no Snowflake ID
	KindOrder     = "order"       // not above the one before
	KindLease     = "lease"       // rectangles that overlap, or an ID outside its own
	KindCall      = "failed call" // failed, and the documents do not allow it
	KindLongCall  = "long call"   // took longer than a call may
	KindRecovery  = "recovery"    // too late, or none
	KindLog       = "log"         // a log is damaged, or contradicts itself
)

const (
	maxFindings = 20 // of each kind
)

// Finding is something that must not be.
type Finding struct {
	Kind   string
	Detail string // for people: what, where, and which streams
}

// Report is what a check has found out.
type Report struct {
	IDs      int64            // handed out
	Ranges   int64            // runs of equal differences in the logs
	Bytes    int64            // of all files
	BySource map[string]int64 // IDs, by Stream.Source

	Files, Streams, Processes int
	Unfinished                int // files that were not closed: their processes were killed

	// Gaps are the numbers of each sequence, and of tickets under "", that lie between
	// the first and the last that were handed out and are with nobody. A sequence uses
	// one number in n in any case, which is no gap; so do tickets, of each server's.
	// Leaps are in them.
	Gaps map[string]int64

	Leases   int   // distinct holders
	Unleased int64 // Snowflake IDs that no lease could be compared with: none was logged

	Calls                        int64         // logged: those that failed or took long
	FailedCalls, AllowedFailures int64         // that failed; of these, that were allowed to
	LongestCall                  time.Duration // of those logged

	Faults          map[string]int // made, by name
	Recoveries      int            // that were waited for
	SlowestRecovery time.Duration

	// Findings are what is wrong, in the order of their kinds. Of each kind 20 are
	// kept. Found has how many there were: of IDs, calls, pairs of leases and so on. A
	// duplicate counts once for each copy but the first.
	Findings []Finding
	Found    map[string]int64
}

// OK reports whether nothing was found.
func (r *Report) OK() bool { return len(r.Findings) == 0 }

// findings collects. It is safe for concurrent use.
type findings struct {
	mu    sync.Mutex // guards all below
	list  map[string][]string
	found map[string]int64
}

func newFindings() *findings {
	return &findings{list: map[string][]string{}, found: map[string]int64{}}
}

// add adds a finding that concerns n IDs or records.
func (f *findings) add(kind string, n int64, format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.found[kind] += n
	if len(f.list[kind]) < maxFindings {
		f.list[kind] = append(f.list[kind], fmt.Sprintf(format, args...))
	}
}

// into puts them into a Report.
func (f *findings) into(r *Report) {
	r.Found = f.found
	for _, kind := range kinds {
		for _, detail := range f.list[kind] {
			r.Findings = append(r.Findings, Finding{kind, detail})
		}
	}
}

// kinds are in the order of how much they matter.
var kinds = []string{
	KindDuplicate, KindResidue, KindPlane, KindOrder, KindLease, KindCall, KindLongCall, KindRecovery, KindLog,
}

// gaps counts what is missing, by sequence. A sequence has one number in each round,
// so its classes count together; tickets have one for each server.
func gaps(spaces []string, classes map[class]*extent) map[string]int64 {
	sum := map[string]extent{}
	for c, e := range classes {
		if c.space == workers {
			continue
		}
		name := spaces[c.space]
		all, seen := sum[name]
		switch {
		case name == "":
			all.count += e.high - e.low + 1 - e.count
		case !seen:
			all = *e
		default:
			all = extent{min(all.low, e.low), max(all.high, e.high), all.count + e.count}
		}
		sum[name] = all
	}
	missing := map[string]int64{}
	for name, e := range sum {
		missing[name] = e.count
		if name != "" {
			missing[name] = e.high - e.low + 1 - e.count
		}
		missing[name] = max(missing[name], 0)
	}
	return missing
}

// extent is where the keys of a class are.
type extent struct{ low, high, count int64 }

func (e *extent) add(p *piece) {
	if e.count == 0 {
		e.low, e.high = p.low(), p.high()
	}
	e.low, e.high, e.count = min(e.low, p.low()), max(e.high, p.high()), e.count+p.count
}

// byTime sorts events, keeping the order of those of the same time.
func byTime(events []Event) {
	slices.SortStableFunc(events, func(a, b Event) int { return cmp.Compare(a.At.UnixNano(), b.At.UnixNano()) })
}
