package migrations

import (
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

var newYear2027 = time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)

func someServer() *mysql.Config {
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Net, c.Addr, c.DBName = "migrate", "hunter2", "tcp", "db1:3306", "oddeven"
	return c
}

func TestConfigDefaults(t *testing.T) {
	t.Parallel()
	given := someServer()
	cfg, err := Config{Servers: []*mysql.Config{given}}.withDefaults()
	require.NoError(t, err)
	require.Equal(t, 30*time.Second, cfg.LockTimeout)
	require.NotNil(t, cfg.Logger)
	require.NotSame(t, given, cfg.Servers[0])
	require.False(t, given.ClientFoundRows, "the caller's own is left alone")
}

func TestConfigErrorsNameTheField(t *testing.T) {
	t.Parallel()
	noDatabase := someServer()
	noDatabase.DBName = ""
	one := []*mysql.Config{someServer()}
	tests := []struct {
		name, field string
		cfg         Config
	}{
		{"NoServers", "Servers", Config{}},
		{"NilServer", "Servers[1]", Config{Servers: []*mysql.Config{someServer(), nil}}},
		{"NoDatabase", "Servers[0]", Config{Servers: []*mysql.Config{noDatabase}}},
		{"NegativeLockTimeout", "LockTimeout", Config{Servers: one, LockTimeout: -1}},
		{"RetiredZero", "Retired", Config{Servers: one, Retired: []int64{1, 0}}},
		{"RetiredTooLarge", "Retired", Config{Servers: one, Retired: []int64{schema.MaxIncrement + 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.cfg.withDefaults()
			var bad *ticket.ConfigError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, tt.field, bad.Field)
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestEveryCommandChecksItsConfigFirst(t *testing.T) {
	t.Parallel()
	var bad *ticket.ConfigError
	_, err := Up(t.Context(), Config{})
	require.ErrorAs(t, err, &bad)
	_, err = Down(t.Context(), Config{})
	require.ErrorAs(t, err, &bad)
	_, err = Status(t.Context(), Config{})
	require.ErrorAs(t, err, &bad)
	_, err = Adopt(t.Context(), Config{}, "t")
	require.ErrorAs(t, err, &bad)
	_, err = Up(t.Context(), Config{Servers: []*mysql.Config{someServer()}, Settings: Settings{Increment: -1}})
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "Increment", bad.Field)
	for _, version := range []int64{-1, Latest() + 1} {
		_, err = To(t.Context(), Config{}, version)
		require.ErrorAs(t, err, &bad)
		require.Equal(t, "version", bad.Field)
	}
}

func TestResolveDefaults(t *testing.T) {
	t.Parallel()
	for servers, increment := range map[int]int64{1: 2, 2: 2, 3: 3, 1000: 1000} {
		r, err := Settings{}.resolve(servers, newYear2027)
		require.NoError(t, err)
		require.Equal(t, increment, r.increment)
		require.Zero(t, r.shardBits)
		require.Equal(t, snowflake.Default(), r.layout)
		require.Equal(t, 4*time.Hour, r.longestLease)
	}
}

func TestResolveTakesWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	r, err := Settings{Increment: 8, ShardBits: new(3), Layout: "sonyflake", LongestLease: time.Second}.resolve(2, newYear2027)
	require.NoError(t, err)
	require.Equal(t, int64(8), r.increment)
	require.Equal(t, 3, r.shardBits)
	require.NoError(t, r.layout.CheckShardBits(3))
	require.Equal(t, time.Second, r.longestLease)

	r, err = Settings{Increment: 1}.resolve(1, newYear2027)
	require.NoError(t, err)
	require.Equal(t, int64(1), r.increment)
}

func TestResolveErrorsNameTheField(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, field string
		settings    Settings
		servers     int
	}{
		{"NegativeIncrement", "Increment", Settings{Increment: -1}, 2},
		{"IncrementTooLarge", "Increment", Settings{Increment: schema.MaxIncrement + 1}, 2},
		{"IncrementBelowTheServers", "Increment", Settings{Increment: 2}, 3},
		{"NegativeShardBits", "ShardBits", Settings{ShardBits: new(-1)}, 2},
		{"TooManyShardBits", "ShardBits", Settings{ShardBits: new(schema.MaxShardBits + 1)}, 2},
		{"LeaseTooShort", "LongestLease", Settings{LongestLease: time.Second - 1}, 2},
		{"LeaseTooLong", "LongestLease", Settings{LongestLease: 30*24*time.Hour + 1}, 2},
		{"NegativeLease", "LongestLease", Settings{LongestLease: -time.Hour}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := tt.settings.resolve(tt.servers, newYear2027)
			var bad *ticket.ConfigError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, tt.field, bad.Field)
		})
	}
}

func TestResolveLayout(t *testing.T) {
	t.Parallel()
	const spec = "time:41,worker:10,sequence:10,shard:2;unit=1ms;epoch=2026-01-01T00:00:00Z"
	tests := []struct {
		name, text string
		shardBits  int
	}{
		{"Default", "", 0},
		{"DefaultWithShards", "", 4},
		{"Preset", "twitter", 0},
		{"PresetWithShards", "twitter", 4},
		{"Spec", spec, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			layout, err := resolveLayout(tt.text, tt.shardBits, newYear2027)
			require.NoError(t, err)
			require.NoError(t, layout.CheckShardBits(tt.shardBits))
			again, err := resolveLayout(layout.String(), tt.shardBits, newYear2027)
			require.NoError(t, err, "what is stored can be read again")
			require.Equal(t, layout, again)
		})
	}
}

func TestResolveLayoutRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		shardBits  int
		now        time.Time
	}{
		{"UnknownPreset", "twiter", 0, newYear2027},
		{"BadSpec", "time:41,worker", 0, newYear2027},
		{"SpecWithoutTheShardBits", snowflake.Default().String(), 2, newYear2027},
		{"MoreShardBitsThanSequence", "", 20, newYear2027},
		{"NoWorkers", "redis", 0, newYear2027},
		{"UsedUp", "uid-generator", 0, newYear2027},
		{"NotYetAbove2To53", "", 0, time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)},
		{"BeforeTheEpoch", "", 0, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := resolveLayout(tt.text, tt.shardBits, tt.now)
			var bad *snowflake.LayoutError
			require.ErrorAs(t, err, &bad)
		})
	}
}

func TestResolveLayoutBoundsTheWorkerRows(t *testing.T) {
	t.Parallel()
	_, err := resolveLayout("time:39,worker:16,sequence:8;unit=10ms;epoch=2014-09-01T00:00:00Z", 0, newYear2027)
	require.NoError(t, err)
	_, err = resolveLayout("time:38,worker:17,sequence:8;unit=10ms;epoch=2020-09-01T00:00:00Z", 0, newYear2027)
	var bad *ticket.ConfigError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "Layout", bad.Field)
}

func TestSettingsConflict(t *testing.T) {
	t.Parallel()
	row := schema.Server{Increment: 4, ShardBits: 0, Layout: snowflake.Default().String(), LongestLeaseMS: 60_000}
	tests := []struct {
		name     string
		settings Settings
		want     string
	}{
		{"NothingAskedFor", Settings{}, ""},
		{"TheSame", Settings{Increment: 4, ShardBits: new(0), Layout: "oddeven", LongestLease: time.Minute}, ""},
		{"Increment", Settings{Increment: 8}, "increment is 4, asked for 8"},
		{"ShardBits", Settings{ShardBits: new(2)}, "shard bits is 0, asked for 2"},
		{"LongestLease", Settings{LongestLease: time.Hour}, "longest lease is 1m0s, asked for 1h0m0s"},
		{"Layout", Settings{Layout: "twitter"}, "layout is " + row.Layout + ", asked for "},
		{"UnknownLayout", Settings{Layout: "twiter"}, `there is no preset "twiter"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := tt.settings.conflict(row)
			if tt.want == "" {
				require.Empty(t, got)
			}
			require.Contains(t, got, tt.want)
		})
	}
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	base := schema.Server{Increment: 2, ShardBits: 0, Layout: "a", LongestLeaseMS: 1000}
	require.Empty(t, differences(base, base))
	other := base
	other.Increment = 3
	require.Equal(t, "increment 3, not the 2", differences(base, other))
	other = base
	other.ShardBits = 1
	require.Equal(t, "shard bits 1, not the 0", differences(base, other))
	other = base
	other.Layout = "b"
	require.Equal(t, `layout "b", not the "a"`, differences(base, other))
	other = base
	other.LongestLeaseMS = 2000
	require.Equal(t, "longest lease 2s, not the 1s", differences(base, other))
}
