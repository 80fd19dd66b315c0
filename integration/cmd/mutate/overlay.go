package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/oddeven/oddeven/integration/mutants"
)

// writeOverlay makes the changed copy of the mutant's file and the overlay that
// puts it in place of the original, and returns the overlay's path.
// Its error is mutants.ErrStale if the mutant does not fit.
func writeOverlay(root, temp string, m mutants.Mutant) (string, error) {
	dir, err := os.MkdirTemp(temp, "mutant-")
	if err != nil {
		return "", fmt.Errorf("make overlay: %w", err)
	}
	original, changed, err := m.Apply(root, dir)
	if err != nil {
		return "", err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", fmt.Errorf("make overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	return path, nil
}
