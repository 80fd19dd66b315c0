package doctor

// Every statement only reads, is allowed to every account (those on our tables
// with the privileges of an application), and takes no lock.
const (
	// Names that the server does not know are missing from the result.
	queryVariables = "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'super_read_only', 'innodb_read_only', 'transaction_read_only', 'tx_read_only', " +
		"'auto_increment_increment', 'auto_increment_offset', 'log_bin', 'binlog_format', 'sync_binlog', " +
		"'innodb_flush_log_at_trx_commit', 'innodb_doublewrite', 'innodb_autoinc_lock_mode', " +
		"'group_replication_group_name', 'group_replication_single_primary_mode', 'group_replication_auto_increment_increment', " +
		"'wsrep_on', 'wsrep_provider', 'wsrep_auto_increment_control')"
	queryStatus  = "SHOW GLOBAL STATUS WHERE Variable_name IN ('Innodb_redo_log_enabled', 'wsrep_cluster_size', 'wsrep_cluster_status')"
	queryCipher  = "SHOW SESSION STATUS LIKE 'Ssl_cipher'"
	queryVersion = "SELECT VERSION() AS version, @@version_comment AS comment"
	// Time as the fence and the leases take it: from the session's clock.
	queryClock = "SELECT UTC_TIMESTAMP(6)"

	// A table on which the account has no privilege is missing from the result.
	queryTables = "SELECT TABLE_NAME AS name, COALESCE(ENGINE, '') AS engine, TABLE_COMMENT AS comment FROM information_schema.TABLES " +
		"WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME IN (?)"

	// What clients set on every connection (package ticket), and how it is read back.
	querySetSession = "SET SESSION auto_increment_increment = ?, SESSION auto_increment_offset = ?, SESSION autocommit = 1"
	queryIsolation  = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
	querySession    = "SELECT CONNECTION_ID() AS `id`, @@SESSION.auto_increment_increment AS `increment`, " +
		"@@SESSION.auto_increment_offset AS `offset`, @@SESSION.autocommit AS `autocommit`"

	// What was damaged by hand may be beyond an int64.
	querySequences = "SELECT `name`, LEAST(`rounds`, 2305843009213693951) AS `rounds`, LEAST(`base`, 2305843009213693951) AS `base`, " +
		"`birth`, LEAST(`ceiling`, 2305843009213693951) AS `ceiling`, `gen` = 0 AS `held` FROM `sequences` WHERE `deleted_at` IS NULL ORDER BY `name`"
	// Arguments: increment, offset modulo increment, first number beyond the layout.
	queryWorkers = "SELECT COUNT(*) AS worker_rows, COALESCE(SUM(`number` MOD ? = ? AND `number` < ?), 0) AS own FROM `workers`"
	// Needs a privilege of its own. Without the plugin the table is empty.
	queryGroup = "SELECT MEMBER_ID = @@GLOBAL.server_uuid AS self, MEMBER_STATE AS state FROM performance_schema.replication_group_members"
)

// Before the attempts: a mode without complaints about columns that are left out,
// and an isolation level that every format of the binary log allows.
const (
	queryLooseMode = "SET SESSION sql_mode = ''"
	queryLooseRead = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"
)

// attempts are statements that need one privilege each and do nothing: EXPLAIN
// asks for the privileges of what it explains. So roles, wildcards and grants
// for single tables count as the server counts them.
var attempts = []struct{ verb, query string }{
	{"SELECT", "EXPLAIN SELECT 1 FROM `%[1]s` WHERE 1 = 0"},
	{"INSERT", "EXPLAIN INSERT INTO `%[1]s` (`%[2]s`) SELECT 1 FROM DUAL WHERE 1 = 0"},
	{"UPDATE", "EXPLAIN UPDATE `%[1]s` SET `%[2]s` = 0 WHERE 1 = 0"},
	{"DELETE", "EXPLAIN DELETE FROM `%[1]s` WHERE 1 = 0"},
}

// written are the tables that applications write to, each with a column for the attempts.
var written = []struct{ table, column string }{
	{"server", "gen"}, {"peers", "gen"}, {"tickets", "stub"}, {"sequences", "gen"}, {"workers", "gen"},
}
