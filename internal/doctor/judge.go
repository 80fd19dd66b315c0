package doctor

import (
	"errors"
	"fmt"

	"github.com/oddeven/oddeven/internal/fault"
	"github.com/oddeven/oddeven/ticket"
)

// finding is the outcome of a check.
type finding struct {
	verdict Verdict
	text    string
	remedy  string
}

func ok(format string, args ...any) finding { return finding{OK, fmt.Sprintf(format, args...), ""} }

func warning(remedy, format string, args ...any) finding {
	return finding{Warning, fmt.Sprintf(format, args...), remedy}
}

func bad(remedy, format string, args ...any) finding {
	return finding{Bad, fmt.Sprintf(format, args...), remedy}
}

func cannotTell(remedy, format string, args ...any) finding {
	return finding{CannotTell, fmt.Sprintf(format, args...), remedy}
}

// unread is the finding of a check whose facts could not be read.
func unread(err error) finding {
	problem, remedy := explain(err)
	return cannotTell(remedy, "%s", problem)
}

// explain puts an error into a problem and a remedy, both never empty.
func explain(err error) (problem, remedy string) {
	var known *ticket.ServerError
	if errors.As(err, &known) && known.Problem != "" {
		return known.Problem, orElse(known.Remedy, mendFirst)
	}
	if problem, remedy = fault.Explain(err); problem == "" {
		problem = err.Error()
	}
	return problem, orElse(remedy, mendFirst)
}

const mendFirst = "Mend what else is reported of this server, then run `oddeven doctor` again."

func orElse(text, other string) string {
	if text == "" {
		return other
	}
	return text
}

// check is one entry of the list. judge gets the facts of the server and those
// of the whole fleet, in which the server itself is one.
type check struct {
	name  string
	judge func(f *facts, fleet []*facts) finding
}

// alone makes a check of one that looks at nothing but the server itself.
func alone(judge func(f *facts) finding) func(*facts, []*facts) finding {
	return func(f *facts, _ []*facts) finding { return judge(f) }
}

// nameReachable is the only check of a server that does not answer.
const nameReachable = "reachable"

// checks are all checks, in the order of the report. The names are stable.
func checks() []check {
	return []check{
		{nameReachable, alone(judgeReachable)},
		{"tls", alone(judgeTLS)},
		{"version", alone(judgeVersion)},
		{"schema", judgeSchema},
		{"tables", alone(judgeTables)},
		{"engine", alone(judgeEngine)},
		{"privileges", alone(judgePrivileges)},
		{"workers", alone(judgeWorkers)},
		{"read-only", alone(judgeReadOnly)},
		{"session", alone(judgeSession)},
		{"increment", alone(judgeIncrement)},
		{"group-replication", alone(judgeGroupReplication)},
		{"galera", alone(judgeGalera)},
		{"binlog-format", alone(judgeBinlogFormat)},
		{"autoinc-lock-mode", alone(judgeAutoincLockMode)},
		{"flush-log", alone(judgeFlushLog)},
		{"sync-binlog", alone(judgeSyncBinlog)},
		{"doublewrite", alone(judgeDoublewrite)},
		{"identity", alone(judgeIdentity)},
		{"generation", judgeGeneration},
		{"fence", alone(judgeFence)},
		{"clock", judgeClock},
		{"drift", judgeDrift},
		{"clock-line", alone(judgeClockLine)},
		{"ceiling", alone(judgeCeiling)},
	}
}

// Names returns the names of all checks, in the order of a report.
func Names() []string {
	all := checks()
	names := make([]string, len(all))
	for i, c := range all {
		names[i] = c.name
	}
	return names
}

// judge returns the checks of one server of the fleet.
func judge(f *facts, fleet []*facts) []Check {
	var done []Check
	for _, c := range checks() {
		found := c.judge(f, fleet)
		done = append(done, Check{Name: c.name, Verdict: found.verdict, Finding: found.text, Remedy: found.remedy})
		if f.err != nil {
			break
		}
	}
	return done
}

func judgeReachable(f *facts) finding {
	if f.err == nil {
		return ok("answers")
	}
	problem, remedy := explain(f.err)
	return bad(remedy, "%s", problem)
}
