package snowflake

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// stepped is what time.Now would have returned at t if the host's wall clock had
// been stepped since: another wall time with the same monotonic reading. No tool
// steps the clock of a Go program alone, and package time has no way to say it, so
// it is written into the value: 1 bit that says that there is a monotonic reading,
// 33 bits of wall seconds, 30 bits of nanoseconds (time.Time, wall and ext).
func stepped(t *testing.T, now time.Time, by time.Duration) time.Time {
	t.Helper()
	wall := (*uint64)(unsafe.Pointer(&now))
	require.NotZero(t, *wall>>63, "no monotonic reading")
	was := now
	*wall += uint64(int64(by/time.Second)) << 30 & (1<<63 - 1)
	*wall |= 1 << 63
	require.Equal(t, was.Unix()+int64(by/time.Second), now.Unix(), "package time has changed")
	require.Zero(t, now.Sub(was), "package time has changed")
	return now
}

const year = 365 * 24 * time.Hour

// Steps of the host's clock, by seconds, hours and years both ways.
var clockSteps = []time.Duration{
	time.Second, -time.Second, 59 * time.Second, -59 * time.Second, time.Hour, -time.Hour, 25 * time.Hour, -25 * time.Hour,
	year, -year, 30 * year, -30 * year,
}

func TestStepsOfTheHostsClockDoNotMoveTime(t *testing.T) {
	t.Parallel()
	read := time.Now()
	var c clock
	c.set(serverTime{ms: 1_790_000_000_000, read: read})
	lagging := c
	lagging.set(serverTime{ms: 1_789_999_999_000, read: read}) // the server's clock was set back
	for _, by := range clockSteps {
		for _, later := range []time.Duration{0, time.Millisecond, time.Minute, 10 * time.Hour} {
			now := read.Add(later)
			for _, c := range []clock{c, lagging} {
				require.Equal(t, c.milli(now), c.milli(stepped(t, now, by)), "step of %s", by)
				require.Equal(t, c.wait(now, 1_800_000_000_000), c.wait(stepped(t, now, by), 1_800_000_000_000), "step of %s", by)
			}
		}
	}
}

func TestStepsOfTheHostsClockChangeNothingForAWorker(t *testing.T) {
	t.Parallel()
	l := Default()
	read := time.Now()
	server := serverTime{ms: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(), read: read}
	from := l.TickOf(time.UnixMilli(server.ms))
	g, err := newGenerator(l, 7, defaultMaxAhead)
	require.NoError(t, err)
	defer g.stop()
	g.grant(rectangle{from: from, until: from + time.Hour.Milliseconds()}, server)
	held := &lease{g: g, held: hold{number: 7, rect: rectangle{from: from, until: from + time.Hour.Milliseconds()}, time: server, terms: rowTerms{layout: l, length: time.Hour.Milliseconds()}}}
	last := int64(0)
	for i, by := range clockSteps {
		now := stepped(t, read.Add(time.Duration(i)*time.Second), by)
		g.mu.Lock()
		require.NoError(t, g.advanceLocked(now), "the lease does not end because of a step of %s", by)
		g.mu.Unlock()
		id, ok := g.tryNext()
		require.True(t, ok)
		parts, err := l.Decompose(id)
		require.NoError(t, err)
		require.Greater(t, id, last)
		require.GreaterOrEqual(t, parts.Tick, from)
		require.Less(t, parts.Tick, from+time.Minute.Milliseconds(), "step of %s", by)
		last = id
		require.Equal(t, time.Hour-time.Duration(i)*time.Second, held.leftLocked(now).Round(time.Second), "step of %s", by)
	}
}
