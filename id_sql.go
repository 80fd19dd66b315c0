package oddeven

import (
	"database/sql/driver"
	"fmt"
	"strconv"
)

// Value returns id as an int64, for package database/sql. A negative id is an
// [*IDError], so that none gets into a table.
//
// The zero ID is stored as 0. MySQL takes a 0 in an AUTO_INCREMENT column for a
// request to make up a number: columns for these IDs should not have that.
func (id ID) Value() (driver.Value, error) {
	if id < 0 {
		return nil, negativeError(int64(id))
	}
	return int64(id), nil
}

// Scan reads a column for package database/sql: an integer, signed or not, of 0
// or more, or decimal text as strict as for [ParseID]. Everything else is an
// [*IDError], so are fractions, negative numbers and numbers above 2^63-1.
//
// NULL is an error, too: an ID that was left at 0 would look like one that was
// read. A column that may be NULL is scanned into a [database/sql.Null] of ID,
// or into a *ID, which becomes nil.
//
// Text of [ID.Base32] has to be scanned into a string and read with
// [ParseBase32]; here, text of digits only would pass for another ID.
func (id *ID) Scan(src any) error {
	v, err := scanned(src)
	return id.set(v, err)
}

// scanned returns the ID in a value from a driver. It does not keep src.
func scanned(src any) (ID, error) {
	const integerRemedy = "select a BIGINT that holds IDs"
	switch v := src.(type) {
	case int64:
		if v < 0 {
			return 0, negativeError(v)
		}
		return ID(v), nil
	case uint64: // a BIGINT UNSIGNED, of queries without arguments
		if v > uint64(maxID) {
			return 0, newIDError(strconv.FormatUint(v, 10), -1,
				fmt.Sprintf("is above %d, the largest ID", maxID), integerRemedy)
		}
		return ID(v), nil
	case []byte:
		return parseDecimal(v)
	case string:
		return parseDecimal(v)
	case nil:
		return 0, newIDError("NULL", -1, "stands for no ID",
			"scan into sql.Null[oddeven.ID] or *oddeven.ID, or leave out rows where it is NULL")
	}
	return 0, newIDError(fmt.Sprint(src), -1, fmt.Sprintf("is of type %T, neither an integer nor text", src), integerRemedy)
}
