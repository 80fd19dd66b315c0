package ledger

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/snowflake"
)

// IDs are taken apart as the Layout itself does it.
func TestSchemeIsThatOfTheLayout(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		snowflake.Default().String(),
		"time:39,sequence:8,worker:16;unit=10ms;epoch=2020-01-01T00:00:00Z",
		"worker:3,time:40,sequence:8,datacenter:5;unit=1ms;epoch=2020-01-01T00:00:00Z",
		"time:41,worker:10,sequence:8,shard:4;unit=1ms;epoch=2020-01-01T00:00:00Z",
		"time:47,worker:16;unit=1ms;epoch=1990-01-01T00:00:00Z",
	} {
		layout, err := snowflake.ParseLayout(text)
		require.NoError(t, err)
		s := newScheme(Fleet{Increment: 2, Layout: layout})
		var p piece
		for i := range int64(100_000) {
			id := i * 0x123456789abcdef & (1<<layout.Bits() - 1)
			parts, err := layout.Decompose(id)
			require.NoError(t, err)
			number, err := layout.Number(parts.Datacenter, parts.Worker)
			require.NoError(t, err)
			require.True(t, s.wholeOfWorker(run{first: id, count: 1}, &p))
			require.Equal(t, class{workers, number}, p.class)
			require.Equal(t, parts.Tick<<layout.Width(snowflake.KindSequence)|parts.Sequence, p.key)
		}
		require.False(t, s.wholeOfWorker(run{first: -1, count: 1}, &p))
		if layout.Bits() < 63 {
			require.False(t, s.wholeOfWorker(run{first: 1 << layout.Bits(), count: 1}, &p))
		}
	}
	s := newScheme(Fleet{Increment: 2})
	require.False(t, s.wholeOfWorker(run{first: 0, count: 1}, &piece{}))
}
