package oddeven_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"

	"github.com/oddeven/oddeven"
)

// The forms of an ID.
func ExampleID() {
	id := oddeven.ID(9007199254740993) // from a generator
	inJSON, err := json.Marshal(id)
	if err != nil {
		fmt.Println(err)
	}
	fmt.Println("text:  ", id)
	fmt.Println("JSON:  ", string(inJSON))
	fmt.Println("Base32:", id.Base32())
	// Output:
	// text:   9007199254740993
	// JSON:   "9007199254740993"
	// Base32: 0080000000001
}

// A request handler answers 400 to what is not an ID.
func ExampleParseID() {
	id, err := oddeven.ParseID("1234567")
	fmt.Println(id, err)
	_, err = oddeven.ParseID("01234567")
	fmt.Println(err)
	// Output:
	// 1234567 <nil>
	// oddeven: ID "01234567" has a leading zero, at position 0: give 1 to 19 decimal digits and nothing else, without leading zeros
}

func ExampleIDError() {
	_, err := oddeven.ParseID("12 34")
	if e, ok := errors.AsType[*oddeven.IDError](err); ok {
		fmt.Println("input:   ", e.Input)
		fmt.Println("position:", e.Position)
		fmt.Println("problem: ", e.Problem)
		fmt.Println("remedy:  ", e.Remedy)
	}
	// Output:
	// input:    12 34
	// position: 2
	// problem:  has ' ' where a digit belongs
	// remedy:   give 1 to 19 decimal digits and nothing else, without leading zeros
}

func ExampleID_String() {
	fmt.Println("/orders/" + oddeven.ID(1234567).String())
	// Output: /orders/1234567
}

func ExampleID_AppendText() {
	line := []byte("order ")
	line, err := oddeven.ID(1234567).AppendText(line)
	fmt.Println(string(line), err)
	// Output: order 1234567 <nil>
}

// IDs may be the keys of a map in JSON.
func ExampleID_MarshalText() {
	text, err := json.Marshal(map[oddeven.ID]string{1234567: "paid", 1234569: "open"})
	fmt.Println(string(text), err)
	// Output: {"1234567":"paid","1234569":"open"} <nil>
}

func ExampleID_UnmarshalText() {
	var orders map[oddeven.ID]string
	err := json.Unmarshal([]byte(`{"1234567":"paid"}`), &orders)
	fmt.Println(orders[1234567], err)
	// Output: paid <nil>
}

func ExampleID_MarshalJSON() {
	type order struct {
		ID     oddeven.ID `json:"id"`
		Parent oddeven.ID `json:"parent,omitzero"`
	}
	text, err := json.Marshal(order{ID: 1234567})
	fmt.Println(string(text), err)
	// Output: {"id":"1234567"} <nil>
}

// Numbers are accepted as well, and are exact above 2^53 too.
func ExampleID_UnmarshalJSON() {
	var ids []oddeven.ID
	err := json.Unmarshal([]byte(`["9007199254740993", 9007199254740993]`), &ids)
	fmt.Println(ids, err)
	// Output: [9007199254740993 9007199254740993] <nil>
}

// Texts in Base32 sort as IDs do; decimal ones do not.
func ExampleID_Base32() {
	names := []string{oddeven.ID(1000).Base32(), oddeven.ID(99).Base32()}
	slices.Sort(names)
	fmt.Println(names)
	// Output: [0000000000033 00000000000Z8]
}

func ExampleParseBase32() {
	id, err := oddeven.ParseBase32("0000000015NM7")
	fmt.Println(id, err)
	_, err = oddeven.ParseBase32("0000000015nm7")
	fmt.Println(err)
	// Output:
	// 1234567 <nil>
	// oddeven: ID "0000000015nm7" has 'n' where the capital N belongs, at position 10: give the 13 characters that Base32 returns: digits and capitals without I, L, O and U, the first of them 0 to 7
}

// Package database/sql calls Scan: rows.Scan(&id).
func ExampleID_Scan() {
	var id oddeven.ID
	err := id.Scan(int64(1234567))
	fmt.Println(id, err)
	fmt.Println(id.Scan(nil))
	// Output:
	// 1234567 <nil>
	// oddeven: ID "NULL" stands for no ID: scan into sql.Null[oddeven.ID] or *oddeven.ID, or leave out rows where it is NULL
}

// For a column that may be NULL.
func ExampleID_Scan_null() {
	var parent sql.Null[oddeven.ID] // rows.Scan(&parent)
	err := parent.Scan(nil)
	fmt.Println(parent.Valid, err)
	err = parent.Scan(int64(1234567))
	fmt.Println(parent.Valid, parent.V, err)
	// Output:
	// false <nil>
	// true 1234567 <nil>
}

// Package database/sql calls Value: db.QueryContext(ctx, query, id).
func ExampleID_Value() {
	value, err := oddeven.ID(1234567).Value()
	fmt.Printf("%T %v %v\n", value, value, err)
	// Output: int64 1234567 <nil>
}

func ExampleID_LogValue() {
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}
	log := slog.New(slog.NewJSONHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime}))
	log.Info("paid", "order", oddeven.ID(9007199254740993))
	// Output: {"level":"INFO","msg":"paid","order":"9007199254740993"}
}

func ExampleID_IsZero() {
	var order struct{ Parent oddeven.ID }
	fmt.Println(order.Parent.IsZero())
	// Output: true
}

// In a fleet with 10 shard bits.
func ExampleID_Shard() {
	id := oddeven.ID(1234567<<10 | 42)
	fmt.Println(id.Shard(10))
	// Output: 42
}
