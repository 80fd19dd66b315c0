package segment_test

import (
	"context"
	"fmt"
	"log"

	"github.com/oddeven/oddeven/segment"
)

// In a unit test no server is needed.
func Example_unitTest() {
	orders, err := segment.New(context.Background(), &segment.Memory{}, segment.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = orders.Close() }() // always nil
	for range 3 {
		id, err := orders.Next(context.Background())
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(id)
	}
	// Output:
	// 2
	// 3
	// 4
}
