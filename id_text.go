package oddeven

import (
	"fmt"
	"strconv"
)

const (
	// maxDecimalLen is the number of digits of the largest ID. So many digits
	// fit a uint64 whatever they are.
	maxDecimalLen = 19
	// decimalRemedy holds for text and JSON: what has an exponent, a fraction or
	// an escape has a character that is not a digit.
	decimalRemedy = "give 1 to 19 decimal digits and nothing else, without leading zeros"
)

// ParseID reads the decimal text of an ID, 0 to 9223372036854775807. This is
// strict: signs, blanks, leading zeros, other digits than 0 to 9 and larger
// numbers are an [*IDError]. "0" is the zero ID; empty text is an error.
//
// Text of [ID.Base32] may consist of digits only, so the two can't be told
// apart: whoever reads an ID has to know which of the two it is.
func ParseID(s string) (ID, error) { return parseDecimal(s) }

// parseDecimal returns an ID of 0 or more, or an *IDError. The IDs of different
// texts differ.
func parseDecimal[T string | []byte](s T) (ID, error) {
	var v uint64
	for i := range len(s) {
		digit := s[i] - '0'
		if digit > 9 {
			return 0, newIDError(s, i, "has "+quoteAt(s, i)+" where a digit belongs", decimalRemedy)
		}
		v = v*10 + uint64(digit) // may wrap only if s is too long
	}
	switch {
	case len(s) == 0:
		return 0, newIDError(s, -1, "is empty", decimalRemedy)
	case s[0] == '0' && len(s) > 1:
		return 0, newIDError(s, 0, "has a leading zero", decimalRemedy)
	case len(s) > maxDecimalLen || v > uint64(maxID):
		return 0, newIDError(s, -1, fmt.Sprintf("is above %d, the largest ID", maxID), decimalRemedy)
	}
	return ID(v), nil
}

// AppendText appends the decimal text of id to b. A negative id is an
// [*IDError], with b as it was.
func (id ID) AppendText(b []byte) ([]byte, error) {
	if id < 0 {
		return b, negativeError(int64(id))
	}
	return strconv.AppendInt(b, int64(id), 10), nil
}

// MarshalText returns the decimal text of id. A negative id is an [*IDError].
func (id ID) MarshalText() ([]byte, error) {
	if id < 0 {
		return nil, negativeError(int64(id))
	}
	return strconv.AppendInt(make([]byte, 0, maxDecimalLen), int64(id), 10), nil
}

// UnmarshalText reads decimal text as strictly as [ParseID]. It does not keep
// text.
func (id *ID) UnmarshalText(text []byte) error {
	v, err := parseDecimal(text)
	return id.set(v, err)
}

// MarshalJSON returns the decimal text of id in quotes: a number would be
// rounded by JavaScript above 2^53. A negative id is an [*IDError].
func (id ID) MarshalJSON() ([]byte, error) {
	if id < 0 {
		return nil, negativeError(int64(id))
	}
	b := append(make([]byte, 0, maxDecimalLen+2), '"')
	return append(strconv.AppendInt(b, int64(id), 10), '"'), nil
}

// UnmarshalJSON reads a string or a number, with the same digits as [ParseID]:
// a number may have neither a sign nor a fraction nor an exponent, a string no
// escapes. Numbers are exact over the whole range; but a sender that is written
// in JavaScript may have rounded one above 2^53 before. null leaves id as it
// is, as is the custom of package encoding/json: a field of type *ID tells it
// from 0. It does not keep data.
func (id *ID) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		return nil
	}
	if n := len(data); n >= 2 && data[0] == '"' && data[n-1] == '"' {
		data = data[1 : n-1]
	}
	return id.UnmarshalText(data)
}

// set stores v unless there is an error already. A nil id is an error too.
func (id *ID) set(v ID, err error) error {
	switch {
	case err != nil:
		return err
	case id == nil:
		return newIDError(v.String(), -1, "has no variable to go to: the pointer is nil", "pass the address of an ID")
	}
	*id = v
	return nil
}
