// Package importer makes sequences that go on above numbers which another
// system has issued: the segments of Leaf, or AUTO_INCREMENT columns.
//
// # Why no number is issued twice
//
// The old tables are read three times: for the plan that a person sees, again
// right before anything is created, and again when every server has been read
// back. A sequence is created above what the second reading found, on every
// server of the fleet. What rises between two readings shows that the old system
// still issues. Before the creation that is an error, unless a margin was asked
// for. After it, it is one if the margin is used up. So only what is issued after
// the last reading is not seen: the old system has to be stopped, or held below
// the start by something of its own (the documents have a constraint for Leaf).
//
// A sequence that is there already is accepted if it has lain above the old
// numbers since it was created or bumped, which its base says. The highest number
// of a server alone would not do: an old system that went on after the import
// would look harmless as soon as the sequence has overtaken it.
//
// The old tables are only read.
package importer
