package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/oddeven/oddeven/internal/overview"
)

// statsCSV are the columns of `stats -o csv`: one line for each sequence and
// server. They are named as in JSON, and new ones go to the end.
var statsCSV = []string{
	"time", "sequence", "state", "forecast", "runs_out_at", "ceiling", "ids_left", "server", "offset", "answered", "problems", "highest_id",
	"ids_reserved", "refills", "step", "ids_per_second", "this_hour_ids", "this_hour_refills", "last_hour_ids", "last_hour_refills",
	"peak_hour_ids", "share", "rounds_behind", "rounds_passed_over", "rounds_to_line", "gen", "refilled_at", "refilled_by",
}

// printStatsCSV writes a picture as RFC 4180 has it, but with line feeds alone.
func printStatsCSV(out io.Writer, p *overview.Picture) error {
	w := csv.NewWriter(out)
	if err := w.Write(statsCSV); err != nil {
		return err
	}
	for _, s := range statsToJSON(p).Sequences {
		for _, o := range s.Servers {
			if err := w.Write(statsRecord(p.At, s, o)); err != nil {
				return err
			}
		}
	}
	w.Flush()
	return w.Error()
}

// statsRecord is one line. What is not known is empty.
func statsRecord(at time.Time, s statsSequenceJSON, o statsSequenceServerJSON) []string {
	number := func(n int64) string {
		if o.Gen == 0 {
			return "" // the server has no row, or did not answer
		}
		return strconv.FormatInt(n, 10)
	}
	real := func(v float64) string {
		if o.Gen == 0 {
			return ""
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	offset := ""
	if o.Offset > 0 {
		offset = strconv.FormatInt(o.Offset, 10)
	}
	return []string{
		at.Format(time.RFC3339), s.Name, s.State, s.Forecast, stamp(s.RunsOutAt), fmt.Sprint(s.Ceiling), fmt.Sprint(s.IDsLeft), o.Server, offset,
		strconv.FormatBool(o.Answered), strings.Join(o.Problems, "; "), number(o.HighestID), number(o.IDs), number(o.Refills), number(o.Step), real(o.Rate),
		number(o.ThisHour.IDs), number(o.ThisHour.Refills), number(o.LastHour.IDs), number(o.LastHour.Refills), number(o.Peak), real(o.Share),
		number(o.Behind), number(o.PassedOver), number(o.ToLine), number(o.Gen), stamp(o.RefilledAt), o.RefilledBy,
	}
}

// stamp is a time as JSON has it; empty for none.
func stamp(t *time.Time) string {
	if t == nil {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}
