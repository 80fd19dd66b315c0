package segment

import (
	"context"
	"fmt"
	"time"

	"github.com/oddeven/oddeven/ticket"
)

// NextN fills ids with rising IDs, greater than every one returned before: all
// or nothing. They are not always consecutive. len(ids) must be 1 to MaxN, or a
// *ticket.ConfigError is returned. It waits and fails like Next; what it had
// claimed by then is a gap.
func (a *Allocator) NextN(ctx context.Context, ids []int64) error {
	if len(ids) < 1 || len(ids) > MaxN {
		return &ticket.ConfigError{Field: "len(ids)", Value: len(ids), Remedy: fmt.Sprintf("must be 1 to %d", MaxN)}
	}
	got := a.TryNextN(ids)
	if got == len(ids) {
		return nil
	}
	return a.nextN(ctx, ids, got)
}

// TryNextN fills ids from the first on with as many IDs as are at hand in one piece,
// and returns how many: it neither waits nor locks, and begins no refill. NextN goes
// on where it ended. len(ids) must be at most MaxN, or nothing is filled.
func (a *Allocator) TryNextN(ids []int64) int {
	if len(ids) < 1 || len(ids) > MaxN {
		return 0
	}
	v, got := a.takeN(int64(len(ids)))
	write(ids[:got], v, a.stride)
	return int(got)
}

// nextN is NextN when only the first done of ids are filled.
func (a *Allocator) nextN(ctx context.Context, ids []int64, done int) error {
	w := waiter{wanted: int64(len(ids) - done)}
	defer w.end(a)
	for done < len(ids) {
		a.mu.Lock()
		more := a.advanceLocked(time.Now(), int64(len(ids)-done))
		if !more {
			if err := w.waitUnlocking(ctx, a, int64(len(ids)-done)); err != nil {
				clear(ids)
				a.abandon(int64(done))
				return err
			}
			continue
		}
		a.mu.Unlock()
		done += a.fill(ids[done:])
	}
	return nil
}

// fill puts IDs at hand into ids and returns how many.
func (a *Allocator) fill(ids []int64) (done int) {
	for done < len(ids) {
		v, got := a.takeN(int64(len(ids) - done))
		if got == 0 {
			break
		}
		write(ids[done:done+int(got)], v, a.stride)
		done += int(got)
	}
	return done
}

// write writes v, v + stride, and so on: eight at a time, which takes about half as
// long as one by one, so that the price of the claim is made up for.
func write(ids []int64, v, stride int64) {
	for len(ids) >= 8 {
		eight := (*[8]int64)(ids)
		eight[0] = v
		eight[1] = v + stride
		eight[2] = v + 2*stride
		eight[3] = v + 3*stride
		eight[4] = v + 4*stride
		eight[5] = v + 5*stride
		eight[6] = v + 6*stride
		eight[7] = v + 7*stride
		ids = ids[8:]
		v += 8 * stride
	}
	for i := range ids {
		ids[i] = v
		v += stride
	}
}

// abandon counts IDs that were claimed and not returned.
func (a *Allocator) abandon(n int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.counts.dropped += n
}
