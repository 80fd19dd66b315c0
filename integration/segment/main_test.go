// Package segment_test tests package segment against real servers, which
// testfleet provides and breaks.
package segment_test

import (
	"os"
	"testing"

	"github.com/oddeven/oddeven/integration/testfleet"
)

func TestMain(m *testing.M) {
	if dsns := os.Getenv(childEnv); dsns != "" {
		os.Exit(child(dsns)) // another process of TestTwoProcessesAndManyCallers
	}
	testfleet.Main(m)
}
