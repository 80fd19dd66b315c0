package migrations_test

import (
	"fmt"

	"github.com/oddeven/oddeven/migrations"
)

// A tool of your own can run the same statements.
func ExampleAll() {
	first := migrations.All()[0]
	fmt.Println(first.Version, first.Name)
	fmt.Println(first.Down)
	// Output:
	// 1 00001_server.sql
	// DROP TABLE IF EXISTS `server`;
}
