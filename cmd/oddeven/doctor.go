package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/oddeven/oddeven/internal/doctor"
)

// errSick is why `doctor` exits with 1; the report has said everything else.
var errSick = errors.New("at least one check is bad")

// doctorFields describes doctor.Report.
const doctorFields = `With -o json the result is an object:

  verdict      the worst of the servers: ok, cannot tell, warning or bad
  servers      a list, in the order given:
    server     host:port/database
    verdict    the worst of its checks
    checks     a list; only "reachable" if the server does not answer:
      check    its name, for example binlog-format
      verdict  ok, cannot tell, warning or bad
      finding  what was found
      remedy   what to do; left out if the verdict is ok`

func (a *app) doctorCommand() *cobra.Command {
	var f *format
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Examine every server and say what to do; changes nothing",
		Long: `Examine every server of a fleet: a verdict for every check, and unless it is ok
what to do. Nothing is changed, and the account of an application is enough;
what it may not see is reported as "cannot tell".

Checks that are ok are only counted; --verbose and -o json show them all. The
exit code is 1 if a check is bad.

` + doctorFields,
		Example: "  oddeven doctor\n  oddeven doctor -o json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if timeout <= 0 {
				return usagef("--timeout %s: must be more than 0", timeout)
			}
			return a.doctor(cmd.Context(), *f, timeout)
		},
	}
	f = addFormat(cmd)
	cmd.Flags().DurationVar(&timeout, "timeout", 5*time.Second, "give each server this `TIME`")
	return cmd
}

func (a *app) doctor(ctx context.Context, f format, timeout time.Duration) error {
	servers, err := a.fleetServers()
	if err != nil {
		return err
	}
	stop := a.progress.start("examining the servers")
	report, err := doctor.Examine(ctx, servers, doctor.Config{Timeout: timeout, Logger: a.logger()})
	stop()
	if err != nil {
		return err
	}
	if f == formatJSON {
		err = printJSON(a.out, report)
	} else {
		err = printDiagnosis(a.out, report, a.verbose)
	}
	if err == nil && report.Verdict == doctor.Bad {
		err = errSick
	}
	return err
}

const reportIndent = "      "

// printDiagnosis writes a line for each server and, below it, each check that is
// not ok (or every one, if all is set) with its finding and remedy.
func printDiagnosis(w io.Writer, r doctor.Report, all bool) error {
	var out bytes.Buffer
	for i, s := range r.Servers {
		if i > 0 {
			fmt.Fprintln(&out)
		}
		fmt.Fprintln(&out, wrap(fmt.Sprintf("%s: %s (%s)", s.Server, s.Verdict, tally(s)), reportWidth, "", "  "))
		for _, c := range s.Checks {
			switch {
			case c.Verdict != doctor.OK:
				fmt.Fprintf(&out, "\n  %s  %s\n", strings.ToUpper(string(c.Verdict)), c.Name)
				fmt.Fprintln(&out, wrap(c.Finding, reportWidth, reportIndent, reportIndent))
				fmt.Fprintln(&out, wrap(c.Remedy, reportWidth, reportIndent+"-> ", reportIndent+"   "))
			case all:
				fmt.Fprintln(&out, wrap(c.Finding, reportWidth, fmt.Sprintf("  %s  %-18s ", c.Verdict, c.Name), strings.Repeat(" ", 25)))
			}
		}
	}
	_, err := w.Write(out.Bytes())
	return err
}

// tally counts the checks of a server: "23 ok, 1 warning, 2 bad".
func tally(s doctor.Server) string {
	var words []string
	for _, v := range []doctor.Verdict{doctor.OK, doctor.CannotTell, doctor.Warning, doctor.Bad} {
		if n := s.Count(v); n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, v))
		}
	}
	return strings.Join(words, ", ")
}

// wrap breaks text into lines of at most width characters. first begins the
// first line and rest the others. A word that is too long gets a line of its own.
func wrap(text string, width int, first, rest string) string {
	var out strings.Builder
	line, empty := first, true
	for word := range strings.FieldsSeq(text) {
		if !empty && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > width {
			out.WriteString(line + "\n")
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	return out.String() + line
}
