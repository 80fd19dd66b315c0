// Package products makes IDs with other products and with ours, each used as its
// documentation says that several goroutines use it, and looks for duplicates.
package products

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	bwmarrin "github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oddeven/oddeven/snowflake"
)

// A Key is an ID of any product, in full: two are equal if the IDs are.
type Key [2]uint64

// A Product is something that makes IDs.
type Product struct {
	Name string
	// Next makes one. It is safe for concurrent use. All are called through a
	// function value here, ours too: what that adds weighs most on the cheapest.
	Next func(context.Context) (Key, error)
	// Draw makes n IDs in a loop of its own, as an application does. It is safe for
	// concurrent use.
	Draw func(n int) error
}

// Others are the products of others, each with its defaults.
func Others() ([]Product, error) {
	node, err := bwmarrin.NewNode(1)
	if err != nil {
		return nil, fmt.Errorf("make node of bwmarrin/snowflake: %w", err)
	}
	return []Product{
		{"bwmarrin/snowflake", func(context.Context) (Key, error) { return Number(node.Generate().Int64()), nil },
			func(n int) error { return drawBwmarrin(node, n) }},
		{"rs/xid", func(context.Context) (Key, error) { return Short(xid.New()), nil }, drawXID},
		{"google/uuid v4", func(context.Context) (Key, error) {
			id, err := uuid.NewRandom()
			return Long(id), err
		}, drawUUID4},
		{"google/uuid v7", func(context.Context) (Key, error) {
			id, err := uuid.NewV7()
			return Long(id), err
		}, drawUUID7},
		// Make is the one that is safe for concurrent use and monotonic in a process.
		{"oklog/ulid, monotonic", func(context.Context) (Key, error) { return Long(ulid.Make()), nil }, drawULID},
		{"MongoDB ObjectID", func(context.Context) (Key, error) { return Short(bson.NewObjectID()), nil }, drawObjectID},
	}, nil
}

// Number is the key of an integer.
func Number(id int64) Key { return Key{0, uint64(id)} }

// Long is the key of 16 bytes.
func Long(id [16]byte) Key {
	return Key{binary.BigEndian.Uint64(id[:]), binary.BigEndian.Uint64(id[8:])}
}

// Short is the key of 12 bytes.
func Short(id [12]byte) Key {
	return Key{binary.BigEndian.Uint64(id[:]), uint64(binary.BigEndian.Uint32(id[8:]))}
}

// longSequence is a layout with so many IDs in a tick that no caller gets to
// MaxAhead: all are inside a burst.
const longSequence = "time:37,worker:2,sequence:24;unit=1ms;epoch=2026-01-01T00:00:00Z"

// Ours are two Workers of ours: one whose callers never wait, and one of the
// default layout, whose callers wait for the clock when they have borrowed all.
type Ours struct{ quick, slow *snowflake.Worker }

// OpenOurs makes both and waits for the first ID.
func OpenOurs(ctx context.Context) (*Ours, error) {
	layout, err := snowflake.ParseLayout(longSequence)
	if err != nil {
		return nil, err
	}
	o := new(Ours)
	if o.quick, err = snowflake.New(1, snowflake.Config{Layout: layout, Ceiling: -1}); err != nil {
		return nil, err
	}
	if o.slow, err = snowflake.New(1, snowflake.Config{}); err != nil {
		return nil, errors.Join(err, o.quick.Close())
	}
	// The first ID is there after a tick.
	if _, err := o.quick.Next(ctx); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

// Burst is the Worker whose callers never wait.
func (o *Ours) Burst() Product { return worker("snowflake.Worker.Next, burst", o.quick) }

// Sustained is the Worker of the default layout.
func (o *Ours) Sustained() Product { return worker("snowflake.Worker.Next", o.slow) }

// borrowable is more than the Worker of the default layout may borrow.
const borrowable = 100_000

// Drain takes from the Worker of the default layout what it may borrow, so that
// the next caller gets IDs at the rate that lasts. It stops also where TryNext
// takes longer than new IDs do, as with the race detector.
func (o *Ours) Drain() {
	for range borrowable {
		if _, ok := o.slow.TryNext(); !ok {
			return
		}
	}
}

func worker(name string, w *snowflake.Worker) Product {
	return Product{name, func(ctx context.Context) (Key, error) {
		id, err := w.Next(ctx)
		return Number(id), err
	}, func(n int) error { return drawWorker(w, n) }}
}

// Close closes both.
func (o *Ours) Close() error { return errors.Join(o.quick.Close(), o.slow.Close()) }
