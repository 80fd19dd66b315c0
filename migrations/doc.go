// Package migrations sets up and changes the ticket schema of a whole fleet of
// servers as if it were one database.
//
// [Up] brings every server to the newest schema, then gives each one that has
// none its row: one identity for the fleet, a random identity and an offset for
// the server, and the settings all of them share. A setting is chosen once, when
// the fleet is made; asking for another later is refused, because IDs that were
// issued under the old one would be issued again.
//
// Each server is worked on over a single connection that holds a named lock
// (GET_LOCK) from the first statement to the last. MySQL and MariaDB commit
// every DDL statement on their own, so a migration is one DDL statement that may
// be run again, and the server's row, its worker numbers and its ticket floor
// are written in one transaction. An Up that is killed at any statement is
// finished by the next.
//
//	connect ─> same server twice? ─> lock ─> tables ours? ─> goose ─> rows ─> peers' records
//	(each server side by side; rows wait until every server has answered)
package migrations
