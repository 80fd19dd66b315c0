package bench

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"
)

// labels are the names of measurements for people.
var labels = map[string]string{
	RoundTrip: "round trip, offset ", Ticket: "ticket", Refill: "refill",
	SegmentNext: "Allocator.Next", SegmentTry: "Allocator.TryNext", GeneratorNext: "Generator.Next",
	WorkerNext: "Worker.Next, no rest", WorkerBurst: "Worker.TryNext, bursts",
}

// Print writes the report for people, at most 80 columns wide but for the names of
// servers and reasons. The last line begins with "bench: ok", "bench: INTERRUPTED" or
// "bench: FAILED". The error is that of writing.
func (r *Report) Print(w io.Writer) error {
	c := r.Client
	fmt.Fprintf(w, "oddeven %s, %s, %s/%s, GOMAXPROCS %d\n", c.Version, c.Go, c.OS, c.Arch, c.GOMAXPROCS)
	fmt.Fprintf(w, "%d connections to each server at most, %s for each measurement\n\n", c.Conns, time.Duration(c.Seconds*float64(time.Second)))
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "SERVER\tOFFSET\tVERSION\tSTATE")
	for _, s := range r.Servers {
		offset := "-" // never reached
		if s.Offset != 0 {
			offset = strconv.FormatInt(s.Offset, 10)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", s.Server, offset, cmp.Or(s.Version, "-"), s.State)
	}
	r.printNetwork(t)
	r.printMemory(t)
	r.printFailovers(t)
	if err := t.Flush(); err != nil {
		return err
	}
	for i, l := range r.LeftOut {
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "left out: %s:\n  %s\n", l.What, l.Why)
	}
	return r.printVerdict(w)
}

func (r *Report) printNetwork(w io.Writer) {
	head := "\nOVER THE NETWORK\tCALLERS\tPER S\tP50\tP90\tP99\tP99.9\tMAX"
	for _, m := range r.Measurements {
		if m.NsPerID > 0 {
			continue
		}
		if head != "" {
			fmt.Fprintln(w, head)
			head = ""
		}
		name := labels[m.Name]
		if m.Name == RoundTrip {
			name += strconv.FormatInt(m.Offset, 10)
		}
		l := Latency{}
		if m.Latency != nil {
			l = *m.Latency
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\n", name, m.Callers, Grouped(int64(m.PerSecond)), short(l.P50), short(l.P90), short(l.P99), short(l.P999), short(l.Max))
	}
}

func (r *Report) printMemory(w io.Writer) {
	head := "\nFROM MEMORY\tCALLERS\tIDS PER S\tNS PER CALL"
	for _, m := range r.Measurements {
		if m.NsPerID == 0 {
			continue
		}
		if head != "" {
			fmt.Fprintln(w, head)
			head = ""
		}
		rate := Grouped(int64(m.PerSecond))
		if m.Name == WorkerBurst {
			rate = "-" // it rests between bursts
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%.1f\n", labels[m.Name], m.Callers, rate, m.NsPerID)
	}
}

func (r *Report) printFailovers(w io.Writer) {
	if len(r.Failovers) == 0 {
		return
	}
	fmt.Fprintln(w, "\nCUT OFF FROM ALL SERVERS\tCALLERS\tFAILED\tLONGEST\tWORKER AFTER\tSEGMENTS AFTER")
	for _, f := range r.Failovers {
		fmt.Fprintf(w, "connections %s\t%d\t%d\t%s\t%s\t%s\n", f.Variant, f.Callers, f.Failed, short(f.Longest), short(f.Worker), short(f.Back))
	}
}

func (r *Report) printVerdict(w io.Writer) error {
	verdict, failed := "ok", int64(0)
	for _, m := range r.Measurements {
		failed += m.Failed
	}
	for _, f := range r.Failovers {
		failed += f.Failed
	}
	switch {
	case r.OK:
	case r.Interrupted && r.Duplicates == 0 && failed == 0:
		verdict = "INTERRUPTED"
	default:
		verdict = "FAILED"
	}
	_, err := fmt.Fprintf(w, "\nbench: %s tickets=%d rounds=%d checked=%d duplicates=%d failed=%d\n",
		verdict, r.Used.Tickets, r.Used.Rounds, r.Checked, r.Duplicates, failed)
	return err
}

// Grouped is a number with a comma before every three digits.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// short is a number of nanoseconds for a narrow column; "-" for none.
func short(ns int64) string {
	if ns <= 0 {
		return "-"
	}
	v, unit := float64(ns), "ns"
	for _, larger := range []string{"µs", "ms", "s"} {
		if v < 999.5 {
			break
		}
		v, unit = v/1000, larger
	}
	switch {
	case unit == "ns" || v >= 99.95:
		return fmt.Sprintf("%.0f%s", v, unit)
	case v >= 9.995:
		return fmt.Sprintf("%.1f%s", v, unit)
	}
	return fmt.Sprintf("%.2f%s", v, unit)
}
