package ledger

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
)

// someTick is a tick of the default layout whose IDs are above 2^53.
const someTick = int64(1) << 32

// someTime is when faults are made.
var someTime = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// pair is a fleet of two servers.
func pair() Fleet {
	return Fleet{
		Increment: 2, Offsets: map[int64]string{1: "one", 2: "two"}, Layout: snowflake.Default(),
		RecoverWithin: 10 * time.Second, LongestCall: 5 * time.Second,
	}
}

// sharded is one with four shard bits.
func sharded(t testing.TB) Fleet {
	t.Helper()
	f := pair()
	f.ShardBits = 4
	var err error
	f.Layout, err = snowflake.Default().WithShardBits(4)
	require.NoError(t, err)
	return f
}

// logs is a directory of ledgers.
type logs struct {
	t     testing.TB
	dir   string
	files map[string]*Writer
}

func newLogs(t testing.TB) *logs {
	return &logs{t: t, dir: t.TempDir(), files: map[string]*Writer{}}
}

// of returns the writer of a process.
func (l *logs) of(process string) *Writer {
	l.t.Helper()
	if w := l.files[process]; w != nil {
		return w
	}
	w, err := Create(filepath.Join(l.dir, process+Extension))
	require.NoError(l.t, err)
	l.t.Cleanup(func() { require.NoError(l.t, w.Close()) })
	l.files[process] = w
	return w
}

// stream begins a stream.
func (l *logs) stream(process, source, sequence string) *StreamWriter {
	l.t.Helper()
	return l.open(Stream{Process: process, Source: source, Sequence: sequence, Ordered: true})
}

func (l *logs) open(s Stream) *StreamWriter {
	l.t.Helper()
	sw, err := l.of(s.Process).Stream(s)
	require.NoError(l.t, err)
	return sw
}

// lease logs a lease whose holder is named like the process.
func (l *logs) lease(process string, worker, from, until int64) {
	l.t.Helper()
	require.NoError(l.t, l.of(process).Lease(Lease{Process: process, Worker: worker, FromTick: from, UntilTick: until, Holder: process}))
}

// event logs an event of server one, some seconds into the run.
func (l *logs) event(after time.Duration, kind, detail string) {
	l.t.Helper()
	require.NoError(l.t, l.of("scheduler").Event(Event{At: someTime.Add(after), Kind: kind, Server: "one", Detail: detail}))
}

// close closes all files.
func (l *logs) close() {
	l.t.Helper()
	for _, w := range l.files {
		require.NoError(l.t, w.Close())
	}
}

// check closes the files and checks them.
func (l *logs) check(f Fleet) *Report {
	l.t.Helper()
	l.close()
	r, err := Check(l.t.Context(), l.dir, f)
	require.NoError(l.t, err)
	return r
}

// finds requires that just one kind of finding was found, so many times.
func (l *logs) finds(r *Report, kind string, n int64) {
	l.t.Helper()
	require.Equal(l.t, map[string]int64{kind: n}, r.Found, "%v", r.Findings)
	for _, f := range r.Findings {
		require.Equal(l.t, kind, f.Kind)
		require.NotContains(l.t, f.Detail, "%!")
	}
	require.NotEmpty(l.t, r.Findings)
}

// clean requires that nothing was found.
func (l *logs) clean(r *Report) {
	l.t.Helper()
	require.True(l.t, r.OK(), "%v", r.Findings)
	require.Empty(l.t, r.Found)
}

// progression is n IDs from first on.
func progression(first, stride int64, n int) []int64 {
	ids := make([]int64, n)
	for i := range ids {
		ids[i] = first + int64(i)*stride
	}
	return ids
}

// snow composes a Snowflake ID.
func snow(t testing.TB, l snowflake.Layout, worker, tick, sequence int64) int64 {
	t.Helper()
	datacenter, low, err := l.Node(worker)
	require.NoError(t, err)
	id, err := l.Compose(snowflake.Parts{Tick: tick, Datacenter: datacenter, Worker: low, Sequence: sequence})
	require.NoError(t, err)
	require.GreaterOrEqual(t, id, schema.Ceiling)
	return id
}

// snows is per IDs in each of some ticks.
func snows(t testing.TB, l snowflake.Layout, worker, tick int64, ticks, per int) []int64 {
	t.Helper()
	var ids []int64
	for i := range ticks {
		first := snow(t, l, worker, tick+int64(i), int64(i%40))
		ids = append(ids, progression(first, 1<<l.Width(snowflake.KindShard), per)...)
	}
	return ids
}

// fill logs what an ordinary run of a pair would: n rounds of segments of 1,000, from
// either server in turn, in two processes; tickets; and workers.
func (l *logs) fill(f Fleet, n int) {
	l.t.Helper()
	for p := range 2 {
		process := fmt.Sprintf("c%d.1", p)
		segments := l.stream(process, SourceSegment, "orders")
		for i := p; i < n; i += 2 {
			segments.IssuedAll(progression(int64(i)*2000+int64(1+i/2%2), 2, 1000))
		}
		tickets := l.stream(process, SourceTicket, "")
		for i := range int64(n) {
			tickets.Issued(i*8 + 1 + int64(p)*2)
			tickets.Issued(i*8 + 10 + int64(p)*2)
		}
		l.lease(process, int64(p+1), someTick, someTick+1000)
		l.stream(process, SourceWorker, "").IssuedAll(snows(l.t, f.Layout, int64(p+1), someTick, n, 50))
	}
}
