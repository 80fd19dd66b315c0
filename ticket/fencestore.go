package ticket

// The statements of the fence. All but the first two run in one transaction
// that begins with queryLockServer; statements of tickets hold a shared lock on
// the same row until they commit, so none is in flight while it runs.
const (
	// A client that freezes inside the fence is thrown out by the server after
	// this many seconds, and its transaction undone.
	queryFencePatience  = "SET SESSION wait_timeout = 5"
	queryNormalPatience = "SET SESSION wait_timeout = @@GLOBAL.wait_timeout"

	queryLockServer = "SELECT `gen` FROM `server` WHERE `id` = 1 FOR UPDATE"
	// An explicit ID moves the counter beyond it. Stub 0 is the leaps' own.
	queryLeapTickets = "REPLACE INTO `tickets` (`stub`, `id`) VALUES (0, ?)"
	// Arguments: n, server time, n, server time, n, schema.HeldBack, gen. The margin
	// comes on top of a value that is past its clock line already; DECIMAL because
	// the product has 80 bits. The line is schema.ClockLine.At. A leap is no use, so
	// the hour's count begins anew. What was held back once stays so, whoever can be
	// asked this time.
	queryLeapSequences = "UPDATE `sequences` SET `rounds` = GREATEST(`rounds`, LEAST(CAST(`ceiling` DIV ? AS SIGNED) - 1, " +
		"IF(`rounds` > " + sqlClockLine + ", LEAST(`rounds`, " + sqlSane + ") + LEAST(`peak`, " + sqlSane + "), " + sqlClockLine + "))), `hour_round` = `rounds`, `gen` = IF(`gen` = ?, `gen`, ?)"
	queryHoldBack = "UPDATE `sequences` SET `gen` = ? WHERE `name` = ?"
	sqlClockLine  = "(LEAST(`base`, " + sqlSane + ") + CAST(FLOOR(CAST(GREATEST(0, ? + 3600 - `birth`) AS DECIMAL(30,0)) * " +
		"GREATEST(0, CAST(`ceiling` DIV ? AS SIGNED) - 1 - CAST(LEAST(`base`, " + sqlSane + ") AS SIGNED)) / 3155760000) AS UNSIGNED) + 1)"
	// 2^61 − 1: a damaged row must neither overflow nor fail to be read.
	sqlSane             = "2305843009213693951"
	querySequenceRounds = "SELECT `name`, LEAST(`rounds`, " + sqlSane + ") AS `rounds`, LEAST(`base`, " + sqlSane + ") AS `base`, `birth`, " +
		"LEAST(`ceiling`, " + sqlSane + ") AS `ceiling`, LEAST(`peak`, " + sqlSane + ") AS `peak`, `gen` = 0 AS `held` FROM `sequences`"
	queryRaiseSequence = "UPDATE `sequences` SET `rounds` = GREATEST(`rounds`, CAST(? AS UNSIGNED)), `hour_round` = `rounds` WHERE `name` = ?"
	// parked_until is assigned before until_tick, so that it sees the old value.
	queryParkWorkers = "UPDATE `workers` SET `parked_until` = GREATEST(`until_tick`, CAST(? AS UNSIGNED)), " +
		"`until_tick` = GREATEST(`until_tick`, CAST(? AS UNSIGNED)), `gen` = ?"
	queryStoreFence = "UPDATE `server` SET `gen` = ?, `server_uuid` = ?, `started_at` = ?, `fenced_at` = UTC_TIMESTAMP(6), " +
		"`fence_reason` = ?, `fenced_by` = ?, `ticket_peak` = ?, `ticket_hour` = ?, `ticket_hour_round` = ? WHERE `id` = 1"

	// A record is never lowered: of two, the greater gen counts, and of the same
	// gen the later start. gen is assigned last, because the others look at it.
	queryRecord = "INSERT INTO `peers` (`identity`, `server_offset`, `gen`, `server_uuid`, `started_at`, `retired_at`, `updated_at`) " +
		"VALUES (?, ?, ?, ?, ?, NULL, UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE " +
		"`server_uuid` = IF(" + sqlNewer + ", VALUES(`server_uuid`), `server_uuid`), " +
		"`updated_at` = IF(" + sqlNewer + ", VALUES(`updated_at`), `updated_at`), " +
		"`started_at` = IF(" + sqlNewer + ", VALUES(`started_at`), `started_at`), " +
		"`gen` = GREATEST(`gen`, VALUES(`gen`))"
	sqlNewer = "VALUES(`gen`) > `gen` OR VALUES(`gen`) = `gen` AND VALUES(`started_at`) > `started_at`"
)
