// Package snowflake_test tests the leases of package snowflake against real
// servers, which testfleet provides and breaks.
package snowflake_test

import (
	"os"
	"testing"
	"time"

	"github.com/oddeven/oddeven/integration/clienttest"
	"github.com/oddeven/oddeven/integration/testfleet"
)

func TestMain(m *testing.M) {
	if order := os.Getenv(childEnv); order != "" {
		os.Exit(work(order))
	}
	// Leases take longer to end than tests wait that are meant to fail.
	clienttest.Patience = max(clienttest.Patience, time.Minute)
	testfleet.Main(m)
}
