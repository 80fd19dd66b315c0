package sourcetest_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/segment/sourcetest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	m := &segment.Memory{}
	sourcetest.Run(t, func() segment.Source { return m })
	odd := &segment.Memory{Increment: 2, Offset: 1}
	sourcetest.Run(t, func() segment.Source { return odd })
}

// bad wraps a source that is in order.
type bad struct {
	segment.Source
	spoil func(floor int64, r segment.Range) segment.Range
}

func (b bad) Reserve(ctx context.Context, floor, count int64) (segment.Range, error) {
	r, err := b.Source.Reserve(ctx, floor, count)
	return b.spoil(floor, r), err
}

type recorder struct {
	*testing.T
	failed string
}

func (r *recorder) Fatalf(format string, args ...any) { r.failed = fmt.Sprintf(format, args...) }

func TestBadSourcesAreFound(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(int64, segment.Range) segment.Range{
		"ForgetsTheFloor": func(_ int64, r segment.Range) segment.Range { r.First = 2; return r },
		"TooFew":          func(_ int64, r segment.Range) segment.Range { r.Count--; return r },
		"OneLow":          func(f int64, r segment.Range) segment.Range { r.First = max(1, r.First-r.Count); return r },
	} {
		m := &segment.Memory{}
		rec := &recorder{T: t}
		sourcetest.Run(rec, func() segment.Source { return bad{m, spoil} })
		require.NotEmpty(t, rec.failed, name)
	}
}
