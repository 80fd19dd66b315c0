// Command oddeven sets up, inspects and tries out a fleet of ticket servers.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal the default handling is back, so that a second one
	// ends the program at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], terminals(os.LookupEnv), os.LookupEnv)
	stop()
	os.Exit(code)
}
