package oddeven_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"time"

	"github.com/oddeven/oddeven"
	"github.com/oddeven/oddeven/segment"
	"github.com/oddeven/oddeven/snowflake"
)

var servers = []string{
	"app:secret@tcp(db1:3306)/oddeven",
	"app:secret@tcp(db2:3306)/oddeven",
}

// IDs of a fleet of two servers that `oddeven migrate up` has set up. Directory
// examples has complete programs.
func ExampleOpen() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	client, err := oddeven.Open(ctx, oddeven.Config{DSNs: servers})
	if err != nil {
		log.Panic(err)
	}
	defer func() {
		if err := client.Close(); err != nil {
			log.Print(err)
		}
	}()
	orders, err := client.Sequence(ctx, "orders")
	if err != nil {
		log.Panic(err)
	}
	id, err := orders.Next(ctx)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(id)
}

// A process that goes on with its lease when it is restarted in an outage, and
// sequences for which order matters more than an ID at all times.
func ExampleConfig() {
	cfg := oddeven.Config{
		DSNs:   servers,
		Logger: slog.Default(),
		Failover: oddeven.Failover{
			After: 100 * time.Millisecond,
		},
		Failovers: map[string]oddeven.Failover{
			"ledger": {Outage: oddeven.Wait},
			"audit":  {Outage: oddeven.Fail},
		},
		Segment: segment.Config{Interval: 5 * time.Second},
		Worker:  snowflake.Config{Lease: 2 * time.Hour, StateFile: "/var/lib/shop/worker"},
	}
	client, err := oddeven.Open(context.Background(), cfg)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(client.Stats().ShardBits)
}

// A process takes requests when it could stand the loss of every server.
func ExampleClient_Ready() {
	var client *oddeven.Client // of Open
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := client.Ready(ctx); errors.Is(err, oddeven.ErrNotReady) {
		fmt.Println("not yet:", err)
	}
}

// Users and their posts are in the same shard.
func ExampleGenerator_NextFor() {
	var client *oddeven.Client          // of Open
	var users, posts *oddeven.Generator // of client.Sequence
	const shard = 3                     // of 2^ShardBits
	ctx := context.Background()         // of the request
	user, err := users.NextFor(ctx, shard)
	if err != nil {
		log.Panic(err)
	}
	post, err := posts.NextFor(ctx, user.Shard(client.ShardBits()))
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(user, post)
}

// IDs for many rows at once.
func ExampleGenerator_NextN() {
	var orders *oddeven.Generator // of client.Sequence
	ids := make([]oddeven.ID, 100)
	if err := orders.NextN(context.Background(), ids); err != nil {
		log.Panic(err)
	}
	fmt.Println(ids)
}

// IDs until a file has no more lines.
func ExampleGenerator_All() {
	var orders *oddeven.Generator // of client.Sequence
	lines := []string{"a lamp", "a chair"}
	for id, err := range orders.All(context.Background()) {
		if err != nil {
			log.Panic(err)
		}
		fmt.Println(id, lines[0])
		if lines = lines[1:]; len(lines) == 0 {
			break
		}
	}
}

// What an ID tells.
func ExampleClient_Decode() {
	var client *oddeven.Client // of Open
	origin, err := client.Decode(1234567890123456789)
	if err != nil {
		log.Panic(err)
	}
	switch origin.Plane {
	case oddeven.PlaneSegment:
		fmt.Println("of server", origin.Server)
	case oddeven.PlaneSnowflake:
		fmt.Println("of worker", origin.Worker, "at", origin.Time)
	}
}

// An outage that is longer than the lease.
func ExampleUnavailableError() {
	var orders *oddeven.Generator // of client.Sequence
	_, err := orders.Next(context.Background())
	if ended, ok := errors.AsType[*snowflake.LeaseEndedError](err); ok {
		fmt.Println("no server, and no lease since", ended.Until)
	} else if errors.Is(err, oddeven.ErrUnavailable) {
		fmt.Println(err)
	}
}
