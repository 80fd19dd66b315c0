package demo

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

const (
	// slot is how finely it is noted where IDs come from.
	slot = 50 * time.Millisecond
	// columns is how wide the picture is at most.
	columns = 60
	// plane is where IDs of the worker begin.
	plane = int64(1) << 53
)

// sources notes which sources IDs came from, slot by slot: bit i is the server
// with offset i + 1, bit servers the worker. Its methods are not safe for
// concurrent use.
type sources struct {
	began time.Time
	slots []uint8
}

// note notes an ID that was handed out at a time.
func (s *sources) note(id int64, at time.Time) {
	i := int(at.Sub(s.began) / slot)
	for i >= len(s.slots) {
		s.slots = append(s.slots, 0)
	}
	source := int(id-1) % servers // of a segment
	if id >= plane {
		source = servers
	}
	s.slots[i] |= 1 << source
}

// lastOf is when the last slot ended in which a source served; 0 if it never did.
func (s *sources) lastOf(source int) time.Duration {
	for i, served := range slices.Backward(s.slots) {
		if served&(1<<source) != 0 {
			return time.Duration(i+1) * slot
		}
	}
	return 0
}

// print draws a line for each source and a column for each part of the time.
func (s *sources) print(w io.Writer, what string) {
	each := max(1, (len(s.slots)+columns-1)/columns)
	fmt.Fprintf(w, "where %s came from, one column for %s:\n", what, time.Duration(each)*slot)
	for source := range servers + 1 {
		name := "Snowflake"
		if source < servers {
			name = fmt.Sprintf("server %d", source+1)
		}
		var line strings.Builder
		for from := 0; from < len(s.slots); from += each {
			mark := byte('.')
			for _, slot := range s.slots[from:min(from+each, len(s.slots))] {
				if slot&(1<<source) != 0 {
					mark = '#'
				}
			}
			line.WriteByte(mark)
		}
		fmt.Fprintf(w, "  %-9s  %s\n", name, line.String())
	}
}
