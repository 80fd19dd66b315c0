// Rivals measures other ID generators beside ours, in one run: what an ID costs
// against Worker.Next, and how many duplicates there are among 20 million. `make
// ratios` runs it; go.mod says which versions.
//
// It is a module of its own, so that none of them gets into another module's
// graph. Its lines have the columns of package ratios: name, figure, bound ("-"
// for none) and verdict. Only our own duplicates have a bound: 0.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"

	"github.com/oddeven/oddeven/integration/rivals/products"
)

// many is how many IDs of a product are looked at: 320 MB.
const many = 20_000_000

// errDuplicates is returned when our own IDs were not unique.
var errDuplicates = errors.New("a Worker has made duplicates")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "rivals: %v\n", err)
		os.Exit(1)
	}
}

// run measures everything and prints it at the end, so that lines stay together.
func run(ctx context.Context, stdout, progress io.Writer) (err error) {
	ours, err := products.OpenOurs(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ours.Close()) }()
	others, err := products.Others()
	if err != nil {
		return err
	}
	sustained := ours.Sustained()
	sustained.Name = "Worker.Next of the default layout, sustained"
	var lines []line
	for _, p := range append([]products.Product{sustained}, others...) {
		ratio, err := cost(ctx, progress, p, ours.Burst().Next)
		if err != nil {
			return err
		}
		lines = append(lines, line{p.Name + ", one caller, against Worker.Next in a burst", strconv.FormatFloat(ratio, 'f', 4, 64), "-", "ok"})
	}
	sustained.Name = "Worker.Next"
	found, unique, err := allDuplicates(ctx, progress, sustained, others)
	if err != nil {
		return err
	}
	if err := printLines(stdout, append(lines, found...)); err != nil {
		return err
	}
	if !unique {
		return errDuplicates
	}
	return nil
}

// allDuplicates looks for duplicates of ours and of all others, one product at a
// time in the same memory, and reports whether there were none of ours.
func allDuplicates(ctx context.Context, progress io.Writer, ours products.Product, others []products.Product) (lines []line, unique bool, err error) {
	unique = true
	ids := make([]products.Key, many)
	for i, p := range append([]products.Product{ours}, others...) {
		fmt.Fprintf(progress, "%s: %d IDs from %d callers\n", p.Name, many, products.Callers)
		n, err := products.Duplicates(ctx, p, ids)
		if err != nil {
			return nil, false, err
		}
		l := line{fmt.Sprintf("%s, duplicates in %d million", p.Name, many/1_000_000), strconv.Itoa(n), "-", "ok"}
		if i == 0 {
			l.bound = "0"
			if n > 0 {
				l.verdict, unique = "over", false
			}
		}
		lines = append(lines, l)
	}
	return lines, unique, nil
}

// A line is one line of the output. The name may hold blanks, the others do not.
type line struct{ name, figure, bound, verdict string }

// printLines prints lines in columns.
func printLines(w io.Writer, lines []line) error {
	width := 0
	for _, l := range lines {
		width = max(width, len(l.name))
	}
	for _, l := range lines {
		if _, err := fmt.Fprintf(w, "%-*s  %8s  %5s  %s\n", width, l.name, l.figure, l.bound, l.verdict); err != nil {
			return err
		}
	}
	return nil
}
