package importer

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/oddeven/oddeven/internal/sequence"
	"github.com/oddeven/oddeven/ticket"
)

// Reading is the state of one old numbering in one source.
type Reading struct {
	Source  string // host:port/database
	Old     string // "leaf_alloc orders" or "shop.orders.id"
	Highest int64  // the largest number that was issued or reserved; 0 if there is none
	Limit   int64  // the largest number that its column holds

	keys        []string // what the configuration may call it
	name        string   // of the sequence, unless the configuration says otherwise
	description string
	warnings    []string
}

// Numbering is what becomes one sequence.
type Numbering struct {
	Sequence    string
	Readings    []Reading // at least one
	Highest     int64     // of all readings
	Limit       int64     // the least of all readings
	Description string    // of the sequence
	Warnings    []string  // whole sentences
}

// group puts readings that get the same name together. The order is that of
// the names.
func (c Config) group(readings []Reading) ([]Numbering, error) {
	used := map[string]bool{}
	byName := map[string]*Numbering{}
	var names []string
	for _, r := range readings {
		name := c.nameOf(r, used)
		n, found := byName[name]
		if !found {
			n = &Numbering{Sequence: name, Limit: r.Limit, Description: r.description}
			byName[name] = n
			names = append(names, name)
		}
		n.Readings = append(n.Readings, r)
		n.Highest, n.Limit = max(n.Highest, r.Highest), min(n.Limit, r.Limit)
		for _, w := range r.warnings {
			if !slices.Contains(n.Warnings, w) {
				n.Warnings = append(n.Warnings, w)
			}
		}
	}
	for old := range c.As {
		if !used[old] {
			return nil, &ticket.ConfigError{Field: "As", Value: old + "=" + c.As[old], Remedy: fmt.Sprintf("nothing that is imported is called %q", old)}
		}
	}
	slices.Sort(names)
	all := make([]Numbering, len(names))
	for i, name := range names {
		all[i] = *byName[name]
	}
	return all, nil
}

// nameOf is the name of the sequence, and notes which entry of As it is from.
func (c Config) nameOf(r Reading, used map[string]bool) string {
	for _, key := range r.keys {
		if name, found := c.As[key]; found {
			used[key] = true
			return name
		}
	}
	return r.name
}

// describe makes a description of a text of the old table: without control
// characters, and not too long.
func describe(text string) string {
	clean := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, text)
	if runes := []rune(clean); len(runes) > sequence.MaxDescription {
		clean = string(runes[:sequence.MaxDescription])
	}
	return strings.TrimSpace(clean)
}
