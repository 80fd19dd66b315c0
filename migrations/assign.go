package migrations

import (
	"fmt"
	"slices"
	"strings"
)

// claim says who has an offset, in words.
type claim struct {
	offset int64
	who    string
}

// assignOffsets gives each of the new servers, known by their positions in the
// list of servers (0, 1, …), an offset from 1 to increment that nobody claims:
// position + 1 where it is free, so that a new fleet is numbered in the order
// given, else the lowest free one.
func assignOffsets(positions []int, increment int64, claims []claim) ([]int64, error) {
	taken := map[int64]string{}
	for _, c := range claims {
		taken[c.offset] = c.who
	}
	free := func(k int64) bool { _, used := taken[k]; return !used && k >= 1 && k <= increment }
	offsets := make([]int64, len(positions))
	for i, p := range positions {
		if k := int64(p) + 1; free(k) {
			offsets[i] = k
			taken[k] = "assigned"
		}
	}
	for i := range offsets {
		if offsets[i] != 0 {
			continue
		}
		for k := int64(1); k <= increment; k++ {
			if free(k) {
				offsets[i] = k
				taken[k] = "assigned"
				break
			}
		}
		if offsets[i] == 0 {
			return nil, fmt.Errorf("%d offsets, %d new servers, too few free: %s", increment, len(positions), describe(claims))
		}
	}
	return offsets, nil
}

func describe(claims []claim) string {
	if len(claims) == 0 {
		return "none is taken"
	}
	claims = slices.Clone(claims)
	slices.SortFunc(claims, func(a, b claim) int { return int(a.offset - b.offset) })
	words := make([]string, len(claims))
	for i, c := range claims {
		words[i] = fmt.Sprintf("%d is taken by %s", c.offset, c.who)
	}
	return strings.Join(words, ", ")
}
