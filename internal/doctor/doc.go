// Package doctor examines the servers of a fleet and says, for every check, how
// things stand and what to do. It changes nothing, and it needs no more than the
// account of an application.
//
//	Examine ──┬── read (read.go): what one server says  ──> facts   one connection each, side by side
//	          └── ticket.Inspect: how clients would judge it ──> facts
//	                                                               │
//	Report <── judge: pure functions, facts of all servers in, verdict out
//
// What the account may not see is a verdict of its own, [CannotTell]: it is
// neither all right nor wrong.
package doctor
