// Command client is one client process of a torture run. It draws IDs through the
// public API and writes down each that it was handed. The driver, package torture,
// builds and runs it; it is killed, frozen and has its clock stepped.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/oddeven/oddeven/integration/torture/order"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

// run does what the first line of the input says until the input says stop. When
// the input ends without it, the driver is dead, and the process just ends.
func run(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	if !lines.Scan() {
		return errors.Join(errors.New("no order"), lines.Err())
	}
	var o order.Order
	if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
		return fmt.Errorf("read order: %w", err)
	}
	stepClock(o.Step)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p, err := newProcess(o, out)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- p.work(ctx) }()
	told := make(chan bool, 1)
	go func() { told <- listen(lines) }()
	select {
	case err := <-ended:
		return err
	case stop := <-told:
		if !stop {
			return errors.New("the driver is gone")
		}
	}
	cancel()
	return <-ended
}

// listen carries out what the driver says, until it says stop: then it is true.
func listen(lines *bufio.Scanner) bool {
	for lines.Scan() {
		verb, value, _ := strings.Cut(lines.Text(), " ")
		switch verb {
		case order.Stop:
			return true
		case order.Clock:
			if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
				stepClock(seconds)
			}
		}
	}
	return false
}
