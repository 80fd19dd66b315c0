package bench

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// A durability is what Redis does before it answers.
type durability struct {
	name string // in the table
	args []string
	does string
}

// durabilities, from none to that of the MySQL and MariaDB servers here.
var durabilities = []durability{
	{"no AOF", []string{"--appendonly", "no"}, "kept in memory only"},
	{"everysec", []string{"--appendonly", "yes", "--appendfsync", "everysec"}, "synced every second"},
	{"always", []string{"--appendonly", "yes", "--appendfsync", "always"}, "synced before the reply, as the servers above are"},
}

// idScript makes an ID of 64 bits in the server: 41 bits of its time in
// milliseconds, 10 of the shard, 12 of a sequence that starts anew with each
// millisecond. Time that goes back does not count, nor does a full sequence: the
// next millisecond is borrowed. Lua's numbers are exact up to 2^53 only, so the
// parts are returned.
var idScript = redis.NewScript(`
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local last = redis.call('HMGET', KEYS[1], 'time', 'sequence')
local time, sequence = tonumber(last[1]) or 0, tonumber(last[2]) or 0
if now > time then
  time, sequence = now, 0
else
  sequence = sequence + 1
  if sequence > 4095 then time, sequence = time + 1, 0 end
end
redis.call('HSET', KEYS[1], 'time', string.format('%.0f', time), 'sequence', sequence)
return {time, tonumber(ARGV[1]), sequence}
`)

const (
	scriptEpoch = 1767225600000 // 2026-01-01T00:00:00Z, in milliseconds
	scriptShard = 5
)

// redis measures a Redis server for each durability. It returns nil where
// redis-server is not installed.
func (o Options) redis(t testing.TB) *group {
	if _, err := redisBinary(); err != nil {
		fmt.Fprintf(o.Progress, "Redis is not measured: %v\n", err)
		return nil
	}
	g := &group{unit: "command", callers: serverCallers}
	var lines []*draw
	var servers []*redisServer
	for _, d := range durabilities {
		s := startRedis(t, d.args)
		servers = append(servers, s)
		lines = append(lines, redisLines(t, s, d)...)
	}
	g.title = "Redis " + servers[0].version(t)
	fmt.Fprintf(o.Progress, "%s\n", g.title)
	for _, l := range lines {
		g.lines = append(g.lines, l.line)
	}
	for _, callers := range g.callers {
		require.NoError(t, o.rounds(t.Context(), lines, callers))
	}
	for _, l := range lines {
		l.look()
	}
	if o.Kill {
		require.NoError(t, survive(t.Context(), lines, func() {
			for _, s := range servers {
				s.restart(t)
			}
		}))
	}
	return g
}

func redisLines(t testing.TB, s *redisServer, d durability) []*draw {
	client := redis.NewClient(&redis.Options{Addr: s.addr})
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	name := func(what string) string { return what + ", " + d.name }
	lines := []*draw{
		{line: newLine(name("INCR"), lineTickets, "an ID, "+d.does, 1), stride: 1, next: func(ctx context.Context) (int64, error) {
			return client.Incr(ctx, "id").Result()
		}},
		{line: newLine(name("INCRBY 1000"), lineRefill, "a segment of 1,000 IDs, "+d.does, step), stride: 1, next: func(ctx context.Context) (int64, error) {
			last, err := client.IncrBy(ctx, "segment", step).Result()
			return last - step + 1, err
		}},
		{line: newLine(name("script"), lineTickets, "TIME, shard, sequence in Lua: an ID, "+d.does, 1), stride: 1, sparse: true, next: func(ctx context.Context) (int64, error) {
			parts, err := idScript.Run(ctx, client, []string{"script"}, scriptShard).Int64Slice()
			if err != nil {
				return 0, err
			}
			return (parts[0]-scriptEpoch)<<22 | parts[1]<<12 | parts[2], nil
		}},
	}
	if d.name == durabilities[0].name {
		lines = append([]*draw{{line: newLine("PING", "", "raw limit: one round trip", 0), next: func(ctx context.Context) (int64, error) {
			return 0, client.Ping(ctx).Err()
		}}}, lines...)
	}
	return lines
}
