//go:build !linux

package snowflake

import (
	"errors"
	"os"
)

// errLinuxOnly is because other systems do not tell what a state file must be
// held against.
var errLinuxOnly = errors.New("state files are for Linux only")

type hostFacts struct{}

func thisHost() hostFacts { return hostFacts{} }

func identify(*os.File, hostFacts) (place, error) { return place{}, errLinuxOnly }

func (hostFacts) uptimeMilli() (int64, error) { return 0, errLinuxOnly }

func lockFile(*os.File) error { return errLinuxOnly }
