package snowflake

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// model is what a generator may do: strictly rising values, in the rectangle it
// has now, not beyond what may be borrowed, not behind by more than a tick of the
// timer, and nothing while revoked.
type model struct {
	t       *rapid.T
	g       *generator
	ended   bool // by revoke
	rect    rectangle
	last    int64 // value drawn last
	server  int64 // milliseconds by which the server is ahead of the bubble's clock
	fastest int64 // the greatest of these: time does not go back
	granted bool
}

// tick is the server's tick now, by the greatest reading so far.
func (m *model) tick() int64 { return m.g.tickAt(time.Now().UnixMilli() + m.fastest) }

// reading is what the server says now.
func (m *model) reading() serverTime {
	m.fastest = max(m.fastest, m.server)
	return serverTime{ms: time.Now().UnixMilli() + m.server, read: time.Now()}
}

// checkID holds an ID to the model.
func (m *model) checkID(id int64) {
	p, err := m.g.layout.Decompose(id)
	require.NoError(m.t, err)
	v := p.Tick<<m.g.seqBits | p.Sequence
	require.False(m.t, m.ended || !m.granted, "an ID while there is no rectangle")
	require.Equal(m.t, m.g.number, p.Worker)
	require.Greater(m.t, v, m.last, "tick %d", p.Tick)
	require.GreaterOrEqual(m.t, p.Tick, m.rect.from)
	require.Less(m.t, p.Tick, m.rect.until)
	ahead := m.g.ahead / m.g.layout.unit
	require.LessOrEqual(m.t, p.Tick, max(m.tick(), m.rect.from)+ahead+1)
	m.last = v
}

// grant extends the rectangle, or begins another after a gap.
func (m *model) grant(t *rapid.T) {
	length := rapid.Int64Range(1, 30).Draw(t, "length")
	switch {
	case m.ended, !m.granted, rapid.IntRange(0, 3).Draw(t, "how") == 0:
		gap := rapid.Int64Range(0, 5).Draw(t, "gap")
		if !m.ended && m.granted {
			gap++ // else it is an extension
		}
		from := max(m.tick(), m.rect.until) + gap
		m.rect = rectangle{from, from + length}
		m.ended, m.granted = false, true
	default:
		m.rect.until = max(m.rect.until, max(m.tick(), m.rect.from)+length)
	}
	m.g.grant(m.rect, m.reading())
}

// revoke checks firstUnused against what was drawn.
func (m *model) revoke(*rapid.T) {
	m.g.revoke(errTaken)
	m.ended = true
	if !m.granted {
		return
	}
	unused := m.g.firstUnused()
	require.GreaterOrEqual(m.t, unused, m.rect.from)
	require.LessOrEqual(m.t, unused, m.rect.until)
	require.Greater(m.t, unused, min(m.last>>m.g.seqBits, m.rect.until-1))
	require.GreaterOrEqual(m.t, m.g.lastTick(), m.last>>m.g.seqBits)
}

// draw takes IDs without waiting.
func (m *model) draw(t *rapid.T) {
	for range rapid.IntRange(1, 40).Draw(t, "n") {
		if id, ok := m.g.tryNext(); ok {
			m.checkID(id)
		}
	}
}

// wait takes IDs as long as ctx allows.
func (m *model) wait(t *rapid.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*m.g.layout.Unit())
	defer cancel()
	ids := make([]int64, rapid.IntRange(1, 40).Draw(t, "n"))
	if rapid.Bool().Draw(t, "one") {
		if id, err := m.g.next(ctx); err == nil {
			m.checkID(id)
		}
		return
	}
	if err := m.g.nextN(ctx, ids); err != nil {
		require.Equal(t, make([]int64, len(ids)), ids)
		return
	}
	for _, id := range ids {
		m.checkID(id)
	}
}

// end holds what Stats says of the end to what a call gets that does not wait.
func (m *model) end(*rapid.T) {
	position := func() int64 {
		m.g.mu.Lock()
		defer m.g.mu.Unlock()
		return m.g.position()
	}
	before := position()
	said := m.g.stats().Ended
	require.Equal(m.t, before, position(), "nothing is claimed")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	id, err := m.g.next(ctx)
	if err == nil {
		m.checkID(id)
	}
	if errors.Is(err, context.Canceled) {
		err = nil // later
	}
	require.Equal(m.t, err, said)
}

// pass lets time pass, and the server's clock be set now and then.
func (m *model) pass(t *rapid.T) {
	time.Sleep(time.Duration(rapid.Int64Range(1, 5000).Draw(t, "µs")) * time.Microsecond)
	if rapid.IntRange(0, 9).Draw(t, "step") == 0 {
		m.server += rapid.Int64Range(-20, 20).Draw(t, "by")
	}
}

// inBubble hides Deadline, which may not be called in a bubble.
type inBubble struct{ rapid.TB }

func TestGeneratorAgainstItsModel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour)
		rapid.Check(inBubble{t}, func(t *rapid.T) {
			l, err := ParseLayout(rapid.SampledFrom([]string{
				"time:41,worker:2,sequence:2;unit=1ms;epoch=2000-01-01T00:00:00Z",
				"time:41,sequence:7,worker:2;unit=2ms;epoch=2000-01-01T00:00:00Z",
				"sequence:3,worker:2,time:50;unit=1ms;epoch=2000-01-01T00:00:00Z",
				"time:41,worker:2;unit=1ms;epoch=2000-01-01T00:00:00Z",
			}).Draw(t, "layout"))
			require.NoError(t, err)
			ahead := rapid.Int64Range(0, 20).Draw(t, "ahead")
			g, err := newGenerator(l, 2, time.Duration(ahead)*time.Millisecond)
			require.NoError(t, err)
			defer g.stop()
			m := &model{t: t, g: g, last: -1}
			t.Repeat(map[string]func(*rapid.T){
				"grant": m.grant, "revoke": m.revoke, "draw": m.draw, "draw more": m.draw, "wait": m.wait, "end": m.end, "pass": m.pass,
			})
		})
	})
}
