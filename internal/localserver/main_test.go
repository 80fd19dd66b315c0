package localserver

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// parentEnv, when set, makes the test binary not run tests but open a server
// in the directory it names and wait to be killed: the parent of
// TestParentKilled.
const parentEnv = "LOCALSERVER_TEST_PARENT_DIR"

// parentServerEnv names the server binary for it.
const parentServerEnv = "LOCALSERVER_TEST_PARENT_SERVER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentEnv); dir != "" {
		os.Exit(runParent(dir, os.Getenv(parentServerEnv)))
	}
	goleak.VerifyTestMain(m)
}

// runParent opens a server, prints its process id and address, and waits.
func runParent(dir, server string) int {
	s, err := Open(context.Background(), Config{
		Installation: Installation{Server: server},
		Dir:          dir,
		RootPassword: testPassword,
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Fprintln(os.Stdout, s.PID(), s.Addr())
	<-s.Exited()
	return 1
}

// testPassword has what an SQL string has to escape.
const testPassword = `it's "p\ss" %d`
