package main

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	ids "github.com/oddeven/oddeven/internal/decode"
)

// appendTable appends a result for people: the ID, and below it a line for each
// thing that can be read from it, at most 80 columns wide.
func (s scheme) appendTable(to []byte, r *ids.Result) []byte {
	to = append(append(to, r.ID...), '\n')
	to = appendRow(to, "plane", string(r.Plane)+explained[cmp.Or(r.Layout, string(r.Plane))])
	if r.Layout != "" {
		// A specification is broken after its fields: it may be longer than a line.
		to = appendRow(to, "layout", strings.SplitN(r.Layout, ";", 2)...)
	}
	if r.Timed {
		to = appendRow(to, "time", timeText(r))
	}
	for _, p := range ids.Parts() {
		v, has := r.Part(p)
		_, datacenter := r.Part(ids.Datacenter)
		if !has || p == ids.Node && r.Plane == ids.PlaneSnowflake && !datacenter {
			continue // a node is the worker, unless there is a datacenter
		}
		to = appendRow(to, p.String(), s.partText(r, p, v))
	}
	if r.Plane == ids.PlaneSegment && s.Increment == 0 {
		to = appendRow(to, "server", "not known without the fleet's servers")
	}
	return to
}

// explained says what an ID is, by layout or else plane, where that is not plain.
var explained = map[string]string{
	"segment":  ": a ticket or an ID of a sequence",
	"uuidv1":   ": version 1, a time, a clock sequence and a node",
	"uuidv6":   ": version 6, a time, a clock sequence and a node",
	"uuidv7":   ": version 7, a time; the rest is random",
	"objectid": ": MongoDB's, a time in seconds, a process and a counter",
}

// appendRow appends a line with a name and further lines below its value. A
// value that is too long is broken after a colon.
func appendRow(to []byte, name string, values ...string) []byte {
	for _, v := range values {
		line := fmt.Sprintf("  %-10s  %s", name, v)
		if head, rest, found := strings.Cut(line, ": "); found && utf8.RuneCountInString(line) > reportWidth {
			line = head + ":\n" + noteIndent + rest
		}
		to = append(append(to, line...), '\n')
		name = ""
	}
	return to
}

// timeText is the time, with a mark if it is yet to come. RFC 3339 ends with the
// year 9999.
func timeText(r *ids.Result) string {
	text, written := r.AppendTime(nil)
	if !written {
		text = append(strconv.AppendInt(text, r.Milli, 10), " ms since 1970"...)
	}
	if r.Future {
		text = append(text, " (in the future)"...)
	}
	return string(text)
}

// partText is a number, with what it means where that is not plain.
func (s scheme) partText(r *ids.Result, p ids.Part, v int64) string {
	text := strconv.FormatInt(v, 10)
	switch {
	case p == ids.Server && s.servers[v] != "":
		return text + " of " + strconv.FormatInt(s.Increment, 10) + ": " + s.servers[v]
	case p == ids.Server:
		return text + " of " + strconv.FormatInt(s.Increment, 10)
	case p == ids.Node && r.Plane == ids.PlaneUUID:
		return hardwareAddress(v)
	case p == ids.Node && r.Plane == ids.PlaneObjectID:
		return text + ", random for each process"
	case p == ids.Node:
		return text + ", datacenter and worker together"
	case p == ids.Sequence && r.Plane == ids.PlaneUUID:
		return text + ", the clock sequence"
	case p == ids.Sequence && r.Plane == ids.PlaneObjectID:
		return text + ", the counter"
	}
	return text
}

// hardwareAddress is the node of a UUID. With the lowest bit of its first byte
// set, which no network card has, it was made at random.
func hardwareAddress(node int64) string {
	var pairs []string
	for shift := 40; shift >= 0; shift -= 8 {
		pairs = append(pairs, fmt.Sprintf("%02x", node>>shift&0xFF))
	}
	text := strings.Join(pairs, ":")
	if node>>40&1 == 1 {
		return text + ", random"
	}
	return text + ", a hardware address"
}
