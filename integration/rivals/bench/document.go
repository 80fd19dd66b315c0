package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

const (
	pageName    = "benchmarks.md"
	pictureName = "failover.svg"
	handBegin   = "<!-- by hand: begin -->"
	handEnd     = "<!-- by hand: end -->"
)

// A report is a whole run.
type report struct {
	table    table
	failover *failover
	machine  []string
	command  string
	date     time.Time
	took     time.Duration
	missing  []string // what was not measured, and why
}

// machine says what the figures were measured on, without its name.
func machine() []string {
	facts := []string{
		fmt.Sprintf("%s, %d cores, %s/%s", cpuModel(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH),
	}
	if kernel, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		version, _, _ := strings.Cut(strings.TrimSpace(string(kernel)), "-") // the rest names a build
		facts = append(facts, "kernel "+version)
	}
	return append(facts, runtime.Version())
}

func cpuModel() string {
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown processor"
	}
	for line := range strings.Lines(string(info)) {
		if name, model, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(model)
		}
	}
	return "unknown processor"
}

// modules reads from a go.mod the versions of the modules it requires itself.
func modules(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []string
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) == 2 && strings.Contains(fields[0], ".") && strings.HasPrefix(fields[1], "v") && fields[1] != "v0.0.0" && !strings.Contains(fields[0], "testify") {
			list = append(list, fields[0]+" "+fields[1])
		}
	}
	return list, nil
}

// byHand is the part of the old page between the markers, which stays.
func byHand(path string) (string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return "\n", nil
	}
	if err != nil {
		return "", err
	}
	_, rest, found := strings.Cut(string(text), handBegin)
	part, _, ended := strings.Cut(rest, handEnd)
	if !found || !ended {
		return "", fmt.Errorf("%s has no part between %q and %q; put the two lines back", path, handBegin, handEnd)
	}
	return part, nil
}

// write makes page and picture anew in dir. Both are written under other names
// first, so that a run that is interrupted leaves the old ones.
func (r *report) write(dir string) error {
	hand, err := byHand(filepath.Join(dir, pageName))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	var page, picture bytes.Buffer
	if err := r.page(&page, hand); err != nil {
		return err
	}
	if err := r.failover.chart().Write(&picture); err != nil {
		return err
	}
	files := []struct {
		name string
		text []byte
	}{{pictureName, picture.Bytes()}, {pageName, page.Bytes()}}
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.name+".new"), f.text, 0o644); err != nil {
			return err
		}
	}
	for _, f := range files {
		path := filepath.Join(dir, f.name)
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return nil
}

func (r *report) page(w io.Writer, hand string) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Benchmarks\n\nWritten by `%s`, all but the part between the two `by hand` marks: run it to get this page for your machine.\n\n", r.command)
	fmt.Fprintf(&b, "%s%s%s\n\n## The table\n\n", handBegin, hand, handEnd)
	if err := r.table.markdown(&b); err != nil {
		return err
	}
	for _, what := range r.missing {
		fmt.Fprintf(&b, "\nNot measured: %s\n", what)
	}
	r.failover.describe(&b)
	fmt.Fprintf(&b, "\n## Measured on\n\n")
	for _, fact := range append(r.machine, fmt.Sprintf("%s, in %s", r.date.UTC().Format("2006-01-02"), r.took.Round(time.Second))) {
		fmt.Fprintf(&b, "- %s\n", fact)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// describe is what the picture shows, in words.
func (f *failover) describe(b *bytes.Buffer) {
	fmt.Fprintf(b, "\n## Through a failover\n\n![latency of calls while servers are killed](%s)\n\n", pictureName)
	fmt.Fprintf(b, "| | calls | failed | longest that succeeded | duplicates |\n|-|-:|-:|-:|-:|\n")
	for _, r := range []struct {
		name string
		*trace
	}{{"Generator.Next", &f.sequence}, {"tickets", &f.tickets}} {
		total := 0
		for _, n := range r.calls {
			total += n
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %d |\n", r.name, thousands(int64(total)), thousands(int64(r.calls[failed])), r.worst.Round(10*time.Microsecond), r.duplicates())
	}
	b.WriteString("\n")
	if took := f.firstWorker - f.before; f.firstWorker >= 0 && took > bucket {
		fmt.Fprintf(b, "With both servers dead the worker made its first ID %.2f s after the second one was killed: until then there were segments. ", took.Seconds())
	}
	if f.again >= 0 {
		fmt.Fprintf(b, "The first ID of a server came %.2f s after the first one answered again. ", max(0, f.again-f.after).Seconds())
	}
	fmt.Fprintf(b, "Tickets come from servers only, so they fail while there is none.\n\n")
	for _, e := range f.events {
		fmt.Fprintf(b, "- %s\n", e)
	}
}
