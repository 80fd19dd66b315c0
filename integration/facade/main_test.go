// Package facade_test tests package oddeven against real servers, which testfleet
// provides and breaks.
package facade_test

import (
	"os"
	"testing"

	"github.com/oddeven/oddeven/integration/testfleet"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(childEnv); text != "" {
		os.Exit(work(text))
	}
	testfleet.Main(m)
}
