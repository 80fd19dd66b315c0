package snowflake_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/snowflake"
)

func TestComposeRejectsValuesOutOfRange(t *testing.T) {
	t.Parallel()
	twitter, err := snowflake.Preset("twitter")
	require.NoError(t, err)
	tests := []struct {
		name  string
		parts snowflake.Parts
		want  string
	}{
		{"NegativeTick", snowflake.Parts{Tick: -1}, "snowflake: time -1 out of range: 0 to 2199023255551 in this layout"},
		{"TimeBitsUsedUp", snowflake.Parts{Tick: 1 << 41}, "snowflake: time 2199023255552 out of range: 0 to 2199023255551 in this layout"},
		{"Datacenter", snowflake.Parts{Datacenter: 32}, "snowflake: datacenter 32 out of range: 0 to 31 in this layout"},
		{"Worker", snowflake.Parts{Worker: 32}, "snowflake: worker 32 out of range: 0 to 31 in this layout"},
		{"NegativeWorker", snowflake.Parts{Worker: math.MinInt64}, "snowflake: worker -9223372036854775808 out of range: 0 to 31 in this layout"},
		{"Sequence", snowflake.Parts{Sequence: 4096}, "snowflake: sequence 4096 out of range: 0 to 4095 in this layout"},
		{"NoSuchField", snowflake.Parts{Shard: 1}, "snowflake: shard 1 out of range: the layout has no such field"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := twitter.Compose(tt.parts)
			requireRangeError(t, err, tt.want)
		})
	}
}

func TestDecomposeRejectsIDsOutOfRange(t *testing.T) {
	t.Parallel()
	_, err := snowflake.Default().Decompose(-1)
	requireRangeError(t, err, "snowflake: id -1 out of range: 0 to 9223372036854775807 in this layout")
	_, err = snowflake.Default().Decompose(math.MaxInt64)
	require.NoError(t, err)

	short, err := snowflake.ParseLayout("time:30,worker:2;unit=1s;epoch=2026-01-01T00:00:00Z")
	require.NoError(t, err)
	_, err = short.Decompose(1 << 32)
	requireRangeError(t, err, "snowflake: id 4294967296 out of range: 0 to 4294967295 in this layout")
	p, err := short.Decompose(1<<32 - 1)
	require.NoError(t, err)
	require.Equal(t, snowflake.Parts{Tick: 1<<30 - 1, Worker: 3}, p)
}

func TestComposeAndDecomposeAreInverse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyPresetOrLayout(t)
		p := anyParts(t, l)
		id, err := l.Compose(p)
		if err != nil || id < 0 {
			t.Fatalf("Compose(%+v) = %d, %v in %s", p, id, err, l)
		}
		back, err := l.Decompose(id)
		if err != nil || back != p {
			t.Fatalf("Decompose(Compose(%+v)) = %+v, %v in %s", p, back, err, l)
		}
	})
}

func TestDistinctWorkerNumbersGiveDistinctIDs(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyPresetOrLayout(t)
		p := anyParts(t, l)
		a := rapid.Int64Range(0, l.MaxWorker()).Draw(t, "a")
		b := rapid.Int64Range(0, l.MaxWorker()).Draw(t, "b")
		if idA, idB := compose(t, l, p, a), compose(t, l, p, b); (idA == idB) != (a == b) {
			t.Fatalf("workers %d and %d give %d and %d in %s", a, b, idA, idB, l)
		}
	})
}

// TestWorkerNumbersOfEveryPresetGiveTheirOwnIDs reads each number back from an ID, so no two give
// the same. It looks at all numbers up to 65,536 of them, and beyond at one in a few.
func TestWorkerNumbersOfEveryPresetGiveTheirOwnIDs(t *testing.T) {
	t.Parallel()
	for _, p := range snowflake.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel()
			l := p.Layout
			step := l.MaxWorker()>>16 | 1
			for number := int64(0); number <= l.MaxWorker(); number += step {
				back, err := throughID(l, number)
				if err != nil || back != number {
					t.Fatalf("number %d comes back as %d, %v", number, back, err)
				}
			}
		})
	}
}

// throughID composes an ID with a worker number and reads the number back from it.
func throughID(l snowflake.Layout, number int64) (int64, error) {
	datacenter, worker, err := l.Node(number)
	if err != nil {
		return 0, err
	}
	id, err := l.Compose(snowflake.Parts{Tick: 1, Datacenter: datacenter, Worker: worker})
	if err != nil {
		return 0, err
	}
	parts, err := l.Decompose(id)
	if err != nil {
		return 0, err
	}
	return l.Number(parts.Datacenter, parts.Worker)
}

func TestIDsAreOrderedByTickIfTimeIsTheHighestField(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyPresetOrLayout(t)
		if l.Fields()[0].Kind != snowflake.KindTime || l.MaxTick() == 0 {
			return
		}
		a, b := anyParts(t, l), anyParts(t, l)
		idA, errA := l.Compose(a)
		idB, errB := l.Compose(b)
		if errA != nil || errB != nil {
			t.Fatalf("Compose: %v, %v", errA, errB)
		}
		if a.Tick < b.Tick && idA >= idB || a.Tick > b.Tick && idA <= idB {
			t.Fatalf("%+v gives %d, %+v gives %d in %s", a, idA, b, idB, l)
		}
	})
}

func TestNode(t *testing.T) {
	t.Parallel()
	twitter, err := snowflake.Preset("twitter")
	require.NoError(t, err)
	datacenter, worker, err := twitter.Node(11<<5 | 26)
	require.NoError(t, err)
	require.Equal(t, []int64{11, 26}, []int64{datacenter, worker})

	_, _, err = twitter.Node(1024)
	requireRangeError(t, err, "snowflake: worker number 1024 out of range: 0 to 1023 in this layout")
	_, _, err = twitter.Node(-1)
	requireRangeError(t, err, "snowflake: worker number -1 out of range: 0 to 1023 in this layout")
	_, err = twitter.Number(32, 0)
	requireRangeError(t, err, "snowflake: datacenter 32 out of range: 0 to 31 in this layout")
	_, err = twitter.Number(0, -1)
	requireRangeError(t, err, "snowflake: worker -1 out of range: 0 to 31 in this layout")

	redis, err := snowflake.Preset("redis")
	require.NoError(t, err)
	_, _, err = redis.Node(1)
	requireRangeError(t, err, "snowflake: worker number 1 out of range: the layout has no such field")
}

func FuzzDecompose(f *testing.F) {
	f.Add(uint8(0), int64(1541815603606036480))
	f.Add(uint8(4), int64(175928847299117063))
	f.Add(uint8(6), int64(math.MaxInt64))
	f.Add(uint8(2), int64(-1))
	presets := snowflake.Presets()
	f.Fuzz(func(t *testing.T, n uint8, id int64) {
		l := presets[int(n)%len(presets)].Layout
		p, err := l.Decompose(id)
		if id < 0 {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		back, err := l.Compose(p)
		require.NoError(t, err)
		require.Equal(t, id, back)
	})
}

func FuzzCompose(f *testing.F) {
	f.Add(uint8(1), int64(367597485448), int64(11), int64(26), int64(0), int64(0))
	f.Add(uint8(2), int64(1426212000000), int64(0), int64(0), int64(53), int64(4))
	f.Add(uint8(5), int64(-1), int64(1), int64(1<<62), int64(0), int64(256))
	presets := snowflake.Presets()
	f.Fuzz(func(t *testing.T, n uint8, tick, datacenter, worker, shard, sequence int64) {
		l := presets[int(n)%len(presets)].Layout
		p := snowflake.Parts{Tick: tick, Datacenter: datacenter, Worker: worker, Shard: shard, Sequence: sequence}
		id, err := l.Compose(p)
		if err != nil {
			return
		}
		back, err := l.Decompose(id)
		require.NoError(t, err)
		require.Equal(t, p, back)
	})
}

// requireRangeError checks type and message of an error.
func requireRangeError(t *testing.T, err error, message string) {
	t.Helper()
	var re *snowflake.RangeError
	require.ErrorAs(t, err, &re)
	require.Equal(t, message, err.Error())
}

// anyParts draws values that fit into the fields of l, often the extremes.
func anyParts(t *rapid.T, l snowflake.Layout) snowflake.Parts {
	draw := func(k snowflake.Kind) int64 {
		return rapid.Int64Range(0, int64(1)<<l.Width(k)-1).Draw(t, k.String())
	}
	return snowflake.Parts{
		Tick:       draw(snowflake.KindTime),
		Datacenter: draw(snowflake.KindDatacenter),
		Worker:     draw(snowflake.KindWorker),
		Shard:      draw(snowflake.KindShard),
		Sequence:   draw(snowflake.KindSequence),
	}
}

// compose composes p with another worker number.
func compose(t *rapid.T, l snowflake.Layout, p snowflake.Parts, number int64) int64 {
	var err error
	if p.Datacenter, p.Worker, err = l.Node(number); err != nil {
		t.Fatalf("Node(%d): %v", number, err)
	}
	id, err := l.Compose(p)
	if err != nil {
		t.Fatalf("Compose(%+v): %v", p, err)
	}
	return id
}
