package doctor

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/ticket"
)

const someNow = int64(1_790_000_000) // in 2026

// well are the facts of a server that lacks nothing: offset of two, a day old.
func well(offset int64) *facts {
	row := schema.Server{
		Offset: offset, Increment: 2, MinClient: 1, Gen: 3, TicketBirth: someNow - 86400, TicketCeiling: schema.CeilingFor(0),
	}
	f := &facts{
		label: fmt.Sprintf("db%d:3306/oddeven", offset), database: "oddeven", cipher: "TLS_AES_256_GCM_SHA384", verified: true,
		version: "9.7.4", comment: "MySQL Community Server - GPL",
		variables: map[string]string{
			"read_only": "OFF", "super_read_only": "OFF", "innodb_read_only": "OFF", "transaction_read_only": "OFF",
			"auto_increment_increment": "1", "auto_increment_offset": "1", "log_bin": "ON", "binlog_format": "ROW", "sync_binlog": "1",
			"innodb_flush_log_at_trx_commit": "1", "innodb_doublewrite": "ON", "innodb_autoinc_lock_mode": "2",
		},
		status: map[string]string{"innodb_redo_log_enabled": "ON"},
		schema: schema.Required, row: &row, tables: map[string]table{},
		session: session{want: increments{2, offset}, have: increments{2, offset}, autocommit: true},
		workers: workers{Rows: 512, Own: 512, want: 512},
		inspection: ticket.Inspection{
			Identity: fmt.Sprintf("%032d", offset), Fleet: "f1ee7", Offset: offset, Increment: 2, Gen: 3, Remembered: 3,
			Now: time.Unix(someNow, 0).UTC(), Top: 2000 + offset,
		},
	}
	for _, name := range schema.Tables() {
		f.tables[name] = table{Name: name, Engine: "InnoDB", Comment: schema.CommentPrefix + "x"}
	}
	f.inspection.Line = row.Class().ID(row.TicketLine().At(someNow))
	return f
}

func TestNothingIsWrongWithAHealthyFleet(t *testing.T) {
	t.Parallel()
	fleet := []*facts{well(1), well(2)}
	for _, f := range fleet {
		for i, c := range judge(f, fleet) {
			require.Equal(t, Names()[i], c.Name)
			require.Equal(t, OK, c.Verdict, "%+v", c)
			require.NotEmpty(t, c.Finding)
			require.Empty(t, c.Remedy)
		}
	}
}

// requireCheck judges the first of the fleet and wants one verdict.
func requireCheck(t *testing.T, fleet []*facts, name string, want Verdict, says string) {
	t.Helper()
	for _, c := range judge(fleet[0], fleet) {
		if c.Name == name {
			require.Equal(t, want, c.Verdict, "%+v", c)
			require.Contains(t, c.Finding, says)
			if want == OK {
				require.Empty(t, c.Remedy)
			} else {
				require.Regexp(t, `\.$`, c.Remedy, "a sentence")
			}
			return
		}
	}
	require.Fail(t, "no such check", name)
}

func TestJudgementsOfOneServer(t *testing.T) {
	t.Parallel()
	set := func(name, value string) func(*facts) { return func(f *facts) { f.variables[name] = value } }
	unset := func(name string) func(*facts) { return func(f *facts) { delete(f.variables, name) } }
	pastLine := func(f *facts) { f.inspection.Top = f.inspection.Line + 2 }
	maria := func(f *facts) { f.version, f.variables["innodb_flush_log_at_trx_commit"] = "10.11.19-MariaDB", "3" }
	grouped := func(state string, size int, single string) func(*facts) {
		return func(f *facts) {
			f.variables["group_replication_group_name"] = "8a94f357"
			f.variables["group_replication_single_primary_mode"] = single
			f.variables["group_replication_auto_increment_increment"] = "7"
			f.group = group{state: state, size: size}
		}
	}
	denied := &mysql.MySQLError{Number: 1142, Message: "denied"}
	tests := []struct {
		name   string
		change func(*facts)
		check  string
		want   Verdict
		says   string
	}{
		{"Refused", func(f *facts) { f.err = syscall.ECONNREFUSED }, "reachable", Bad, "connection refused"},
		{"UnknownError", func(f *facts) { f.err = errors.New("strange") }, "reachable", Bad, "strange"},

		{"NoTLS", func(f *facts) { f.cipher = "" }, "tls", Warning, "without encryption"},
		{"NoTLSOnThisHost", func(f *facts) { f.cipher, f.loopback = "", true }, "tls", OK, "does not leave this host"},
		{"Socket", func(f *facts) { f.cipher, f.socket, f.loopback = "", true, true }, "tls", OK, "socket"},
		{"CertificateNotChecked", func(f *facts) { f.verified = false }, "tls", OK, "certificate is not checked"},

		{"MySQL8", func(f *facts) { f.version = "8.0.0" }, "version", OK, "MySQL 8.0.0"},
		{"MySQL57", func(f *facts) { f.version = "5.7.44-log" }, "version", Warning, "5.7.44-log is not verified"},
		{"MariaDB106", func(f *facts) { f.version = "5.5.5-10.6.1-MariaDB-log" }, "version", OK, "MariaDB"},
		{"MariaDB118", func(f *facts) { f.version = "11.8.6-MariaDB" }, "version", OK, "MariaDB"},
		{"MariaDB105", func(f *facts) { f.version = "10.5.29-MariaDB" }, "version", Warning, "MariaDB 10.5.29-MariaDB is not verified"},
		{"TiDB", func(f *facts) { f.version = "8.0.11-TiDB-v7.5.0" }, "version", Warning, "TiDB"},
		{"Vitess", func(f *facts) { f.comment = "Version: 20.0 (Vitess)" }, "version", Warning, "Vitess"},
		{"NoNumber", func(f *facts) { f.version = "next" }, "version", Warning, `"next"`},

		{"NoSchema", func(f *facts) { f.row, f.rowErr = nil, schema.ErrNoSchema }, "schema", Bad, "no oddeven schema"},
		{"NoSchemaLeavesOthersOpen", func(f *facts) { f.row, f.rowErr = nil, schema.ErrNoSchema }, "ceiling", CannotTell, "no oddeven schema"},
		{"OldSchema", func(f *facts) { f.schema = schema.Required - 1 }, "schema", Bad, "older than the"},
		{"NewClientNeeded", func(f *facts) { f.row.MinClient = 2 }, "schema", Bad, "client protocol 2"},
		{"OffsetAboveIncrement", func(f *facts) { f.row.Offset = 3 }, "schema", Bad, "offset 3 of increment 2"},

		{"TableMissing", func(f *facts) { delete(f.tables, "peers") }, "tables", Bad, "table peers is missing"},
		{"TableNotSeen", func(f *facts) {
			delete(f.tables, "peers")
			f.privileges.lacking = map[string][]string{"peers": {"SELECT"}}
		}, "tables", CannotTell, "may not see table peers"},
		{"TableOfAnother", func(f *facts) { f.tables["server"] = table{Name: "server", Engine: "InnoDB"} }, "tables", Bad, "table server, without the comment"},
		{"TablesNotRead", func(f *facts) { f.tablesErr = denied }, "tables", CannotTell, "missing privilege"},
		{"MyISAM", func(f *facts) {
			f.tables["tickets"] = table{Name: "tickets", Engine: "MyISAM", Comment: schema.CommentPrefix}
		}, "engine", Bad, "tickets is MyISAM"},
		{"View", func(f *facts) { f.tables["peers"] = table{Name: "peers", Comment: "VIEW"} }, "engine", Bad, "peers is a view"},
		{"NoTableSeen", func(f *facts) { f.tables = nil }, "engine", CannotTell, "none of the tables"},

		{"Lacking", func(f *facts) { f.privileges.lacking = map[string][]string{"tickets": {"INSERT", "DELETE"}} }, "privileges", Bad, "INSERT, DELETE on tickets"},
		{"LackingVersions", func(f *facts) { f.privileges.lacking = map[string][]string{schema.VersionTable: {"SELECT"}} }, "privileges", Bad, "SELECT on " + schema.VersionTable},
		{"PrivilegesNotRead", func(f *facts) { f.privileges.err = &mysql.MySQLError{Number: 1290} }, "privileges", CannotTell, "read-only"},

		{"WorkersMissing", func(f *facts) { f.workers.Rows, f.workers.Own = 500, 500 }, "workers", Warning, "12 of the 512"},
		{"NoWorkers", func(f *facts) { f.workers.Rows, f.workers.Own = 0, 0 }, "workers", Bad, "none of the 512"},
		{"WorkersOfAnother", func(f *facts) { f.workers.Rows = 514 }, "workers", Bad, "2 worker numbers belong to other servers"},
		{"WorkersNotRead", func(f *facts) { f.workersErr = denied }, "workers", CannotTell, "missing privilege"},

		{"ReadOnly", set("read_only", "ON"), "read-only", Bad, "read_only is on"},
		{"ReadOnlyAsANumber", set("innodb_read_only", "1"), "read-only", Bad, "innodb_read_only is on"},
		{"ReadOnlyTransactions", set("tx_read_only", "ON"), "read-only", Bad, "tx_read_only is on"},

		{"SessionRefused", func(f *facts) { f.session.err = denied }, "session", Bad, "refuses what oddeven sets"},
		{"SessionMoved", func(f *facts) { f.session.moved = true }, "session", Bad, "different connections"},
		{"SessionLost", func(f *facts) { f.session.have = increments{1, 1} }, "session", Bad, "set to increment 2, offset 1 and reads 1, 1"},
		{"SessionTakenByGalera", func(f *facts) {
			f.session.have = increments{3, 2}
			f.variables["wsrep_on"], f.variables["wsrep_auto_increment_control"] = "ON", "ON"
		}, "session", Bad, "Galera set it to 3, 2"},
		{"NoAutocommit", func(f *facts) { f.session.autocommit = false }, "session", Bad, "autocommit was turned on"},

		{"GlobalIncrement", set("auto_increment_increment", "7"), "increment", OK, "values are 7 and 1"},
		{"IncrementOfTheGroup", grouped("ONLINE", 3, "ON"), "increment", OK, "which Group Replication sets (its increment: 7)"},
		{"NoSuchVariable", unset("auto_increment_increment"), "increment", CannotTell, "does not know"},
		{"GroupOffline", grouped("OFFLINE", 0, "ON"), "group-replication", OK, "does not run"},
		{"Group", grouped("ONLINE", 3, "ON"), "group-replication", Warning, "ONLINE, 3 in the group"},
		{"GroupMultiPrimary", grouped("ONLINE", 3, "OFF"), "group-replication", Bad, "multi-primary"},
		{"GroupWithSingleWriter", func(f *facts) { grouped("ONLINE", 3, "ON")(f); f.row.SingleWriter = true }, "group-replication", OK, "goes on by itself"},
		{"GroupNotSeen", func(f *facts) { grouped("", 0, "ON")(f); f.group.err = denied }, "group-replication", Warning, "cannot tell whether it runs"},
		{"Galera", set("wsrep_on", "ON"), "galera", Warning, "size unknown"},

		{"Statement", set("binlog_format", "STATEMENT"), "binlog-format", Bad, "1665"},
		{"StatementWithoutBinlog", func(f *facts) { f.variables["binlog_format"], f.variables["log_bin"] = "STATEMENT", "OFF" }, "binlog-format", OK, "no binary log"},
		{"LockMode1", set("innodb_autoinc_lock_mode", "1"), "autoinc-lock-mode", OK, "1"},
		{"LockMode0", set("innodb_autoinc_lock_mode", "0"), "autoinc-lock-mode", Warning, "locks the whole table"},
		{"LockMode9", set("innodb_autoinc_lock_mode", "9"), "autoinc-lock-mode", Warning, "9 is not verified"},
		{"NoLockMode", unset("innodb_autoinc_lock_mode"), "autoinc-lock-mode", CannotTell, "does not know"},

		{"FlushedEachSecond", set("innodb_flush_log_at_trx_commit", "0"), "flush-log", Warning, "crash of the server or its host"},
		{"WrittenNotFlushed", set("innodb_flush_log_at_trx_commit", "2"), "flush-log", Warning, "crash of the host"},
		{"ThreeOnMariaDB", maria, "flush-log", OK, "3"},
		{"ThreeOnMySQL", set("innodb_flush_log_at_trx_commit", "3"), "flush-log", CannotTell, "3"},
		{"NotFlushedPastTheLine", func(f *facts) { set("innodb_flush_log_at_trx_commit", "2")(f); pastLine(f) }, "flush-log", Bad, "past their clock line"},
		{"NoRedoLog", func(f *facts) { f.status["innodb_redo_log_enabled"] = "OFF" }, "flush-log", Bad, "redo log is off"},
		{"BinlogNotSynced", set("sync_binlog", "0"), "sync-binlog", Warning, "0, not 1"},
		{"BinlogNotSyncedPastTheLine", func(f *facts) { set("sync_binlog", "100")(f); pastLine(f) }, "sync-binlog", Bad, "100, not 1"},
		{"NoBinlog", func(f *facts) { f.variables["sync_binlog"], f.variables["log_bin"] = "0", "OFF" }, "sync-binlog", OK, "does not matter"},
		{"NoDoublewrite", set("innodb_doublewrite", "OFF"), "doublewrite", Warning, "cannot be repaired"},
		{"DoublewriteDetects", set("innodb_doublewrite", "DETECT_ONLY"), "doublewrite", Warning, "DETECT_ONLY"},
		{"DoublewriteFast", set("innodb_doublewrite", "fast"), "doublewrite", OK, "FAST"},
		{"DoublewriteUnknown", unset("innodb_doublewrite"), "doublewrite", CannotTell, "does not know"},

		{"Foreign", func(f *facts) {
			f.inspection.Verdict = &ticket.ServerError{Problem: "belongs to fleet x", Remedy: "Name one.", Kind: ticket.ErrForeign}
		}, "identity", Bad, "belongs to fleet x"},
		{"ForeignHasNoGeneration", func(f *facts) { f.inspection.Verdict = &ticket.ServerError{Kind: ticket.ErrForeign} }, "generation", CannotTell, "does not belong"},
		{"NotAccepted", func(f *facts) {
			f.inspection.Verdict = &ticket.ServerError{Problem: "is another server", Remedy: "Accept it.", Kind: ticket.ErrNotAccepted}
		}, "generation", Bad, "is another server"},
		{"NotInspected", func(f *facts) { f.inspection.Err = context.DeadlineExceeded }, "generation", CannotTell, "no answer in time"},
		{"NotRemembered", func(f *facts) { f.inspection.Remembered = 2 }, "generation", Warning, "3, but the newest that another server remembers is 2"},
		{"FenceRefused", func(f *facts) {
			f.inspection.Fence = "restarted"
			f.inspection.Verdict = &ticket.ServerError{Problem: "too far behind", Remedy: "Decide.", Kind: ticket.ErrBehind}
		}, "fence", Bad, "too far behind"},
		{"FencePending", func(f *facts) { f.inspection.Fence = "restarted" }, "fence", Warning, "(restarted)"},

		{"PastTheLine", pastLine, "clock-line", Warning, "tickets: used faster"},
		{"SequenceHeldBack", func(f *facts) { f.sequences = []sequence{{Name: "a", Rounds: 7, Ceiling: 2000, Held: true}} }, "drift", Bad, `sequence "a": held back at round 7`},
		{"SequencePastItsLine", func(f *facts) { f.sequences = []sequence{{Name: "a b", Rounds: 900, Birth: someNow, Ceiling: 2000}} }, "clock-line", Warning, `sequence "a b": used`},
		{"SequencesNotRead", func(f *facts) { f.sequencesErr = denied }, "clock-line", CannotTell, "missing privilege"},
		{"NearTheCeiling", func(f *facts) { f.inspection.Top = schema.Ceiling / 100 * 81 }, "ceiling", Warning, "tickets (81.0 %)"},
		{"FarFromTheCeiling", func(f *facts) { f.inspection.Top = schema.Ceiling / 100 * 79 }, "ceiling", OK, "79 %"},
		{"AtTheCeiling", func(f *facts) { f.inspection.Top = f.row.Class().ID(f.row.TicketLine().Last) }, "ceiling", Bad, "tickets: the ceiling is reached"},
		{"SequenceAtItsCeiling", func(f *facts) { f.sequences = []sequence{{Name: "a", Rounds: 999, Ceiling: 2000}} }, "ceiling", Bad, `sequence "a": the ceiling`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := well(1)
			tt.change(f)
			requireCheck(t, []*facts{f, well(2)}, tt.check, tt.want, tt.says)
		})
	}
}

func TestSchemaIsComparedBetweenServers(t *testing.T) {
	t.Parallel()
	one, two := well(1), well(2)
	two.schema++
	requireCheck(t, []*facts{one, two}, "schema", Warning, "db2:3306/oddeven has 6")
	requireCheck(t, []*facts{two, one}, "schema", OK, "version 6")
}

func TestGenerationWithoutPeers(t *testing.T) {
	t.Parallel()
	one, two := well(1), well(2)
	one.inspection.Remembered = 0
	two.err = syscall.ECONNREFUSED
	requireCheck(t, []*facts{one, two}, "generation", OK, "no other server was asked")
}

func TestClocks(t *testing.T) {
	t.Parallel()
	at := func(ahead, slack time.Duration) clock { return clock{ahead: ahead, slack: slack} }
	tests := []struct {
		name   string
		clocks []clock
		want   Verdict
		says   string
	}{
		{"Agree", []clock{at(time.Second, 0), at(-time.Second, 0)}, OK, "by 1s"},
		{"SlowAnswer", []clock{at(7*time.Second, 3*time.Second)}, OK, "from this host's by"},
		{"Ahead", []clock{at(time.Minute, 0), at(0, 0)}, Warning, "1m0s ahead of this host's and 1m0s ahead of that of db2"},
		{"Behind", []clock{at(-time.Minute, 0), at(time.Second, 0)}, Warning, "1m0s behind this host's and 1m1s behind that of db2"},
		{"FarBehind", []clock{at(-2*time.Hour, 0), at(0, 0)}, Bad, "more than the 1h0m0s"},
		{"TheOtherIsWrong", []clock{at(0, 0), at(-2*time.Hour, 0)}, OK, "from this host's by"},
		{"TheHostIsWrong", []clock{at(2*time.Hour, 0), at(2*time.Hour+time.Second, 0)}, Warning, "this host's clock is 2h0m0s behind theirs"},
		{"TheHostIsWrongTheOtherWay", []clock{at(-2*time.Hour, 0), at(-2*time.Hour, 0)}, Warning, "this host's clock is 2h0m0s ahead of theirs"},
		{"AloneAndFar", []clock{at(2*time.Hour, 0)}, Bad, "more than the 1h0m0s"},
		{"AllDiffer", []clock{at(time.Minute, 0), at(2*time.Hour, 0)}, Bad, "1h59m0s behind that of db2"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var fleet []*facts
			for i, c := range tt.clocks {
				f := well(int64(i + 1))
				f.clock = c
				fleet = append(fleet, f)
			}
			requireCheck(t, fleet, "clock", tt.want, tt.says)
		})
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	line := well(1).row.TicketLine()
	drift := line.MaxDrift()
	tests := []struct {
		name       string
		one, two   int64   // rounds
		want       Verdict // of one
		wantSecond Verdict
	}{
		{"Level", 1000, 1000, OK, OK},
		{"Ahead", 1000 + manyRounds, 1000, OK, OK},
		{"Behind", 1000, 1001 + manyRounds, Warning, OK},
		{"AtTheReach", line.At(someNow) + 5_000_000, line.At(someNow) + 5_000_000 + drift, Warning, OK},
		{"BeyondTheReach", line.At(someNow) + 5_000_001 + drift, line.At(someNow) + 5_000_000, Bad, OK},
		{"OnTheLine", line.At(someNow), 0, OK, Warning},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			one, two := well(1), well(2)
			one.inspection.Top, two.inspection.Top = one.row.Class().ID(tt.one), two.row.Class().ID(tt.two)
			requireCheck(t, []*facts{one, two}, "drift", tt.want, "")
			requireCheck(t, []*facts{two, one}, "drift", tt.wantSecond, "")
		})
	}
}

func TestDriftOfSequences(t *testing.T) {
	t.Parallel()
	one, two := well(1), well(2)
	s := sequence{Name: "orders", Rounds: 10, Birth: someNow, Ceiling: schema.CeilingFor(0)}
	one.sequences = []sequence{{Name: "only here", Rounds: 1 << 50, Ceiling: schema.CeilingFor(0)}, s}
	s.Rounds = 1 << 50
	two.sequences = []sequence{s}
	requireCheck(t, []*facts{one, two}, "drift", OK, "level")
	requireCheck(t, []*facts{two, one}, "drift", Bad, `sequence "orders": round 1125899906842624, but db1:3306/oddeven stands at 10`)
	two.sequences[0].Rounds = 1_000_000
	requireCheck(t, []*facts{one, two}, "drift", Warning, `sequence "orders": 999990 rounds behind db2:3306/oddeven`)
}

func TestReportIsAsBadAsItsWorstCheck(t *testing.T) {
	t.Parallel()
	one := newServer("a", []Check{{Verdict: OK}, {Verdict: CannotTell}})
	two := newServer("b", []Check{{Verdict: Bad}, {Verdict: Warning}, {Verdict: OK}, {Verdict: OK}})
	require.Equal(t, CannotTell, one.Verdict)
	require.Equal(t, Bad, two.Verdict)
	require.Equal(t, Bad, newReport([]Server{two, one}).Verdict)
	require.Equal(t, CannotTell, newReport([]Server{one}).Verdict)
	require.Equal(t, OK, newReport(nil).Verdict)
	require.Equal(t, 2, two.Count(OK))
	require.Equal(t, 1, two.Count(Bad))
	require.Zero(t, two.Count(CannotTell))
}

func TestExamineNeedsServers(t *testing.T) {
	t.Parallel()
	var config *ticket.ConfigError
	_, err := Examine(t.Context(), nil, Config{})
	require.ErrorAs(t, err, &config)
	_, err = Examine(t.Context(), []*mysql.Config{nil}, Config{})
	require.ErrorAs(t, err, &config)
}

func TestRoute(t *testing.T) {
	t.Parallel()
	tests := []struct {
		network, addr    string
		socket, loopback bool
	}{
		{"unix", "/run/mysqld.sock", true, true},
		{"tcp", "127.0.0.1:3306", false, true},
		{"tcp", "127.8.9.10:3306", false, true},
		{"tcp", "[::1]:3306", false, true},
		{"tcp", "[::ffff:127.0.0.1]:3306", false, true},
		{"tcp", "localhost:3306", false, true},
		{"tcp", "192.0.2.1:3306", false, false},
		{"tcp", "[2001:db8::1]:3306", false, false},
	}
	for _, tt := range tests {
		socket, loopback := route(t.Context(), &mysql.Config{Net: tt.network, Addr: tt.addr})
		require.Equal(t, tt.socket, socket, tt.addr)
		require.Equal(t, tt.loopback, loopback, tt.addr)
	}
}
