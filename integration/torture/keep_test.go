package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsKept(t *testing.T) {
	t.Parallel()
	all := []string{"c1.1.calls", "client", "clients.log", "ledger/driver.ledger", "s1/data/ibdata1", "snapshot-1-1/ibdata1", "state-1"}
	logs := []string{"c1.1.calls", "clients.log", "ledger/driver.ledger"}
	failed := errors.New("failed")
	for name, c := range map[string]struct {
		dir    bool // asked for
		opened bool
		found  bool
		ok     bool
		err    error
		want   []string
	}{
		"nothing found":                {opened: true, ok: true},
		"by the checker":               {opened: true, want: logs},
		"interrupted or failed":        {opened: true, err: failed, want: logs},
		"not set up":                   {err: failed},
		"not set up, a client crashed": {err: failed, found: true, want: logs},
		"all is asked for":             {dir: true, opened: true, ok: true, want: all},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var progress bytes.Buffer
			r := &run{dir: t.TempDir(), opened: c.opened, progress: &progress}
			if c.dir {
				r.opts.dir = r.dir
			}
			if c.found {
				r.found = []string{"client c1.1 ended by itself"}
			}
			for _, name := range all {
				path := filepath.Join(r.dir, name)
				require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
				require.NoError(t, os.WriteFile(path, nil, 0o600))
			}
			ok, err := r.clean(c.ok, c.err)
			require.Equal(t, c.ok, ok)
			require.Equal(t, c.err == nil, err == nil)
			var left []string
			for _, name := range all {
				if _, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
					left = append(left, name)
				}
			}
			require.Equal(t, c.want, left)
			if len(left) > 0 && !c.dir {
				require.Contains(t, progress.String(), r.dir)
			} else {
				require.Empty(t, progress.String())
			}
		})
	}
}
