package oddeven_test

import (
	"encoding/xml"
	"math"
	"math/big"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven"
)

// notDecimal are texts that are no ID, with the position and part of the message.
var notDecimal = []struct {
	name, text string
	position   int
	message    string
}{
	{"Empty", "", -1, `ID "" is empty: give 1 to 19 decimal digits`},
	{"Plus", "+1", 0, "has '+' where a digit belongs, at position 0: "},
	{"Minus", "-1", 0, "has '-' where a digit belongs, at position 0: "},
	{"MinusZero", "-0", 0, "has '-'"},
	{"LeadingBlank", " 1", 0, "has ' ' where a digit belongs"},
	{"TrailingBlank", "1 ", 1, "has ' ' where a digit belongs"},
	{"TrailingNewline", "1\n", 1, `has '\n' where a digit belongs`},
	{"NUL", "1\x00", 1, `has '\x00' where a digit belongs`},
	{"LeadingZero", "01", 0, "has a leading zero, at position 0: "},
	{"TwoZeros", "00", 0, "has a leading zero"},
	{"LongZeros", strings.Repeat("0", 20), 0, "has a leading zero"},
	{"BelowZeroInASCII", "1/", 1, "has '/' where a digit belongs"},
	{"AboveNineInASCII", "1:", 1, "has ':' where a digit belongs"},
	{"Hex", "0x1f", 1, "has 'x' where a digit belongs"},
	{"Letters", "12ab", 2, "has 'a' where a digit belongs"},
	{"Underscore", "1_000", 1, "has '_' where a digit belongs"},
	{"Fraction", "1.0", 1, "has '.' where a digit belongs"},
	{"Exponent", "1e3", 1, "has 'e' where a digit belongs"},
	{"OtherDigits", "٣", 0, "has '٣' where a digit belongs"},
	{"OneTooLarge", "9223372036854775808", -1, "is above 9223372036854775807, the largest ID: "},
	{"LargestOf64Bits", "18446744073709551615", -1, "is above 9223372036854775807"},
	{"WrapsToZero", "18446744073709551616", -1, "is above 9223372036854775807"},
	{"WrapsTo42", "18446744073709551658", -1, "is above 9223372036854775807"},
	{"NineteenNines", strings.Repeat("9", 19), -1, "is above 9223372036854775807"},
	{"TwentyDigits", "10000000000000000000", -1, "is above 9223372036854775807"},
	{"BlankAfterNineteenDigits", "1000000000000000000 ", 19, "has ' ' where a digit belongs"},
	{"Base32", "00000000019AB", 11, "has 'A' where a digit belongs"},
}

func TestParseIDErrors(t *testing.T) {
	t.Parallel()
	for _, tt := range notDecimal {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id, err := oddeven.ParseID(tt.text)
			require.Zero(t, id)
			requireIDError(t, err, tt.text, tt.position, tt.message)
			id = 7
			requireIDError(t, id.UnmarshalText([]byte(tt.text)), tt.text, tt.position, tt.message)
			require.Equal(t, oddeven.ID(7), id, "changed by a call that failed")
		})
	}
}

func TestIDTextRoundTrip(t *testing.T) {
	t.Parallel()
	check := func(t require.TestingT, id oddeven.ID) {
		text, err := id.MarshalText()
		require.NoError(t, err)
		require.Equal(t, id.String(), string(text))
		appended, err := id.AppendText([]byte("id="))
		require.NoError(t, err)
		require.Equal(t, "id="+id.String(), string(appended))
		back, err := oddeven.ParseID(string(text))
		require.NoError(t, err)
		require.Equal(t, id, back)
		back = -1
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, id, back)
	}
	for _, id := range interesting {
		check(t, id)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyID(t, "id")) })
}

// Nothing negative gets out except for people to see, so nothing comes back that
// can't be read.
func TestNegativeIDsAreNotMarshalled(t *testing.T) {
	t.Parallel()
	for _, id := range []oddeven.ID{-1, math.MinInt64} {
		const message = "is negative, which no ID is: "
		_, err := id.MarshalText()
		requireIDError(t, err, id.String(), -1, message)
		b, err := id.AppendText([]byte("id="))
		requireIDError(t, err, id.String(), -1, message)
		require.Equal(t, "id=", string(b))
		_, err = id.MarshalJSON()
		requireIDError(t, err, id.String(), -1, message)
		_, err = id.Value()
		requireIDError(t, err, id.String(), -1, message)
		_, err = oddeven.ParseBase32(id.Base32())
		requireIDError(t, err, id.Base32(), 0, "is above 7ZZZZZZZZZZZZ, the largest ID, at position 0: ")
	}
}

func TestIDNilPointerIsAnError(t *testing.T) {
	t.Parallel()
	var id *oddeven.ID
	const message = `ID "42" has no variable to go to: the pointer is nil: pass the address of an ID`
	requireIDError(t, id.UnmarshalText([]byte("42")), "42", -1, message)
	requireIDError(t, id.UnmarshalJSON([]byte("42")), "42", -1, message)
	requireIDError(t, id.Scan(int64(42)), "42", -1, message)
	require.NoError(t, id.UnmarshalJSON([]byte("null")))
}

func TestIDInXML(t *testing.T) {
	t.Parallel()
	type order struct {
		ID   oddeven.ID `xml:"id,attr"`
		User oddeven.ID `xml:"user"`
	}
	text, err := xml.Marshal(order{ID: largest, User: 42})
	require.NoError(t, err)
	require.Equal(t, `<order id="9223372036854775807"><user>42</user></order>`, string(text))
	var back order
	require.NoError(t, xml.Unmarshal(text, &back))
	require.Equal(t, order{ID: largest, User: 42}, back)
}

var canonical = regexp.MustCompile(`^(0|[1-9][0-9]*)$`)

// FuzzParseID compares with a definition that shares no code: a regular
// expression, and arithmetic of any length.
func FuzzParseID(f *testing.F) {
	for _, id := range interesting {
		f.Add(id.String())
	}
	for _, tt := range notDecimal {
		f.Add(tt.text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		id, err := oddeven.ParseID(s)
		var fromBytes oddeven.ID
		errBytes := fromBytes.UnmarshalText([]byte(s))
		if fromBytes != id || (errBytes == nil) != (err == nil) {
			t.Fatalf("%q: ParseID %d, %v; UnmarshalText %d, %v", s, id, err, fromBytes, errBytes)
		}
		want, isNumber := new(big.Int), false
		if canonical.MatchString(s) {
			want, isNumber = want.SetString(s, 10)
		}
		if wanted := isNumber && want.IsInt64(); wanted != (err == nil) {
			t.Fatalf("%q: %d, %v", s, id, err)
		}
		if err != nil {
			checkIDError(t, err, s)
			return
		}
		if id < 0 || int64(id) != want.Int64() || id.String() != s {
			t.Fatalf("%q: %d", s, id)
		}
	})
}

// checkIDError is for fuzz targets: err is complete, short, and one line.
func checkIDError(t *testing.T, err error, input string) {
	t.Helper()
	e, ok := err.(*oddeven.IDError) //nolint:errorlint // parsers return it as it is
	if !ok || e.Problem == "" || e.Remedy == "" || e.Position < -1 || e.Position >= max(len(input), 1) {
		t.Fatalf("%q: %#v", input, err)
	}
	if cut, isCut := strings.CutSuffix(e.Input, "…"); e.Input != input && (!isCut || !strings.HasPrefix(input, cut)) {
		t.Fatalf("%q: shown as %q", input, e.Input)
	}
	if text := err.Error(); len(e.Input) > 43 || len(text) > 500 || strings.ContainsAny(text, "\n\r\x00\x1b") {
		t.Fatalf("%q: %q", input, text)
	}
}
