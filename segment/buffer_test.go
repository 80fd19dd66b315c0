package segment

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// machine drives a buffer and a model of it with one goroutine.
type machine struct {
	b       buffer
	fail    func(format string, args ...any)
	highest int64 // handed out last
	last    int64 // of all ranges
	first   int64 // of the current range
	shown   int64 // last number that may be taken; 0: none
	left    int64 // numbers not taken up to shown
	hidden  int64 // numbers beyond shown
}

func newMachine(stride int64, fail func(string, ...any)) *machine {
	m := &machine{fail: fail}
	m.b.init(stride, 0)
	return m
}

// got checks numbers that the buffer handed out.
func (m *machine) got(first, n int64) {
	if first <= m.highest {
		m.fail("%d is not above %d", first, m.highest)
	}
	last := first + (n-1)*m.b.stride
	if first < m.first || last > m.shown || (first-m.first)%m.b.stride != 0 {
		m.fail("%d … %d is not in %d … %d", first, last, m.first, m.shown)
	}
	m.highest = last
	m.left -= n
}

func (m *machine) take() {
	v, ok := take(&m.b)
	if ok {
		m.got(v, 1)
	} else if m.left > 0 {
		m.fail("%d refused although %d are left", v, m.left)
	}
}

func (m *machine) takeN(n int64) {
	first, got := m.b.takeN(n)
	if got != min(n, m.left) {
		m.fail("got %d of %d, %d are left", got, n, m.left)
	}
	if got > 0 {
		m.got(first, got)
	}
}

// publish makes a range that begins somewhere above the one before.
func (m *machine) publish(above, count, keep int64) {
	first := m.last + 1 + above
	last := first + (count-1)*m.b.stride
	got := m.b.publish(first, last)
	if got < 0 || got > count {
		m.fail("published %d of %d", got, count)
	}
	m.last = last
	if got == 0 {
		return
	}
	m.b.reveal(keep)
	m.first, m.shown = first, last-min(keep, got)*m.b.stride
	m.left, m.hidden = got-min(keep, got), min(keep, got)
}

func (m *machine) reveal() {
	if m.hidden == 0 {
		return
	}
	m.b.reveal(0)
	// Numbers claimed while they were hidden are lost to a single goroutine.
	m.shown, m.left, m.hidden = m.b.last, m.b.left(), 0
}

func (m *machine) park() {
	m.b.park()
	m.left, m.hidden, m.shown = 0, 0, 0
}

// step does what the next numbers say.
func (m *machine) step(number func(below int64) int64) {
	switch number(8) {
	case 0, 1, 2:
		m.take()
	case 3:
		m.takeN(1 + number(20))
	case 4, 5:
		m.publish(number(50), 1+number(30), number(10))
	case 6:
		m.reveal()
	case 7:
		m.park()
	}
	if left := m.b.left(); left > m.left+m.hidden {
		m.fail("buffer says %d left, model %d and %d hidden", left, m.left, m.hidden)
	}
}

func TestBufferAgreesWithModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(rapid.Int64Range(1, 7).Draw(t, "stride"), t.Fatalf)
		for range rapid.IntRange(1, 200).Draw(t, "steps") {
			m.step(func(below int64) int64 { return rapid.Int64Range(0, below-1).Draw(t, "n") })
		}
	})
}

func FuzzBuffer(f *testing.F) {
	f.Add([]byte{1, 4, 0, 9, 3, 0, 0, 0, 6, 0, 4, 1, 1, 1, 3, 9, 7, 0})
	f.Add([]byte{6, 4, 49, 29, 9, 3, 19, 6, 3, 19, 0, 0, 7, 0, 4, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, ops []byte) {
		if len(ops) == 0 {
			return
		}
		m := newMachine(1+int64(ops[0]%7), t.Fatalf)
		ops = ops[1:]
		for len(ops) > 0 {
			m.step(func(below int64) int64 {
				if len(ops) == 0 {
					return 0
				}
				n := int64(ops[0]) % below
				ops = ops[1:]
				return n
			})
		}
	})
}

// Goroutines race over tiny ranges of different classes: every number is of
// one range, goes to one of them, and each gets rising ones.
func TestBufferRacingOverTinyRanges(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{1, 3, 17, 1000} {
		const goroutines, stride = 16, 3
		total := int64(4_000)
		if size == 1000 {
			total = 80_000
		}
		var b buffer
		b.init(stride, 0)
		var mu sync.Mutex
		type span struct{ first, last int64 }
		var spans []span
		end, round := int64(0), int64(0)
		advance := func(v int64) (int64, bool) {
			mu.Lock()
			defer mu.Unlock()
			if b.owns(v) {
				return v, true
			}
			if b.hi.Load() < b.last {
				b.reveal(0)
				return v, b.owns(v)
			}
			if b.left() == 0 {
				if round%5 == 0 {
					b.park()
				}
				round++
				first := end/stride*stride + stride + round%stride // of any class, above end
				last := first + (size-1)*stride
				end = last
				if b.publish(first, last) > 0 {
					spans = append(spans, span{first, last})
					b.reveal(size / 3)
				}
			}
			return 0, false
		}
		got := make([][]int64, goroutines)
		errs := make(chan string, goroutines)
		var wg sync.WaitGroup
		for g := range goroutines {
			wg.Go(func() {
				var last int64
				for i := 0; int64(len(got[g])) < total/goroutines; i++ {
					if g%4 == 3 && i%2 == 0 {
						if first, n := b.takeN(5); n > 0 {
							if first <= last {
								errs <- "takeN went back"
								return
							}
							for j := range n {
								got[g] = append(got[g], first+j*stride)
							}
							last = first + (n-1)*stride
						}
					}
					v, ok := take(&b)
					if !ok {
						if v, ok = advance(v); !ok {
							runtime.Gosched()
							continue
						}
					}
					if v <= last {
						errs <- "take went back"
						return
					}
					last = v
					got[g] = append(got[g], v)
				}
			})
		}
		wg.Wait()
		select {
		case err := <-errs:
			require.Fail(t, err)
		default:
		}
		all := slices.Sorted(slices.Values(slices.Concat(got...)))
		at := 0
		for i, v := range all {
			if i > 0 {
				require.NotEqual(t, all[i-1], v, "handed out twice")
			}
			for v > spans[at].last {
				at++
			}
			require.GreaterOrEqual(t, v, spans[at].first)
			require.Zero(t, (v-spans[at].first)%stride, "%d is not of the class of %v", v, spans[at])
		}
	}
}

func TestParkedBufferUsesNothingUp(t *testing.T) {
	t.Parallel()
	var b buffer
	b.init(2, 0)
	require.Equal(t, int64(3), b.publish(5, 9))
	b.reveal(0)
	_, got := b.takeN(3)
	require.Equal(t, int64(3), got)
	_, ok := take(&b) // one goroutine too many finds out
	require.False(t, ok)
	b.park()
	for range 100_000 {
		v, ok := take(&b)
		require.False(t, ok)
		require.Negative(t, v)
	}
	require.Equal(t, int64(3), b.publish(14, 18), "of another class")
	b.reveal(0)
	v, ok := take(&b)
	require.True(t, ok)
	require.Equal(t, int64(14), v)
}

func TestParkedBufferNeverDriftsUpToZero(t *testing.T) {
	t.Parallel()
	var b buffer
	b.init(1000, 0)
	b.pos.Store(parked/2 + 1)
	b.park()
	require.Equal(t, int64(parked), b.pos.Load())
	require.Zero(t, b.claimed())
}

func TestStoppedBufferHandsOutNothing(t *testing.T) {
	t.Parallel()
	var b buffer
	b.init(1, 0)
	b.publish(1, 100)
	b.reveal(0)
	b.stop()
	_, ok := take(&b)
	require.False(t, ok)
	_, got := b.takeN(1)
	require.Zero(t, got)
}

func TestPositionHasACacheLineOfItsOwn(t *testing.T) {
	t.Parallel()
	var b buffer
	require.GreaterOrEqual(t, unsafe.Offsetof(b.lo)-unsafe.Offsetof(b.pos), uintptr(64))
	require.Zero(t, unsafe.Offsetof(Allocator{}.buffer)+unsafe.Offsetof(b.pos), "first")
	require.Less(t, unsafe.Offsetof(b.stride)-unsafe.Offsetof(b.lo), uintptr(64), "lo, hi and stride are read together")
}

// take claims a number, as Next does; ok says whether it may be used.
func take(b *buffer) (v int64, ok bool) {
	v = b.claim()
	return v, b.owns(v)
}
