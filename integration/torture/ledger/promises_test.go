package ledger

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/snowflake"
)

func TestLeases(t *testing.T) {
	t.Parallel()
	layout := snowflake.Default()
	put := func(l *logs, process, holder string, from, until int64, released bool) {
		require.NoError(t, l.of(process).Lease(Lease{Process: process, Worker: 7, FromTick: from, UntilTick: until, Holder: holder, Released: released}))
	}
	t.Run("Overlap", func(t *testing.T) {
		t.Parallel()
		l := newLogs(t)
		l.lease("c1", 7, 100, 200)
		l.lease("c2", 7, 199, 300)
		l.lease("c3", 8, 100, 300)
		l.lease("c4", 7, 300, 400)
		l.finds(l.check(pair()), KindLease, 1)
	})
	t.Run("OverlapOfARenewal", func(t *testing.T) {
		t.Parallel()
		l := newLogs(t)
		l.lease("c1", 7, 100, 200)
		l.lease("c2", 7, 200, 300)
		l.lease("c1", 7, 150, 250)
		l.finds(l.check(pair()), KindLease, 1)
	})
	t.Run("OneAfterAnother", func(t *testing.T) {
		t.Parallel()
		l := newLogs(t)
		put(l, "c1", "a", 100, 200, false)
		put(l, "c1", "a", 100, 150, true)
		put(l, "c2.1", "b", 150, 400, false) // killed
		put(l, "c2.2", "b", 200, 450, false) // takes it up
		put(l, "c2.2", "b", 200, 300, true)
		put(l, "c1", "c", 300, 500, false)
		put(l, "c9", "d", 500, 500, false)
		r := l.check(pair())
		l.clean(r)
		require.Equal(t, 4, r.Leases)
	})
	t.Run("TakenUpAndOverlapped", func(t *testing.T) {
		t.Parallel()
		l := newLogs(t)
		put(l, "c2.1", "b", 150, 400, false)
		put(l, "c2.2", "b", 200, 450, false)
		put(l, "c1", "c", 420, 500, false)
		l.finds(l.check(pair()), KindLease, 1)
	})
	t.Run("Outside", func(t *testing.T) {
		t.Parallel()
		for _, tick := range []int64{someTick - 1, someTick + 10} {
			l := newLogs(t)
			// Leases may come after their IDs, and are those of the same process.
			s := l.stream("c1", SourceWorker, "")
			s.Issued(snow(t, layout, 7, tick, 1))
			require.NoError(t, s.Flush())
			put(l, "c1", "a", someTick, someTick+10, false)
			put(l, "c2", "b", 0, someTick, false)
			l.finds(l.check(pair()), KindLease, 1)
		}
	})
	t.Run("Inside", func(t *testing.T) {
		t.Parallel()
		l := newLogs(t)
		s := l.stream("c1", SourceWorker, "")
		s.IssuedAll([]int64{snow(t, layout, 7, someTick, 0), snow(t, layout, 7, someTick+9, 4095), snow(t, layout, 7, someTick+20, 0)})
		l.stream("c2", SourceWorker, "").Issued(snow(t, layout, 7, someTick+30, 0))
		put(l, "c1", "a", someTick, someTick+10, false)
		put(l, "c1", "b", someTick+20, someTick+30, false)
		r := l.check(pair())
		l.clean(r)
		require.Equal(t, int64(1), r.Unleased)
	})
}

func TestCalls(t *testing.T) {
	t.Parallel()
	call := func(c Call) (*logs, *Report) {
		l := newLogs(t)
		c.Process, c.Source, c.Began = "c1", SourceTicket, someTime
		require.NoError(t, l.of("c1").Call(c))
		return l, l.check(pair())
	}
	l, r := call(Call{Took: time.Second, Err: "no server"})
	l.finds(r, KindCall, 1)
	require.Contains(t, r.Findings[0].Detail, "no server")
	l, r = call(Call{Took: 6 * time.Second})
	l.finds(r, KindLongCall, 1)
	l, r = call(Call{Took: 6 * time.Second, Err: "no server", Allowed: true})
	l.clean(r)
	l, r = call(Call{Took: 5 * time.Second})
	l.clean(r)
}

func TestRecovery(t *testing.T) {
	t.Parallel()
	type step struct {
		at           int
		kind, detail string
	}
	tests := map[string]struct {
		steps []step
		kind  string // of the finding
	}{
		"InTime":       {[]step{{0, EventFault, "kill"}, {5, EventHealed, "kill"}, {15, EventRecovered, ""}}, ""},
		"Late":         {[]step{{0, EventFault, "kill"}, {5, EventHealed, "kill"}, {16, EventRecovered, ""}}, KindRecovery},
		"Never":        {[]step{{0, EventFault, "kill"}, {5, EventHealed, "kill"}}, KindRecovery},
		"Too early":    {[]step{{0, EventFault, "kill"}, {4, EventRecovered, ""}, {5, EventHealed, "kill"}}, KindRecovery},
		"NotHealed":    {[]step{{0, EventFault, "kill"}}, ""},
		"AnotherFault": {[]step{{0, EventFault, "kill"}, {5, EventHealed, "kill"}, {9, EventFault, "cut"}, {99, EventHealed, "cut"}, {101, EventRecovered, ""}}, ""},
		"TooLateAFault": {[]step{{0, EventFault, "kill"}, {5, EventHealed, "kill"}, {25, EventFault, "cut"}, {99, EventHealed, "cut"},
			{101, EventRecovered, ""}}, KindRecovery},
		"TwoAtOnce": {[]step{{0, EventFault, "kill"}, {1, EventFault, "latency 20ms"}, {5, EventHealed, "kill"}, {50, EventHealed, "latency"},
			{55, EventRecovered, ""}}, ""},
		"AllHealed": {[]step{{0, EventFault, "kill"}, {1, EventFault, "cut"}, {5, EventHealed, ""}, {6, EventRecovered, ""}}, ""},
		"Unmade":    {[]step{{5, EventHealed, "kill"}}, KindLog},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLogs(t)
			for _, s := range tt.steps {
				l.event(time.Duration(s.at)*time.Second, s.kind, s.detail)
			}
			r := l.check(pair())
			if tt.kind == "" {
				l.clean(r)
			} else {
				l.finds(r, tt.kind, 1)
			}
		})
	}
}
