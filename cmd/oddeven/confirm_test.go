package main

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

func TestConfirm(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		terminal bool
		yes      bool
		typed    string
		says     string // "": go on
	}{
		{"Yes", true, false, "yes\n", ""},
		{"YesWithBlanks", true, false, "  yes \r\n", ""},
		{"YesAtTheEnd", true, false, "yes", ""},
		{"No", true, false, "no\n", "not done: the answer was not yes"},
		{"Y", true, false, "y\n", "not done: the answer was not yes"},
		{"Nothing", true, false, "", "not done: the answer was not yes"},
		{"AnotherLine", true, false, "\nyes\n", "not done: the answer was not yes"},
		{"Flag", false, true, "", ""},
		{"FlagOnATerminal", true, true, "no\n", ""},
		{"NoTerminal", false, false, "yes\n", "not done: it needs the answer to a question, and standard input is no terminal. " +
			"Run it in a terminal, or give --yes if your answer is yes. The question is: Sure?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out, err bytes.Buffer
			a := &app{streams: streams{in: strings.NewReader(tt.typed), out: &out, err: &err, answers: tt.terminal}}
			got := a.confirm(t.Context(), tt.yes, "Sure?", "not done")
			if tt.says == "" {
				require.NoError(t, got)
			} else {
				require.EqualError(t, got, tt.says)
			}
			require.Empty(t, out.String())
			require.Equal(t, tt.terminal && !tt.yes, strings.Contains(err.String(), "Sure?\nType yes to go on: "))
		})
	}
}

// Ctrl-C ends a question that nobody answers.
func TestConfirmEndsWithItsContext(t *testing.T) {
	t.Parallel()
	in, typing := io.Pipe()
	defer func() { _ = typing.Close() }() // ends the goroutine that reads
	ctx, cancel := context.WithCancel(t.Context())
	asked := &askedOnce{then: cancel}
	a := &app{streams: streams{in: in, out: &bytes.Buffer{}, err: asked, answers: true}}
	require.ErrorIs(t, a.confirm(ctx, false, "Sure?", "not done"), context.Canceled)
}

// askedOnce is standard error that does something once it is written to.
type askedOnce struct{ then func() }

func (a *askedOnce) Write(p []byte) (int, error) {
	a.then()
	return len(p), nil
}

// Whatever has --yes has -y too, and says what it answers.
func TestYesOfEveryCommand(t *testing.T) {
	t.Parallel()
	var have []string
	everyBelow((&app{}).root(), func(cmd *cobra.Command) {
		if f := cmd.LocalFlags().Lookup("yes"); f != nil {
			require.Equal(t, "y", f.Shorthand, cmd.CommandPath())
			require.Contains(t, f.Usage, "do not ask", cmd.CommandPath())
			have = append(have, strings.TrimPrefix(cmd.CommandPath(), "oddeven "))
		}
	})
	require.Subset(t, have, []string{
		"migrate up", "migrate down", "migrate to", "migrate adopt", "fleet accept", "fleet single-writer",
		"sequence bump", "sequence repair", "sequence delete", "worker release", "bench", "import",
	})
}
