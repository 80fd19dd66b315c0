package ledger

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

func TestCleanLogsGiveNoFinding(t *testing.T) {
	t.Parallel()
	l := newLogs(t)
	l.fill(pair(), 400)
	l.event(0, EventFault, "kill by SIGKILL")
	l.event(time.Second, EventHealed, "kill")
	l.event(3*time.Second, EventRecovered, "")
	require.NoError(t, l.of("c0.1").Call(Call{Process: "c0.1", Source: SourceTicket, Took: time.Minute, Err: "no server", Allowed: true}))
	require.NoError(t, l.of("c0.1").Call(Call{Process: "c0.1", Source: SourceTicket, Took: 4 * time.Second}))
	r := l.check(pair())
	l.clean(r)
	require.Equal(t, int64(400_000+1_600+40_000), r.IDs)
	require.Equal(t, map[string]int64{SourceSegment: 400_000, SourceTicket: 1_600, SourceWorker: 40_000}, r.BySource)
	require.Equal(t, 6, r.Streams)
	require.Equal(t, 2, r.Processes)
	require.Equal(t, 3, r.Files)
	require.Zero(t, r.Unfinished)
	require.Equal(t, map[string]int64{"": 1596, "orders": 0}, r.Gaps)
	require.Equal(t, map[string]int{"kill": 1}, r.Faults)
	require.Equal(t, 2*time.Second, r.SlowestRecovery)
	require.Equal(t, 1, r.Recoveries)
	require.Equal(t, []int64{2, 1, 1}, []int64{r.Calls, r.FailedCalls, r.AllowedFailures})
	require.Equal(t, time.Minute, r.LongestCall)
	require.Equal(t, 2, r.Leases)
	require.Zero(t, r.Unleased)
}

// One ID, once more, among millions.
func TestFindsADuplicate(t *testing.T) {
	t.Parallel()
	const (
		segments = 1000
		planted  = int64(2*1000*500 + 1 + 2*321) // of the 501st segment
	)
	layout := snowflake.Default()
	worker := snow(t, layout, 2, someTick+77, 41)
	tests := map[string]struct {
		where Stream
		ids   []int64
		n     int64
	}{
		"OfAnotherProcess":        {Stream{Process: "c2.1", Source: SourceSegment, Sequence: "orders", Ordered: true}, []int64{planted}, 1},
		"OfAnotherStream":         {Stream{Process: "c0.1", Source: SourceSegment, Sequence: "orders", Ordered: true}, []int64{planted}, 1},
		"OfAFacade":               {Stream{Process: "c2.1", Source: SourceFacade, Sequence: "orders", Ordered: true}, []int64{planted}, 1},
		"WithinAStream":           {Stream{Process: "c2.1", Source: SourceSegment, Sequence: "users"}, []int64{3, 5, 7, 9, 5}, 1},
		"InARow":                  {Stream{Process: "c2.1", Source: SourceSegment, Sequence: "users"}, []int64{3, 5, 5, 5, 7}, 2},
		"OfAWideStride":           {Stream{Process: "c2.1", Source: SourceSegment, Sequence: "orders"}, []int64{planted, planted + 1<<40, planted + 1<<41}, 1},
		"OfAStrideOfBothClasses":  {Stream{Process: "c2.1", Source: SourceSegment, Sequence: "orders"}, append(progression(planted-1, 1, 3), 1<<40), 1},
		"OfAFallingStride":        {Stream{Process: "c2.1", Source: SourceSegment, Sequence: "orders"}, []int64{planted + 1<<40, planted + 1<<39, planted}, 1},
		"OfAWholeSegment":         {Stream{Process: "c2.1", Source: SourceSegment, Sequence: "orders", Ordered: true}, progression(planted, 2, 200), 200},
		"OfATicket":               {Stream{Process: "c2.1", Source: SourceTicket, Ordered: true}, []int64{8*123 + 1}, 1},
		"OfAWorker":               {Stream{Process: "c2.1", Source: SourceWorker, Ordered: true}, []int64{worker}, 1},
		"OfAWorkerAndAFacade":     {Stream{Process: "c2.1", Source: SourceFacade, Sequence: "orders", Ordered: true}, []int64{worker}, 1},
		"OfAWorkerAndManyFacades": {Stream{Process: "c2.1", Source: SourceFacade, Sequence: "users", Ordered: true}, progression(worker, 1, 9), 9},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLogs(t)
			l.fill(pair(), segments)
			l.open(tt.where).IssuedAll(tt.ids)
			r := l.check(pair())
			l.finds(r, KindDuplicate, tt.n)
			require.Len(t, r.Findings, 1)
			require.Contains(t, r.Findings[0].Detail, tt.where.Process+" (")
		})
	}
}

// The same number of two sequences, or of tickets and a sequence, is no duplicate.
func TestSequencesDoNotMeet(t *testing.T) {
	t.Parallel()
	l := newLogs(t)
	for _, name := range []string{"a", "b"} {
		l.stream("c1", SourceSegment, name).IssuedAll(progression(1, 2, 100_000))
	}
	l.stream("c1", SourceTicket, "").IssuedAll(progression(1, 2, 100_000))
	// The other class, at the same places.
	l.stream("c2", SourceTicket, "").IssuedAll(progression(2, 2, 100_000))
	l.clean(l.check(pair()))
}

// A finding says where both copies are.
func TestDuplicateNamesBothCopies(t *testing.T) {
	t.Parallel()
	l := newLogs(t)
	l.stream("c1.1", SourceSegment, "orders").IssuedAll(progression(1, 2, 1000))
	l.stream("c2.7", SourceFacade, "orders").IssuedAll([]int64{201, 203, 2001})
	r := l.check(pair())
	l.finds(r, KindDuplicate, 2)
	require.Equal(t, `ID 201 of sequence "orders" was handed out 2 times: `+
		`c1.1 (segment "orders", c1.1.ledger stream 0, ID 101); c2.7 (facade "orders", c2.7.ledger stream 0, ID 1); and so were the 1 that follow it there`,
		r.Findings[0].Detail)
}

func TestShards(t *testing.T) {
	t.Parallel()
	facade := Stream{Process: "c1", Source: SourceFacade, Sequence: "orders", Ordered: true, ShardBits: 4}
	l := newLogs(t)
	s := l.open(facade)
	for i := range int64(10_000) {
		s.Issued((2*i+1)<<4 | i*7%16)
	}
	up := snow(t, sharded(t).Layout, 5, someTick, 3)
	s.Issued(up | 7)
	s.Issued(up + 1<<4)
	l.stream("c2", SourceSegment, "orders").IssuedAll(progression(2, 2, 10_000))
	r := l.check(sharded(t))
	l.clean(r)

	// The number is what must be unique, whatever shard it has.
	again := facade
	again.Process = "c3"
	l = newLogs(t)
	s = l.open(facade)
	s.Issued(7<<4 | 3)
	s.Issued(up | 7)
	s = l.open(again)
	s.Issued(7<<4 | 4)
	s.Issued(up | 8)
	l.finds(l.check(sharded(t)), KindDuplicate, 2)

	l = newLogs(t)
	l.open(facade).Issued(7<<4 | 3)
	l.finds(l.check(pair()), KindLog, 1)
}

func TestFindsAWrongResidue(t *testing.T) {
	t.Parallel()
	three := pair()
	three.Increment = 3
	for name, tt := range map[string]struct {
		ids []int64
		n   int64
	}{
		"One":   {[]int64{1, 2, 4, 6}, 1},
		"Range": {append([]int64{2}, progression(3, 3, 1000)...), 1000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, source := range []string{SourceSegment, SourceFacade} {
				l := newLogs(t)
				l.stream("c1", source, "orders").IssuedAll(tt.ids)
				l.finds(l.check(three), KindResidue, tt.n)
			}
		})
	}
	l := newLogs(t)
	l.stream("c1", SourceTicket, "").IssuedAll([]int64{1, 2, 3, 4})
	l.stream("c1", SourceWorker, "").Issued(snow(t, three.Layout, 9, someTick, 0))
	l.stream("c1", SourceWorker, "").Issued(snow(t, three.Layout, 10, someTick, 0))
	l.finds(l.check(three), KindResidue, 2)
}

func TestFindsAWrongPlane(t *testing.T) {
	t.Parallel()
	low := pair()
	low.Ceiling = map[string]int64{"small": 1<<31 - 1, "": 1000}
	above := snow(t, low.Layout, 1, someTick, 0)
	tests := map[string]struct {
		source, sequence string
		id               int64
	}{
		"SegmentAbove":       {SourceSegment, "orders", schema.Ceiling + 1},
		"SegmentAtSnowflake": {SourceSegment, "orders", above},
		"TicketAbove":        {SourceTicket, "", 1001},
		"SequenceOfItsOwn":   {SourceSegment, "small", 1<<31 + 1},
		"FacadeOfItsOwn":     {SourceFacade, "small", 1<<31 + 1},
		"WorkerBelow":        {SourceWorker, "", 12345},
		"Zero":               {SourceSegment, "orders", 0},
		"NegativeTicket":     {SourceTicket, "", -5},
		"NegativeWorker":     {SourceWorker, "", -5},
		"NegativeFacade":     {SourceFacade, "orders", -1 << 63},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLogs(t)
			l.stream("c1", tt.source, tt.sequence).Issued(tt.id)
			l.finds(l.check(low), KindPlane, 1)
		})
	}
	l := newLogs(t)
	l.stream("c1", SourceSegment, "small").Issued(1<<31 - 1)
	l.stream("c1", SourceSegment, "orders").Issued(schema.Ceiling - 1)
	l.stream("c1", SourceTicket, "").Issued(999)
	l.clean(l.check(low))
}

func TestFindsBrokenOrder(t *testing.T) {
	t.Parallel()
	layout := snowflake.Default()
	up := snow(t, layout, 1, someTick, 5)
	tests := map[string]struct {
		source, sequence string
		ids              []int64
	}{
		"Segment":        {SourceSegment, "orders", []int64{1, 3, 5, 9, 7, 11}},
		"SegmentClasses": {SourceSegment, "orders", []int64{1, 3, 6, 5}},
		"SegmentFalling": {SourceSegment, "orders", []int64{9, 7}},
		"Ticket":         {SourceTicket, "", []int64{11, 2, 4, 9}},
		"Worker":         {SourceWorker, "", []int64{up, up + 1<<22, up + 1}},
		"FacadeBelow":    {SourceFacade, "orders", []int64{1, 3, up, 2}},
		"FacadeAbove":    {SourceFacade, "orders", []int64{1, up, 3, up - 1}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLogs(t)
			l.stream("c1", tt.source, tt.sequence).IssuedAll(tt.ids)
			l.finds(l.check(pair()), KindOrder, 1)
			l = newLogs(t)
			l.open(Stream{Process: "c1", Source: tt.source, Sequence: tt.sequence}).IssuedAll(tt.ids)
			l.clean(l.check(pair()))
		})
	}
	// What is no promise: tickets of two servers, workers after one another, planes.
	l := newLogs(t)
	l.stream("c1", SourceTicket, "").IssuedAll([]int64{101, 2, 103, 4})
	l.stream("c1", SourceFacade, "orders").IssuedAll([]int64{1, up, 3, up + 7, snow(t, layout, 3, someTick-1, 0), 8})
	l.clean(l.check(pair()))
}

// Few blocks at a time find the same as all at once.
func TestManyRoundsFindTheSame(t *testing.T) {
	t.Parallel()
	l := newLogs(t)
	l.fill(pair(), 300)
	l.stream("c9", SourceSegment, "orders").IssuedAll(progression(150*2000+2, 2, 50))
	l.stream("c9", SourceFacade, "orders").Issued(snow(t, pair().Layout, 1, someTick+250, 20))
	l.close()
	all, err := Check(t.Context(), l.dir, pair())
	require.NoError(t, err)
	few, err := check(t.Context(), l.dir, pair(), 3000)
	require.NoError(t, err)
	l.finds(all, KindDuplicate, 51)
	require.Equal(t, all.Findings, few.Findings)
	require.Equal(t, all.Found, few.Found)
}

// The number of findings is right also where only some are kept.
func TestFindingsAreCapped(t *testing.T) {
	t.Parallel()
	l := newLogs(t)
	for _, process := range []string{"c1", "c2"} {
		s := l.stream(process, SourceTicket, "")
		for i := range int64(50_000) {
			s.Issued(1 + i*6 + i%2*2)
		}
	}
	r := l.check(pair())
	l.finds(r, KindDuplicate, 50_000)
	require.Len(t, r.Findings, maxFindings)
}

func TestCheckRefuses(t *testing.T) {
	t.Parallel()
	l := newLogs(t)
	l.stream("c1", SourceTicket, "").Issued(1)
	l.close()
	empty := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(empty, "c1.log"), []byte("x"), 0o600))
	tests := map[string]struct {
		dir    string
		change func(*Fleet)
		field  string
	}{
		"NoFile":    {empty, func(*Fleet) {}, "dir"},
		"Increment": {l.dir, func(f *Fleet) { f.Increment = 0 }, "Fleet.Increment"},
		"NoServer":  {l.dir, func(f *Fleet) { f.Offsets = nil }, "Fleet.Offsets"},
		"Offset":    {l.dir, func(f *Fleet) { f.Offsets = map[int64]string{3: "three"} }, "Fleet.Offsets"},
		"ShardBits": {l.dir, func(f *Fleet) { f.ShardBits = 33 }, "Fleet.ShardBits"},
		"Ceiling":   {l.dir, func(f *Fleet) { f.Ceiling = map[string]int64{"a": 1 << 53} }, `Fleet.Ceiling["a"]`},
		"Recover":   {l.dir, func(f *Fleet) { f.RecoverWithin = -1 }, "Fleet.RecoverWithin"},
		"Call":      {l.dir, func(f *Fleet) { f.LongestCall = -1 }, "Fleet.LongestCall"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := pair()
			tt.change(&f)
			_, err := Check(t.Context(), tt.dir, f)
			var wrong *ticket.ConfigError
			require.ErrorAs(t, err, &wrong)
			require.Equal(t, tt.field, wrong.Field)
		})
	}
	f := pair()
	f.ShardBits = 2
	_, err := Check(t.Context(), l.dir, f)
	var layout *snowflake.LayoutError
	require.ErrorAs(t, err, &layout)
	_, err = Check(t.Context(), filepath.Join(empty, "none"), pair())
	require.ErrorIs(t, err, os.ErrNotExist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = Check(ctx, l.dir, pair())
	require.ErrorIs(t, err, context.Canceled)
}

// Layouts whose sequence is not at the lowest end, or that have none.
func TestOtherLayouts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"time:39,sequence:8,worker:16;unit=10ms;epoch=2020-01-01T00:00:00Z",
		"time:40,datacenter:5,sequence:8,worker:10;unit=1ms;epoch=2020-01-01T00:00:00Z",
		"time:47,worker:16;unit=1ms;epoch=1990-01-01T00:00:00Z",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			f := pair()
			var err error
			f.Layout, err = snowflake.ParseLayout(text)
			require.NoError(t, err)
			top := int64(1) << f.Layout.Width(snowflake.KindSequence)
			tick := int64(1) << (54 - f.Layout.Bits() + f.Layout.Width(snowflake.KindTime))
			l := newLogs(t)
			for _, number := range []int64{1, 2, f.Layout.MaxWorker()} {
				s := l.stream(fmt.Sprint("c", number), SourceWorker, "")
				for i := range 20 * top {
					s.Issued(snow(t, f.Layout, number, tick+i/top, i%top))
				}
			}
			r := l.check(f)
			l.clean(r)
			l = newLogs(t)
			l.stream("c1", SourceWorker, "").IssuedAll([]int64{snow(t, f.Layout, 1, tick, 0), snow(t, f.Layout, 1, tick+1, 0)})
			l.stream("c2", SourceFacade, "a").IssuedAll([]int64{snow(t, f.Layout, 1, tick+1, 0)})
			l.finds(l.check(f), KindDuplicate, 1)
		})
	}
}
