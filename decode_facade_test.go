package oddeven_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/internal/decode"
	"github.com/oddeven/oddeven/snowflake"
)

// The library and the command say the same of every ID, in the same words.
func TestDecodeSaysWhatTheCommandSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bits := rapid.IntRange(0, 12).Draw(t, "bits")
		increment := rapid.Int64Range(1, 1000).Draw(t, "increment")
		layout, err := snowflake.Default().WithShardBits(bits)
		require.NoError(t, err)
		id := oddeven.ID(rapid.Int64Min(0).Draw(t, "id") >> rapid.IntRange(0, 62).Draw(t, "shift"))
		said, wrong := decode.New(decode.Config{Layout: layout, Increment: increment, ShardBits: bits}).Decode(id.String())
		origin, err := oddeven.NewDecoderForTest(increment, bits, layout).Decode(id)
		if wrong != nil {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, string(said.Plane), string(origin.Plane))
		part := func(p decode.Part) int64 { v, _ := said.Part(p); return v }
		require.Equal(t, part(decode.Server), origin.Server)
		require.Equal(t, part(decode.Shard), origin.Shard)
		require.Equal(t, part(decode.Node), origin.Worker)
		require.Equal(t, part(decode.Sequence), origin.Sequence)
		if said.Timed {
			require.Equal(t, time.UnixMilli(said.Milli).UTC(), origin.Time)
		} else {
			require.Zero(t, origin.Time)
		}
	})
}

func TestDecodeRefusesWhatIsNoID(t *testing.T) {
	t.Parallel()
	short, err := snowflake.ParseLayout("time:40,worker:10,sequence:9,shard:3;unit=1ms;epoch=2020-01-01T00:00:00Z")
	require.NoError(t, err)
	c := oddeven.NewDecoderForTest(2, 3, short)
	for id, problem := range map[oddeven.ID]string{
		-1:      "is negative",
		0:       "the number 0 above 3 shard bits",
		7:       "the number 0 above 3 shard bits",
		1 << 62: "cannot be of the layout",
	} {
		_, err := c.Decode(id)
		var e *oddeven.IDError
		require.ErrorAs(t, err, &e)
		require.ErrorContains(t, err, problem)
	}
}

// While no server has been reached it is not known how many there are.
func TestDecodeWithoutServers(t *testing.T) {
	t.Parallel()
	c := oddeven.NewDecoderForTest(0, 0, snowflake.Default())
	origin, err := c.Decode(5)
	require.NoError(t, err)
	require.Equal(t, oddeven.Origin{Plane: oddeven.PlaneSegment}, origin)
}
