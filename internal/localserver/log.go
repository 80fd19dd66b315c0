package localserver

import (
	"fmt"
	"io"
	"os"
	"strings"
)

// How many lines of the server's log an error shows: of a start, and of
// mariadb-install-db, whose reason is followed by a page of advice.
const (
	errorLogLines   = 20
	installLogLines = 60
)

// maxLogText bounds, in bytes, how much of the log is read, from its end.
const maxLogText = 1 << 20

// A runLog is the part of the log file that one process writes.
type runLog struct {
	file  *os.File
	path  string
	start int64 // where the process began to write
}

// openLog opens the log file for appending.
func openLog(h home) (runLog, error) {
	path := h.path(logName)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return runLog{}, fmt.Errorf("open server log: %w", err)
	}
	start, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		_ = file.Close()
		return runLog{}, fmt.Errorf("open server log: %w", err)
	}
	return runLog{file: file, path: path, start: start}, nil
}

// text returns what the process wrote so far, at most the last maxLogText
// bytes. It is for people, so an error becomes part of the text.
func (l runLog) text() string {
	file, err := os.Open(l.path)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	defer file.Close() //nolint:errcheck // only read
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return fmt.Sprintf("(no log: %v)", err)
	}
	from := max(l.start, size-maxLogText)
	text, err := io.ReadAll(io.NewSectionReader(file, from, max(size-from, 0)))
	if err != nil {
		return fmt.Sprintf("%s(log cut off: %v)", text, err)
	}
	return string(text)
}

// lastLines returns the last n lines of text.
func lastLines(text string, n int) string {
	if n <= 0 {
		return ""
	}
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(len(lines)-n, 0):], "\n")
}

// Log returns what the current or last process printed, at most its last MiB,
// with the root password blotted out. It is empty before the first process.
// Safe for concurrent use. For the log of earlier processes see
// server.log in [Server.Dir].
func (s *Server) Log() string {
	s.mu.Lock()
	log := s.log
	s.mu.Unlock()
	if log.path == "" {
		return ""
	}
	return s.redact(log.text())
}

// LogTail returns the last n lines of [Server.Log], without a newline at the end.
func (s *Server) LogTail(n int) string { return lastLines(s.Log(), n) }

// redact blots out the password, which a server quotes when a statement with
// it fails.
func (s *Server) redact(text string) string {
	return strings.NewReplacer(s.cfg.RootPassword, "***", quote(s.cfg.RootPassword), "'***'").Replace(text)
}
