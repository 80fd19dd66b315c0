package snowflake

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/ticket"
)

// drawLayout draws a layout that can issue: a preset, or fields in any order.
func drawLayout(t *rapid.T) Layout {
	if rapid.Bool().Draw(t, "preset") {
		name := rapid.SampledFrom([]string{"oddeven", "twitter", "discord", "sonyflake", "uid-generator"}).Draw(t, "name")
		l, err := Preset(name)
		require.NoError(t, err)
		return l
	}
	left := MaxBits
	fields := []Field{{KindTime, rapid.IntRange(1, 45).Draw(t, "time")}}
	left -= fields[0].Bits
	for _, k := range []Kind{KindWorker, KindDatacenter, KindShard, KindSequence} {
		least := 0
		if k == KindWorker {
			least = 1
		}
		if bits := rapid.IntRange(least, min(20, left)).Draw(t, k.String()); bits > 0 {
			fields = append(fields, Field{k, bits})
			left -= bits
		}
	}
	l, err := NewLayout(time.Millisecond, time.UnixMilli(0), rapid.Permutation(fields).Draw(t, "order")...)
	require.NoError(t, err)
	return l
}

// Every value of every number gives an ID of its own: what it was made of can be
// read back.
func TestIDsOfEveryLayoutAreDistinct(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		number := rapid.Int64Range(0, l.MaxWorker()).Draw(t, "number")
		g, err := newGenerator(l, number, 0)
		require.NoError(t, err)
		last := l.MaxTick()<<g.seqBits | g.seqMask
		v := rapid.Int64Range(0, last).Draw(t, "value")
		ids := make([]int64, min(10, last-v+1))
		g.composeN(v, ids)
		for i, id := range ids {
			require.Equal(t, g.compose(v+int64(i)), id)
			p, err := l.Decompose(id)
			require.NoError(t, err)
			got, err := l.Number(p.Datacenter, p.Worker)
			require.NoError(t, err)
			require.Equal(t, number, got)
			require.Zero(t, p.Shard)
			require.Equal(t, v+int64(i), p.Tick<<g.seqBits|p.Sequence)
		}
	})
}

func TestNumbersOutOfRangeAreRefused(t *testing.T) {
	t.Parallel()
	for _, p := range Presets() {
		for _, number := range []int64{math.MinInt64, -1, p.Layout.MaxWorker() + 1, math.MaxInt64} {
			_, err := newGenerator(p.Layout, number, 0)
			if p.Layout.WorkerBits() == 0 {
				require.ErrorAs(t, err, new(*LayoutError), p.Name)
				continue
			}
			var config *ticket.ConfigError
			require.ErrorAs(t, err, &config, p.Name)
			require.Equal(t, "number", config.Field)
			require.Equal(t, number, config.Value)
		}
	}
	_, err := newGenerator(Layout{}, 0, 0)
	require.ErrorAs(t, err, new(*LayoutError))
}

// startOf is in the tick, goes on from the position in the low bits, and does not
// go back within a tick.
func TestStartOfTick(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{seqBits: uint8(rapid.IntRange(0, 20).Draw(t, "bits"))}
		g.seqMask = 1<<g.seqBits - 1
		pos := rapid.Int64Range(-1, 1<<40).Draw(t, "pos")
		tick := rapid.Int64Range(0, 1<<20).Draw(t, "tick")
		start := g.startOf(tick, pos)
		require.Equal(t, tick, (start+1)>>g.seqBits)
		require.Equal(t, (pos+1)&g.startMask(), (start+1)&g.startMask())
		if pos>>g.seqBits >= tick {
			require.LessOrEqual(t, start, pos)
		}
	})
}

// A caller that was frozen between claiming a value and looking at hi may not
// use it any more if the rectangle has been replaced.
func TestFrozenCallersGetNothingOfWhatIsOver(t *testing.T) {
	t.Parallel()
	l, err := ParseLayout("time:41,worker:2,sequence:2;unit=1h;epoch=1970-01-01T00:00:00Z")
	require.NoError(t, err)
	for _, revoked := range []bool{false, true} {
		g, err := newGenerator(l, 1, 100*time.Hour)
		require.NoError(t, err)
		g.grant(rectangle{10, 12}, serverTime{ms: 10 * l.unit, read: time.Now()})
		var frozen []int64 // claims, some of them beyond the end
		_, ok := g.tryNext()
		require.True(t, ok)
		for range 50 {
			frozen = append(frozen, g.state.Add(1))
		}
		require.True(t, g.owns(frozen[0]))
		require.False(t, g.owns(frozen[49]), "beyond the end")
		if revoked {
			g.revoke(ErrLeaseEnded)
			unused := g.firstUnused()
			for _, v := range frozen {
				require.False(t, g.owns(v))
			}
			require.Equal(t, int64(12), unused)
		}
		g.grant(rectangle{14, 100}, serverTime{ms: 14 * l.unit, read: time.Now()})
		id, ok := g.tryNext()
		require.True(t, ok)
		require.GreaterOrEqual(t, id>>l.shift[KindTime], int64(14))
		for _, v := range frozen {
			if v>>g.seqBits < 14 {
				require.False(t, g.owns(v), "tick %d", v>>g.seqBits)
			}
		}
		g.stop()
	}
}

func TestRevokedForGood(t *testing.T) {
	t.Parallel()
	l := Default()
	g, err := newGenerator(l, 1, time.Millisecond)
	require.NoError(t, err)
	_, err = g.next(t.Context())
	require.ErrorIs(t, err, errNotGranted)
	require.Zero(t, g.firstUnused())
	require.Zero(t, g.lastTick())
	now := serverTime{ms: l.epoch + 1000*l.unit, read: time.Now()}
	g.grant(rectangle{1000, 1_000_000}, now)
	require.Equal(t, int64(1000), g.firstUnused())
	require.Equal(t, int64(999), g.lastTick())
	_, err = g.next(t.Context())
	require.NoError(t, err)
	g.revoke(ErrLeaseEnded)
	last := g.firstUnused()
	require.Greater(t, last, int64(1000))
	require.Equal(t, last-1, g.lastTick())

	g.grant(rectangle{1000, 2_000_000}, now) // a late answer
	g.grant(rectangle{last, 2_000_000}, now)
	_, err = g.next(t.Context())
	require.ErrorIs(t, err, ErrLeaseEnded)
	require.Equal(t, last, g.firstUnused())

	g.grant(rectangle{1_000_000, 2_000_000}, now)
	id, err := g.next(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(1_000_000), id>>l.shift[KindTime])
	g.stop()
	g.stop()
	g.grant(rectangle{3_000_000, 4_000_000}, now)
	g.revoke(ErrLeaseEnded)
	_, err = g.next(t.Context())
	require.ErrorIs(t, err, ErrClosed)
	require.Equal(t, int64(1_000_001), g.firstUnused())
}

func TestRectanglesThatMakeNoSense(t *testing.T) {
	t.Parallel()
	l := Default()
	for _, r := range []rectangle{
		{10, 5}, {-20, -10}, {0, 0}, {l.MaxTick() + 1, math.MaxInt64}, {math.MinInt64, math.MinInt64}, {math.MaxInt64, math.MinInt64},
	} {
		g, err := newGenerator(l, 1, time.Millisecond)
		require.NoError(t, err)
		g.grant(r, serverTime{ms: l.epoch + 10, read: time.Now()})
		_, err = g.next(t.Context())
		require.Error(t, err, r)
		_, ok := g.tryNext()
		require.False(t, ok, r)
		g.stop()
	}
	g, err := newGenerator(l, 1, time.Millisecond)
	require.NoError(t, err)
	g.grant(rectangle{math.MinInt64, math.MaxInt64}, serverTime{ms: math.MaxInt64 / 2, read: time.Now()})
	_, err = g.next(t.Context())
	require.ErrorIs(t, err, ErrExhausted)
	g.stop()
}

func TestClockNeverGoesBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		start := time.Now()
		at := func(milli int64) time.Time { return start.Add(time.Duration(milli) * time.Millisecond) }
		c := clock{base: serverTime{ms: 1_000_000, read: start}, lead: rapid.Int64Range(0, 100_000).Draw(t, "lead")}
		before := c.milli(start)
		for milli := int64(0); milli < 100_000*slew; {
			milli += rapid.Int64Range(0, 100_000).Draw(t, "step")
			now := c.milli(at(milli))
			require.GreaterOrEqual(t, now, before)
			before = now
			wait := c.wait(at(milli), now+5)
			require.Positive(t, wait)
			require.LessOrEqual(t, wait, 5*time.Millisecond)
		}
		require.Equal(t, int64(1_000_000+100_000*slew), c.milli(at(100_000*slew)))
	})
}

func TestClockSetBackRunsSlower(t *testing.T) {
	t.Parallel()
	var c clock
	read := time.Now()
	c.set(serverTime{ms: 5000, read: read})
	c.set(serverTime{ms: 4000, read: read})
	now := time.Now()
	require.GreaterOrEqual(t, c.milli(now), int64(5000))
	require.Less(t, c.milli(read.Add(1600*time.Millisecond)), int64(6600))
	require.Equal(t, int64(4000+17_000), c.milli(read.Add(17*time.Second)))
	c.set(serverTime{ms: 900_000, read: read})
	require.GreaterOrEqual(t, c.milli(now), int64(900_000), "forward at once")
}
