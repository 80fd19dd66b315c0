package products

import (
	"context"
	"errors"

	bwmarrin "github.com/bwmarrin/snowflake"
	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
	"github.com/rs/xid"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/oddeven/oddeven/snowflake"
)

// The loops are functions of their own, as an application's are: in a function
// literal that is inlined itself not all calls are. What they return depends on
// every ID, so that none can be left out.

var errZero = errors.New("products: an ID is zero")

func drawBwmarrin(node *bwmarrin.Node, n int) error {
	for range n {
		if node.Generate() == 0 {
			return errZero
		}
	}
	return nil
}

func drawXID(n int) error {
	for range n {
		if xid.New() == (xid.ID{}) {
			return errZero
		}
	}
	return nil
}

func drawUUID4(n int) error {
	for range n {
		if _, err := uuid.NewRandom(); err != nil {
			return err
		}
	}
	return nil
}

func drawUUID7(n int) error {
	for range n {
		if _, err := uuid.NewV7(); err != nil {
			return err
		}
	}
	return nil
}

func drawULID(n int) error {
	for range n {
		if ulid.Make() == (ulid.ULID{}) {
			return errZero
		}
	}
	return nil
}

func drawObjectID(n int) error {
	for range n {
		if bson.NewObjectID() == (bson.ObjectID{}) {
			return errZero
		}
	}
	return nil
}

func drawWorker(w *snowflake.Worker, n int) error {
	for range n {
		if _, err := w.Next(context.Background()); err != nil {
			return err
		}
	}
	return nil
}
