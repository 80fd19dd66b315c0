// Package ticket_test tests package ticket against real servers, which testfleet
// provides and breaks.
package ticket_test

import (
	"testing"

	"github.com/oddeven/oddeven/integration/testfleet"
)

func TestMain(m *testing.M) { testfleet.Main(m) }
