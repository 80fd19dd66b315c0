package localserver_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/oddeven/oddeven/internal/localserver"
)

// A server for as long as the program needs it. The second run of the program
// finds the data of the first.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server, err := localserver.Open(ctx, localserver.Config{
		Dir:          "/tmp/example/odd",
		RootPassword: "secret",
		InitSQL:      []string{"CREATE DATABASE IF NOT EXISTS app"},
		Options:      []string{"--auto-increment-increment=2", "--auto-increment-offset=1"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(server.Version(), "on", server.Addr())
	if err := server.Stop(ctx); err != nil {
		log.Fatal(err)
	}
}
