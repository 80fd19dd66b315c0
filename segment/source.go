package segment

import (
	"context"
	"fmt"
	"math/bits"

	"github.com/oddeven/oddeven/internal/schema"
)

// Source reserves numbers, from memory like [Memory] or from one or more servers.
// An implementation can be checked with package sourcetest.
//
// A source counts in rounds: with a stride of n, a round holds n numbers, of
// which every server of the source owns one. Round r has the numbers r × n + 1
// to r × n + n.
//
// Both methods may be called by several goroutines at the same time, and must
// return soon after ctx has ended.
type Source interface {
	// Floor returns the last round known to be reserved, at least that of
	// everything reserved before the call as far as can be found out.
	Floor(ctx context.Context) (int64, error)
	// Reserve reserves count rounds in a row, all above floor and above
	// everything that the same server has reserved before. It may return fewer,
	// but at least one, when the end of the sequence is near or the sequence is
	// small, and ErrExhausted at the end. When it returns an error nobody may use what
	// may have been reserved.
	Reserve(ctx context.Context, floor, count int64) (Range, error)
}

// Range is what Source.Reserve returns: the numbers First, First + Stride, and
// so on.
type Range struct {
	First   int64 // at least 1
	Stride  int64 // 1 to 1000; the same for all ranges of a source
	Count   int64 // at least 1
	Ceiling int64 // no number of the source is above it; 0 if that is not known
}

// last is the last number of the range.
func (r Range) last() int64 { return r.First + (r.Count-1)*r.Stride }

// round is the round that a number is in.
func round(id, stride int64) int64 { return (id - 1) / stride }

// maxID is the largest number of any range, so that Snowflake IDs can be above.
const maxID = schema.Ceiling - 1

// check holds a range against what was asked for. stride is 0 for the first
// range of all.
func (r Range) check(stride, floor, count int64) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrScheme}, args...)...)
	}
	switch {
	case r.Stride < 1 || r.Stride > schema.MaxIncrement:
		return bad("stride %d is not 1 to %d", r.Stride, schema.MaxIncrement)
	case stride != 0 && r.Stride != stride:
		return bad("stride %d after %d", r.Stride, stride)
	case r.Count < 1 || r.Count > count:
		return bad("%d rounds, not 1 to %d", r.Count, count)
	case r.First < 1 || r.First > maxID:
		return bad("first number %d is not 1 to %d", r.First, maxID)
	case round(r.First, r.Stride) <= floor:
		return bad("round %d is not above %d", round(r.First, r.Stride), floor)
	}
	if hi, width := bits.Mul64(uint64(r.Count), uint64(r.Stride)); hi != 0 || width > uint64(maxID) || r.last() > maxID {
		return bad("%d numbers from %d on by %d go beyond %d", r.Count, r.First, r.Stride, maxID)
	}
	if r.Ceiling != 0 && r.last() > r.Ceiling {
		return bad("number %d is above the ceiling %d", r.last(), r.Ceiling)
	}
	return nil
}
