package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/oddeven/oddeven/integration/mutants"
)

// aim is how a mutant is looked for: with the faults that its protection is for, and
// the flags that make them tell most.
type aim struct {
	mutants string // regexp
	kinds   string // as for -kinds
	flags   []string
}

// Few worker numbers go from hand to hand.
var few = []string{"-worker-bits", "4"}

// aims are tried from the top: the first that matches a mutant counts.
var aims = []aim{
	{mutants: `^i1-`, kinds: `^(variables|client-kill|server-kill)$`},
	{mutants: `^i2-autocommit`, kinds: `^(variables|server-kill|client-kill)$`},
	{mutants: `^i2-`, kinds: `^(net-lost-replies|net-cut)$`},
	{mutants: `^i3-`, kinds: `^(server-rewind.*|server-promote|client-kill)$`, flags: few},
	{mutants: `^i5-`, kinds: `^(server-rewind.*|server-kill|client-kill|client-freeze|net-cut|net-lost-replies)$`, flags: few},
	{mutants: `^i6-`, kinds: `^(all-down|client-freeze|client-clock|client-kill)$`, flags: few},
}

// mutantDuration is that of a run with a mutant, and mutantSeed its seed.
const (
	mutantDuration = 30 * time.Second
	mutantSeed     = 3
)

// tryMutants runs a short edition with each mutant that matches, and prints which are
// found. It fails if one is not, and not explained either.
func tryMutants(ctx context.Context, match *regexp.Regexp, out, progress io.Writer) (ok bool, err error) {
	root, err := mutants.Root(".")
	if err != nil {
		return false, err
	}
	all, err := mutants.Load(root, match)
	if err != nil {
		return false, err
	}
	ok = true
	count, tried := map[string]int{}, map[int]bool{}
	for _, m := range all {
		i := slices.IndexFunc(aims, func(a aim) bool { return regexp.MustCompile(a.mutants).MatchString(m.Name) })
		if i < 0 {
			continue
		}
		if why, explained := unseen(m.Name); explained {
			count["explained"]++
			fmt.Fprintf(out, "%-10s         %s: %s\n", "explained", m.Name, why)
			continue
		}
		if !tried[i] { // the same run of the product as it is must find nothing
			tried[i] = true
			verdict, found := tryMutant(ctx, "", aims[i], progress)
			fmt.Fprintf(out, "%-10s         without a mutant, %s  %s\n", verdict, aims[i].kinds, found)
			ok = ok && verdict == "not found"
		}
		began := time.Now()
		verdict, found := tryMutant(ctx, filepath.Join(root, mutants.Dir, m.Name+mutants.Ext), aims[i], progress)
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		count[verdict]++
		ok = ok && verdict == "found"
		fmt.Fprintf(out, "%-10s %5.1fs  %s  %s\n", verdict, time.Since(began).Seconds(), m.Name, found)
	}
	fmt.Fprintf(out, "torture: %d mutants found, %d explained, %d not found, %d suspect, %d not run\n",
		count["found"], count["explained"], count["not found"], count["suspect"], count["not run"])
	return ok, nil
}

// tryMutant runs a short edition with a mutant, or without for an empty path, in a
// process of its own.
func tryMutant(ctx context.Context, path string, a aim, progress io.Writer) (verdict, found string) {
	self, err := os.Executable()
	if err != nil {
		return "not run", err.Error()
	}
	dir, err := os.MkdirTemp("", "oddeven-mutant-")
	if err != nil {
		return "not run", err.Error()
	}
	defer os.RemoveAll(dir) //nolint:errcheck // nothing to be done about it
	args := []string{"-duration", mutantDuration.String(), "-seed", fmt.Sprint(mutantSeed), "-kinds", a.kinds, "-dir", dir}
	if path != "" {
		args = append(args, "-mutant", path)
	}
	cmd := exec.CommandContext(ctx, self, append(args, a.flags...)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Minute
	var text bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, progress
	err = cmd.Run()
	var kinds []string
	for line := range strings.Lines(text.String()) {
		if kind, isFound := strings.CutPrefix(line, "found  "); isFound {
			kinds = append(kinds, strings.TrimSpace(kind))
		}
	}
	exit, failed := errors.AsType[*exec.ExitError](err)
	// An ID that must not be is a proof; a call that failed may be the machine's fault.
	certain := slices.ContainsFunc(kinds, func(k string) bool { return proof.MatchString(k) })
	switch {
	case certain:
		return "found", strings.Join(kinds, ", ")
	case len(kinds) > 0:
		return "suspect", strings.Join(kinds, ", ") + "; " + firstLine(text.String(), "FOUND")
	case err == nil:
		return "not found", ""
	case failed && strings.Contains(text.String(), "FOUND"):
		return "suspect", firstLine(text.String(), "FOUND")
	case failed:
		return "not run", exit.String()
	default:
		return "not run", err.Error()
	}
}

// proof matches the kinds of findings that no slow machine can cause.
var proof = regexp.MustCompile(`^(duplicate|residue|plane|order|lease):`)

// firstLine is the first line of a text that begins with something.
func firstLine(text, prefix string) string {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, prefix) {
			return strings.TrimSpace(line)
		}
	}
	return ""
}
