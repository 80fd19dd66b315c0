package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/oddeven/oddeven/integration/mutants"
)

// baseline runs every distinct test command without a mutant and remembers the
// ones that can't judge any. It fails only when interrupted or without go.
//
// Commands of the same packages run together first, which starts their servers
// once. Only if that did not go well does each run for itself.
func (r *runner) baseline(ctx context.Context, all []mutants.Mutant) error {
	r.unfit = map[mutants.Test]verdict{}
	for _, commands := range groups(all) {
		if len(commands) > 1 {
			good, err := r.together(ctx, commands)
			if err != nil {
				return err
			}
			if good {
				continue
			}
		}
		for _, t := range commands {
			if err := r.alone(ctx, t); err != nil {
				return err
			}
		}
	}
	return nil
}

// groups puts the distinct test commands together that can be one command.
func groups(of []mutants.Mutant) [][]mutants.Test {
	var all [][]mutants.Test
	done := map[mutants.Test]bool{}
	group := map[mutants.Test]int{} // by the command without its regexp
	for _, m := range of {
		for _, t := range m.Tests {
			if done[t] {
				continue
			}
			done[t] = true
			key := t
			// A regexp that selects subtests can't be joined with others, nor one
			// that is none: that is for go test to say.
			if _, err := regexp.Compile(t.Run); err == nil && !strings.Contains(t.Run, "/") {
				key.Run = ""
			}
			i, known := group[key]
			if !known {
				i = len(all)
				group[key] = i
				all = append(all, nil)
			}
			all[i] = append(all[i], t)
		}
	}
	return all
}

// together runs commands of one group as one. It reports whether everything
// passed and each command has run a test.
func (r *runner) together(ctx context.Context, commands []mutants.Test) (bool, error) {
	joined := commands[0]
	for _, t := range commands[1:] {
		joined.Run += "|" + t.Run
	}
	longer := *r
	longer.timeout *= time.Duration(len(commands))
	began := time.Now()
	o, err := longer.goTest(ctx, joined, "")
	if err != nil || judgeBaseline(o) != "" {
		return false, err
	}
	ran := make([]int, len(commands))
	for i, t := range commands {
		if ran[i] = count(o.ran, t.Run); ran[i] == 0 {
			return false, nil
		}
	}
	for i, t := range commands {
		r.line(baselinePassed, t.String(), began, tests(ran[i]))
	}
	return true, nil
}

// count is how many tests a regexp selects, with their subtests.
func count(tests []string, run string) int {
	match, n := regexp.MustCompile(run), 0
	for _, test := range tests {
		if top, _, _ := strings.Cut(test, "/"); match.MatchString(top) {
			n++
		}
	}
	return n
}

// alone runs one command for itself.
func (r *runner) alone(ctx context.Context, t mutants.Test) error {
	began := time.Now()
	o, err := r.goTest(ctx, t, "")
	if err != nil {
		return err
	}
	v := judgeBaseline(o)
	if v == "" {
		r.line(baselinePassed, t.String(), began, tests(len(o.ran)))
		return nil
	}
	r.unfit[t] = v
	r.line(v, t.String(), began, "")
	if v == baselineFailed {
		fmt.Fprint(r.out, indent(o.text))
	}
	return nil
}

func tests(n int) string { return fmt.Sprintf("%d tests", n) }
