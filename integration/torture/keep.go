package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oddeven/oddeven/integration/torture/ledger"
)

// The names of what tells what happened, in the directory of the run.
const (
	ledgerDir       = "ledger"
	ledgerExtension = ledger.Extension
	callsExtension  = ".calls"
	clientsLog      = "clients.log"
)

// clean removes everything that is not to be kept. If something was found, or the run
// ended before its verdict, that is what tells what happened; of a run that never had
// all its clients issue it is nothing, unless it found something.
func (r *run) clean(ok bool, err error) (bool, error) {
	switch {
	case r.opts.dir != "":
		return ok, err
	case ok && err == nil, !r.opened && len(r.found) == 0:
		return ok, errors.Join(err, os.RemoveAll(r.dir))
	}
	fmt.Fprintf(r.progress, "torture: the ledgers, and what clients have logged, are in %s\n", r.dir)
	return ok, errors.Join(err, r.prune())
}

// prune removes the data of servers and the client.
func (r *run) prune() error {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return fmt.Errorf("remove data: %w", err)
	}
	var errs []error
	for _, e := range entries {
		if name := e.Name(); name != ledgerDir && name != clientsLog && filepath.Ext(name) != callsExtension {
			errs = append(errs, os.RemoveAll(filepath.Join(r.dir, name)))
		}
	}
	return errors.Join(errs...)
}
