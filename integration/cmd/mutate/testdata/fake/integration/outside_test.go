package integration

import (
	"os"
	"strconv"
	"testing"

	"example.com/fake/sum"
)

// TestMain stands for one that can't start its servers, and so gives up.
func TestMain(m *testing.M) {
	if sum.Sub(3, 2) != 1 {
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestWait waits for a value that a mutant never sends. Under a mutant it tells
// the process it runs in to whoever set FAKE_STARTED.
func TestWait(t *testing.T) {
	if file := os.Getenv("FAKE_STARTED"); file != "" && os.Getenv("ODDEVEN_BUILD_OVERLAY") != "" {
		if err := os.WriteFile(file, []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if sum.Twice(1) != 2 {
		t.Fatal("Twice(1) != 2")
	}
}
