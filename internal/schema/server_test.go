package schema_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
)

func TestIdentity(t *testing.T) {
	t.Parallel()
	var id schema.Identity
	require.Equal(t, "00000000000000000000000000000000", id.String())
	require.NoError(t, id.Scan([]byte("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\xff")))
	require.Equal(t, "0102030405060708090a0b0c0d0e0fff", id.String())
}

func TestIdentityKeepsNothingOfTheDriversBuffer(t *testing.T) {
	t.Parallel()
	buffer := []byte("0123456789abcdef")
	var id schema.Identity
	require.NoError(t, id.Scan(buffer))
	buffer[0] = 'X'
	require.Equal(t, byte('0'), id[0])
}

func TestIdentityRefusesWhatIsNot16Bytes(t *testing.T) {
	t.Parallel()
	for _, src := range []any{nil, "0123456789abcdef", []byte{}, []byte("0123456789abcde"), []byte("0123456789abcdefg"), int64(1)} {
		id := schema.Identity{7}
		require.ErrorContains(t, id.Scan(src), "want 16 bytes")
		require.Equal(t, schema.Identity{7}, id)
	}
}

func TestServerRow(t *testing.T) {
	t.Parallel()
	s := schema.Server{Offset: 2, Increment: 3, LongestLeaseMS: 1500, TicketBase: 10, TicketBirth: 20, TicketCeiling: 99}
	require.Equal(t, schema.Class{Offset: 2, Increment: 3}, s.Class())
	require.Equal(t, 1500*time.Millisecond, s.LongestLease())
	require.Equal(t, schema.ClockLine{Base: 10, Birth: 20, Last: 32}, s.TicketLine())
}

func TestTickIsTheFirstThatBeginsNoEarlier(t *testing.T) {
	t.Parallel()
	s := schema.Server{TickMS: 10, EpochMS: 1000}
	for unixMilli, want := range map[int64]int64{0: 0, 999: 0, 1000: 0, 1001: 1, 1010: 1, 1011: 2, 2000: 100} {
		require.Equal(t, want, s.Tick(unixMilli), "%d", unixMilli)
	}
	require.Zero(t, schema.Server{}.Tick(1000), "a row that nobody has filled in")
}

func TestTickAgreesWithTheLayout(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		layout := rapid.SampledFrom(snowflake.Presets()).Draw(t, "preset").Layout
		s := schema.Server{TickMS: layout.Unit().Milliseconds(), EpochMS: layout.Epoch().UnixMilli()}
		at := layout.Epoch().UnixMilli() + rapid.Int64Range(1, layout.MaxTick()*s.TickMS).Draw(t, "since")
		tick := s.Tick(at)
		if layout.TimeOf(tick).UnixMilli() < at || layout.TimeOf(tick-1).UnixMilli() >= at {
			t.Fatalf("tick %d of %s begins at %s, asked for %d", tick, layout, layout.TimeOf(tick), at)
		}
	})
}
