package oddeven_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"io"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven"
)

// echo is a database whose every query returns one row: the arguments, as the
// driver got them.
type echo struct{}

func (echo) Connect(context.Context) (driver.Conn, error) { return echo{}, nil }
func (echo) Driver() driver.Driver                        { return nil }
func (echo) Prepare(string) (driver.Stmt, error)          { return nil, driver.ErrSkip }
func (echo) Begin() (driver.Tx, error)                    { return nil, driver.ErrSkip }
func (echo) Close() error                                 { return nil }

func (echo) QueryContext(_ context.Context, _ string, args []driver.NamedValue) (driver.Rows, error) {
	return &echoRows{args: args}, nil
}

type echoRows struct {
	args []driver.NamedValue
	done bool
}

func (r *echoRows) Columns() []string { return make([]string, len(r.args)) }
func (r *echoRows) Close() error      { return nil }

func (r *echoRows) Next(dest []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done = true
	for i, arg := range r.args {
		dest[i] = arg.Value
	}
	return nil
}

func openEcho(t *testing.T) *sql.DB {
	db := sql.OpenDB(echo{})
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestIDThroughDatabaseSQL(t *testing.T) {
	t.Parallel()
	db := openEcho(t)
	for _, id := range interesting {
		var raw any
		var got oddeven.ID
		var pointer *oddeven.ID
		var null sql.Null[oddeven.ID]
		err := db.QueryRowContext(t.Context(), "", id, id, &id, sql.Null[oddeven.ID]{V: id, Valid: true}).
			Scan(&raw, &got, &pointer, &null)
		require.NoError(t, err)
		require.Equal(t, int64(id), raw)
		require.Equal(t, id, got)
		require.Equal(t, id, *pointer)
		require.Equal(t, sql.Null[oddeven.ID]{V: id, Valid: true}, null)
	}
}

func TestIDNullThroughDatabaseSQL(t *testing.T) {
	t.Parallel()
	db := openEcho(t)
	pointer := new(oddeven.ID(7))
	null := sql.Null[oddeven.ID]{V: 7, Valid: true}
	err := db.QueryRowContext(t.Context(), "", (*oddeven.ID)(nil), sql.Null[oddeven.ID]{}).Scan(&pointer, &null)
	require.NoError(t, err)
	require.Nil(t, pointer)
	require.False(t, null.Valid)

	id := oddeven.ID(7)
	err = db.QueryRowContext(t.Context(), "", nil).Scan(&id)
	requireIDError(t, err, "NULL", -1,
		`ID "NULL" stands for no ID: scan into sql.Null[oddeven.ID] or *oddeven.ID, or leave out rows where it is NULL`)
	require.Equal(t, oddeven.ID(7), id)
}

func TestNegativeIDIsNoArgument(t *testing.T) {
	t.Parallel()
	var id oddeven.ID
	err := openEcho(t).QueryRowContext(t.Context(), "", oddeven.ID(-1)).Scan(&id)
	requireIDError(t, err, "-1", -1, "is negative, which no ID is")
}

func TestIDScan(t *testing.T) {
	t.Parallel()
	check := func(t require.TestingT, id oddeven.ID) {
		value, err := id.Value()
		require.NoError(t, err)
		for _, src := range []any{value, uint64(id), id.String(), []byte(id.String())} {
			got := oddeven.ID(-1)
			require.NoError(t, got.Scan(src))
			require.Equal(t, id, got, "%T", src)
		}
	}
	for _, id := range interesting {
		check(t, id)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyID(t, "id")) })
}

func TestIDScanErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		src      any
		input    string
		position int
		message  string
	}{
		{"NULL", nil, "NULL", -1, "scan into sql.Null[oddeven.ID]"},
		{"Negative", int64(-1), "-1", -1, "is negative, which no ID is: "},
		{"MostNegative", int64(math.MinInt64), "-9223372036854775808", -1, "is negative"},
		{"TooLarge", uint64(1 << 63), "9223372036854775808", -1, "is above 9223372036854775807, the largest ID: select a BIGINT that holds IDs"},
		{"LargestUnsigned", uint64(math.MaxUint64), "18446744073709551615", -1, "is above 9223372036854775807"},
		{"Float", 42.0, "42", -1, `ID "42" is of type float64, neither an integer nor text: select a BIGINT that holds IDs`},
		{"Float32", float32(42), "42", -1, "is of type float32"},
		{"Bool", true, "true", -1, "is of type bool"},
		{"Time", time.Unix(0, 0).UTC(), "1970-01-01 00:00:00 +0000 UTC", -1, "is of type time.Time"},
		{"Int", 42, "42", -1, "is of type int,"}, // no driver's type
		{"NilBytes", []byte(nil), "", -1, "is empty"},
		{"DecimalWithScale", []byte("42.00"), "42.00", 2, "has '.' where a digit belongs"},
		{"EightBytes", []byte{0, 0, 0, 0, 0, 0, 0, 42}, "\x00\x00\x00\x00\x00\x00\x00*", 0, `has '\x00' where a digit belongs`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id := oddeven.ID(7)
			requireIDError(t, id.Scan(tt.src), tt.input, tt.position, tt.message)
			require.Equal(t, oddeven.ID(7), id, "changed by a call that failed")
		})
	}
	for _, tt := range notDecimal {
		t.Run("Text"+tt.name, func(t *testing.T) {
			t.Parallel()
			id := oddeven.ID(7)
			requireIDError(t, id.Scan(tt.text), tt.text, tt.position, tt.message)
			requireIDError(t, id.Scan([]byte(tt.text)), tt.text, tt.position, tt.message)
			require.Equal(t, oddeven.ID(7), id, "changed by a call that failed")
		})
	}
}

// Drivers use the bytes again for the next row.
func TestIDScanKeepsNoBytes(t *testing.T) {
	t.Parallel()
	src := []byte("4x")
	var id oddeven.ID
	err := id.Scan(src)
	copy(src, "99")
	requireIDError(t, err, "4x", 1, `ID "4x" has 'x'`)
}

// FuzzIDScan: a column is an ID exactly if it is one as text or as a number.
func FuzzIDScan(f *testing.F) {
	f.Add([]byte("42"), int64(42), 42.0)
	f.Add([]byte(""), int64(-1), -1.5)
	f.Add([]byte("9223372036854775808"), int64(math.MinInt64), math.NaN())
	f.Fuzz(func(t *testing.T, text []byte, number int64, float float64) {
		want, wantErr := oddeven.ParseID(string(text))
		for _, src := range []any{text, string(text)} {
			var id oddeven.ID
			if err := id.Scan(src); id != want || (err == nil) != (wantErr == nil) {
				t.Fatalf("%T %q: %d, %v", src, text, id, err)
			}
		}
		for _, src := range []any{number, uint64(number)} {
			id := oddeven.ID(-7)
			err := id.Scan(src)
			if number >= 0 && (err != nil || int64(id) != number) || number < 0 && (err == nil || id != -7) {
				t.Fatalf("%T %d: %d, %v", src, src, id, err)
			}
		}
		var id oddeven.ID
		if err := id.Scan(float); err == nil || id != 0 {
			t.Fatalf("%v: %d, %v", float, id, err)
		}
	})
}
