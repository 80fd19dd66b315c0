// Package schema is what the migrations and the clients agree on: names,
// versions, limits, and the server's row.
package schema

import "math/bits"

const (
	// Client is the protocol that this build speaks. A server row whose
	// min_client is above it refuses this build. It is raised together with a
	// migration that would make older clients hand out duplicates or fail, and
	// only then: additive migrations leave it alone.
	Client = 1
	// Required is the oldest schema version that this build can work with.
	Required = 5
	// VersionTable is where the applied migrations are recorded.
	VersionTable = "oddeven_migrations"
	// CommentPrefix begins the comment of every table of ours; a table of the
	// same name without it belongs to somebody else.
	CommentPrefix = "oddeven: "
)

const (
	// Ceiling is 2^53: tickets and segment IDs stay below it, so that a
	// JavaScript number holds each of them exactly, and Snowflake IDs above it.
	Ceiling = int64(1) << 53
	// MaxIncrement is the largest fleet: MySQL and MariaDB allow
	// auto_increment_increment from 1 to 65535; beyond a thousand servers the
	// price, one value in n used, would be absurd.
	MaxIncrement = 1000
	// MaxShardBits leaves at least 2^21 values to a sequence.
	MaxShardBits = 32
	// MaxWorkers bounds the rows of the workers table over the whole fleet.
	MaxWorkers = 1 << 16
	// Lifetime is how long, in seconds, a sequence's space lasts on its clock
	// line: 100 years of 365.25 days.
	Lifetime = 100 * 36525 * 864
	// ClockMargin is added, in seconds, to the server's time before it is put on the line.
	ClockMargin = 3600
	// LevelAfter is how many rounds of tickets a server may lie behind before it is
	// pulled level, so that each remembers for the others up to that much.
	LevelAfter = 10_000
)

// Tables are all tables of the schema, in the order they are created.
func Tables() []string {
	return []string{VersionTable, "server", "peers", "tickets", "sequences", "workers"}
}

// CeilingFor returns the largest value that a sequence may reach when
// shardBits of every ID name a shard: composed, it stays below 2^53.
func CeilingFor(shardBits int) int64 { return Ceiling>>shardBits - 1 }

// Class is a residue class: the numbers congruent to Offset modulo Increment.
type Class struct {
	Offset    int64 // 1 … Increment
	Increment int64 // at least 1
}

// Owns reports whether id is congruent to the offset.
func (c Class) Owns(id int64) bool { return id > 0 && (id-c.Offset)%c.Increment == 0 }

// ID is the number that the class has in a round.
func (c Class) ID(round int64) int64 { return round*c.Increment + c.Offset }

// Round is the round of the largest number of the class that is at most id;
// −1 if id is below the first.
func (c Class) Round(id int64) int64 {
	if id < c.Offset {
		return -1
	}
	return (id - c.Offset) / c.Increment
}

// LastRound is the last round in which every class of the fleet stays at or
// below ceiling, so that it is the same on each server.
func (c Class) LastRound(ceiling int64) int64 { return ceiling/c.Increment - 1 }

// OwnsWorker reports whether a worker number is one of the server's; unlike IDs they
// begin with 0.
func (c Class) OwnsWorker(number int64) bool {
	return number >= 0 && (number-c.Offset)%c.Increment == 0
}

// Workers are the server's worker numbers from 0 to total−1, rising.
func (c Class) Workers(total int64) []int64 {
	var numbers []int64
	for n := c.Offset % c.Increment; n < total; n += c.Increment {
		numbers = append(numbers, n)
	}
	return numbers
}

// ClockLine is the round that a leap must reach at a server time: base plus
// (now + 1 hour − birth) at the rate that uses up the space below the ceiling
// in a hundred years. It lies above everything issued, as long as the sequence
// was used more slowly than that, whatever the server has forgotten.
type ClockLine struct {
	Base  int64 // round at birth
	Birth int64 // Unix seconds
	Last  int64 // last round below the ceiling
}

// At returns the round of the line at a server time in Unix seconds. It never
// passes Last and never lies below Base. The fence computes the same in SQL.
func (l ClockLine) At(now int64) int64 {
	elapsed := max(0, now+ClockMargin-l.Birth)
	if l.Last <= l.Base {
		return l.Base
	}
	if elapsed >= Lifetime {
		return l.Last
	}
	hi, lo := bits.Mul64(uint64(elapsed), uint64(l.Last-l.Base))
	share, _ := bits.Div64(hi, lo, Lifetime) // hi < Lifetime, because elapsed is
	return min(l.Last, l.Base+int64(share)+1)
}

// Leap is the round that no server can have issued beyond, whatever it has
// forgotten: where the clock lines are, or, if a row is past them, that row's
// round and a margin on top, the most that is used in an hour; not beyond last.
func Leap(line, rounds, margin, last int64) int64 {
	if rounds <= line {
		return line
	}
	return rounds + max(0, min(margin, last-rounds))
}

// MaxDrift is how far, in rounds, a floor may lie above a server's own value
// before it counts as wrong rather than as ahead: a thousandth of the space, at
// least a million rounds.
func (l ClockLine) MaxDrift() int64 { return max(1_000_000, (l.Last-l.Base)/1000) }

// HeldBack is the generation of a sequence's row that no client may reserve from
// before an operator has mended it; those of servers begin with 1.
const HeldBack = 0

// Reach is the highest floor that a server at round own believes at a server
// time: what lies above it comes from a row that somebody damaged.
func (l ClockLine) Reach(own, now int64) int64 { return max(l.At(now), own+l.MaxDrift()) }
