package ledger

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// childEnv makes this program a process that logs to the file of this name.
const childEnv = "ODDEVEN_TEST_LEDGER"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Fprintln(os.Stderr, logForEver(path))
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

// logForEver logs, and prints the last ID whenever it has been flushed.
func logForEver(path string) error {
	w, err := Create(path)
	if err != nil {
		return err
	}
	s, err := w.Stream(Stream{Process: "c1", Source: SourceTicket, Ordered: true})
	for i := int64(1); err == nil; i += 2 {
		s.Issued(i)
		if i%31 == 0 {
			if err = s.Flush(); err == nil {
				_, err = fmt.Fprintln(os.Stdout, i)
			}
		}
	}
	return err
}
