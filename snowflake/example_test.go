package snowflake_test

import (
	"fmt"
	"time"

	"github.com/oddeven/oddeven/snowflake"
)

// The default layout, and how long it lasts.
func ExampleDefault() {
	l := snowflake.Default()
	fmt.Println(l)
	fmt.Println(l.MaxWorker()+1, "workers, until", l.Exhausted().Year())
	// Output:
	// time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z
	// 1024 workers, until 2095
}

// A layout of one's own. The error shows the arithmetic.
func ExampleNewLayout() {
	epoch := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	_, err := snowflake.NewLayout(time.Millisecond, epoch,
		snowflake.Field{Kind: snowflake.KindTime, Bits: 37},
		snowflake.Field{Kind: snowflake.KindWorker, Bits: 20},
		snowflake.Field{Kind: snowflake.KindSequence, Bits: 16})
	fmt.Println(err)
	// Output:
	// snowflake: layout: time 37 + worker 20 + sequence 16 = 73 bits; at most 63: take 10 bits away
}

// A layout from a flag or a configuration file: a preset's name or a spec.
func ExampleParseLayout() {
	for _, text := range []string{"sonyflake", "time:33,worker:14,sequence:16;unit=1s;epoch=2026-01-01T00:00:00Z"} {
		l, err := snowflake.ParseLayout(text)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(l, "ends in", l.Exhausted().Year())
	}
	// Output:
	// time:39,sequence:8,worker:16;unit=10ms;epoch=2014-09-01T00:00:00Z ends in 2188
	// time:33,worker:14,sequence:16;unit=1s;epoch=2026-01-01T00:00:00Z ends in 2298
}

// Taking the ID of a tweet apart.
func ExampleLayout_Decompose() {
	l, err := snowflake.Preset("twitter")
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := l.Decompose(1541815603606036480)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.TimeOf(p.Tick).Format(time.RFC3339Nano), p.Datacenter, p.Worker, p.Sequence)
	// Output:
	// 2022-06-28T16:07:40.105Z 11 26 0
}

// Putting an ID together.
func ExampleLayout_Compose() {
	l := snowflake.Default()
	tick := l.TickOf(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC))
	fmt.Println(l.Compose(snowflake.Parts{Tick: tick, Worker: 7, Sequence: 1}))
	fmt.Println(l.Compose(snowflake.Parts{Tick: tick, Worker: 1024}))
	// Output:
	// 110165911142428673 <nil>
	// 0 snowflake: worker 1024 out of range: 0 to 1023 in this layout
}

// The layout of a fleet with 4 shard bits.
func ExampleLayout_WithShardBits() {
	fmt.Println(snowflake.Default().WithShardBits(4))
	// Output:
	// time:41,worker:10,sequence:8,shard:4;unit=1ms;epoch=2026-01-01T00:00:00Z <nil>
}
