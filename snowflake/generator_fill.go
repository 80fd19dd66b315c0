package snowflake

import (
	"context"
	"time"
)

// nextN fills ids with rising values, all or nothing.
func (g *generator) nextN(ctx context.Context, ids []int64) error {
	done := g.fill(ids)
	if done == len(ids) {
		return nil
	}
	var w waiter
	defer w.end(g)
	for done < len(ids) {
		g.mu.Lock()
		g.lastPos = -1
		err := g.advanceLocked(time.Now())
		switch {
		case err != nil:
			g.mu.Unlock()
		case isParked(g.state.Load()):
			err = w.waitUnlocking(ctx, g)
		default:
			g.mu.Unlock()
		}
		if err != nil {
			clear(ids)
			return err
		}
		done += g.fill(ids[done:])
	}
	return nil
}

// fill puts IDs at hand into ids and returns how many.
func (g *generator) fill(ids []int64) (done int) {
	for done < len(ids) {
		v, got := g.takeN(int64(len(ids) - done))
		if got == 0 {
			break
		}
		g.composeN(v, ids[done:done+int(got)])
		done += int(got)
	}
	return done
}

// composeN makes the IDs of the values from v on. Within a tick they rise by a
// constant step; over its end too, where time is directly above the sequence.
func (g *generator) composeN(v int64, ids []int64) {
	step := int64(1) << (g.seqShift & 63)
	for len(ids) > 0 {
		n := int64(len(ids))
		if !g.flat {
			n = min(n, g.seqMask+1-v&g.seqMask)
		}
		fillSteps(ids[:n], g.compose(v), step)
		ids, v = ids[n:], v+n
	}
}

// fillSteps fills ids with id, id + step and so on.
func fillSteps(ids []int64, id, step int64) {
	for i := range ids {
		ids[i] = id
		id += step
	}
}

// takeN claims up to n values in a row, as many as there are below hi, and
// returns the first and how many. They may be used: between two rectangles state
// is parked, and in the next it is at lo - 1 or above, which no hi of the one
// before lets anybody claim. So where the swap succeeds, state and hi belong to
// one rectangle that had not been revoked.
func (g *generator) takeN(n int64) (first, got int64) {
	for {
		p, hi := g.state.Load(), g.hi.Load()
		if isParked(p) || p+1 >= hi {
			return 0, 0
		}
		got = min(n, hi-1-p)
		if g.state.CompareAndSwap(p, p+got) {
			return p + 1, got
		}
	}
}
