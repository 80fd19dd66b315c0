package main

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"
)

// format is the value of -o.
type format string

const (
	formatTable format = "table"
	formatJSON  format = "json"
)

func (f *format) String() string { return string(*f) }
func (f *format) Type() string   { return "format" }
func (f *format) Set(s string) error {
	switch format(s) {
	case formatTable, formatJSON:
		*f = format(s)
		return nil
	}
	return errors.New("must be table or json")
}

// addFormat adds -o to a command that prints a table.
func addFormat(cmd *cobra.Command) *format {
	f := formatTable
	cmd.Flags().VarP(&f, "output", "o", "`FORMAT` of the result: table or json")
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions([]string{"table", "json"}, cobra.ShellCompDirectiveNoFileComp))
	return &f
}

// printJSON writes v, indented.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
