package snowflake_test

import (
	"context"
	"fmt"
	"log"

	"github.com/oddeven/oddeven/snowflake"
)

// A worker whose number was assigned by hand.
func ExampleNew() {
	w, err := snowflake.New(7, snowflake.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = w.Close() }() // always nil without a lease
	id, err := w.Next(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	p, err := snowflake.Default().Decompose(id)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("worker", p.Worker)
	// Output:
	// worker 7
}
