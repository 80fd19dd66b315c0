package oddeven

import (
	"fmt"
	"strings"
)

const (
	// base32Alphabet is the one of Douglas Crockford's Base 32,
	// https://www.crockford.com/base32.html: digits and capitals without I, L, O
	// and U, in the order of their codes, hence texts sort as numbers do. (The
	// alphabet "base32hex" of RFC 4648, section 7, sorts as well but has letters
	// that people take for digits.) Crockford's aliases, lower case, hyphens and
	// check symbols are left out: they would give an ID more than one text.
	base32Alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	// base32Len characters of 5 bits have 65 bits. The two highest are 0 always,
	// and so is the sign.
	base32Len    = 13
	base32Remedy = "give the 13 characters that Base32 returns: digits and capitals without I, L, O and U, the first of them 0 to 7"
	notBase32    = 0xFF
)

// base32Values has the value of every byte in base32Alphabet, notBase32 for
// other bytes. It is never written to.
var base32Values = func() (values [256]byte) {
	for c := range values {
		values[c] = notBase32
	}
	for v, c := range []byte(base32Alphabet) {
		values[c] = byte(v)
	}
	return values
}()

// Base32 returns id as 13 characters in Crockford's Base 32, upper case. Texts
// sort as IDs do, byte by byte and in the usual collations; the first is
// 0000000000000 and the last 7ZZZZZZZZZZZZ. The text of a negative value begins
// with a character above 7, so [ParseBase32] refuses it.
func (id ID) Base32() string {
	var text [base32Len]byte
	rest := uint64(id)
	for i := base32Len - 1; i >= 0; i-- {
		text[i] = base32Alphabet[rest%32]
		rest /= 32
	}
	return string(text[:])
}

// ParseBase32 reads what [ID.Base32] returns and nothing else: another length,
// lower case, I, L, O and U, hyphens, blanks and values of more than 63 bits
// are an [*IDError]. People who mistype an ID are to be told so. An application
// that wants to be lenient maps what it allows before, for example with
// [strings.ToUpper].
func ParseBase32(s string) (ID, error) {
	if len(s) != base32Len {
		return 0, newIDError(s, -1, fmt.Sprintf("is %d bytes long, not %d", len(s), base32Len), base32Remedy)
	}
	var v uint64
	for i := range len(s) {
		value := base32Values[s[i]]
		if value == notBase32 {
			return 0, newIDError(s, i, "has "+quoteAt(s, i)+" where "+wantedBase32(s[i])+" belongs", base32Remedy)
		}
		v = v<<5 | uint64(value)
	}
	if s[0] > '7' {
		return 0, newIDError(s, 0, "is above 7ZZZZZZZZZZZZ, the largest ID", base32Remedy)
	}
	return ID(v), nil
}

// wantedBase32 says what belongs where c is, which is not in the alphabet.
func wantedBase32(c byte) string {
	if upper := strings.ToUpper(string(rune(c))); strings.Contains(base32Alphabet, upper) {
		return "the capital " + upper
	}
	return "a digit or a capital of the alphabet"
}
