package oddeven_test

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven"
)

func TestIDInJSON(t *testing.T) {
	t.Parallel()
	check := func(t require.TestingT, id oddeven.ID) {
		text, err := json.Marshal(id)
		require.NoError(t, err)
		require.Equal(t, strconv.Quote(id.String()), string(text))
		for _, input := range []string{string(text), id.String(), " " + id.String() + "\n"} {
			var back oddeven.ID
			require.NoError(t, json.Unmarshal([]byte(input), &back))
			require.Equal(t, id, back)
		}
	}
	for _, id := range interesting {
		check(t, id)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, anyID(t, "id")) })
}

func TestIDInJSONErrors(t *testing.T) {
	t.Parallel()
	type testCase struct {
		name, data, input string
		position          int
		message           string
	}
	tests := []testCase{
		{"EmptyObject", `{}`, "{}", 0, "has '{' where a digit belongs"},
		{"Array", `["1"]`, `["1"]`, 0, "has '[' where a digit belongs"},
		{"True", `true`, "true", 0, "has 't' where a digit belongs"},
		{"QuotedNull", `"null"`, "null", 0, "has 'n' where a digit belongs"},
		{"Escape", `"\u0031"`, `\u0031`, 0, `has '\\' where a digit belongs`},
		{"EscapedQuotes", `"\"1\""`, `\"1\"`, 0, `has '\\' where a digit belongs`},
		{"NegativeNumber", `-1`, "-1", 0, "has '-' where a digit belongs"},
		{"FractionOfZero", `1.0`, "1.0", 1, "has '.' where a digit belongs"},
		{"Exponent", `1e3`, "1e3", 1, "has 'e' where a digit belongs"},
		{"TooLargeNumber", `9223372036854775808`, "9223372036854775808", -1, "is above 9223372036854775807"},
	}
	for _, tt := range notDecimal {
		if !strings.ContainsAny(tt.text, "\n\x00") { // JSON knows these as escapes only
			tests = append(tests, testCase{"Quoted" + tt.name, `"` + tt.text + `"`, tt.text, tt.position, tt.message})
		}
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			order := struct{ ID oddeven.ID }{7}
			err := json.Unmarshal([]byte(`{"ID":`+tt.data+`}`), &order)
			requireIDError(t, err, tt.input, tt.position, tt.message)
			require.Equal(t, oddeven.ID(7), order.ID, "changed by a call that failed")
		})
	}
}

// UnmarshalJSON may be called with anything, not only by package encoding/json.
func TestIDUnmarshalJSONOfWhatIsNotJSON(t *testing.T) {
	t.Parallel()
	for _, data := range []string{``, `"`, `""`, `"1`, `1"`, `'1'`, `"1""`, ` 1`, `"1" `, `nul`, `NULL`, `01`} {
		id := oddeven.ID(7)
		var e *oddeven.IDError
		require.ErrorAs(t, id.UnmarshalJSON([]byte(data)), &e, data)
		require.Equal(t, oddeven.ID(7), id)
	}
}

// float64 has no number between 2^53 and 2^53+2, nor between 2^63-1024 and 2^63.
func TestIDNumbersInJSONAreExact(t *testing.T) {
	t.Parallel()
	var ids []oddeven.ID
	require.NoError(t, json.Unmarshal([]byte(`[9007199254740993,9223372036854775807,"9223372036854775806"]`), &ids))
	require.Equal(t, []oddeven.ID{1<<53 + 1, largest, largest - 1}, ids)
}

func TestIDNullInJSON(t *testing.T) {
	t.Parallel()
	order := struct {
		ID     oddeven.ID
		Parent *oddeven.ID
	}{ID: 7, Parent: new(oddeven.ID(8))}
	require.NoError(t, json.Unmarshal([]byte(`{"ID":null,"Parent":null}`), &order))
	require.Equal(t, oddeven.ID(7), order.ID)
	require.Nil(t, order.Parent)
}

func TestIDAsAKeyInJSON(t *testing.T) {
	t.Parallel()
	want := map[oddeven.ID]oddeven.ID{0: 1, 42: 43, largest: largest}
	text, err := json.Marshal(want)
	require.NoError(t, err)
	require.JSONEq(t, `{"0":"1","42":"43","9223372036854775807":"9223372036854775807"}`, string(text))
	var back map[oddeven.ID]oddeven.ID
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, want, back)

	err = json.Unmarshal([]byte(`{"042":1}`), &back)
	requireIDError(t, err, "042", 0, "has a leading zero")
	_, err = json.Marshal(map[oddeven.ID]int{-1: 1})
	require.ErrorContains(t, err, "is negative") // that package keeps only the text
}

func TestIDTagsInJSON(t *testing.T) {
	t.Parallel()
	type order struct {
		ID     oddeven.ID `json:"id"`
		Parent oddeven.ID `json:"parent,omitzero"`
		User   oddeven.ID `json:"user,string"` // says what is done anyway
	}
	text, err := json.Marshal(order{User: 5})
	require.NoError(t, err)
	require.Equal(t, `{"id":"0","user":"5"}`, string(text))
	want := order{ID: 42, Parent: 43, User: largest}
	text, err = json.Marshal(want)
	require.NoError(t, err)
	require.Equal(t, `{"id":"42","parent":"43","user":"9223372036854775807"}`, string(text))
	var back order
	require.NoError(t, json.Unmarshal(text, &back))
	require.Equal(t, want, back)
	_, err = json.Marshal(order{ID: -1})
	requireIDError(t, err, "-1", -1, "is negative")
}

// FuzzIDUnmarshalJSON: what is accepted is null, or one of the two forms of one
// ID; and what encoding/json accepts is what UnmarshalJSON accepts, but for the
// blanks around it.
func FuzzIDUnmarshalJSON(f *testing.F) {
	for _, id := range interesting {
		f.Add([]byte(id.String()))
		f.Add([]byte(strconv.Quote(id.String())))
	}
	for _, data := range []string{`null`, `"null"`, `"`, `""`, `"1`, `1e3`, `1.5`, `-1`, `"\u0031"`, ` 1`, `{"a":1}`} {
		f.Add([]byte(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		before := bytes.Clone(data)
		id := oddeven.ID(-7)
		err := id.UnmarshalJSON(data)
		if !bytes.Equal(before, data) {
			t.Fatalf("%q was changed to %q", before, data)
		}
		through := oddeven.ID(-7)
		errThrough := json.Unmarshal(data, &through)
		isTrimmed := len(bytes.Trim(data, " \t\r\n")) == len(data)
		switch {
		case isTrimmed && (through != id || (errThrough == nil) != (err == nil)):
			t.Fatalf("%q: %d, %v; through encoding/json %d, %v", data, id, err, through, errThrough)
		case err != nil && id != -7:
			t.Fatalf("%q: changed to %d by a call that failed", data, id)
		case err != nil:
			text := string(data)
			if len(text) >= 2 && text[0] == '"' && text[len(text)-1] == '"' {
				text = text[1 : len(text)-1]
			}
			checkIDError(t, err, text)
		case string(data) == "null":
			if id != -7 {
				t.Fatalf("null changed the ID to %d", id)
			}
		case id < 0 || string(data) != id.String() && string(data) != strconv.Quote(id.String()):
			t.Fatalf("%q: %d", data, id)
		}
	})
}
