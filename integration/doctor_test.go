package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/integration/testfleet"
	"github.com/oddeven/oddeven/internal/doctor"
	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/ticket"
)

// patients returns servers that are a fleet.
func patients(t testing.TB, n int, opts ...testfleet.Option) *testfleet.Fleet {
	t.Helper()
	fleet := testfleet.New(t, n, opts...)
	makeFleet(t, fleet)
	return fleet
}

func makeFleet(t testing.TB, fleet *testfleet.Fleet) {
	t.Helper()
	var servers []*mysql.Config
	for _, s := range fleet.Servers {
		cfg, err := mysql.ParseDSN(s.MigrateDSN())
		require.NoError(t, err)
		servers = append(servers, cfg)
	}
	_, err := migrations.Up(t.Context(), migrations.Config{Servers: servers, Settings: migrations.Settings{Increment: int64(max(2, len(servers))), LongestLease: time.Second}})
	require.NoError(t, err)
}

func configs(fleet *testfleet.Fleet) []*mysql.Config {
	var servers []*mysql.Config
	for _, s := range fleet.Servers {
		servers = append(servers, s.Config())
	}
	return servers
}

// drawFrom draws one ticket from each server, fencing those that need it.
func drawFrom(t testing.TB, fleet *testfleet.Fleet) {
	t.Helper()
	for _, s := range fleet.Servers {
		tickets, err := ticket.Open(t.Context(), ticket.Config{Servers: []*mysql.Config{s.Config()}})
		require.NoError(t, err)
		_, err = tickets.Next(t.Context())
		require.NoError(t, err)
		require.NoError(t, tickets.Close())
	}
}

func asRoot(t testing.TB, s *testfleet.Server, query string, args ...any) {
	t.Helper()
	_, err := s.DB().ExecContext(t.Context(), query, args...)
	require.NoError(t, err)
}

func writesBinlog(t testing.TB, s *testfleet.Server) (on bool) {
	t.Helper()
	require.NoError(t, s.DB().QueryRowContext(t.Context(), "SELECT @@GLOBAL.log_bin").Scan(&on))
	return on
}

// examine runs the doctor, which must never show a password.
func examine(t testing.TB, servers ...*mysql.Config) doctor.Report {
	t.Helper()
	report, err := doctor.Examine(t.Context(), servers, doctor.Config{Timeout: 10 * time.Second})
	require.NoError(t, err)
	require.Len(t, report.Servers, len(servers))
	text, err := json.Marshal(report)
	require.NoError(t, err)
	for _, secret := range testfleet.Secrets() {
		require.False(t, strings.Contains(string(text), secret), "a password is in the report")
	}
	return report
}

func examineAll(t testing.TB, fleet *testfleet.Fleet) doctor.Report {
	t.Helper()
	return examine(t, configs(fleet)...)
}

// diagnosis is the check of that name on server i.
func diagnosis(t testing.TB, r doctor.Report, i int, name string) doctor.Check {
	t.Helper()
	for _, c := range r.Servers[i].Checks {
		if c.Name == name {
			return c
		}
	}
	require.FailNow(t, "no such check", name)
	return doctor.Check{}
}

// requireDiagnosis wants a verdict and a part of the finding.
func requireDiagnosis(t testing.TB, r doctor.Report, i int, name string, want doctor.Verdict, says string) {
	t.Helper()
	c := diagnosis(t, r, i, name)
	require.Equal(t, want, c.Verdict, "%+v", c)
	require.Contains(t, c.Finding, says)
	require.Equal(t, want == doctor.OK, c.Remedy == "", "%+v", c)
	require.GreaterOrEqual(t, severity[r.Verdict], severity[want])
}

var severity = map[doctor.Verdict]int{doctor.OK: 0, doctor.CannotTell: 1, doctor.Warning: 2, doctor.Bad: 3}

// requireOnly wants every check but these to be ok, on every server.
func requireHealthyBut(t testing.TB, r doctor.Report, names ...string) {
	t.Helper()
	for _, s := range r.Servers {
		for _, c := range s.Checks {
			if c.Verdict != doctor.OK {
				require.Contains(t, names, c.Name, "%s: %+v", s.Server, c)
			}
		}
	}
}

func TestDoctorOfAHealthyFleet(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 2)
	report := examineAll(t, fleet)
	requireHealthyBut(t, report)
	require.Equal(t, doctor.OK, report.Verdict)
	for i, s := range report.Servers {
		require.Equal(t, fleet.Servers[i].Addr()+"/"+fleet.Database, s.Server)
		require.Len(t, s.Checks, len(doctor.Names()))
		for n, c := range s.Checks {
			require.Equal(t, doctor.Names()[n], c.Name)
			require.NotEmpty(t, c.Finding, c.Name)
		}
	}
	requireDiagnosis(t, report, 0, "version", doctor.OK, fleet.Servers[0].Version())

	drawFrom(t, fleet)
	requireHealthyBut(t, examineAll(t, fleet))
}

// The doctor examines and leaves no trace.
func TestDoctorChangesNothing(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 1)
	s := fleet.Servers[0]
	tables := []string{"server", "peers", "tickets", "sequences", "workers", schema.VersionTable}
	sums := func() (all []string) {
		for _, table := range tables {
			var name, sum string
			require.NoError(t, s.DB().QueryRowContext(t.Context(), "CHECKSUM TABLE `"+table+"`").Scan(&name, &sum))
			all = append(all, sum)
		}
		var name, definition string
		require.NoError(t, s.DB().QueryRowContext(t.Context(), "SHOW CREATE TABLE tickets").Scan(&name, &definition))
		return append(all, definition)
	}
	before := sums()
	examineAll(t, fleet)
	require.Equal(t, before, sums())
}

// Global variables, each set on a running server and back again.
func TestDoctorOfSettings(t *testing.T) {
	fleet := patients(t, 2)
	s := fleet.Servers[1]
	binlog := writesBinlog(t, s)
	tests := []struct {
		variable string
		is, was  any
		check    string
		want     doctor.Verdict
		says     string
		when     bool
	}{
		{"innodb_flush_log_at_trx_commit", 2, 1, "flush-log", doctor.Warning, "2: a crash of the host loses the last second", true},
		{"innodb_flush_log_at_trx_commit", 0, 1, "flush-log", doctor.Warning, "0: a crash of the server or its host", true},
		{"sync_binlog", 0, 1, "sync-binlog", doctor.Warning, "0, not 1", binlog},
		{"sync_binlog", 0, 1, "sync-binlog", doctor.OK, "no binary log", !binlog},
		{"binlog_format", "STATEMENT", "ROW", "binlog-format", doctor.Bad, "error 1665", binlog},
		{"binlog_format", "MIXED", "ROW", "binlog-format", doctor.OK, "MIXED", binlog},
		{"read_only", true, false, "read-only", doctor.Bad, "read_only is on", true},
		{"super_read_only", true, false, "read-only", doctor.Bad, "super_read_only, read_only is on", s.Flavor() == testfleet.MySQL},
		{"autocommit", false, true, "session", doctor.OK, "hold", true},
		{"auto_increment_increment", 7, 1, "increment", doctor.OK, "global values are 7 and 1", true},
		// What the account's sessions see is what fences and leases work with.
		{"init_connect", "SET timestamp = UNIX_TIMESTAMP() + 60", "", "clock", doctor.Warning, "ahead of this host's and", true},
		{"init_connect", "SET timestamp = UNIX_TIMESTAMP() - 60", "", "clock", doctor.Warning, "behind this host's and", true},
		{"init_connect", "SET timestamp = UNIX_TIMESTAMP() + 7200", "", "clock", doctor.Bad, "more than the 1h0m0s", true},
	}
	for _, tt := range tests {
		if !tt.when {
			continue
		}
		s.SetGlobal(tt.variable, tt.is)
		report := examineAll(t, fleet)
		requireDiagnosis(t, report, 1, tt.check, tt.want, tt.says)
		requireDiagnosis(t, report, 0, tt.check, doctor.OK, "")
		s.SetGlobal(tt.variable, tt.was)
		if tt.variable == "read_only" && s.Flavor() == testfleet.MySQL {
			s.SetGlobal("super_read_only", false)
		}
		if tt.variable == "super_read_only" {
			s.SetGlobal("read_only", false)
		}
	}
	requireHealthyBut(t, examineAll(t, fleet))
}

// All servers agree, so it is this host's clock that is wrong.
func TestDoctorOfTheHostsOwnClock(t *testing.T) {
	fleet := patients(t, 2)
	for _, s := range fleet.Servers {
		s.SetGlobal("init_connect", "SET timestamp = UNIX_TIMESTAMP() + 7200")
	}
	report := examineAll(t, fleet)
	for i := range fleet.Servers {
		requireDiagnosis(t, report, i, "clock", doctor.Warning, "all servers agree, but this host's clock is")
	}
}

// Options that only a restart can change.
func TestDoctorOfServerOptions(t *testing.T) {
	t.Parallel()
	fleet := testfleet.New(t, 1, testfleet.ServerOptions(
		"--innodb-doublewrite=0", "--innodb-autoinc-lock-mode=0", "--log-bin=binlog", "--binlog-format=ROW", "--sync-binlog=0"))
	makeFleet(t, fleet) // which STATEMENT would not let us
	fleet.Servers[0].SetGlobal("binlog_format", "STATEMENT")
	report := examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "doublewrite", doctor.Warning, "cannot be repaired")
	requireDiagnosis(t, report, 0, "autoinc-lock-mode", doctor.Warning, "0: every statement locks the whole table")
	requireDiagnosis(t, report, 0, "binlog-format", doctor.Bad, "error 1665")
	requireDiagnosis(t, report, 0, "sync-binlog", doctor.Warning, "0, not 1: after a crash of the host")
	requireHealthyBut(t, report, "doublewrite", "autoinc-lock-mode", "binlog-format", "sync-binlog")
}

// Each case spoils a fleet of one in a way of its own.
func TestDoctorOfSchema(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil []string
		check string
		want  doctor.Verdict
		says  string
	}{
		{"OldVersion", []string{"DELETE FROM oddeven_migrations WHERE version_id = 5"}, "schema", doctor.Bad, "version 4 is older than the 5"},
		{"MinClient", []string{"UPDATE server SET min_client = 99"}, "schema", doctor.Bad, "asks for client protocol 99"},
		{"RowChangedByHand", []string{"UPDATE server SET server_offset = 3"}, "schema", doctor.Bad, "offset 3 of increment 2"},
		{"NoRow", []string{"DELETE FROM server"}, "schema", doctor.Bad, "belongs to no fleet yet"},
		{"NoServerTable", []string{"DROP TABLE server"}, "tables", doctor.Bad, "table server is missing"},
		{"NoTickets", []string{"DROP TABLE tickets"}, "tables", doctor.Bad, "table tickets is missing"},
		{"NoWorkersAndSequences", []string{"DROP TABLE workers, sequences"}, "tables", doctor.Bad, "tables sequences, workers are missing"},
		{"SomebodyElsesTable", []string{"ALTER TABLE peers COMMENT = 'mine'"}, "tables", doctor.Bad, "table peers, without the comment of oddeven, belongs to somebody else"},
		{"MyISAM", []string{"ALTER TABLE tickets ENGINE = MyISAM"}, "engine", doctor.Bad, "tickets is MyISAM"},
		{"WorkerRowMissing", []string{"DELETE FROM workers ORDER BY number LIMIT 3"}, "workers", doctor.Warning, "3 of the"},
		{"WorkerRowsMissing", []string{"DELETE FROM workers"}, "workers", doctor.Bad, "none of the"},
		{"WorkerOfAnother", []string{"UPDATE workers SET number = 2 WHERE number = 1"}, "workers", doctor.Bad, "1 worker numbers belong to other servers"},
		// The server takes 65535 at most.
		{"SessionDoesNotHold", []string{"UPDATE server SET increment = 70000"}, "session", doctor.Bad, "set to increment 70000, offset 1 and reads 65535, 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fleet := patients(t, 1)
			for _, query := range tt.spoil {
				asRoot(t, fleet.Servers[0], query)
			}
			requireDiagnosis(t, examineAll(t, fleet), 0, tt.check, tt.want, tt.says)
		})
	}
}

func TestDoctorBeforeMigrateUp(t *testing.T) {
	t.Parallel()
	report := examineAll(t, testfleet.New(t, 1))
	requireDiagnosis(t, report, 0, "schema", doctor.Bad, "has no oddeven schema")
	requireDiagnosis(t, report, 0, "identity", doctor.CannotTell, "has no oddeven schema")
	requireDiagnosis(t, report, 0, "session", doctor.OK, "hold")
}

func TestDoctorOfPrivileges(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 1)
	s := fleet.Servers[0]
	user := s.Config().User
	grant := func(format string) { asRoot(t, s, fmt.Sprintf(format, fleet.Database, user)) }

	grant("REVOKE INSERT, DELETE ON `%s`.* FROM '%s'@'%%'")
	report := examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "privileges", doctor.Bad, "the account lacks INSERT, DELETE on server; INSERT, DELETE on peers;")
	require.Contains(t, diagnosis(t, report, 0, "privileges").Remedy, "GRANT SELECT, INSERT, UPDATE, DELETE ON `"+fleet.Database+"`.*")
	requireHealthyBut(t, report, "privileges")

	// Nothing but one table: the rest can't even be seen.
	grant("REVOKE ALL PRIVILEGES ON `%s`.* FROM '%s'@'%%'")
	grant("GRANT UPDATE ON `%s`.`server` TO '%s'@'%%'")
	report = examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "privileges", doctor.Bad, "SELECT, INSERT, DELETE on server; SELECT, INSERT, UPDATE, DELETE on peers")
	requireDiagnosis(t, report, 0, "tables", doctor.CannotTell, "the account may not see")
	requireDiagnosis(t, report, 0, "schema", doctor.Bad, "missing privilege")

	// Privileges count wherever they come from.
	for _, table := range schema.Tables() {
		grant("GRANT SELECT, INSERT, UPDATE, DELETE ON `%s`.`" + table + "` TO '%s'@'%%'")
	}
	requireHealthyBut(t, examineAll(t, fleet))
	for _, table := range schema.Tables() {
		grant("REVOKE ALL PRIVILEGES ON `%s`.`" + table + "` FROM '%s'@'%%'")
	}
	report = examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "reachable", doctor.Bad, "missing privilege")
}

func TestDoctorCountsPrivilegesOfRoles(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 1, testfleet.Private())
	s := fleet.Servers[0]
	user := s.Config().User
	asRoot(t, s, fmt.Sprintf("REVOKE ALL PRIVILEGES ON `%s`.* FROM '%s'@'%%'", fleet.Database, user))
	asRoot(t, s, "CREATE ROLE tickets")
	asRoot(t, s, fmt.Sprintf("GRANT SELECT, INSERT, UPDATE, DELETE ON `%s`.* TO tickets", fleet.Database))
	asRoot(t, s, fmt.Sprintf("GRANT tickets TO '%s'@'%%'", user))
	if s.Flavor() == testfleet.MySQL {
		asRoot(t, s, fmt.Sprintf("SET DEFAULT ROLE tickets TO '%s'@'%%'", user))
	} else {
		asRoot(t, s, fmt.Sprintf("SET DEFAULT ROLE tickets FOR '%s'@'%%'", user))
	}
	requireHealthyBut(t, examineAll(t, fleet))
}

func TestDoctorOfIdentity(t *testing.T) {
	t.Parallel()
	one, two := patients(t, 2), patients(t, 2)

	report := examine(t, one.Servers[0].Config(), two.Servers[1].Config())
	requireDiagnosis(t, report, 0, "identity", doctor.OK, "offset 1 of 2")
	requireDiagnosis(t, report, 1, "identity", doctor.Bad, "belongs to fleet")
	requireDiagnosis(t, report, 1, "generation", doctor.CannotTell, "does not belong to the fleet")

	direct, err := mysql.ParseDSN(one.Servers[0].DirectDSN())
	require.NoError(t, err)
	report = examine(t, one.Servers[0].Config(), direct)
	requireDiagnosis(t, report, 1, "identity", doctor.Bad, "is the same server as "+one.Servers[0].Addr())

	asRoot(t, one.Servers[1], "UPDATE server SET server_offset = 1")
	requireDiagnosis(t, examineAll(t, one), 1, "identity", doctor.Bad, "has offset 1, which")
}

func TestDoctorOfGenerations(t *testing.T) {
	t.Parallel()
	t.Run("AnotherServerInItsPlace", func(t *testing.T) {
		t.Parallel()
		fleet := patients(t, 2)
		asRoot(t, fleet.Servers[0], "UPDATE server SET server_uuid = 'another'")
		requireDiagnosis(t, examineAll(t, fleet), 0, "generation", doctor.Bad, "in the place of the one known (another)")
	})
	t.Run("SecondCopy", func(t *testing.T) {
		t.Parallel()
		fleet := patients(t, 2)
		asRoot(t, fleet.Servers[1], "UPDATE peers SET gen = gen + 1, started_at = started_at + 100")
		report := examineAll(t, fleet)
		requireDiagnosis(t, report, 0, "generation", doctor.Bad, "but a later start")
		require.Contains(t, diagnosis(t, report, 0, "generation").Remedy, "oddeven fleet accept")
	})
	t.Run("PeerRemembersANewerOne", func(t *testing.T) {
		t.Parallel()
		fleet := patients(t, 2)
		asRoot(t, fleet.Servers[1], "UPDATE peers SET gen = gen + 1")
		report := examineAll(t, fleet)
		requireDiagnosis(t, report, 0, "fence", doctor.Warning, "a peer remembers generation")
		requireHealthyBut(t, report, "fence")
	})
	t.Run("PeerRemembersNothing", func(t *testing.T) {
		t.Parallel()
		fleet := patients(t, 2)
		asRoot(t, fleet.Servers[1], "DELETE FROM peers")
		asRoot(t, fleet.Servers[0], "UPDATE server SET gen = gen + 1")
		report := examineAll(t, fleet)
		requireDiagnosis(t, report, 0, "generation", doctor.Warning, "the newest that another server remembers is 0")
		requireHealthyBut(t, report, "generation")
	})
}

// A server that is down is one bad line, and the others are examined; when it
// is back it waits for its fence.
func TestDoctorOfADeadAndARestartedServer(t *testing.T) {
	fleet := patients(t, 2)
	drawFrom(t, fleet) // no server is used in the second of its start, in which another start could not be told from it
	fleet.Servers[0].Kill()
	report := examineAll(t, fleet)
	require.Len(t, report.Servers[0].Checks, 1)
	requireDiagnosis(t, report, 0, "reachable", doctor.Bad, "connection refused")
	require.Equal(t, doctor.OK, report.Servers[1].Verdict, "%+v", report.Servers[1])
	requireDiagnosis(t, report, 1, "generation", doctor.OK, "no other server was asked")

	fleet.Servers[0].Start()
	report = examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "fence", doctor.Warning, "the next client will fence it (restarted)")
	requireHealthyBut(t, report, "fence")

	drawFrom(t, fleet)
	requireDiagnosis(t, examineAll(t, fleet), 0, "fence", doctor.OK, "the last one was at")
}

func TestDoctorOfAServerThatDoesNotAnswer(t *testing.T) {
	fleet := patients(t, 2)
	fleet.Servers[1].Pause()
	report, err := doctor.Examine(t.Context(), configs(fleet), doctor.Config{Timeout: 2 * time.Second})
	require.NoError(t, err)
	requireDiagnosis(t, report, 1, "reachable", doctor.Bad, "no answer in time")
	require.Equal(t, doctor.OK, report.Servers[0].Verdict, "%+v", report.Servers[0])
}

func TestDoctorOfAWrongPassword(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 1)
	cfg := fleet.Servers[0].Config()
	cfg.Passwd = "hunter2-is-wrong"
	report := examine(t, cfg)
	requireDiagnosis(t, report, 0, "reachable", doctor.Bad, "access denied")
	require.NotContains(t, fmt.Sprintf("%+v", report), "hunter2")
}

func TestDoctorOfDrift(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 2)
	one := fleet.Servers[0]
	asRoot(t, one, "REPLACE INTO tickets (stub, id) VALUES (0, 1000001)")
	report := examineAll(t, fleet)
	requireDiagnosis(t, report, 1, "drift", doctor.Warning, "tickets: 500001 rounds behind "+one.Addr())
	requireDiagnosis(t, report, 0, "drift", doctor.OK, "level")
	requireHealthyBut(t, report, "drift")

	asRoot(t, one, "REPLACE INTO tickets (stub, id) VALUES (0, 4503599627370497)") // 2^52+1, half of the space
	report = examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "drift", doctor.Bad, "tickets: round 2251799813685248, but "+fleet.Servers[1].Addr())
	requireDiagnosis(t, report, 1, "drift", doctor.OK, "level")
}

const insertSequence = "INSERT INTO sequences (name, rounds, gen, base, birth, ceiling, description, hour, hour_round, peak, refills, step, refilled_by, created_at) " +
	"VALUES ('orders', ?, 1, 0, UNIX_TIMESTAMP(), ?, '', 0, 0, 0, 0, 0, '', UTC_TIMESTAMP(6))"

func TestDoctorOfDriftingSequences(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 2)
	const ceiling = int64(1)<<53 - 1
	asRoot(t, fleet.Servers[0], insertSequence, 500_000, ceiling)
	asRoot(t, fleet.Servers[1], insertSequence, 1_000, ceiling)
	requireDiagnosis(t, examineAll(t, fleet), 1, "drift", doctor.Warning, `sequence "orders": 499000 rounds behind `+fleet.Servers[0].Addr())
	asRoot(t, fleet.Servers[1], "UPDATE sequences SET rounds = 1 << 50")
	requireDiagnosis(t, examineAll(t, fleet), 1, "drift", doctor.Bad, `sequence "orders": round 1125899906842624`)
	asRoot(t, fleet.Servers[1], "UPDATE sequences SET rounds = 18446744073709551615") // no int64
	requireDiagnosis(t, examineAll(t, fleet), 1, "drift", doctor.Bad, `sequence "orders": round 2305843009213693951`)
}

func TestDoctorOfCeilingAndClockLine(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 1)
	s := fleet.Servers[0]
	asRoot(t, s, "REPLACE INTO tickets (stub, id) VALUES (0, 801)")
	asRoot(t, s, "UPDATE server SET ticket_ceiling = 1000")
	report := examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "ceiling", doctor.Warning, "tickets (80.2 %)")
	requireDiagnosis(t, report, 0, "clock-line", doctor.Warning, "tickets: used faster")
	requireHealthyBut(t, report, "ceiling", "clock-line")

	asRoot(t, s, "REPLACE INTO tickets (stub, id) VALUES (0, 999)")
	requireDiagnosis(t, examineAll(t, fleet), 0, "ceiling", doctor.Bad, "tickets: the ceiling is reached")

	asRoot(t, s, "UPDATE server SET ticket_ceiling = (1 << 53) - 1")
	asRoot(t, s, insertSequence, 900, 2000)
	report = examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "ceiling", doctor.Warning, `sequence "orders" (90.1 %)`)
	requireDiagnosis(t, report, 0, "clock-line", doctor.Warning, `sequence "orders": used faster`)
}

// Past the clock line a lost second can't be leapt over for sure.
func TestDoctorOfWeakDurabilityPastTheClockLine(t *testing.T) {
	fleet := patients(t, 1)
	s := fleet.Servers[0]
	asRoot(t, s, insertSequence, 900, 2000)
	s.SetGlobal("innodb_flush_log_at_trx_commit", 2)
	requireDiagnosis(t, examineAll(t, fleet), 0, "flush-log", doctor.Bad, "past their clock line")
}

// The address is of a network; what answers there is a server of the test.
func TestDoctorOfTLS(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 1)
	s := fleet.Servers[0]
	cfg := s.Config()
	cfg.Addr = "192.0.2.1:3306" // of TEST-NET-1
	cfg.DialFunc = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, s.Addr())
	}
	report := examine(t, cfg)
	requireDiagnosis(t, report, 0, "tls", doctor.Warning, "without encryption")
	requireHealthyBut(t, report, "tls")
	if s.Flavor() == testfleet.MySQL { // it makes a certificate of its own
		cfg.TLSConfig = "skip-verify"
		encrypted, err := mysql.ParseDSN(cfg.FormatDSN())
		require.NoError(t, err)
		encrypted.DialFunc = cfg.DialFunc
		requireDiagnosis(t, examine(t, encrypted), 0, "tls", doctor.OK, "the server's certificate is not checked")
	}
}

func TestDoctorOfTheRedoLog(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 1, testfleet.Versions("mysql"), testfleet.Private())
	asRoot(t, fleet.Servers[0], "ALTER INSTANCE DISABLE INNODB REDO_LOG")
	requireDiagnosis(t, examineAll(t, fleet), 0, "flush-log", doctor.Bad, "the redo log is off")
	asRoot(t, fleet.Servers[0], "ALTER INSTANCE ENABLE INNODB REDO_LOG")
	requireHealthyBut(t, examineAll(t, fleet))
}

// A real group of one member.
func TestDoctorOfGroupReplication(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 1, testfleet.Versions("mysql"), testfleet.ServerOptions(
		"--server-id=7", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--log-bin=binlog", "--plugin-load-add=group_replication.so",
		"--loose-group-replication-group-name=8a94f357-aab4-11df-86ab-c80aa9429562", "--loose-group-replication-local-address=127.0.0.1:33061",
		"--loose-group-replication-bootstrap-group=ON", "--loose-group-replication-start-on-boot=OFF"))
	s := fleet.Servers[0]
	report := examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "group-replication", doctor.Warning, "cannot tell whether it runs")
	requireDiagnosis(t, report, 0, "increment", doctor.OK, "which Group Replication sets (its increment: 7)")
	requireHealthyBut(t, report, "group-replication")

	asRoot(t, s, "GRANT SELECT ON performance_schema.replication_group_members TO '"+s.Config().User+"'@'%'")
	requireDiagnosis(t, examineAll(t, fleet), 0, "group-replication", doctor.OK, "does not run")

	asRoot(t, s, "START GROUP_REPLICATION")
	report = examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "group-replication", doctor.Warning, "this member is ONLINE, 1 in the group")
	requireHealthyBut(t, report, "group-replication")

	asRoot(t, s, "UPDATE server SET single_writer = 1")
	requireDiagnosis(t, examineAll(t, fleet), 0, "group-replication", doctor.OK, "goes on by itself")

	asRoot(t, s, "SELECT group_replication_switch_to_multi_primary_mode()")
	report = examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "group-replication", doctor.Bad, "multi-primary mode")
	requireDiagnosis(t, report, 0, "increment", doctor.OK, "global values are 7 and 7")
	requireDiagnosis(t, report, 0, "session", doctor.OK, "hold")
}

// A real cluster of one node.
func TestDoctorOfGalera(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 1, testfleet.Versions("mariadb"), testfleet.ServerOptions(
		"--wsrep-on=ON", "--wsrep-provider=/usr/lib/galera/libgalera_smm.so", "--wsrep-cluster-address=gcomm://", "--wsrep-node-address=127.0.0.1",
		"--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:0", "--binlog-format=ROW"))
	report := examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "galera", doctor.Warning, "a node of a Galera cluster (size 1)")
	requireDiagnosis(t, report, 0, "session", doctor.Bad, "and Galera set it to 1, 1")
	requireDiagnosis(t, report, 0, "increment", doctor.Bad, "no ticket can be drawn")
	requireHealthyBut(t, report, "galera", "session", "increment")

	fleet.Servers[0].SetGlobal("wsrep_auto_increment_control", false)
	report = examineAll(t, fleet)
	requireDiagnosis(t, report, 0, "session", doctor.OK, "hold")
	requireHealthyBut(t, report, "galera")
}

// The command itself: exit code, table, JSON.
func TestDoctorCommand(t *testing.T) {
	t.Parallel()
	fleet := patients(t, 2)
	env := []string{"ODDEVEN_SERVERS=" + strings.Join(fleet.DSNs(), " ")}

	stdout, stderr, code := runProgram(t, env, "doctor", "--quiet")
	require.Zero(t, code, stderr)
	require.Empty(t, stderr)
	require.Contains(t, stdout, fmt.Sprintf("%s: ok (%d ok)\n", fleet.Servers[0].Addr()+"/"+fleet.Database, len(doctor.Names())))
	stdout, _, code = runProgram(t, env, "doctor", "--verbose")
	require.Zero(t, code)
	require.Contains(t, stdout, "  ok  ceiling ")

	asRoot(t, fleet.Servers[1], "ALTER TABLE tickets ENGINE = MyISAM")
	stdout, stderr, code = runProgram(t, env, "doctor", "--quiet")
	require.Equal(t, 1, code)
	require.Equal(t, "oddeven: at least one check is bad\n", stderr)
	require.Contains(t, stdout, "  BAD  engine\n      tickets is MyISAM")

	stdout, _, code = runProgram(t, env, "doctor", "-o", "json")
	require.Equal(t, 1, code)
	var report doctor.Report
	require.NoError(t, json.Unmarshal([]byte(stdout), &report))
	requireDiagnosis(t, report, 1, "engine", doctor.Bad, "tickets is MyISAM")
}
