package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/oddeven/oddeven/integration/torture/ledger"
	"github.com/oddeven/oddeven/integration/torture/schedule"
)

// verdict checks everything that was logged, and prints the figures.
func (r *run) verdict(ctx context.Context, out io.Writer, took time.Duration) (bool, error) {
	if err := errors.Join(r.judge(), r.ledger.Close()); err != nil {
		return false, err
	}
	layout, err := r.opts.layout()
	if err != nil {
		return false, err
	}
	fleet := ledger.Fleet{Increment: int64(len(r.servers)), Offsets: map[int64]string{}, ShardBits: r.opts.shardBits, Layout: layout,
		RecoverWithin: recoverWithin, LongestCall: longestCall}
	for _, v := range r.servers {
		fleet.Offsets[int64(v.number+1)] = "server " + v.name()
	}
	began := time.Now()
	report, err := ledger.Check(ctx, r.logs, fleet)
	if err != nil {
		return false, fmt.Errorf("check ledger: %w", err)
	}
	checked := time.Since(began)
	ok := report.OK() && len(r.found) == 0
	r.print(out, report, took, checked)
	for _, f := range report.Findings {
		fmt.Fprintf(out, "FOUND  %s: %s\n", f.Kind, shortened(f.Detail))
	}
	for _, f := range r.found {
		fmt.Fprintln(out, "FOUND ", shortened(f))
	}
	if n := int64(len(report.Findings)); n > 0 {
		for _, kind := range slices.Sorted(maps.Keys(report.Found)) {
			fmt.Fprintf(out, "found  %s: %d\n", kind, report.Found[kind])
		}
	}
	word := "ok"
	if !ok {
		word = "FAILED"
	}
	fmt.Fprintf(out, "torture: %s ids=%d duplicates=%d faults=%d seed=%d\n", word, report.IDs, report.Found[ledger.KindDuplicate], r.total(), r.opts.seed)
	fmt.Fprintf(out, "the same plan again: %s\n", r.opts.command())
	return ok, nil
}

// shortened is a text that a terminal has room for. All of it is in the ledger.
func shortened(s string) string {
	const most = 400
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + " …"
}

func (r *run) total() int {
	n := 0
	for _, made := range r.made {
		n += made
	}
	return n
}

// print prints what was done and seen.
func (r *run) print(w io.Writer, p *ledger.Report, took, checked time.Duration) {
	fmt.Fprintf(w, "ran %s with %s, checked in %s\n", took.Round(time.Second), r.parts(), checked.Round(100*time.Millisecond))
	fmt.Fprintln(w, "IDs checked")
	for _, source := range slices.Sorted(maps.Keys(p.BySource)) {
		fmt.Fprintf(w, "  %-22s %15d\n", source, p.BySource[source])
	}
	fmt.Fprintf(w, "  %-22s %15d  in %d ranges, %d streams, %d processes, %.1f MB\n", "all", p.IDs, p.Ranges, p.Streams, p.Processes, float64(p.Bytes)/1e6)
	fmt.Fprintln(w, "faults made")
	for _, kind := range schedule.Kinds() {
		if n := r.made[kind]; n > 0 {
			fmt.Fprintf(w, "  %-22s %15d\n", kind, n)
		}
		why := errNoDisk
		if kind.Forgets() {
			why = errUnsafe
		}
		if n := r.skipped[kind]; n > 0 {
			fmt.Fprintf(w, "  %-22s %15d  SKIPPED: %v\n", kind, n, why)
		}
	}
	if r.late > 0 {
		fmt.Fprintf(w, "  %-22s %15d\n", "planned, no time left", r.late)
	}
	fmt.Fprintln(w, "numbers in gaps, leaps included")
	for _, name := range slices.Sorted(maps.Keys(p.Gaps)) {
		fmt.Fprintf(w, "  %-22s %15d\n", sequenceName(name), p.Gaps[name])
	}
	fmt.Fprintln(w, "rounds used of the clock line, the hour that leaps add included")
	for _, p := range r.places {
		fmt.Fprintf(w, "  %-22s %14.1f%%  server %s\n", sequenceName(p.name), 100*float64(p.round)/float64(max(p.line, 1)), p.server)
	}
	n, median, longest := r.health.figures()
	fmt.Fprintf(w, "recoveries of servers    %15d  median %s, longest %s, allowed %s\n", n, ms(median), ms(longest), recoverWithin)
	fmt.Fprintf(w, "longest call             %15s  allowed %s\n", ms(p.LongestCall), longestCall)
	fmt.Fprintf(w, "failed calls             %15d  allowed ones %d\n", p.FailedCalls, p.AllowedFailures)
	fmt.Fprintf(w, "leases                   %15d\n", p.Leases)
}

func ms(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// parts is what the run was made of.
func (r *run) parts() string {
	s := fmt.Sprintf("%d servers, %d clients, increment %d, %d shard bits", len(r.servers), len(r.clients), len(r.servers), r.opts.shardBits)
	if r.opts.mutant != "" {
		s += ", mutant " + r.opts.mutant
	}
	return s
}
