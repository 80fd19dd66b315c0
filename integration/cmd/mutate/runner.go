package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oddeven/oddeven/integration/mutants"
)

// runner runs mutants. Each test command has servers of its own.
type runner struct {
	root    string // of the repository
	temp    string // for overlays; the caller removes it
	timeout time.Duration
	jobs    int       // mutants at a time
	out     io.Writer // verdicts
	log     io.Writer // everything else; may be nil

	unfit map[mutants.Test]verdict // test commands whose baseline was not good; not changed any more when mutants run
}

// runAll prints a line for each baseline and each mutant when it is done, then
// a summary.
// It reports whether every mutant was killed.
func (r *runner) runAll(ctx context.Context, all []mutants.Mutant) bool {
	start := time.Now()
	if err := r.baseline(ctx, all); err != nil {
		fmt.Fprintln(r.out, "mutate:", err)
		return false
	}
	count := map[verdict]int{}
	var mu sync.Mutex // guards count and the report
	var running sync.WaitGroup
	free := make(chan struct{}, r.jobs)
	for _, m := range all {
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			if ctx.Err() != nil {
				return
			}
			began := time.Now()
			res := r.runMutant(ctx, m)
			if ctx.Err() != nil {
				return // an interrupted run has no verdict
			}
			mu.Lock()
			defer mu.Unlock()
			count[res.verdict]++
			r.line(res.verdict, m.Name, began, res.by)
			if res.verdict != killed {
				fmt.Fprintf(r.out, "\t%s: %s\n%s", m.File, m.Why, indent(res.output))
			}
		})
	}
	running.Wait()
	if ctx.Err() != nil {
		fmt.Fprintln(r.out, "mutate: interrupted")
		return false
	}
	fmt.Fprintf(r.out, "mutate: %d of %d killed%s in %.1fs\n", count[killed], len(all), others(count), time.Since(start).Seconds())
	return count[killed] == len(all)
}

// runMutant runs the mutant's test commands until one of them decides.
func (r *runner) runMutant(ctx context.Context, m mutants.Mutant) result {
	for _, t := range m.Tests {
		if v := r.unfit[t]; v != "" {
			return result{verdict: v, by: t.String()}
		}
	}
	overlay, err := writeOverlay(r.root, r.temp, m)
	if errors.Is(err, mutants.ErrStale) {
		return result{verdict: stale, by: err.Error()}
	}
	if err != nil {
		return result{verdict: broken, by: err.Error()}
	}
	refused, err := r.goBuild(ctx, m, overlay)
	if err != nil {
		return result{verdict: broken, by: err.Error()}
	}
	if refused != "" {
		return result{doesNotBuild, "a package does not compile", refused}
	}
	quicker := *r
	if m.TimeoutKills { // who expects a test to hang need not see it for long
		quicker.timeout /= 4
	}
	for _, t := range m.Tests {
		o, err := quicker.goTest(ctx, t, overlay)
		if err != nil {
			return result{verdict: broken, by: err.Error()}
		}
		if res := judge(o, m.TimeoutKills); res.verdict != survived {
			return res
		}
	}
	return result{verdict: survived}
}

// line prints one verdict with the time since began.
func (r *runner) line(v verdict, name string, began time.Time, detail string) {
	text := fmt.Sprintf("%-21s %6.1fs  %s", v, time.Since(began).Seconds(), name)
	if detail != "" {
		text += "  " + detail
	}
	fmt.Fprintln(r.out, text)
}

// others lists the verdicts that are not kills, in a fixed order.
func others(count map[verdict]int) string {
	var b strings.Builder
	for _, v := range []verdict{survived, doesNotBuild, stale, noTestRan, timeout, failedOutside, baselineFailed, broken} {
		if count[v] > 0 {
			fmt.Fprintf(&b, ", %d %s", count[v], v)
		}
	}
	return b.String()
}

// maxOutput is how many lines of a failed command are printed without -v. Its
// beginning and its end say more than its middle.
const maxOutput = 40

// indent sets the lines of s apart from the verdicts and cuts them to maxOutput.
func indent(s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	if cut := len(lines) - maxOutput; cut > 0 {
		lines = slices.Replace(lines, maxOutput/2, maxOutput/2+cut, fmt.Sprintf("… %d lines, see -v …", cut))
	}
	return "\t" + strings.Join(lines, "\n\t") + "\n"
}
