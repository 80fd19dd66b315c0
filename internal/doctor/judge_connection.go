package doctor

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/oddeven/oddeven/internal/account"
	"github.com/oddeven/oddeven/internal/schema"
)

// How the connection is made, what is at its other end, and what it may do.

func judgeTLS(f *facts) finding {
	switch {
	case f.socket:
		return ok("connected by a socket of this host")
	case f.cipher != "" && !f.verified && !f.loopback:
		return ok("encrypted with %s; the server's certificate is not checked", f.cipher)
	case f.cipher != "":
		return ok("encrypted with %s", f.cipher)
	case f.loopback:
		return ok("not encrypted, but does not leave this host")
	}
	return warning("Add ?tls=true to its DSN, or tls: to its entry in the configuration file, and give the server a certificate.",
		"the connection crosses a network without encryption: it can be read, and numbers in it changed")
}

// Oldest versions that oddeven is tested with.
const (
	oldestMySQL   = 8*100 + 0
	oldestMariaDB = 10*100 + 6
)

var versionNumber = regexp.MustCompile(`^(?:5\.5\.5-)?(\d+)\.(\d+)`)

// lookalikes speak the protocol but are other programs.
var lookalikes = []string{"TiDB", "Vitess", "OceanBase", "SingleStore"}

func judgeVersion(f *facts) finding {
	const remedy = "Use MySQL 8.0 or later, or MariaDB 10.6 or later."
	for _, name := range lookalikes {
		if strings.Contains(f.version+" "+f.comment, name) {
			return warning(remedy, "%s, %s, is not verified: oddeven relies on how InnoDB counts", name, f.version)
		}
	}
	name, oldest := "MySQL", oldestMySQL
	if f.mariaDB() {
		name, oldest = "MariaDB", oldestMariaDB
	}
	found := versionNumber.FindStringSubmatch(f.version)
	if found == nil {
		return warning(remedy, "version %q is not verified", f.version)
	}
	major, _ := strconv.Atoi(found[1]) // digits; one too long for an int gives the largest
	minor, _ := strconv.Atoi(found[2])
	if major*100+min(minor, 99) < oldest {
		return warning(remedy, "%s %s is not verified", name, f.version)
	}
	return ok("%s %s", name, f.version)
}

func judgePrivileges(f *facts) finding {
	var lacking []string
	for _, w := range written {
		if verbs := f.privileges.lacking[w.table]; len(verbs) > 0 {
			lacking = append(lacking, strings.Join(verbs, ", ")+" on "+w.table)
		}
	}
	if verbs := f.privileges.lacking[schema.VersionTable]; len(verbs) > 0 {
		lacking = append(lacking, strings.Join(verbs, ", ")+" on "+schema.VersionTable)
	}
	if len(lacking) > 0 {
		return bad("Run as an administrator: GRANT "+account.AppPrivileges+" ON `"+f.database+"`.* TO the account of its DSN.",
			"the account lacks %s", strings.Join(lacking, "; "))
	}
	if f.privileges.err != nil {
		return unread(f.privileges.err)
	}
	return ok("the account may %s", account.AppPrivileges)
}

// readOnlyVariables make a server refuse the writes of applications, each by itself.
var readOnlyVariables = []string{"super_read_only", "read_only", "innodb_read_only", "transaction_read_only", "tx_read_only"}

func judgeReadOnly(f *facts) finding {
	var on []string
	for _, name := range readOnlyVariables {
		if f.isOn(name) {
			on = append(on, name)
		}
	}
	if len(on) > 0 {
		return bad("Turn it off, or point the DSN at the primary.", "%s is on: the server issues nothing", strings.Join(on, ", "))
	}
	return ok("accepts writes")
}

func judgeSession(f *facts) finding {
	s := f.session
	const proxy = "If a proxy is in between, let it keep each client on one server connection; else connect to the server itself."
	switch {
	case s.err != nil:
		problem, _ := explain(s.err)
		return bad("Let the account set auto_increment_increment, auto_increment_offset, autocommit and the isolation level of its session.",
			"the server refuses what oddeven sets for every session: %s", problem)
	case s.moved:
		return bad(proxy, "two statements of one session reached the server on different connections: insert IDs and session variables get lost")
	case s.have != s.want && f.galera() && f.isOn("wsrep_auto_increment_control"):
		return bad(galeraControlOff, "the session was set to increment %d, offset %d, and Galera set it to %d, %d: no ticket can be drawn",
			s.want.increment, s.want.offset, s.have.increment, s.have.offset)
	case s.have != s.want:
		return bad(proxy, "the session was set to increment %d, offset %d and reads %d, %d: no ticket can be drawn",
			s.want.increment, s.want.offset, s.have.increment, s.have.offset)
	case !s.autocommit:
		return bad(proxy, "autocommit was turned on for the session and is off: no ticket can be drawn")
	}
	return ok("increment %d, offset %d and autocommit can be set for the session and hold", s.want.increment, s.want.offset)
}

func judgeBinlogFormat(f *facts) finding {
	format := strings.ToUpper(f.variable("binlog_format"))
	switch {
	case !f.binlog():
		return ok("no binary log is written")
	case format == "STATEMENT":
		return bad("SET GLOBAL binlog_format = 'ROW', the same in its configuration file, and let clients connect anew.",
			"STATEMENT: oddeven works in READ COMMITTED, which the server refuses in this format (error 1665); nothing can be drawn")
	}
	return ok("%s", format)
}

func judgeAutoincLockMode(f *facts) finding {
	switch mode := f.variable("innodb_autoinc_lock_mode"); mode {
	case "1", "2":
		return ok("%s: rows of one statement get consecutive numbers", mode)
	case "0":
		return warning("Set innodb_autoinc_lock_mode = 2 in its configuration file (1 if its binary log is not row-based) and restart it.",
			"0: every statement locks the whole table of tickets, so callers wait for one another; oddeven is verified with 1 and 2 only")
	case "":
		return cannotTell("Check that the server runs InnoDB.", "the server does not know innodb_autoinc_lock_mode")
	default:
		return warning("Set innodb_autoinc_lock_mode = 2 in its configuration file and restart it.", "%s is not verified", mode)
	}
}
