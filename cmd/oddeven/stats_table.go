package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/oddeven/oddeven/internal/overview"
	"github.com/oddeven/oddeven/internal/sequence"
)

// statsTable draws a picture for people, in lines of at most reportWidth
// characters.
type statsTable struct {
	*overview.Picture
	paint colours
	lines []string
}

// drawStats returns the lines of a picture.
func drawStats(p *overview.Picture, paint colours) []string {
	t := &statsTable{Picture: p, paint: paint}
	t.fleet()
	t.servers()
	t.workers()
	for i := range p.Sequences {
		t.sequence(&p.Sequences[i])
	}
	if len(p.Sequences) == 0 && p.Up() == len(p.Servers) {
		t.add("", "No sequences. `oddeven sequence create NAME` makes one.")
	}
	return t.lines
}

func (t *statsTable) add(lines ...string) { t.lines = append(t.lines, lines...) }

// addf adds a line without colours, that is cut off at the end if it is too long.
func (t *statsTable) addf(format string, args ...any) {
	t.add(end(oneLine(fmt.Sprintf(format, args...)), reportWidth))
}

func (t *statsTable) fleet() {
	name := t.Fleet
	if name == "" {
		name = "not known"
	}
	t.addf("fleet %s, %s UTC", name, moment(t.At))
	up := t.Up()
	tone := toneGood
	if up < len(t.Servers) {
		tone = toneBad
	}
	servers := t.paint.paint(tone, fmt.Sprintf("%d of %d servers up", up, len(t.Servers)))
	if t.Fleet == "" {
		t.add(servers)
		return
	}
	t.add(fmt.Sprintf("%s, increment %d, shard bits %d", servers, t.Increment, t.ShardBits))
}

// serverTone is how a state of serverState is meant.
func serverTone(state string) tone {
	switch state {
	case "ok":
		return toneGood
	case "to be fenced":
		return toneWarning
	}
	return toneBad
}

// serverState says in a word how a server stands.
func serverState(s overview.Server) string {
	if state := fleetState(s.Inspection); state != "ok" || s.ReadErr == nil {
		return state
	}
	return "not read"
}

func (t *statsTable) servers() {
	heads := []tableColumn{{head: "#"}, {head: "SERVER", left: true, short: true}, {head: "STATE", left: true}, {head: "GEN"}, {head: "LAST TICKET"}, {head: "USED"}, {head: "TO LINE"}}
	rows := make([][]cell, len(t.Servers))
	for i, s := range t.Servers {
		state := serverState(s)
		row := []cell{plain("-"), plain(s.Server), {state, serverTone(state)}, plain("-"), plain("-"), plain("-"), plain("-")}
		if s.Err == nil {
			row[0], row[3], row[4] = plain(strconv.FormatInt(s.Offset, 10)), plain(strconv.FormatInt(s.Gen, 10)), plain(strconv.FormatInt(s.Top, 10))
			row[5] = share(float64(s.Top) / float64(max(1, s.Ceiling)))
			row[6] = toLine(s.ToLine())
		}
		rows[i] = row
	}
	t.add("")
	t.add(columns(t.paint, heads, rows)...)
	for _, s := range t.Servers {
		if !s.FencedAt.IsZero() {
			t.addf("last fence of %d: %s by %s:", s.Offset, moment(s.FencedAt), s.FencedBy)
			t.addf("  %s", s.FenceReason)
		}
	}
}

// share is a part of a whole, in percent; a little is not nothing.
func share(part float64) cell {
	switch {
	case part > 0 && part < 0.001:
		return plain("<0.1 %")
	case part >= 0.9995:
		return plain("100 %")
	}
	return plain(fmt.Sprintf("%.1f %%", 100*part))
}

// toLine is how far it is to a clock line.
func toLine(n int64) cell {
	if n < 0 {
		return cell{compact(n), toneWarning}
	}
	return plain(compact(n))
}

func (t *statsTable) workers() {
	if t.Fleet == "" {
		return
	}
	heads := []tableColumn{{head: "#"}, {head: "WORKER NUMBERS OF", left: true, short: true}, {head: "TOTAL"}, {head: "LEASED"}, {head: "PARKED"}, {head: "FREE"}}
	row := func(offset, server string, w overview.Workers) []cell {
		parked, free := plain(strconv.Itoa(w.Parked)), plain(strconv.Itoa(w.Free))
		if w.Parked > 0 {
			parked.tone = toneWarning
		}
		if w.Free == 0 {
			free.tone = toneBad
		}
		return []cell{plain(offset), plain(server), plain(strconv.Itoa(w.Total())), plain(strconv.Itoa(w.Leased)), parked, free}
	}
	var rows [][]cell
	for _, s := range t.Servers {
		if s.Workers == nil {
			rows = append(rows, []cell{plain("-"), plain(s.Server), plain("-"), plain("-"), plain("-"), plain("-")})
			continue
		}
		rows = append(rows, row(strconv.FormatInt(s.Offset, 10), s.Server, *s.Workers))
	}
	rows = append(rows, row("", "all that answer", t.Workers()))
	t.add("")
	t.add(columns(t.paint, heads, rows)...)
	if !t.TimeEnds.IsZero() {
		t.addf("Snowflake IDs run out on %s", t.TimeEnds.UTC().Format(time.DateOnly))
	}
}

func standingTone(s overview.Standing) tone {
	switch s {
	case overview.Fine:
		return toneGood
	case overview.ToBeMended, overview.UsedUp:
		return toneBad
	case overview.Tombstone:
		return toneNone
	}
	return toneWarning
}

func (t *statsTable) sequence(s *overview.Sequence) {
	standing := s.Standing(t.At)
	word := string(standing)
	name := middle(sequence.Quote(s.Name), reportWidth-len("SEQUENCE : ")-len(word))
	t.add("", fmt.Sprintf("SEQUENCE %s: %s", name, t.paint.paint(standingTone(standing), word)))
	t.addf("  highest ID %d, %s of the ceiling %d, %s left", s.HighestID(), share(used(s.Sequence)).text, s.State.Ceiling, compact(s.Left))
	t.addf("  %s", t.forecast(s))
	thisHour, lastHour := s.Hours()
	gaps := "not known"
	if s.Gaps >= 0 {
		gaps = compact(s.Gaps)
	}
	t.addf("  IDs: this hour %s, last hour %s, at most %s in one; gaps %s", compact(thisHour.Rounds), compact(lastHour.Rounds), compact(s.Peak), gaps)
	if last := s.LastRefill(); last != nil {
		t.addf("  last refill %s on %d by %s", moment(last.Row.RefilledAt), last.Offset, last.Row.RefilledBy)
	} else {
		t.add("  no refill yet")
	}
	t.add(columns(t.paint, sequenceHeads, t.sequenceRows(s))...)
	for _, o := range s.On {
		if len(o.Problems) > 0 {
			t.addf("  on %d: %s", o.Offset, strings.Join(problemNames(o.OnServer), ", "))
		}
	}
}

// forecast says how fast a sequence is used, and how long it lasts.
func (t *statsTable) forecast(s *overview.Sequence) string {
	rate := perSecond(s.Rate) + " IDs/s"
	if s.Lately >= 0 {
		rate = fmt.Sprintf("%s (now %s)", rate, perSecond(s.Lately))
	}
	switch f := s.Forecast; f.Kind {
	case overview.RunsOut:
		return fmt.Sprintf("%s: lasts until %s at that rate, %s", rate, f.At.UTC().Format(time.DateOnly), years(f.At.Sub(t.At)))
	case overview.Never:
		return rate + ": lasts for more than 200 years at that rate"
	case overview.Exhausted:
		return "it has reached its ceiling: no ID is left"
	case overview.Deleted:
		return "no IDs are reserved any more"
	}
	return rate + ": not used in this hour and the last, so it lasts"
}

// years is a duration in the unit that people would say.
func years(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 2*365*day:
		return fmt.Sprintf("%.1f years", d.Hours()/24/365.25)
	case d >= 2*day:
		return fmt.Sprintf("%.0f days", d.Hours()/24)
	}
	return fmt.Sprintf("%.0f hours", d.Hours())
}

var sequenceHeads = []tableColumn{
	{head: "#"}, {head: "SERVER", left: true, short: true}, {head: "HIGHEST ID"}, {head: "STEP"}, {head: "THIS H"}, {head: "LAST H"},
	{head: "SHARE"}, {head: "LAG"}, {head: "TO LINE"}, {head: "AGO"},
}

// sequenceRows has a line for each server: windows as IDs/refills.
func (t *statsTable) sequenceRows(s *overview.Sequence) [][]cell {
	rows := make([][]cell, len(s.On))
	for i, o := range s.On {
		row := slices.Repeat([]cell{plain("-")}, len(sequenceHeads))
		row[1] = plain(host(o.Server))
		if !o.Answered {
			row[2] = cell{"no answer", toneBad}
		} else {
			row[0] = plain(strconv.FormatInt(o.Offset, 10))
		}
		if r := o.Row; r != nil {
			behind := plain(compact(o.Behind))
			row[2], row[3], row[4], row[5] = plain(strconv.FormatInt(o.HighestID(), 10)), plain(compact(r.Step)), window(o.ThisHour), window(o.LastHour)
			row[6], row[7], row[8], row[9] = plain(fmt.Sprintf("%.0f %%", 100*o.Share)), behind, toLine(o.ToLine), plain(ago(o))
		}
		rows[i] = row
	}
	return rows
}

func window(w sequence.Window) cell {
	return plain(compact(w.Rounds) + "/" + compact(w.Refills))
}

// host is what tells servers apart in little room: databases are most often of one name.
func host(server string) string {
	name, _, _ := strings.Cut(server, "/")
	if name == "" {
		return server
	}
	return name
}

// ago is how long ago the last refill was, by the server's clock.
func ago(o overview.OnServer) string {
	if o.Row.RefilledAt.IsZero() {
		return "-"
	}
	seconds := max(0, o.Now-o.Row.RefilledAt.Unix())
	switch {
	case seconds < 100:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 100*60:
		return fmt.Sprintf("%dm", seconds/60)
	case seconds < 100*3600:
		return fmt.Sprintf("%dh", seconds/3600)
	}
	return fmt.Sprintf("%dd", seconds/86400)
}
