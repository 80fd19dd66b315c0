package oddeven_test

import (
	"cmp"
	"encoding/base32"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven"
)

// crockford are the 32 symbols of https://www.crockford.com/base32.html.
const crockford = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

func TestIDBase32(t *testing.T) {
	t.Parallel()
	for id, want := range map[oddeven.ID]string{
		0:           "0000000000000",
		1:           "0000000000001",
		31:          "000000000000Z",
		32:          "0000000000010",
		1234567:     "0000000015NM7",
		1<<53 - 1:   "007ZZZZZZZZZZ",
		1 << 60:     "1000000000000",
		largest - 1: "7ZZZZZZZZZZZY",
		largest:     "7ZZZZZZZZZZZZ",
	} {
		require.Equal(t, want, id.Base32())
	}
	// Every symbol has its value, in every place.
	for v, symbol := range crockford {
		for place := range 12 {
			id := oddeven.ID(v) << (5 * place)
			want := strings.Repeat("0", 12-place) + string(symbol) + strings.Repeat("0", place)
			require.Equal(t, want, id.Base32())
			back, err := oddeven.ParseBase32(want)
			require.NoError(t, err)
			require.Equal(t, id, back)
		}
	}
}

// notBase32 are texts that are no ID, with the position and part of the message.
var notBase32 = []struct {
	name, text string
	position   int
	message    string
}{
	{"Empty", "", -1, `ID "" is 0 bytes long, not 13: give the 13 characters that Base32 returns`},
	{"TooShort", "000000000001", -1, "is 12 bytes long, not 13"},
	{"TooLong", "00000000000001", -1, "is 14 bytes long, not 13"},
	{"Decimal", "9223372036854775807", -1, "is 19 bytes long, not 13"},
	{"LowerCase", "000000000000a", 12, "has 'a' where the capital A belongs, at position 12: "},
	{"LastLowerCase", "z000000000000", 0, "has 'z' where the capital Z belongs, at position 0: "},
	{"AliasO", "000000000000O", 12, "has 'O' where a digit or a capital of the alphabet belongs"},
	{"AliasI", "I000000000000", 0, "has 'I' where"},
	{"AliasL", "000000L000000", 6, "has 'L' where"},
	{"CheckSymbolU", "000000000000U", 12, "has 'U' where"},
	{"LowerAlias", "000000000000o", 12, "has 'o' where a digit or a capital of the alphabet belongs"},
	{"Hyphen", "000000-000000", 6, "has '-' where"},
	{"LeadingBlank", " 000000000000", 0, "has ' ' where"},
	{"TrailingBlank", "000000000000 ", 12, "has ' ' where"},
	{"Newline", "000000000000\n", 12, `has '\n' where`},
	{"Padding", "000000000000=", 12, "has '=' where"},
	{"NUL", "\x00000000000000", 0, `has '\x00' where`},
	{"OtherDigit", "00000000000٣", 11, "has '٣' where"},
	{"NotUTF8", "000000000000\xff", 12, "has the byte 0xff where"},
	{"SixtyFourBits", "8000000000000", 0, "is above 7ZZZZZZZZZZZZ, the largest ID, at position 0: "},
	{"MinusOne", "FZZZZZZZZZZZZ", 0, "is above 7ZZZZZZZZZZZZ"},
	{"WrapsToZero", "G000000000000", 0, "is above 7ZZZZZZZZZZZZ"},
	{"SixtyFiveBits", "ZZZZZZZZZZZZZ", 0, "is above 7ZZZZZZZZZZZZ"},
}

func TestParseBase32Errors(t *testing.T) {
	t.Parallel()
	for _, tt := range notBase32 {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			id, err := oddeven.ParseBase32(tt.text)
			require.Zero(t, id)
			requireIDError(t, err, tt.text, tt.position, tt.message)
		})
	}
}

// Each of the 256 bytes is accepted only if it is in the alphabet.
func TestParseBase32HasNoOtherLetters(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		_, err := oddeven.ParseBase32("000000000000" + string([]byte{byte(c)}))
		require.Equal(t, strings.IndexByte(crockford, byte(c)) >= 0, err == nil, "byte %#x", c)
	}
}

func TestBase32RoundTrip(t *testing.T) {
	t.Parallel()
	check := func(t require.TestingT, id oddeven.ID) {
		text := id.Base32()
		require.Len(t, text, 13)
		back, err := oddeven.ParseBase32(text)
		require.NoError(t, err)
		require.Equal(t, id, back)
	}
	for _, id := range interesting {
		check(t, id)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyID(t, "id")) })
}

func TestBase32SortsAsNumbersDo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyID(t, "a"), anyID(t, "b")
		if rapid.Bool().Draw(t, "neighbours") {
			b = min(a, largest-1) + 1
		}
		if got, want := strings.Compare(a.Base32(), b.Base32()), cmp.Compare(a, b); got != want {
			t.Fatalf("%s and %s compare as %d, %d and %d as %d", a.Base32(), b.Base32(), got, a, b, want)
		}
	})
}

// FuzzParseBase32 compares with a definition that shares no code: package
// encoding/base32 with the same alphabet.
func FuzzParseBase32(f *testing.F) {
	for _, id := range interesting {
		f.Add(id.Base32())
	}
	for _, tt := range notBase32 {
		f.Add(tt.text)
	}
	encoding := base32.NewEncoding(crockford)
	f.Fuzz(func(t *testing.T, s string) {
		id, err := oddeven.ParseBase32(s)
		// 13 characters of 65 bits behind 3 zero characters are 80 bits: 10 bytes.
		var want uint64
		wanted := len(s) == 13 && !strings.ContainsAny(s, "\r\n=") // which that package skips
		if wanted {
			b, err := encoding.DecodeString("000" + s)
			wanted = err == nil && b[1] == 0 && b[2] < 0x80
			if wanted {
				want = binary.BigEndian.Uint64(b[2:])
			}
		}
		if wanted != (err == nil) || uint64(id) != want {
			t.Fatalf("%q: %d, %v; want %d", s, id, err, want)
		}
		if err != nil {
			checkIDError(t, err, s)
			return
		}
		if id < 0 || id.Base32() != s {
			t.Fatalf("%q: %d, which is %q", s, id, id.Base32())
		}
	})
}
