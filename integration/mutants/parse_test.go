package mutants

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	t.Parallel()
	m, err := Parse("residue", []byte(`# free text
why: I1 residue: check
file: ticket/server.go
test: . ./ticket ^TestA$
test: integration ./... ^TestB$
race: true
timeout: kills

-- old --
	if x {
	}
-- new --
`))
	require.NoError(t, err)
	require.Equal(t, Mutant{
		Name: "residue", Why: "I1 residue: check", File: "ticket/server.go",
		Old: "\tif x {\n\t}\n", New: "",
		Tests: []Test{
			{Module: ".", Pattern: "./ticket", Run: "^TestA$", Race: true},
			{Module: "integration", Pattern: "./...", Run: "^TestB$", Race: true},
		},
		TimeoutKills: true,
	}, m)
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const (
		header = "why: w\nfile: f.go\ntest: . ./f ^TestF$\n"
		body   = "-- old --\na\n-- new --\nb\n"
	)
	for name, c := range map[string]struct{ text, want string }{
		"no why":         {"file: f.go\ntest: . ./f ^TestF$\n" + body, "no why: line"},
		"no file":        {"why: w\ntest: . ./f ^TestF$\n" + body, "no file: line"},
		"no test":        {"why: w\nfile: f.go\n" + body, "no test: line"},
		"two files":      {header + "file: g.go\n" + body, "a second file: line"},
		"file outside":   {"why: w\nfile: ../f.go\ntest: . ./f ^TestF$\n" + body, "want a path from the repository root"},
		"module outside": {"why: w\nfile: f.go\ntest: /tmp ./f ^TestF$\n" + body, "want a module directory"},
		"test too short": {"why: w\nfile: f.go\ntest: ./f ^TestF$\n" + body, "want MODULE-DIRECTORY"},
		"unknown key":    {header + "files: g.go\n" + body, `unknown header key "files"`},
		"no value":       {header + "race:\n" + body, `want "key: value"`},
		"race: false":    {header + "race: false\n" + body, `only "true" has a meaning`},
		"timeout: 3s":    {header + "timeout: 3s\n" + body, `only "kills" has a meaning`},
		"no sections":    {header, "want exactly the sections"},
		"wrong order":    {header + "-- new --\nb\n-- old --\na\n", "want exactly the sections"},
		"third section":  {header + body + "-- more --\n", "want exactly the sections"},
		"empty old":      {header + "-- old --\n\n-- new --\nb\n", "-- old -- is empty"},
		"no change":      {header + "-- old --\na\n-- new --\na\n", "are equal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Parse("m", []byte(c.text))
			require.ErrorContains(t, err, c.want)
		})
	}
}
