package decode

import (
	"strconv"
	"time"
)

// Plane is the kind of an ID.
type Plane string

// The planes.
const (
	// PlaneSegment is for tickets and IDs of sequences, which are below 2^53.
	// Which of the two it is can't be seen.
	PlaneSegment Plane = "segment"

	// PlaneSnowflake is for Snowflake IDs, ours or those of another scheme.
	PlaneSnowflake Plane = "snowflake"

	// PlaneUUID is for UUIDs of version 1, 6 and 7.
	PlaneUUID Plane = "uuid"

	// PlaneObjectID is for ObjectIDs of MongoDB.
	PlaneObjectID Plane = "objectid"
)

// Part is a number in an ID.
type Part uint8

// The parts, in the order in which they are shown.
const (
	Datacenter Part = iota // upper part of the worker number
	Worker                 // the worker number, or its lower part
	Node                   // datacenter and worker together; of a UUID its node
	Shard
	Sequence
	Server // offset of the server, 1 to the increment
	partCount
)

// partNames are the names of the fields in JSON.
var partNames = [partCount]string{"datacenter", "worker", "node", "shard", "sequence", "server"}

// String returns the name of the field in JSON.
func (p Part) String() string {
	if p >= partCount {
		return "part " + strconv.Itoa(int(p))
	}
	return partNames[p]
}

// Parts returns all parts, in the order in which they are shown.
func Parts() []Part { return []Part{Datacenter, Worker, Node, Shard, Sequence, Server} }

// Result is what was read from one ID.
type Result struct {
	// ID is the ID in the one form that we write: a number in base 10, a UUID in
	// small letters with dashes, an ObjectID in small letters.
	ID string

	// Plane is the kind of the ID.
	Plane Plane

	// Layout says how it was taken apart: a preset, the spec of a layout, "uuidv1",
	// "uuidv6", "uuidv7" or "objectid". Empty in PlaneSegment.
	Layout string

	// Milli is the time in the ID, in milliseconds of Unix time, if Timed is set.
	// Future says that it is later than the clock of this host.
	Milli         int64
	Timed, Future bool

	value [partCount]int64
	has   [partCount]bool
}

// Part returns a number in the ID; false if it has none or it can't be told.
func (r *Result) Part(p Part) (int64, bool) { return r.value[p], r.has[p] }

func (r *Result) set(p Part, v int64) { r.value[p], r.has[p] = v, true }

func (r *Result) setTime(milli int64) { r.Milli, r.Timed = milli, true }

// timeForm is RFC 3339 with milliseconds, for a time in UTC.
const timeForm = "2006-01-02T15:04:05.000Z"

// lastMilli is the end of the year 9999: RFC 3339 writes no year with more than
// four digits.
const lastMilli = 253_402_300_799_999

// AppendTime appends the time as RFC 3339 with milliseconds in UTC, and reports
// whether there is one that can be written so: there is none after the year 9999.
func (r *Result) AppendTime(to []byte) ([]byte, bool) {
	if !r.Timed || r.Milli > lastMilli {
		return to, false
	}
	return time.UnixMilli(r.Milli).UTC().AppendFormat(to, timeForm), true
}

// AppendJSON appends the result as a JSON object, without a line end. All text
// in a result is plain ASCII without quotes, so nothing has to be escaped.
func (r *Result) AppendJSON(to []byte) []byte {
	to = append(append(to, `{"id":"`...), r.ID...)
	to = append(append(to, `","plane":"`...), r.Plane...)
	if r.Layout != "" {
		to = append(append(to, `","layout":"`...), r.Layout...)
	}
	to = append(to, '"')
	if r.Timed {
		to = r.appendTimes(to)
	}
	for p, name := range partNames {
		if r.has[p] {
			to = append(append(append(to, `,"`...), name...), `":`...)
			to = strconv.AppendInt(to, r.value[p], 10)
		}
	}
	if r.Future {
		to = append(to, `,"future":true`...)
	}
	return append(to, '}')
}

// appendTimes appends the time in both forms.
func (r *Result) appendTimes(to []byte) []byte {
	if with, ok := r.AppendTime(append(to, `,"time":"`...)); ok {
		to = append(with, '"')
	}
	return strconv.AppendInt(append(to, `,"unix_ms":`...), r.Milli, 10)
}
