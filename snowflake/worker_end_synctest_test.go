package snowflake

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimeBitsUsedUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		const spec = "time:4,worker:2,sequence:2;unit=1s;epoch=2000-01-01T00:00:00Z"
		w := bubbleWorker(t, spec, Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
		require.True(t, w.Stats().Warning, "long before")
		last, drawn := int64(-1), 0
		for {
			id, err := w.Next(t.Context())
			if err != nil {
				var exhausted *ExhaustedError
				require.ErrorAs(t, err, &exhausted)
				require.ErrorIs(t, err, ErrExhausted)
				require.NotErrorIs(t, err, ErrLeaseEnded)
				require.Equal(t, w.g.layout, exhausted.Layout)
				require.Equal(t, "2000-01-01T00:00:16Z", exhausted.At.Format(time.RFC3339))
				break
			}
			require.Greater(t, id, last)
			last = id
			drawn++
		}
		require.InDelta(t, 14*4, drawn, 3)
		require.Equal(t, int64(15), tickOf(t, w, last))
		_, ok := w.TryNext()
		require.False(t, ok)
		require.ErrorIs(t, w.NextN(t.Context(), make([]int64, 2)), ErrExhausted)
		time.Sleep(100 * time.Hour)
		_, err := w.Next(t.Context())
		require.ErrorIs(t, err, ErrExhausted)
		_, err = New(1, Config{Layout: w.g.layout, Ceiling: -1})
		require.ErrorIs(t, err, ErrExhausted)
		require.NoError(t, w.Close())
		require.Equal(t, 1, strings.Count(log.String(), "used up"), log.String())
	})
}

func TestWarningAYearAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := bubbleWorker(t, "time:37,worker:10,sequence:12;unit=1ms;epoch=2000-01-01T00:00:00Z", Config{})
		require.False(t, w.Stats().Warning)
		time.Sleep(time.Until(w.Stats().Exhausted) - 365*24*time.Hour)
		require.False(t, w.Stats().Warning)
		time.Sleep(time.Millisecond)
		require.True(t, w.Stats().Warning)
	})
}

func TestLeaseEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l, err := ParseLayout(spec2000)
		require.NoError(t, err)
		g, err := newGenerator(l, 5, 20*time.Millisecond)
		require.NoError(t, err)
		defer g.stop()
		g.grant(rectangle{0, 1000}, serverTime{ms: l.epoch, read: time.Now()})
		_, err = g.next(t.Context())
		require.NoError(t, err)
		time.Sleep(990 * time.Millisecond)
		for err == nil {
			var id int64
			id, err = g.next(t.Context())
			require.Less(t, id>>l.shift[KindTime], int64(1000))
		}
		var ended *LeaseEndedError
		require.ErrorAs(t, err, &ended)
		require.ErrorIs(t, err, ErrLeaseEnded)
		require.Equal(t, LeaseEndedError{Worker: 5, Until: l.TimeOf(1000)}, *ended)

		g.grant(rectangle{0, 2000}, serverTime{ms: l.epoch + 990, read: time.Now()})
		id, err := g.next(t.Context())
		require.NoError(t, err, "renewed after all")
		require.Equal(t, int64(1000), id>>l.shift[KindTime])
		time.Sleep(time.Hour)
		_, err = g.next(t.Context())
		require.ErrorIs(t, err, ErrLeaseEnded, "also if little was used of it")
	})
}

func TestRevokeWakesCallersThatWait(t *testing.T) {
	t.Parallel()
	for _, closing := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := bubbleWorker(t, "time:33,worker:14,sequence:2;unit=1h;epoch=2000-01-01T00:00:00Z", Config{})
			results := make(chan error, 10)
			for range 10 {
				go func() {
					_, err := w.Next(context.Background())
					results <- err
				}()
			}
			synctest.Wait()
			want := errors.New("lost")
			if closing {
				want = ErrClosed
				require.NoError(t, w.Close())
			} else {
				w.g.revoke(want)
			}
			for range 10 {
				require.ErrorIs(t, <-results, want)
			}
			_, ok := w.TryNext()
			require.False(t, ok)
			require.ErrorIs(t, w.NextN(t.Context(), make([]int64, 3)), want)
		})
	}
}
