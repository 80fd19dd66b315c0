package testfleet

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// Main is what TestMain of a package that uses fleets calls:
//
//	func TestMain(m *testing.M) { testfleet.Main(m) }
//
// It runs the tests, removes every server, and exits with their code. Servers
// start when a test first asks for them; each is announced in a line on
// stderr. Main makes the run fail if goroutines are left at its end or
// anything could not be removed, and says how many tests were skipped because
// the source of servers cannot do what they need.
//
// On SIGINT and SIGTERM servers are removed before the process exits. After a
// panic, a timeout of "go test" or SIGKILL a helper process removes them.
func Main(m *testing.M) {
	if value := os.Getenv(reaperEnv); value != "" {
		o, dir, _ := strings.Cut(value, ":")
		os.Exit(reap(owner(o), dir))
	}
	current = newRun()
	stop := removeOnSignal(current)
	before := goleak.IgnoreCurrent()
	code := m.Run()
	stop()
	os.Exit(finish(current, code, before))
}

// finish removes everything, looks for leaks and returns the exit code.
func finish(r *run, code int, before goleak.Option) int {
	fail := func(what string, err error) {
		fmt.Fprintf(os.Stderr, "testfleet: %s: %v\n", what, err)
		if code == 0 {
			code = 1
		}
	}
	if err := r.close(); err != nil {
		fail("servers were not removed", err)
	}
	if code == 0 { // after a failure leaks are to be expected
		if err := goleak.Find(before); err != nil {
			fail("goroutines leak", err)
		}
	}
	if r.skipped > 0 {
		fmt.Fprintf(os.Stderr, "testfleet: %d TESTS WERE SKIPPED, see above for the reasons\n", r.skipped)
	}
	return code
}

// removeOnSignal makes SIGINT and SIGTERM remove all servers and exit. A
// second signal ends the process at once; the reaper does the rest.
func removeOnSignal(r *run) (stop func()) {
	signals, done := make(chan os.Signal, 1), make(chan struct{})
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-done:
			return
		case s := <-signals:
			signal.Stop(signals)
			fmt.Fprintf(os.Stderr, "testfleet: %v: removing servers\n", s)
			if err := r.close(); err != nil {
				fmt.Fprintf(os.Stderr, "testfleet: %v\n", err)
			}
			os.Exit(130)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(done)
	}
}
