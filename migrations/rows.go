package migrations

import (
	"maps"
	"slices"
	"strings"

	"github.com/oddeven/oddeven/internal/schema"
)

const (
	queryInsertServer = "INSERT INTO `server` (`id`, `fleet`, `identity`, `server_offset`, `increment`, `shard_bits`, `layout`, `tick_ms`, `epoch_ms`, " +
		"`longest_lease_ms`, `single_writer`, `min_client`, `gen`, `server_uuid`, `started_at`, `fenced_at`, `fence_reason`, `fenced_by`, " +
		"`ticket_base`, `ticket_birth`, `ticket_ceiling`, `ticket_hour`, `ticket_hour_round`, `ticket_peak`, `created_at`) " +
		"VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, '', '', ?, ?, ?, ?, ?, ?, ?)"
	// Stub 0 belongs to the leaps. An explicit ID moves the counter past it as
	// soon as it is committed; a rolled-back one is forgotten by MariaDB.
	queryInsertFloor    = "REPLACE INTO `tickets` (`stub`, `id`) VALUES (0, ?)"
	queryInsertSequence = "INSERT INTO `sequences` (`name`, `rounds`, `gen`, `base`, `birth`, `ceiling`, `description`, `hour`, `hour_round`, " +
		"`peak`, `refills`, `reserved`, `start_round`, `hour_refills`, `hour_reserved`, `past_refills`, `past_reserved`, " +
		"`step`, `refilled_at`, `refilled_by`, `created_at`, `deleted_at`) " +
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, ?, 0, 0, 0, 0, 0, NULL, '', ?, ?)"
	queryInsertWorkers = "INSERT INTO `workers` (`number`, `gen`, `holder`, `from_tick`, `until_tick`, `parked_until`, `last_tick`, " +
		"`host`, `process`, `granted_at`, `renewed_at`) VALUES "
	workerValues = "(?, ?, NULL, 0, ?, ?, 0, '', '', NULL, NULL)"
	// A record that is there stays as it is: see recordPeers.
	queryRecordPeer = "INSERT INTO `peers` (`identity`, `server_offset`, `gen`, `server_uuid`, `started_at`, `retired_at`, `updated_at`) " +
		"VALUES (?, ?, ?, ?, ?, NULL, ?) ON DUPLICATE KEY UPDATE `gen` = `gen`"
	queryRetirePeer = "UPDATE `peers` SET `retired_at` = ?, `updated_at` = ? WHERE `identity` = ? AND `retired_at` IS NULL"
)

func insertServer(s schema.Server, now int64) stmt {
	return stmt{queryInsertServer, []any{
		s.Fleet[:], s.Identity[:], s.Offset, s.Increment, s.ShardBits, s.Layout, s.TickMS, s.EpochMS, s.LongestLeaseMS, s.SingleWriter, s.MinClient,
		s.Gen, s.ServerUUID, s.StartedAt, s.TicketBase, s.TicketBirth, s.TicketCeiling, s.TicketHour, s.TicketHourRound, s.TicketPeak, utc(now),
	}}
}

func insertFloor(id int64) stmt { return stmt{queryInsertFloor, []any{id}} }

// insertSequence starts a row at the round that no server of the fleet has passed.
func insertSequence(s sequencePast, server schema.Server, now int64) stmt {
	var deleted any
	if s.DeletedAt.Valid {
		deleted = s.DeletedAt.Time
	}
	rounds := s.start(server.Class(), now)
	return stmt{queryInsertSequence, []any{
		s.Name, rounds, server.Gen, s.Base, s.Birth, s.Ceiling, s.Description, now / 3600, rounds, rounds, utc(now), deleted,
	}}
}

// insertWorkers makes rows that are free from a tick on; 0 is free at once.
func insertWorkers(numbers []int64, gen, free int64) []stmt {
	var statements []stmt
	for chunk := range slices.Chunk(numbers, rowsPerInsert) {
		args := make([]any, 0, 4*len(chunk))
		for _, n := range chunk {
			args = append(args, n, gen, free, free)
		}
		query := queryInsertWorkers + strings.TrimSuffix(strings.Repeat(workerValues+", ", len(chunk)), ", ")
		statements = append(statements, stmt{query, args})
	}
	return statements
}

func recordPeer(s schema.Server, now int64) stmt {
	return stmt{queryRecordPeer, []any{s.Identity[:], s.Offset, s.Gen, s.ServerUUID, s.StartedAt, utc(now)}}
}

func retirePeer(identity schema.Identity, now int64) stmt {
	return stmt{queryRetirePeer, []any{utc(now), utc(now), identity[:]}}
}

// raiseGen throws out whoever uses the server, and has them look at its records.
func raiseGen(gen int64) []stmt {
	var statements []stmt
	for _, query := range schema.RaiseGen() {
		statements = append(statements, stmt{query, []any{gen + 1, gen}})
	}
	return statements
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
