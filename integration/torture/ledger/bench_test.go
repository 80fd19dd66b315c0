package ledger

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/snowflake"
)

// kindsOfLoad log IDs as clients of a fleet do, with a flush after every 4,096.
var kindsOfLoad = map[string]func(l *logs, n int64){
	// Four callers of each of two Allocators, in batches of 100 from segments of 100,000.
	"segment": func(l *logs, n int64) {
		spread(l, SourceSegment, "orders", n, 100, func(i int64) int64 { return 2*i + 1 + i/100_000%2 })
	},
	// The same, one by one.
	"single": func(l *logs, n int64) {
		spread(l, SourceSegment, "orders", n, 1, func(i int64) int64 { return 2*i + 1 + i/100_000%2 })
	},
	// Tickets of two servers in statements of 30.
	"ticket": func(l *logs, n int64) {
		spread(l, SourceTicket, "", n, 1, func(i int64) int64 { return i/60*60 + 2*(i%30) + 1 + i/30%2 })
	},
	// Workers that make 200 IDs a millisecond.
	"worker": func(l *logs, n int64) { work(l, n, 200) },
	// Workers that make one in most milliseconds.
	"slow worker": func(l *logs, n int64) { work(l, n, 1) },
}

// spread deals the IDs out to eight streams, by batches, in no regular order.
func spread(l *logs, source, sequence string, n, batch int64, id func(int64) int64) {
	streams := make([]*StreamWriter, 8)
	for i := range streams {
		process := string(rune('a' + i/4))
		streams[i] = l.open(Stream{Process: process, Source: source, Sequence: sequence, Ordered: source != SourceTicket})
	}
	state := uint64(1)
	for i := int64(0); i < n; {
		state = state*6364136223846793005 + 1442695040888963407
		s := streams[state>>61]
		for end := min(i+batch, n); i < end; i++ {
			s.Issued(id(i))
			if i%4096 == 0 {
				require.NoError(l.t, s.Flush())
			}
		}
	}
}

// work logs what eight workers make, per IDs in a tick.
func work(l *logs, n, per int64) {
	for w := range int64(8) {
		process := string(rune('a' + w))
		l.lease(process, w+1, someTick, someTick+n)
		s := l.stream(process, SourceWorker, "")
		base := snow(l.t, snowflake.Default(), w+1, someTick, 0)
		for i := range n / 8 {
			tick := i / per
			if per == 1 {
				tick += i / 3
			}
			s.Issued(base + tick<<22 + tick*7%64 + i%per)
			if i%4096 == 0 {
				require.NoError(l.t, s.Flush())
			}
		}
	}
}

// BenchmarkCheck has b.N IDs of each kind logged and checked: ns/op of an ID.
//
//	go test -run - -bench Check -benchtime 100000000x ./torture/ledger
func BenchmarkCheck(b *testing.B) {
	for _, name := range []string{"segment", "single", "ticket", "worker", "slow worker"} {
		b.Run(name, func(b *testing.B) {
			l := newLogs(b)
			kindsOfLoad[name](l, int64(b.N))
			l.close()
			b.ResetTimer()
			r, err := Check(context.Background(), l.dir, pair())
			b.StopTimer()
			require.NoError(b, err)
			require.True(b, r.OK(), "%v", r.Findings)
			b.ReportMetric(float64(r.Bytes)/float64(r.IDs), "B/ID")
			b.ReportMetric(b.Elapsed().Seconds()*1e8/float64(r.IDs), "s/100M-IDs")
			require.NoError(b, os.RemoveAll(l.dir))
		})
	}
}

// BenchmarkIssued is the price of noting an ID.
func BenchmarkIssued(b *testing.B) {
	w, err := Create(filepath.Join(b.TempDir(), "c"+Extension))
	require.NoError(b, err)
	s, err := w.Stream(Stream{Process: "c", Source: SourceTicket})
	require.NoError(b, err)
	for i := range int64(b.N) {
		s.Issued(2*i + 1)
	}
	require.NoError(b, w.Close())
}

// issueRun is Issued for a run of IDs, in no time.
func (s *StreamWriter) issueRun(r run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addLocked(r.first)
	s.addLocked(r.first + r.stride)
	s.repeat += uint64(r.count - 2)
	s.count += uint64(r.count - 2)
	s.last = r.last()
	s.flushIfLargeLocked()
}

// BenchmarkBillions has two thousand million IDs checked, nine in ten of segments, in
// batches of 1,000, and one in ten of workers, 200 in a tick. Callers of six processes
// have them in no regular order.
//
//	go test -run - -bench Billions -benchtime 1x ./torture/ledger
func BenchmarkBillions(b *testing.B) {
	const (
		batches = 1_800_000
		ticks   = 125_000
	)
	for range b.N {
		b.StopTimer()
		l := newLogs(b)
		state := uint64(1)
		segments := make([]*StreamWriter, 32)
		for i := range segments {
			segments[i] = l.stream(string(rune('a'+i%6)), SourceSegment, "orders")
		}
		for i := range int64(batches) {
			state = state*6364136223846793005 + 1442695040888963407
			segments[state>>59].issueRun(run{2000*i + 1 + i/100%2, 2, 1000})
		}
		for w := range int64(8) {
			process := string(rune('a' + w%6))
			l.lease(process, w+1, someTick, someTick+ticks)
			s, first := l.stream(process, SourceWorker, ""), snow(b, snowflake.Default(), w+1, someTick, 0)
			for i := range int64(ticks) {
				s.issueRun(run{first + i<<22 + i*7%64, 1, 200})
			}
		}
		l.close()
		b.StartTimer()
		r, err := Check(b.Context(), l.dir, pair())
		b.StopTimer()
		require.NoError(b, err)
		require.True(b, r.OK(), "%v", r.Findings)
		require.Equal(b, int64(2_000_000_000), r.IDs)
		require.Zero(b, r.Gaps["orders"])
		b.ReportMetric(float64(r.Bytes)/float64(r.IDs), "B/ID")
		require.NoError(b, os.RemoveAll(l.dir))
	}
}
