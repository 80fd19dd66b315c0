package doctor

// Verdict says how a check turned out.
type Verdict string

// The verdicts, the worst last.
const (
	OK         Verdict = "ok"
	CannotTell Verdict = "cannot tell" // the account may not see it, or something else has to be mended first
	Warning    Verdict = "warning"     // works, but is weaker or slower than it should be
	Bad        Verdict = "bad"         // does not work, or could hand out a number twice
)

// severity orders the verdicts.
func (v Verdict) severity() int {
	switch v {
	case Bad:
		return 3
	case Warning:
		return 2
	case CannotTell:
		return 1
	default:
		return 0
	}
}

// worse is the worse of two verdicts.
func worse(a, b Verdict) Verdict {
	if b.severity() > a.severity() {
		return b
	}
	return a
}

// Check is one thing that was looked at on one server.
type Check struct {
	Name    string  `json:"check"`            // stable, "binlog-format"
	Verdict Verdict `json:"verdict"`          //
	Finding string  `json:"finding"`          // what was found, one sentence or two
	Remedy  string  `json:"remedy,omitempty"` // what to do; empty if the verdict is ok
}

// Server is everything that was looked at on one server.
type Server struct {
	Server  string  `json:"server"`  // host:port/database
	Verdict Verdict `json:"verdict"` // the worst of its checks
	Checks  []Check `json:"checks"`  // in the order of Names; only "reachable" if it does not answer
}

// Count is how many checks of the server have a verdict.
func (s Server) Count(v Verdict) int {
	n := 0
	for _, c := range s.Checks {
		if c.Verdict == v {
			n++
		}
	}
	return n
}

// Report is the result of an examination.
type Report struct {
	Verdict Verdict  `json:"verdict"` // the worst of the servers
	Servers []Server `json:"servers"` // in the order they were given
}

func newServer(label string, checks []Check) Server {
	s := Server{Server: label, Verdict: OK, Checks: checks}
	for _, c := range checks {
		s.Verdict = worse(s.Verdict, c.Verdict)
	}
	return s
}

func newReport(servers []Server) Report {
	r := Report{Verdict: OK, Servers: servers}
	for _, s := range servers {
		r.Verdict = worse(r.Verdict, s.Verdict)
	}
	return r
}
