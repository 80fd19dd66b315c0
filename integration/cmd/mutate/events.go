package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// outcome is what one run of go test did.
type outcome struct {
	ran         []string // tests that ran to an end or crashed; skipped ones do not count
	failures    []string // tests that reported a failure, in that order
	unfinished  []string // tests that were running when their process ended
	buildFailed bool
	failed      bool // the command as a whole
	timedOut    bool // the limit ended it
	killed      bool // a signal from outside ended a test process
	text        string
}

// event is a line of go test -json, see "go doc test2json".
type event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	FailedBuild string
}

// parseEvents reads the output of go test -json. Lines that are no events are
// kept as text.
func parseEvents(stdout []byte) outcome {
	var (
		o       outcome
		text    strings.Builder
		running [][2]string // package and test, in order of their start
	)
	for line := range bytes.Lines(stdout) {
		var e event
		if json.Unmarshal(line, &e) != nil {
			text.Write(line)
			continue
		}
		text.WriteString(e.Output)
		o.buildFailed = o.buildFailed || e.Action == "build-fail" || e.FailedBuild != ""
		o.timedOut = o.timedOut || strings.HasPrefix(e.Output, "panic: test timed out after ")
		o.killed = o.killed || strings.HasPrefix(e.Output, "signal: killed")
		if e.Test == "" {
			o.failed = o.failed || e.Action == "fail"
			continue
		}
		id := [2]string{e.Package, e.Test}
		switch e.Action {
		case "run":
			running = append(running, id)
		case "pass", "fail", "skip":
			running = slices.DeleteFunc(running, func(r [2]string) bool { return r == id })
			if e.Action != "skip" {
				o.ran = append(o.ran, e.Test)
			}
			if e.Action == "fail" {
				o.failures = append(o.failures, e.Test)
			}
		}
	}
	for _, r := range running {
		o.ran = append(o.ran, r[1])
		o.unfinished = append(o.unfinished, r[1])
	}
	o.text = text.String()
	return o
}
