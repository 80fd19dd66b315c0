// Package sequence administers the named sequences of a fleet: it reads,
// creates, raises, mends and deletes their rows, one on every server.
//
// # State
//
// A row has rounds, the last round reserved, which belongs to its server alone,
// and a state that is the same on every server: base, birth, ceiling,
// description and the tombstone. States of a sequence are in a total order: a
// newer birth comes later, and of one birth the tombstone does. So of servers
// that differ, one can tell which missed a change. Every change but a deletion
// has a birth later than all before, by whatever clock.
//
// # Changes
//
// A change is planned from the rows of all servers, and carried out by one
// statement per row: on the server with the lowest offset first, which so
// decides between two clients, then on all others. The statement locks the
// server's row and proves its generation, so a fence and it wait for one
// another; it writes only over the state that was planned from; it never lowers
// rounds. Afterwards everything is read back. An interruption leaves servers of
// different states. That costs order, never uniqueness, because every row
// stays above what its server has issued; the same command again, or a repair,
// completes it.
//
// # Why no change makes a duplicate possible
//
// A row's clock line has to lie above everything that its server issues, as
// long as the sequence is used at less than the line's rate R, so that a fence
// finds it when the server has forgotten. After a change all rows have the same
// line. It begins at a base that is at least the rounds of every row at the
// time of birth, and rises by R from there: what is issued later at less than R
// stays below it. If the base moves, the birth moves with it.
//
// A row that is missing, has another generation than its server, or an older
// state may have forgotten. Its server may have issued up to the greatest clock
// line of all servers or the greatest rounds, whichever is more (plus the most
// rounds used in an hour, if they are past all lines): it is leapt there. If
// that is above the line of the newest state, that line does not cover what the
// row issues next, so all rows get a new base at the leap.
//
// A row that a fence found so far behind the others that no honest server could
// have been there is held back: it has a generation that no server has
// (schema.HeldBack). It has forgotten, or another row is damaged; a change is
// what decides that, and gives it a generation again.
//
// # What this rests on
//
// What one server alone knows is lost if that server forgets. So a change that
// has reached only one server has to be completed before that one forgets, and a
// server that has forgotten has to be repaired before it forgets again: until
// then it issues on the line of an older state, which the others have replaced.
package sequence
