// Package ledger keeps what clients of a fleet were handed, durably and compactly,
// and proves afterwards that the fleet kept its promises.
//
//	client processes                     afterwards
//	Writer ── c1.1.ledger ──┐
//	Writer ── c2.1.ledger ──┼── Check ──> Report: figures, and what is wrong
//	scheduler's Writer ─────┘
//
// # Files
//
// A file begins with a line that names the format. Frames follow:
//
//	length, 4 bytes │ CRC-32C of the payload │ CRC-32C of the header │ payload
//
// The header's checksum also covers the index of the frame in the file, so that no
// frame can be missing or out of place unnoticed. Every frame is one write(2). A
// process that is killed leaves a beginning of its last frame at most: a file that
// stops in the middle of a frame is in order. Anything else that does not fit is a
// finding.
//
// IDs are stored as differences between one and the next, with equal differences
// counted. A segment's IDs take a few bytes for all of them together, IDs in no
// order some bytes each.
//
// # What is not seen
//
// IDs that a process had noted but not flushed when it was killed are not checked.
// So clients flush often: every few milliseconds or thousand IDs.
//
// # How duplicates are found
//
// Exactly: by a bit for each number, in blocks that exist only where there are
// IDs. Numbers are ordered by what is dense: the rounds of a server's class of one
// sequence, and the ticks and sequence numbers of one worker. If all blocks together
// are too large for memory, the logs are read several times, and each time another
// part of the blocks is looked at. Where the copies of a duplicate are is looked up
// in a last reading, which only logs with duplicates need.
//
// What is compared is the number without its shard bits: the number must be unique
// whatever shard it was drawn for, and then the ID is.
package ledger
