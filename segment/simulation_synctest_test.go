package segment

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// rateOf is how many numbers a second a process uses at a time.
type rateOf func(at time.Duration) int

func steadily(rate int) rateOf { return func(time.Duration) int { return rate } }

// doubling doubles the rate every minute, eight times, and then drops to where
// it began.
func doubling(rate int) rateOf {
	return func(at time.Duration) int { return rate << (int(at/time.Minute) % 9) }
}

// simulate lets processes, begun at times of their own within the first ten
// seconds, run from one time to another and returns what they did in between.
func simulate(processes int, of rateOf, latency, from, to time.Duration) tally {
	chance := rand.New(rand.NewPCG(1, 2))
	var before, after tally
	for range processes {
		s := newProcess(10*chance.Float64(), defaultInterval, latency)
		for at := time.Duration(0); at < to; at += time.Minute {
			if at == from {
				before.add(s)
			}
			s.run((at + time.Minute).Seconds(), float64(of(at)))
		}
		after.add(s)
	}
	return after.since(before)
}

// Ten thousand processes with 100 IDs a second each refill once per interval
// and reserve what they use.
func TestManyProcessesCostOneRefillPerInterval(t *testing.T) {
	t.Parallel()
	const processes, minutes = 10_000, 10
	got := simulate(processes, steadily(100), 5*ms, time.Minute, (1+minutes)*time.Minute)
	refills := float64(got.refills) / (minutes * 60)
	t.Logf("%.1f refills/s, reserved/issued %.4f", refills, got.reserved/got.issued)
	require.InDelta(t, processes*100*minutes*60, got.issued, 1)
	require.InEpsilon(t, processes/defaultInterval.Seconds(), refills, 0.02)
	require.InDelta(t, 1, got.reserved/got.issued, 0.01)
	require.Zero(t, got.waited)
	require.Zero(t, got.dropped)
}

// Bursts with long pauses look like very high rates. What is reserved and never
// used because of them does not grow from one burst to the next.
func TestBurstsAreNotTakenForRates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		burst func(*ledger, *Allocator)
		each  time.Duration
		bound float64 // of reserved/used
	}{
		{"LessThanTheSmallestStep", func(l *ledger, a *Allocator) { l.draw(a, 800) }, time.Hour, 6.5},
		{"ManyAtOnce", func(l *ledger, a *Allocator) {
			ids := make([]int64, 2000)
			require.NoError(l.t, a.NextN(l.t.Context(), ids))
			l.add(ids...)
		}, time.Hour, 11},
		{"RunningDry", func(l *ledger, a *Allocator) { l.draw(a, 1001) }, time.Hour, 70},
		{"EveryMinute", func(l *ledger, a *Allocator) { l.draw(a, 10_000) }, time.Minute, 4},
		{"TenEverySecond", func(l *ledger, a *Allocator) { l.draw(a, 10) }, time.Second, 1.1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				a := open(t, newServers(2, 5*ms), Config{})
				l := &ledger{t: t}
				for range 6 {
					for began := time.Now(); time.Since(began) < time.Hour; time.Sleep(c.each) {
						c.burst(l, a)
					}
				}
				st := a.Stats()
				t.Logf("reserved/used %.2f, waited %s in %d calls", float64(st.Reserved)/float64(l.n), st.Waited, st.Waits)
				require.Less(t, float64(st.Reserved)/float64(l.n), c.bound)
			})
		})
	}
}

// Rates that double every minute, from 100 to 25,600, and drop to 100 again cost
// no more refills than steady ones, nobody waits, and hardly anything is dropped.
func TestProcessesWhoseRatesDoubleAndDrop(t *testing.T) {
	t.Parallel()
	const processes, minutes = 1000, 4 * 9
	got := simulate(processes, doubling(100), 50*ms, 9*time.Minute, (9+minutes)*time.Minute)
	perInterval := float64(got.refills) / processes / (minutes * 60 / defaultInterval.Seconds())
	t.Logf("%.3f refills an interval, reserved/issued %.4f, dropped/issued %.4f", perInterval, got.reserved/got.issued, got.dropped/got.issued)
	require.LessOrEqual(t, perInterval, 1.1)
	require.InDelta(t, 1, got.reserved/got.issued, 0.02)
	require.Less(t, got.dropped/got.issued, 0.01)
	require.Zero(t, got.waited)
	require.Zero(t, got.enlargements)
}

// However the rate changes, no refill makes it more than one and a half
// intervals of use that are reserved ahead, or the smallest step if that is more.
func TestNoProcessReservesFarAhead(t *testing.T) {
	t.Parallel()
	chance := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		s := newProcess(0, defaultInterval, 50*ms)
		highest := 0.0
		for at := 10.0; at < 3600; at += 10 * chance.ExpFloat64() {
			rate := 100 * math.Exp2(10*chance.Float64())
			highest = max(highest, rate)
			s.run(at, rate)
		}
		require.LessOrEqual(t, s.most, max(1.5*highest*defaultInterval.Seconds()+1, 2*defaultMinStep))
		require.Less(t, s.waited, 0.01*s.now)
	}
}

// operate is simulate with the Allocators themselves, begun together.
func operate(t *testing.T, processes int, of rateOf, latency, for_, tick time.Duration) (got tally) {
	t.Helper()
	source := newServers(2, latency)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range processes {
		a := open(t, source, Config{})
		wg.Go(func() {
			ids := make([]int64, MaxN)
			for began := time.Now(); time.Since(began) < for_; time.Sleep(tick) {
				n := int64(of(time.Since(began))) * int64(tick) / int64(time.Second)
				if err := a.NextN(t.Context(), ids[:n]); err != nil {
					t.Error(err)
					return
				}
			}
			st := a.Stats()
			mu.Lock()
			defer mu.Unlock()
			got.issued += float64(st.Used)
			got.reserved += float64(st.Reserved)
			got.dropped += float64(st.Dropped)
			got.refills += int(st.Refills)
			got.enlargements += int(st.Enlargements)
			got.waited += st.Waited.Seconds()
		})
	}
	wg.Wait()
	return got
}

// The simulation says what Allocators do.
func TestSimulationAgreesWithAllocators(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		processes int
		of        rateOf
		latency   time.Duration
		minutes   time.Duration
		tick      time.Duration
	}{
		{"One", 1, steadily(100), 5 * ms, 30, 10 * ms},
		{"Ten", 10, steadily(100), 5 * ms, 30, 100 * ms},
		{"Hundred", 100, steadily(100), 5 * ms, 10, 100 * ms},
		{"Fast", 1, steadily(20_000), 50 * ms, 2, ms},
		{"DoublingAndDropping", 3, doubling(100), 50 * ms, 27, 10 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				got := operate(t, c.processes, c.of, c.latency, c.minutes*time.Minute, c.tick)
				var want tally
				for range c.processes {
					s := newProcess(0, defaultInterval, c.latency)
					for at := time.Duration(0); at < c.minutes*time.Minute; at += time.Minute {
						s.run((at + time.Minute).Seconds(), float64(c.of(at)))
					}
					want.add(s)
				}
				t.Logf("allocators %+v, simulated %+v", got, want)
				require.InEpsilon(t, want.issued, got.issued, 0.001)
				require.InDelta(t, want.refills, got.refills, 2+0.02*float64(want.refills))
				require.InEpsilon(t, want.reserved, got.reserved, 0.02)
				require.InDelta(t, want.dropped, got.dropped, 0.01*want.issued)
				require.InDelta(t, want.enlargements, got.enlargements, 1)
				require.InDelta(t, want.waited, got.waited, c.latency.Seconds()/2)
			})
		})
	}
}
