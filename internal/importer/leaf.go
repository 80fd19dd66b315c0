package importer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/internal/sequence"
)

// readLeaf reads the rows of Leaf's table.
func (s *source) readLeaf(ctx context.Context, t table, tags []string) ([]Reading, error) {
	columns, err := s.columns(ctx, t)
	if err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, s.missing(t)
	}
	has := func(name string) bool {
		return slices.ContainsFunc(columns, func(c columnRow) bool { return strings.EqualFold(c.Name, name) })
	}
	for _, name := range []string{"biz_tag", "max_id"} {
		if !has(name) {
			return nil, &Error{Source: s.label, Subject: fmt.Sprintf("table %s.%s", t.database, t.name), Problem: "has no column " + name, Remedy: "Name the table that Leaf reserves from", Kind: ErrMissing}
		}
	}
	rows, err := s.leafRows(ctx, t, has("description"))
	if err != nil {
		return nil, err
	}
	var readings []Reading
	var errs []error
	for _, row := range rows {
		if len(tags) > 0 && !slices.Contains(tags, string(row.Tag)) {
			continue
		}
		r, err := s.leafReading(t, row)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		readings = append(readings, r)
	}
	return readings, errors.Join(errs...)
}

func (s *source) leafReading(t table, row leafRow) (Reading, error) {
	tag := string(row.Tag)
	r := Reading{
		Source: s.label, Old: t.name + " " + sequence.Quote(tag), Limit: math.MaxInt64,
		keys: []string{tag}, name: tag, description: describe(row.Description.String),
	}
	refuse := func(problem, remedy string) (Reading, error) {
		return r, &Error{Source: s.label, Subject: "row " + strconv.Quote(tag) + " of " + t.name, Problem: problem, Remedy: remedy, Kind: ErrRow}
	}
	if !row.Max.Valid {
		return refuse("max_id is NULL", "Set it to the largest number that was used")
	}
	var below bool
	if r.Highest, below = number(row.Max.String); below {
		return refuse("max_id is "+row.Max.String+", below 0", "Set it to the largest number that was used, or leave the row out by naming the others")
	}
	if r.Highest >= schema.Ceiling {
		return refuse("max_id is "+row.Max.String+", not below 2^53, where the IDs of sequences end", "Numbers as large as that cannot be gone on with; leave the row out by naming the others")
	}
	return r, nil
}
