package ticket_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/oddeven/oddeven/ticket"
)

// Tickets of a fleet of two servers that `oddeven migrate up` has set up.
func ExampleOpen() {
	var servers []*mysql.Config
	for _, dsn := range []string{
		"app:secret@tcp(db1:3306)/oddeven",
		"app:secret@tcp(db2:3306)/oddeven",
	} {
		server, err := mysql.ParseDSN(dsn)
		if err != nil {
			log.Panic("bad DSN") // err may quote the password
		}
		servers = append(servers, server)
	}

	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fleet, err := ticket.Open(ctx, ticket.Config{Servers: servers})
	if err != nil {
		log.Panic(err)
	}
	defer func() {
		if err := fleet.Close(); err != nil {
			log.Print(err)
		}
	}()

	id, err := fleet.Next(ctx)
	if err != nil {
		log.Panic(err)
	}
	fmt.Println(id)

	batch := make([]int64, 100)
	if err := fleet.NextN(ctx, batch); err != nil {
		log.Panic(err)
	}
	fmt.Println(batch)
}
