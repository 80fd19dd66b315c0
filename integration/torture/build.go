package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/oddeven/oddeven/integration/mutants"
)

// clientPackage is what is built, from the root of its module.
const clientPackage = "./torture/client"

// The overlay makes the wall clock of a client steppable. Package time gets a
// variable, and Now adds it to the wall part of what it returns: to the process this
// looks like a step of the host's clock, because the monotonic part is left alone.
// Nothing else works for one process: the kernel has one wall clock for all, time
// namespaces leave it out (man 7 time_namespaces), and a preloaded library is not
// asked, because Go reads the clock through the vDSO without libc.
const (
	timeCall  = "\tsec, nsec, mono := runtimeNow()\n\tif mono == 0 {\n"
	timePatch = "\tsec, nsec, mono := runtimeNow()\n\tsec += WallStep.Load()\n\tif mono == 0 {\n"
	timeFile  = "package time\n\nimport \"sync/atomic\"\n\n// WallStep is how many seconds the wall clock is wrong by.\nvar WallStep atomic.Int64\n"
)

// build builds the client, with a mutant if one is named, and returns its path.
func build(ctx context.Context, dir, mutant string) (string, error) {
	goroot, err := goTool(ctx, "env", "GOROOT")
	if err != nil {
		return "", err
	}
	root, err := mutants.Root(".")
	if err != nil {
		return "", err
	}
	replace, err := clockOverlay(goroot, dir)
	if err != nil {
		return "", err
	}
	if mutant != "" {
		m, err := mutants.Read(mutant)
		if err != nil {
			return "", err
		}
		original, changed, err := m.Apply(root, dir)
		if err != nil {
			return "", fmt.Errorf("mutant %s: %w", m.Name, err)
		}
		replace[original] = changed
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	path := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(path, overlay, 0o600); err != nil {
		return "", fmt.Errorf("write overlay: %w", err)
	}
	binary := filepath.Join(dir, "client")
	cmd := exec.CommandContext(ctx, "go", "build", "-overlay", path, "-tags", "wallclock", "-o", binary, clientPackage)
	cmd.Dir = filepath.Join(root, mutants.Module)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build client: %w\n%s", err, out)
	}
	return binary, nil
}

// clockOverlay writes the changed files of package time, and returns which file
// stands for which.
func clockOverlay(goroot, dir string) (map[string]string, error) {
	original := filepath.Join(goroot, "src", "time", "time.go")
	source, err := os.ReadFile(original)
	if err != nil {
		return nil, fmt.Errorf("read package time: %w", err)
	}
	if strings.Count(string(source), timeCall) != 1 {
		return nil, fmt.Errorf("package time of this Go version reads its clock in another way; adapt the overlay to %s", original)
	}
	changed, added := filepath.Join(dir, "time.go"), filepath.Join(dir, "wallstep.go")
	err = errors.Join(
		os.WriteFile(changed, []byte(strings.Replace(string(source), timeCall, timePatch, 1)), 0o600),
		os.WriteFile(added, []byte(timeFile), 0o600))
	if err != nil {
		return nil, fmt.Errorf("write overlay: %w", err)
	}
	return map[string]string{original: changed, filepath.Join(goroot, "src", "time", "wallstep.go"): added}, nil
}

func goTool(ctx context.Context, args ...string) (string, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSpace(string(out)), nil
}
