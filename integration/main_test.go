// Package integration tests the product against real servers, which testfleet
// provides and breaks.
package integration

import (
	"testing"

	"github.com/oddeven/oddeven/integration/testfleet"
)

func TestMain(m *testing.M) { testfleet.Main(m) }
