package oddeven

import (
	"log/slog"
	"math"
	"strconv"
)

// ID is a unique ID, 1 to 2^63-1. The zero ID means that there is none: it is
// never issued, but it can be written and read back. Negative IDs do not exist:
// none can be parsed, scanned, marshalled or stored.
//
// IDs are compared with ==, and ordered with < or [cmp.Compare]. Methods that
// do not change the ID may be called concurrently, none blocks. Errors of all
// methods and parsers are of type [*IDError]; an ID is not changed by a call
// that fails.
//
//   - As text, in XML, in flags and as the key of a map in JSON an ID is
//     decimal: "42".
//   - In JSON it is a string, since JavaScript rounds numbers above 2^53. On
//     input exact numbers are accepted too.
//   - In SQL it is a BIGINT.
//   - In logs it is a string, for the sake of viewers written in JavaScript.
//   - [ID.Base32] is shorter and sorts as text. It is used by name only.
//
// An ID has one decimal text and one in Base32. Either may be compared, hashed
// and indexed in place of the ID.
type ID int64

// maxID is the largest ID.
const maxID ID = math.MaxInt64

// IsZero reports whether id is 0, so whether it was never set. Package
// encoding/json leaves such a field out if its tag says omitzero.
func (id ID) IsZero() bool { return id == 0 }

// Shard returns the lowest bits of id: its shard, if the fleet's ShardBits is
// bits. It is 0 to 2^bits-1, hence 0 if bits is 0. Less than 0 counts as 0, and
// more than 63 as 63.
func (id ID) Shard(bits int) int64 {
	bits = min(max(bits, 0), 63)
	return int64(id & (1<<bits - 1))
}

// String returns id in decimal digits, as [ParseID] reads it. A negative value
// is shown with its sign, for people: ParseID refuses it.
func (id ID) String() string { return strconv.FormatInt(int64(id), 10) }

// LogValue returns what String does, for package log/slog.
func (id ID) LogValue() slog.Value { return slog.StringValue(id.String()) }
