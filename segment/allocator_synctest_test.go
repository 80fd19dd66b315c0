package segment

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/ticket"
)

const ms = time.Millisecond

func TestIDsRiseAcrossServersAndRefills(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			a := open(t, newServers(n, 5*ms), Config{MinStep: 7, MaxStep: 50})
			l := &ledger{t: t}
			for i := range 500 {
				l.draw(a, 10)
				ids := make([]int64, 1+i%60)
				require.NoError(t, a.NextN(t.Context(), ids))
				l.add(ids...)
				if id, ok := a.TryNext(); ok {
					l.add(id)
				}
			}
			st := a.Stats()
			require.Greater(t, st.Refills, int64(100))
			require.Equal(t, st.Reserved, st.Used+st.Dropped+st.Left+st.Queued)
			require.Zero(t, st.Abandoned)
		})
	}
}

func TestSteadyUseNeverWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(2, 50*ms)
		a := open(t, s, Config{Interval: 2 * time.Second})
		l := &ledger{t: t}
		l.pace(a, 1_000_000, 10*time.Second, ms) // warm-up
		before := a.Stats()
		issued := l.n
		l.pace(a, 1_000_000, 60*time.Second, ms)
		after := a.Stats()
		require.Equal(t, before.Waits, after.Waits)
		require.Equal(t, before.Waited, after.Waited)
		require.Zero(t, after.Hedges)
		ratio := float64(after.Reserved-before.Reserved) / float64(l.n-issued)
		require.LessOrEqual(t, ratio, 1.04)
		require.InDelta(t, 30, after.Refills-before.Refills, 2)
		require.LessOrEqual(t, after.Left+after.Queued, int64(3_000_000), "one and a half intervals")
	})
}

func TestJumpOfTheRateCostsOneRefill(t *testing.T) {
	t.Parallel()
	for _, interval := range []time.Duration{2 * time.Second, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			a := open(t, newServers(2, 50*ms), Config{Interval: interval})
			l := &ledger{t: t}
			l.pace(a, 1000, 30*time.Second, 10*ms)
			before := a.Stats()
			l.pace(a, 1_000_000, 20*time.Second, ms/10)
			after := a.Stats()
			require.LessOrEqual(t, after.Waited-before.Waited, 60*ms)
			require.Positive(t, after.Enlargements)
		})
	}
}

func TestStepShrinksWhenItGetsQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(2, 5*ms)
		a := open(t, s, Config{Interval: 2 * time.Second, MaxAge: time.Hour})
		l := &ledger{t: t}
		l.pace(a, 100_000, 10*time.Second, ms)
		require.InDelta(t, 200_000, a.Stats().Step, 20_000)
		l.pace(a, 100, 3*time.Hour, 10*ms)
		require.Equal(t, int64(1000), a.Stats().Step)
	})
}

// Of two callers who find the current segment used up the second one gets a
// number of the next segment and does not begin the refill after that.
func TestLoserOfARaceForTheEndBeginsNoRefill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(2, ms)
		a := open(t, s, Config{MinStep: 1000, MaxStep: 1000})
		l := &ledger{t: t}
		l.draw(a, 1000)
		synctest.Wait()
		time.Sleep(10 * ms)
		require.Len(t, s.asked(), 2)
		one, two := a.claim(), a.claim()
		for _, claimed := range []int64{one, two} {
			id, ok := a.tryNext(claimed)
			require.True(t, ok)
			l.add(id)
		}
		require.True(t, a.hi.Load() < a.last)
		l.draw(a, 600)
		synctest.Wait()
		require.Len(t, s.asked(), 2)
		l.draw(a, 200)
		synctest.Wait()
		require.Len(t, s.asked(), 3)
	})
}

func TestSlowServerIsHedged(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(2, 5*ms)
		a := open(t, s, Config{MinStep: 100, MaxStep: 100})
		l := &ledger{t: t}
		l.draw(a, 1000)
		s.set(func() { s.delay[0] = 5 * time.Second })
		before := a.Stats()
		began := time.Now()
		l.draw(a, 200) // one refill from each
		require.Less(t, time.Since(began), 100*ms)
		st := a.Stats()
		require.Equal(t, before.Hedges+1, st.Hedges)
		s.set(func() { s.delay[0] = 5 * ms })
		l.draw(a, 1000)
		time.Sleep(6 * time.Second) // the late answer comes
		synctest.Wait()
		require.Positive(t, a.Stats().Dropped, "it is a gap")
		l.draw(a, 1000)
	})
}

// One server answers late with a range from before the others' ranges, and one
// from after them: only what is above everything is used.
func TestLateAnswerIsUsedAsFarAsItIsAbove(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(1, 0)
		a := open(t, s, Config{MinStep: 10, MaxStep: 10})
		l := &ledger{t: t}
		l.draw(a, 10) // the first segment; the next is queued
		synctest.Wait()
		a.mu.Lock()
		end := a.queue[0].last
		a.acceptLocked(Range{First: end - 4, Stride: 1, Count: 10}, time.Now())
		require.Equal(t, 2, a.queued)
		require.Equal(t, end+1, a.queue[1].first)
		a.acceptLocked(Range{First: end + 100, Stride: 1, Count: 10}, time.Now())
		require.Equal(t, 2, a.queued, "no room: a gap")
		a.mu.Unlock()
		require.Equal(t, int64(15), a.Stats().Dropped)
		l.draw(a, 100)
	})
}

func TestLostReplyIsAGapAndNeverHandedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(1, ms)
		a := open(t, s, Config{MinStep: 10, MaxStep: 10})
		l := &ledger{t: t}
		l.draw(a, 7)
		s.set(func() { s.lose = 1 })
		l.draw(a, 3)
		first := l.last
		l.draw(a, 1)
		require.Equal(t, first+11, l.last, "ten that nobody confirmed lie between")
		st := a.Stats()
		require.Equal(t, int64(1), st.Abandoned)
		require.Equal(t, int64(1), st.Failed)
		require.NoError(t, st.Err)
	})
}

func TestRangesThatBreakTheSchemeAreRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(Range) Range{
		"AtTheFloor":     func(r Range) Range { r.First -= r.Stride; return r },
		"OtherStride":    func(r Range) Range { r.Stride++; return r },
		"NoStride":       func(r Range) Range { r.Stride = 0; return r },
		"Negative":       func(r Range) Range { r.First = -r.First; return r },
		"Empty":          func(r Range) Range { r.Count = 0; return r },
		"MoreThanAsked":  func(r Range) Range { r.Count++; return r },
		"BeyondThePlane": func(r Range) Range { r.First = maxID - 3; return r },
		"Overflow":       func(r Range) Range { r.First, r.Stride = maxID, 1000; return r },
		"AboveItsCeiling": func(r Range) Range {
			r.Ceiling = r.last() - 1
			return r
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newServers(2, 0)
				a := open(t, s, Config{MinStep: 10, MaxStep: 10, FailFast: true})
				s.set(func() { s.spoil = spoil })
				l := &ledger{t: t}
				l.draw(a, 10)
				_, err := a.Next(t.Context())
				require.ErrorIs(t, err, ErrUnavailable)
				require.ErrorIs(t, err, ErrScheme)
				require.Zero(t, a.Stats().Queued+a.Stats().Left)
				s.set(func() { s.spoil = nil })
				time.Sleep(2 * time.Second)
				l.draw(a, 100)

				s.set(func() { s.spoil = spoil })
				_, err = New(t.Context(), s, Config{MinStep: 10, MaxStep: 10})
				if name != "OtherStride" {
					require.ErrorIs(t, err, ErrScheme)
				}
			})
		})
	}
}

func TestAllServersDown(t *testing.T) {
	t.Parallel()
	start := func(t *testing.T, cfg Config) (*servers, *Allocator, *ledger) {
		s := newServers(2, ms)
		cfg.MinStep, cfg.MaxStep = 10, 10
		a := open(t, s, cfg)
		l := &ledger{t: t}
		l.draw(a, 5)
		s.set(func() { s.down[0], s.down[1] = true, true })
		return s, a, l
	}
	t.Run("CallersWaitUnderTheirContextAndGoOnByThemselves", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, a, l := start(t, Config{})
			l.draw(a, 5)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			began := time.Now()
			_, err := a.Next(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.Equal(t, 10*time.Second, time.Since(began))
			require.ErrorIs(t, a.NextN(ctx, make([]int64, 3)), context.DeadlineExceeded)
			time.AfterFunc(5*time.Second, func() { s.set(func() { s.down[1] = false }) })
			began = time.Now()
			l.draw(a, 1)
			require.Less(t, time.Since(began), 7*time.Second)
			require.Positive(t, a.Stats().Failed)
		})
	})
	t.Run("FailFast", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, a, l := start(t, Config{FailFast: true})
			l.draw(a, 5)
			began := time.Now()
			_, err := a.Next(t.Context())
			require.ErrorIs(t, err, ErrUnavailable)
			require.ErrorIs(t, err, errDown)
			require.LessOrEqual(t, time.Since(began), ms)
			began = time.Now()
			_, err = a.Next(t.Context())
			require.ErrorIs(t, err, ErrUnavailable)
			require.Zero(t, time.Since(began), "at once, as it is known")
			s.set(func() { s.down[0] = false })
			for err != nil {
				_, err = a.Next(t.Context())
				time.Sleep(100 * ms)
			}
			require.Less(t, time.Since(began), 2*time.Second)
		})
	})
	t.Run("WaitAtMost", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			_, a, l := start(t, Config{WaitAtMost: 300 * ms})
			l.draw(a, 5)
			began := time.Now()
			_, err := a.Next(t.Context())
			require.ErrorIs(t, err, ErrUnavailable)
			require.ErrorIs(t, err, errDown)
			require.Equal(t, 300*ms, time.Since(began))
		})
	})
	t.Run("NobodyAsksNobodyTries", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, a, l := start(t, Config{FailFast: true})
			l.draw(a, 5)
			_, err := a.Next(t.Context())
			require.ErrorIs(t, err, ErrUnavailable)
			time.Sleep(time.Minute)
			calls := len(s.asked())
			require.Less(t, calls, 5)
			time.Sleep(time.Hour)
			require.Len(t, s.asked(), calls)
			s.set(func() { s.down[0] = false })
			l.draw(a, 1) // the error of an hour ago is no reason to fail
		})
	})
}

func TestRefillBelongsToTheAllocatorNotToTheCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(1, 100*ms)
		a := open(t, s, Config{MinStep: 10, MaxStep: 10})
		l := &ledger{t: t}
		l.draw(a, 10)
		ctx, cancel := context.WithTimeout(t.Context(), 10*ms)
		defer cancel()
		_, err := a.Next(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		time.Sleep(time.Second)
		id, ok := a.TryNext()
		require.True(t, ok, "the refill that the caller no longer waited for")
		l.add(id)
		require.Zero(t, a.Stats().Abandoned)
		_, err = a.Next(ctx)
		require.NoError(t, err, "no look at the context without need to wait")
	})
}

func TestSegmentsAreDroppedAtMaxAge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(2, ms)
		a := open(t, s, Config{MinStep: 100, MaxStep: 100, MaxAge: time.Minute})
		l := &ledger{t: t}
		l.draw(a, 80) // 20 left, 100 queued
		time.Sleep(59 * time.Second)
		l.draw(a, 1)
		require.Equal(t, int64(100), a.Stats().Queued)
		first := l.last
		for range 5 {
			_, err := s.Reserve(t.Context(), 0, 100) // somebody else goes on
			require.NoError(t, err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		st := a.Stats()
		require.Zero(t, st.Left)
		require.Equal(t, int64(19), st.Dropped)
		l.draw(a, 1)
		require.Greater(t, l.last, first+2*(19+100), "neither the rest of the segment nor the one queued")
		require.Equal(t, int64(119), a.Stats().Dropped)
	})
}

// What one process hands out is never behind what another one had reserved
// MaxAge earlier.
func TestDisorderBetweenProcessesIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const maxAge = 10 * time.Second
		s := newServers(2, ms)
		busy := open(t, s, Config{MinStep: 100, MaxAge: maxAge, Interval: time.Second})
		quiet := open(t, s, Config{MinStep: 100, MaxAge: maxAge, Interval: time.Second})
		type sample struct {
			at   time.Time
			high int64
		}
		var samples []sample
		b, q := &ledger{t: t}, &ledger{t: t}
		for range 600 {
			b.pace(busy, 1000, 100*ms, 10*ms)
			q.draw(quiet, 1)
			samples = append(samples, sample{time.Now(), b.last})
			for _, past := range samples {
				// A segment that busy used then was reserved at most MaxAge before.
				if time.Since(past.at) > 2*maxAge && past.high > q.last {
					t.Fatalf("%d after %d that was handed out %s ago", q.last, past.high, time.Since(past.at))
				}
			}
		}
		require.Positive(t, quiet.Stats().Dropped)
	})
}

func TestCloseEndsWaitingCallsAndJoinsRefills(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(1, time.Hour)
		s.delay[0] = 0
		a, err := New(t.Context(), s, Config{MinStep: 10, MaxStep: 10})
		require.NoError(t, err)
		s.set(func() { s.delay[0] = time.Hour })
		l := &ledger{t: t}
		l.draw(a, 10)
		errs := make(chan error, 20)
		for i := range 20 {
			go func() {
				if i%2 == 0 {
					_, err := a.Next(t.Context())
					errs <- err
				} else {
					errs <- a.NextN(t.Context(), make([]int64, 5))
				}
			}()
		}
		synctest.Wait()
		require.NoError(t, a.Close())
		require.NoError(t, a.Close())
		for range 20 {
			require.ErrorIs(t, <-errs, ErrClosed)
		}
		_, err = a.Next(t.Context())
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, a.NextN(t.Context(), make([]int64, 1)), ErrClosed)
		_, ok := a.TryNext()
		require.False(t, ok)
		require.Positive(t, a.Stats().Abandoned, "the refill under way")
	})
}

// A source that answers although it was told to stop.
type stubborn struct{ Memory }

func (s *stubborn) Reserve(ctx context.Context, floor, count int64) (Range, error) {
	if floor > 0 {
		<-ctx.Done()
	}
	return s.Memory.Reserve(context.WithoutCancel(ctx), floor, count)
}

func TestAnswerAfterCloseIsDropped(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, err := New(t.Context(), &stubborn{}, Config{MinStep: 10, MaxStep: 10})
		require.NoError(t, err)
		(&ledger{t: t}).draw(a, 10)
		synctest.Wait()
		require.NoError(t, a.Close())
		st := a.Stats()
		require.Equal(t, int64(1), st.Abandoned)
		require.Equal(t, int64(10), st.Reserved)
		_, ok := a.TryNext()
		require.False(t, ok)
	})
}

func TestNextNIsAllOrNothingAndBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(2, ms)
		a := open(t, s, Config{FailFast: true, MaxStep: 2_000_000})
		for _, n := range []int{0, MaxN + 1} {
			var bad *ticket.ConfigError
			require.ErrorAs(t, a.NextN(t.Context(), make([]int64, n)), &bad)
			require.Equal(t, n, bad.Value)
		}
		l := &ledger{t: t}
		for _, n := range []int{1, 2, 999, 1000, 1001, MaxN} {
			ids := make([]int64, n)
			waited := a.Stats().Waited
			require.NoError(t, a.NextN(t.Context(), ids))
			l.add(ids...)
			require.Less(t, a.Stats().Waited-waited, 5*ms, "one refill, however many")
		}
		s.set(func() { s.down[0], s.down[1] = true, true })
		ids := slices.Repeat([]int64{1}, MaxN)
		var err error
		for range 10 {
			if err = a.NextN(t.Context(), ids); err != nil {
				break
			}
		}
		require.ErrorIs(t, err, ErrUnavailable)
		require.Equal(t, make([]int64, MaxN), ids)
	})
}

func TestSmallSegmentsAndManyGoroutines(t *testing.T) {
	t.Parallel()
	for _, step := range []int64{1, 3, 17, 1000} {
		a := open(t, newServers(2, 0), Config{MinStep: step, MaxStep: step})
		const goroutines = 16
		each := 2000
		got := make([][]int64, goroutines)
		errs := make([]error, goroutines)
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				last := int64(0)
				for i := range each {
					var ids [3]int64
					n := 1
					switch {
					case g%4 == 1 && i%3 == 0:
						n = 3
						errs[g] = a.NextN(t.Context(), ids[:])
					case g%4 == 2:
						var ok bool
						for ids[0], ok = a.TryNext(); !ok; ids[0], ok = a.TryNext() {
							runtime.Gosched()
						}
					default:
						ids[0], errs[g] = a.Next(t.Context())
					}
					if errs[g] != nil {
						return
					}
					for _, id := range ids[:n] {
						if id <= last {
							errs[g] = errors.New("went back")
							return
						}
						last = id
						got[g] = append(got[g], id)
					}
				}
			})
		}
		wg.Wait()
		for _, err := range errs {
			require.NoError(t, err)
		}
		all := slices.Sorted(slices.Values(slices.Concat(got...)))
		for i := 1; i < len(all); i++ {
			require.NotEqual(t, all[i-1], all[i])
		}
		st := a.Stats()
		require.LessOrEqual(t, int64(len(all)), st.Used)
	}
}

// What TryNextN has taken NextN goes on after.
func TestTryNextNTakesWhatIsAtHand(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := open(t, newServers(2, time.Second), Config{MinStep: 10, MaxStep: 10})
		l := &ledger{t: t}
		ids := make([]int64, 100)
		require.Zero(t, a.TryNextN(nil))
		require.Zero(t, a.TryNextN(make([]int64, MaxN+1)))
		id, err := a.Next(t.Context())
		require.NoError(t, err)
		l.add(id)
		got := a.TryNextN(ids)
		require.Positive(t, got)
		require.Less(t, got, 10)
		require.Zero(t, ids[got], "the rest is left alone")
		require.NoError(t, a.NextN(t.Context(), ids[got:]))
		for _, id := range ids {
			l.add(id)
		}
	})
}

func TestSpinningTryNextUsesNothingUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newServers(2, time.Second)
		a := open(t, s, Config{MinStep: 10, MaxStep: 10})
		l := &ledger{t: t}
		for range 10 {
			id, ok := a.TryNext()
			require.True(t, ok)
			l.add(id)
		}
		for range 100_000 {
			_, ok := a.TryNext()
			require.False(t, ok)
		}
		time.Sleep(2 * time.Second)
		id, ok := a.TryNext()
		require.True(t, ok)
		require.LessOrEqual(t, id, l.last+6, "the first that found nothing may have cost one")
	})
}

func TestCeiling(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := &Memory{Increment: 2, Offset: 2, Ceiling: 999}
		a := open(t, m, Config{MinStep: 100, MaxStep: 100})
		l := &ledger{t: t}
		var err error
		for err == nil {
			var id int64
			if id, err = a.Next(t.Context()); err == nil {
				l.add(id)
			}
		}
		require.ErrorIs(t, err, ErrExhausted)
		require.LessOrEqual(t, l.last, int64(999))
		require.InDelta(t, 490, l.n, 8, "rounds 1 to 498, the last in which every class has room; a few are lost when it runs dry")
		require.Equal(t, int64(498), a.Stats().Reserved)
		_, ok := a.TryNext()
		require.False(t, ok)
		_, err = New(t.Context(), m, Config{})
		require.ErrorIs(t, err, ErrExhausted)
	})
}

func TestCeilingIsForecast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const day = 24 * time.Hour
		m := &Memory{Ceiling: 100_000_000}
		a := open(t, m, Config{WarnBefore: 5 * day})
		l := &ledger{t: t}
		l.pace(a, 100, 30*time.Second, 10*ms)
		require.Zero(t, a.Stats().Exhausted, "too early to say")
		l.pace(a, 100, time.Hour, 100*ms)
		st := a.Stats()
		want := 1_000_000 * time.Second
		require.InDelta(t, want.Hours(), time.Until(st.Exhausted).Hours(), 0.05*want.Hours())
		require.False(t, st.Warning)
		l.pace(a, 10_000, 2*time.Hour, 10*ms)
		require.True(t, a.Stats().Warning)
	})
}

func TestOpenFailsWithTheErrorOfTheSource(t *testing.T) {
	t.Parallel()
	m := &Memory{}
	m.Fail(errDown)
	_, err := New(t.Context(), m, Config{})
	require.ErrorIs(t, err, errDown)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m.Fail(nil)
	_, err = New(ctx, m, Config{})
	require.ErrorIs(t, err, context.Canceled)
}

func TestConfigIsChecked(t *testing.T) {
	t.Parallel()
	for field, cfg := range map[string]Config{
		"Interval":   {Interval: -1},
		"MaxAge":     {MaxAge: time.Microsecond},
		"WaitAtMost": {WaitAtMost: -1},
		"WarnBefore": {WarnBefore: -1},
		"MinStep":    {MinStep: -1},
		"MaxStep":    {MinStep: 10, MaxStep: 9},
	} {
		_, err := New(t.Context(), &Memory{}, cfg)
		var bad *ticket.ConfigError
		require.ErrorAs(t, err, &bad, field)
		require.Equal(t, field, bad.Field)
	}
	cfg, err := Config{}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, 10*time.Second, cfg.Interval)
	require.Equal(t, 10*time.Minute, cfg.MaxAge)
	require.Equal(t, int64(1000), cfg.MinStep)
	cfg, err = Config{MaxStep: 5}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, int64(5), cfg.MinStep)
}
