package importer

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/oddeven/oddeven/internal/schema"
)

// readCounter reads a table with an AUTO_INCREMENT column, or any column of integers.
func (s *source) readCounter(ctx context.Context, t table, text string, c Config) ([]Reading, error) {
	columns, err := s.columns(ctx, t)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 && c.Scattered {
		return nil, nil
	}
	if len(columns) == 0 {
		return nil, s.missing(t)
	}
	column, err := s.choose(t, columns, c.Column)
	if err != nil {
		return nil, err
	}
	r := Reading{
		Source: s.label, Old: t.database + "." + t.name + "." + column.Name, Limit: limitOf(column),
		keys: []string{text, t.database + "." + t.name, t.name}, name: t.name,
	}
	refuse := func(value string) ([]Reading, error) {
		return nil, &Error{
			Source: s.label, Subject: r.Old, Problem: "holds " + value + ", not below 2^53, where the IDs of sequences end", Kind: ErrRow,
			Remedy: "Numbers as large as that cannot be gone on with",
		}
	}
	largest, err := s.maximum(ctx, t, column.Name)
	if err != nil {
		return nil, err
	}
	r.Highest = max(0, numberOrNone(largest))
	if r.Highest >= schema.Ceiling {
		return refuse(largest.String)
	}
	if !column.Counts {
		r.warnings = append(r.warnings, fmt.Sprintf("%s is no AUTO_INCREMENT column: only rows that are there count, not those that were deleted.", r.Old))
		return []Reading{r}, nil
	}
	next, err := s.counter(ctx, t)
	if err != nil {
		return nil, err
	}
	passed := passedBy(next, r.Limit)
	if passed >= uint64(schema.Ceiling) {
		return refuse(fmt.Sprintf("a counter at %d", next))
	}
	r.Highest = max(r.Highest, int64(passed))
	return []Reading{r}, nil
}

// passedBy is the largest number that a counter has passed. It stands still at the
// largest number of its column, which may have been issued.
func passedBy(next uint64, limit int64) uint64 {
	if next == 0 || next == uint64(limit) {
		return next
	}
	return next - 1
}

// choose finds the column that was asked for, or the one that counts.
func (s *source) choose(t table, columns []columnRow, wanted string) (columnRow, error) {
	subject := fmt.Sprintf("table %s.%s", t.database, t.name)
	at := slices.IndexFunc(columns, func(c columnRow) bool {
		return wanted == "" && c.Counts || wanted != "" && strings.EqualFold(c.Name, wanted)
	})
	switch {
	case at < 0 && wanted == "":
		return columnRow{}, &Error{Source: s.label, Subject: subject, Problem: "has no AUTO_INCREMENT column", Remedy: "Name the column that holds the IDs (--column)", Kind: ErrMissing}
	case at < 0:
		return columnRow{}, &Error{Source: s.label, Subject: subject, Problem: "has no column " + wanted, Remedy: "Name it as SHOW COLUMNS does", Kind: ErrMissing}
	case limitOf(columns[at]) == 0:
		return columnRow{}, &Error{Source: s.label, Subject: subject, Problem: fmt.Sprintf("column %s is of type %s", columns[at].Name, columns[at].Type), Remedy: "Name a column of an integer type", Kind: ErrRow}
	}
	return columns[at], nil
}

// limitOf is the largest number of an integer column, 0 for other types.
func limitOf(c columnRow) int64 {
	bits := map[string]int{"tinyint": 8, "smallint": 16, "mediumint": 24, "int": 32, "bigint": 64}[strings.ToLower(c.Type)]
	switch {
	case bits == 0:
		return 0
	case bits == 64:
		return math.MaxInt64 // IDs end before either
	case c.Unsigned:
		return 1<<bits - 1
	}
	return 1<<(bits-1) - 1
}
