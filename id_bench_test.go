package oddeven_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven"
)

// idOperations are what a program does for every ID, with the allocations that
// each may make: the result, if it is not a number.
var idOperations = []struct {
	name   string
	allocs float64
	do     func(id *oddeven.ID) error
}{
	{"String", 1, func(id *oddeven.ID) error { kept.text = id.String(); return nil }},
	{"AppendText", 0, func(id *oddeven.ID) (err error) { kept.b, err = id.AppendText(kept.b[:0]); return err }},
	{"MarshalText", 1, func(id *oddeven.ID) (err error) { kept.b, err = id.MarshalText(); return err }},
	{"MarshalJSON", 1, func(id *oddeven.ID) (err error) { kept.b, err = id.MarshalJSON(); return err }},
	{"Base32", 1, func(id *oddeven.ID) error { kept.text = id.Base32(); return nil }},
	{"Value", 1, func(id *oddeven.ID) (err error) { kept.value, err = id.Value(); return err }},
	{"ParseID", 0, func(id *oddeven.ID) (err error) { *id, err = oddeven.ParseID("9007199254740993"); return err }},
	{"ParseBase32", 0, func(id *oddeven.ID) (err error) { *id, err = oddeven.ParseBase32("0080000000001"); return err }},
	{"UnmarshalText", 0, func(id *oddeven.ID) error { return id.UnmarshalText(decimalBytes) }},
	{"UnmarshalJSON/String", 0, func(id *oddeven.ID) error { return id.UnmarshalJSON(jsonString) }},
	{"UnmarshalJSON/Number", 0, func(id *oddeven.ID) error { return id.UnmarshalJSON(decimalBytes) }},
	{"Scan/Integer", 0, func(id *oddeven.ID) error { return id.Scan(column) }},
	{"Scan/Text", 0, func(id *oddeven.ID) error { return id.Scan(textColumn) }},
}

// kept holds results, so that the compiler does not leave the work out.
var kept = struct {
	text  string
	b     []byte
	value any
}{b: make([]byte, 0, 64)}

var (
	decimalBytes     = []byte("9007199254740993")
	jsonString       = []byte(`"9007199254740993"`)
	column       any = int64(1<<53 + 1)
	textColumn   any = decimalBytes
)

// Not parallel: it counts the allocations of the whole program.
func TestIDAllocations(t *testing.T) {
	for _, op := range idOperations {
		id := oddeven.ID(1<<53 + 1)
		allocs := testing.AllocsPerRun(100, func() {
			if err := op.do(&id); err != nil {
				t.Fatal(err)
			}
		})
		require.Equal(t, op.allocs, allocs, op.name)
		require.Equal(t, oddeven.ID(1<<53+1), id, op.name)
	}
}

func BenchmarkID(b *testing.B) {
	for _, op := range idOperations {
		b.Run(op.name, func(b *testing.B) {
			id := oddeven.ID(1<<53 + 1)
			b.ReportAllocs()
			for b.Loop() {
				if err := op.do(&id); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
