package schema

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
)

// autoIncrement finds the next value of a table's counter among the options
// after its last column; a comment may contain the same words.
var autoIncrement = regexp.MustCompile(`(?m)^\) ENGINE=\w+ (?:[^']*? )?AUTO_INCREMENT=(\d+)`)

// Counter is the next value of the AUTO_INCREMENT counter that SHOW CREATE TABLE
// shows, 0 if it shows none, because the counter was never used.
func Counter(definition string) (uint64, error) {
	found := autoIncrement.FindStringSubmatch(definition)
	if found == nil {
		return 0, nil
	}
	next, err := strconv.ParseUint(found[1], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read AUTO_INCREMENT=%s: %w", found[1], err)
	}
	return next, nil
}

// Passed is the last value that the counter of our tickets has passed, 0 if none.
func Passed(definition string) (int64, error) {
	next, err := Counter(definition)
	if err != nil || next == 0 {
		return 0, err
	}
	if next > math.MaxInt64 {
		return 0, fmt.Errorf("AUTO_INCREMENT=%d is beyond 2^63, where no ticket can be", next)
	}
	return int64(next - 1), nil
}
