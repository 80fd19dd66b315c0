package decode_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/decode"
	"github.com/oddeven/oddeven/snowflake"
)

// Any text is an ID or an error of one line. An ID has one text in each base,
// and its JSON is sound.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		"", "0", "5", "05", "-5", " 5", "9007199254740991", "9007199254740992", "9223372036854775807", "9223372036854775808",
		"7ZZZZZZZZZZZZ", "8000000000000", "0000000000010", "C232AB00-9414-11EC-B3C8-9F6BDECED846", "1ec9414c232a6b00b3c89f6bdeced846",
		"ffffffff-ffff-7fff-bfff-ffffffffffff", "919108f7-52d1-4320-9bac-f847db4148a8", "507f1f77bcf86cd799439011", "\xff\x00\n",
	} {
		f.Add(seed)
	}
	withShards, err := snowflake.Default().WithShardBits(10)
	require.NoError(f, err)
	configs := []decode.Config{{}, {Base: 32}, {Layout: withShards, Increment: 7, ShardBits: 10}}
	for _, p := range snowflake.Presets() {
		configs = append(configs, decode.Config{Layout: p.Layout, Foreign: true})
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, cfg := range configs {
			r, err := decode.New(cfg).Decode(text)
			if err != nil {
				require.Zero(t, r)
				require.True(t, utf8.ValidString(err.Error()))
				require.NotContains(t, err.Error(), "\n")
				require.Less(t, len(err.Error()), 600)
				continue
			}
			checkRead(t, cfg, text, &r)
		}
	})
}

// checkRead holds a result to what is true of every ID.
func checkRead(t *testing.T, cfg decode.Config, text string, r *decode.Result) {
	t.Helper()
	switch {
	case r.Plane == decode.PlaneUUID:
		require.Equal(t, strings.ToLower(strings.ReplaceAll(text, "-", "")), strings.ReplaceAll(r.ID, "-", ""))
	case r.Plane == decode.PlaneObjectID:
		require.Equal(t, strings.ToLower(text), r.ID)
	case cfg.Base != 32:
		require.Equal(t, text, r.ID, "a number has one text")
	}
	again, err := decode.New(decode.Config{Layout: cfg.Layout, Foreign: cfg.Foreign, Increment: cfg.Increment, ShardBits: cfg.ShardBits}).Decode(r.ID)
	require.NoError(t, err)
	require.Equal(t, *r, again, "reading what was written")
	object := map[string]any{}
	require.NoError(t, json.Unmarshal(r.AppendJSON(nil), &object))
	require.Equal(t, r.ID, object["id"])
	for _, p := range decode.Parts() {
		v, has := r.Part(p)
		require.GreaterOrEqual(t, v, int64(0))
		_, shown := object[p.String()]
		require.Equal(t, has, shown)
	}
}
