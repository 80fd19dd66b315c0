// Command mutate runs the project's mutants: for each one it takes a protection
// out of the product and checks that a test notices.
//
// A mutant is a file integration/mutants/NAME.txtar (its README.md explains the
// format). It never touches the working tree: the changed copy of the source
// lies in a temporary directory and reaches the compiler through -overlay.
//
// Every distinct test command runs once without overlay first and must pass
// (the baseline), so that a test which fails anyway is never taken for a kill.
// Exit code 0 means that every mutant was killed, 1 that one was not, 2 a usage
// error.
package main
