package testfleet_test

import (
	"testing"

	"github.com/oddeven/oddeven/integration/testfleet"
)

func TestMain(m *testing.M) { testfleet.Main(m) }
