package main

// verdict says what became of a mutant. Only killed is good.
type verdict string

const (
	killed       verdict = "killed"
	survived     verdict = "survived"
	doesNotBuild verdict = "does not build"
	stale        verdict = "stale"
	noTestRan    verdict = "no test ran"
	timeout      verdict = "timeout"
	// failedOutside means that go test failed although no test did: TestMain
	// gave up, or something killed the process. That proves nothing about the
	// mutant.
	failedOutside  verdict = "failed outside a test"
	baselinePassed verdict = "baseline" // of a test command, not of a mutant
	baselineFailed verdict = "baseline failed"
	broken         verdict = "error" // the tool could not do its work
)

// result is a verdict and what led to it.
type result struct {
	verdict verdict
	by      string // in a few words, e.g. the test that killed
	output  string // of the command that failed, for a verdict that is not killed
}

// judge turns the outcome of a test command under a mutant into a verdict.
//
// A kill needs a test that failed, or that was running when its own process
// crashed: a panic in another goroutine of the product is noticed that way.
func judge(o outcome, timeoutKills bool) result {
	switch {
	case o.buildFailed:
		return result{doesNotBuild, "a test does not compile", o.text}
	case o.timedOut && timeoutKills:
		return result{verdict: killed, by: "timeout"}
	case o.timedOut:
		return result{timeout, "a kill only with \"timeout: kills\"", o.text}
	case len(o.failures) > 0:
		return result{verdict: killed, by: o.failures[0]}
	case o.failed && !o.killed && len(o.unfinished) > 0:
		return result{verdict: killed, by: o.unfinished[len(o.unfinished)-1] + " (crashed)"}
	case o.failed:
		return result{failedOutside, "no test failed, but go test did", o.text}
	case len(o.ran) == 0:
		return result{verdict: noTestRan}
	}
	return result{verdict: survived}
}

// judgeBaseline returns "" for a test command that is fit to judge mutants.
func judgeBaseline(o outcome) verdict {
	switch {
	case o.failed || o.timedOut || o.buildFailed:
		return baselineFailed
	case len(o.ran) == 0:
		return noTestRan
	}
	return ""
}
