package migrations

import (
	"database/sql"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/oddeven/oddeven/internal/schema"
)

const someNow = int64(1_780_000_000)

// requireArguments asks for an argument for every mark.
func requireArguments(t require.TestingT, s stmt) {
	require.Equal(t, strings.Count(s.query, "?"), len(s.args), s.query)
}

func TestInsertServerWritesTheRowInOrder(t *testing.T) {
	t.Parallel()
	row := schema.Server{
		Fleet: schema.Identity{1}, Identity: schema.Identity{2}, Offset: 3, Increment: 4, ShardBits: 5, Layout: "oddeven", TickMS: 16, EpochMS: 17, LongestLeaseMS: 6,
		SingleWriter: true, MinClient: 7, Gen: 8, ServerUUID: "uuid", StartedAt: 9, TicketBase: 10, TicketBirth: 11, TicketCeiling: 12,
		TicketHour: 13, TicketHourRound: 14, TicketPeak: 15,
	}
	s := insertServer(row, someNow)
	requireArguments(t, s)
	require.Equal(t, []any{
		row.Fleet[:], row.Identity[:], int64(3), int64(4), 5, "oddeven", int64(16), int64(17), int64(6), true, 7, int64(8), "uuid", int64(9),
		int64(10), int64(11), int64(12), int64(13), int64(14), int64(15), time.Unix(someNow, 0).UTC(),
	}, s.args)
}

func TestInsertSequenceStartsAboveEverything(t *testing.T) {
	t.Parallel()
	server := schema.Server{Offset: 2, Increment: 3, Gen: 4}
	old := sequencePast{sequenceRow: sequenceRow{Name: []byte("orders"), Rounds: 1_000, Base: 500, Birth: someNow - 60, Ceiling: schema.Ceiling - 1, Description: "of the shop"}}
	s := insertSequence(old, server, someNow)
	requireArguments(t, s)
	require.Equal(t, []byte("orders"), s.args[0])
	require.Greater(t, s.args[1], old.Rounds, "rounds")
	require.Equal(t, int64(4), s.args[2], "gen")
	require.Equal(t, schema.ClockLine{Base: 500, Birth: someNow - 60, Last: old.Ceiling/3 - 1}.At(someNow), s.args[1], "on the line")
	require.Equal(t, old.Base, s.args[3], "base")
	require.Equal(t, old.Birth, s.args[4], "birth")
	require.Equal(t, old.Ceiling, s.args[5], "ceiling")
	require.Equal(t, "of the shop", s.args[6])
	require.Equal(t, someNow/3600, s.args[7], "hour")
	require.Equal(t, s.args[1], s.args[8], "hour_round")
	require.Equal(t, s.args[1], s.args[9], "start_round")
	require.Nil(t, s.args[11], "deleted_at")
}

func TestSequenceOfANewServerPastItsLineStartsAMarginAbove(t *testing.T) {
	t.Parallel()
	class := schema.Class{Offset: 2, Increment: 2}
	row := sequenceRow{Rounds: 1 << 28, Birth: someNow - 60, Ceiling: 1<<31 - 1}
	last := class.LastRound(row.Ceiling)
	hour := schema.ClockLine{Base: row.Rounds, Birth: someNow, Last: last}.At(someNow)
	require.Equal(t, hour, sequencePast{sequenceRow: row}.start(class, someNow), "hardly used")
	row.Peak = 5_000_000
	require.Equal(t, row.Rounds+5_000_000, sequencePast{sequenceRow: row}.start(class, someNow), "the busiest hour")
	require.Equal(t, row.Rounds+1, sequencePast{row, row.Rounds + 1}.start(class, someNow), "the line of another server is above it")
	row.Peak = math.MaxInt64
	require.Equal(t, last, sequencePast{sequenceRow: row}.start(class, someNow))
	row.Rounds = math.MaxInt64
	require.Equal(t, row.Rounds, sequencePast{sequenceRow: row}.start(class, someNow), "nothing is lowered")
}

func TestInsertSequenceStaysBelowTheCeiling(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, schema.MaxIncrement).Draw(t, "n")
		server := schema.Server{Offset: rapid.Int64Range(1, n).Draw(t, "k"), Increment: n, Gen: 1}
		ceiling := rapid.Int64Range(2*n, schema.Ceiling-1).Draw(t, "ceiling")
		last := server.Class().LastRound(ceiling)
		s := insertSequence(sequencePast{sequenceRow: sequenceRow{
			Rounds: rapid.Int64Range(0, last).Draw(t, "rounds"), Peak: rapid.Int64Range(0, math.MaxInt64).Draw(t, "peak"), Ceiling: ceiling,
		}}, server, someNow)
		rounds, ok := s.args[1].(int64)
		if !ok || rounds > last {
			t.Fatalf("starts at round %v of %d", s.args[1], last)
		}
	})
}

func TestInsertSequenceKeepsATombstone(t *testing.T) {
	t.Parallel()
	gone := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	s := insertSequence(sequencePast{sequenceRow: sequenceRow{Ceiling: 1000, DeletedAt: sql.NullTime{Time: gone, Valid: true}}}, schema.Server{Offset: 1, Increment: 2}, someNow)
	require.Equal(t, gone, s.args[11])
}

func TestInsertWorkersInChunks(t *testing.T) {
	t.Parallel()
	for _, total := range []int{0, 1, rowsPerInsert - 1, rowsPerInsert, rowsPerInsert + 1, 2*rowsPerInsert + 7} {
		numbers := make([]int64, total)
		for i := range numbers {
			numbers[i] = int64(2*i + 1)
		}
		statements := insertWorkers(numbers, 3, 99)
		require.Len(t, statements, (total+rowsPerInsert-1)/rowsPerInsert)
		var got []any
		for _, s := range statements {
			requireArguments(t, s)
			require.NotRegexp(t, `,\s*$`, s.query)
			for i := 0; i < len(s.args); i += 4 {
				got = append(got, s.args[i])
				require.Equal(t, []any{int64(3), int64(99), int64(99)}, s.args[i+1:i+4], "gen, until_tick, parked_until")
			}
		}
		require.Len(t, got, total)
		for i, n := range numbers {
			require.Equal(t, n, got[i])
		}
	}
}

func TestRecordAndRetirePeer(t *testing.T) {
	t.Parallel()
	s := schema.Server{Identity: schema.Identity{7}, Offset: 2, Gen: 5, ServerUUID: "u", StartedAt: 11}
	record := recordPeer(s, someNow)
	requireArguments(t, record)
	require.Equal(t, []any{s.Identity[:], int64(2), int64(5), "u", int64(11), utc(someNow)}, record.args)
	retire := retirePeer(s.Identity, someNow)
	requireArguments(t, retire)
	require.Equal(t, []any{utc(someNow), utc(someNow), s.Identity[:]}, retire.args)
}

func TestRecordThatIsThereStays(t *testing.T) {
	t.Parallel()
	require.True(t, strings.HasSuffix(queryRecordPeer, " ON DUPLICATE KEY UPDATE `gen` = `gen`"))
}

func TestRaiseGen(t *testing.T) {
	t.Parallel()
	statements := raiseGen(6)
	require.Len(t, statements, 3)
	for i, table := range []string{"sequences", "workers", "server"} {
		require.Equal(t, "UPDATE `"+table+"` SET `gen` = 7 WHERE `gen` = 6", statements[i].String())
	}
}

func TestInsertFloorTakesTheStubOfTheLeaps(t *testing.T) {
	t.Parallel()
	s := insertFloor(42)
	require.Equal(t, "REPLACE INTO `tickets` (`stub`, `id`) VALUES (0, 42)", s.String())
}

func TestSortedKeys(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"a", "b", "c"}, sortedKeys(map[string]int{"c": 1, "a": 2, "b": 3}))
	require.Empty(t, sortedKeys(map[string]int{}))
}
