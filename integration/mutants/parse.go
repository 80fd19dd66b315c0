package mutants

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

// Parse reads the header and the two sections of one mutant.
func Parse(name string, data []byte) (Mutant, error) {
	m := Mutant{Name: name}
	archive := txtar.Parse(data)
	if err := m.parseHeader(string(archive.Comment)); err != nil {
		return Mutant{}, err
	}
	if len(archive.Files) != 2 || archive.Files[0].Name != "old" || archive.Files[1].Name != "new" {
		return Mutant{}, errors.New("want exactly the sections -- old -- and -- new --, in this order")
	}
	m.Old, m.New = string(archive.Files[0].Data), string(archive.Files[1].Data)
	switch {
	case strings.TrimSpace(m.Old) == "":
		return Mutant{}, errors.New("the section -- old -- is empty")
	case m.Old == m.New:
		return Mutant{}, errors.New("the sections -- old -- and -- new -- are equal")
	}
	return m, nil
}

func (m *Mutant) parseHeader(header string) error {
	race := false
	for line := range strings.Lines(header) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		if !ok || value == "" {
			return fmt.Errorf("header line %q: want \"key: value\"", line)
		}
		var err error
		switch key {
		case "why":
			err = setOnce(&m.Why, key, value)
		case "file":
			err = setOnce(&m.File, key, value)
		case "test":
			err = m.addTest(value)
		case "race":
			race, err = true, want(key, value, "true")
		case "timeout":
			m.TimeoutKills, err = true, want(key, value, "kills")
		default:
			err = fmt.Errorf("unknown header key %q", key)
		}
		if err != nil {
			return err
		}
	}
	for i := range m.Tests {
		m.Tests[i].Race = race
	}
	return m.checkHeader()
}

func (m *Mutant) checkHeader() error {
	switch {
	case m.Why == "":
		return errors.New("no why: line")
	case m.File == "":
		return errors.New("no file: line")
	case len(m.Tests) == 0:
		return errors.New("no test: line")
	case !filepath.IsLocal(filepath.FromSlash(m.File)):
		return fmt.Errorf("file: %s: want a path from the repository root", m.File)
	}
	return nil
}

func (m *Mutant) addTest(value string) error {
	f := strings.Fields(value)
	if len(f) != 3 {
		return fmt.Errorf("test: %s: want MODULE-DIRECTORY PACKAGES -RUN-REGEXP", value)
	}
	if !filepath.IsLocal(filepath.FromSlash(f[0])) {
		return fmt.Errorf("test: %s: want a module directory from the repository root", value)
	}
	m.Tests = append(m.Tests, Test{Module: f[0], Pattern: f[1], Run: f[2]})
	return nil
}

func setOnce(field *string, key, value string) error {
	if *field != "" {
		return fmt.Errorf("a second %s: line", key)
	}
	*field = value
	return nil
}

func want(key, got, wanted string) error {
	if got != wanted {
		return fmt.Errorf("%s: %s: only %q has a meaning here; leave the line out otherwise", key, got, wanted)
	}
	return nil
}
