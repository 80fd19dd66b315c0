package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/oddeven/oddeven/internal/dsn"
	"github.com/oddeven/oddeven/internal/names"
	"github.com/oddeven/oddeven/migrations"
	"github.com/oddeven/oddeven/snowflake"
	"github.com/oddeven/oddeven/ticket"
)

// completionTimeout is how long a shell waits for names.
const completionTimeout = 2 * time.Second

// fileFlags are the flags whose value is a file or a directory.
var fileFlags = map[string]cobra.ShellCompDirective{
	"config": cobra.ShellCompDirectiveDefault, "binary": cobra.ShellCompDirectiveDefault, "dir": cobra.ShellCompDirectiveFilterDirs,
}

// completions makes every command and flag below cmd offer something or
// nothing, never the files of the directory where no file is meant.
func completions(cmd *cobra.Command) {
	if cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if _, has := cmd.GetFlagCompletionFunc(f.Name); has || f.Value.Type() == "bool" || cmd.InheritedFlags().Lookup(f.Name) != nil {
			return
		}
		directive, isFile := fileFlags[f.Name]
		if !isFile {
			directive = cobra.ShellCompDirectiveNoFileComp
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(nil, directive))
	})
	for _, c := range cmd.Commands() {
		completions(c)
	}
}

// offer are the words that begin with what is typed. A shell shows a
// description beside each, after a tab.
func offer(typed string, words []cobra.Completion) ([]cobra.Completion, cobra.ShellCompDirective) {
	words = slices.DeleteFunc(words, func(w cobra.Completion) bool { return !strings.HasPrefix(w, typed) })
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// forShell makes ready for completion: not a word, and each --server once, for
// cobra reads the flags twice and adds up what may be repeated.
func (a *app) forShell(cmd *cobra.Command) context.Context {
	a.progress, a.verbose = nil, false
	var once []string
	for _, s := range a.servers {
		if !slices.Contains(once, s) {
			once = append(once, s)
		}
	}
	a.servers = once
	if ctx := cmd.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// known asks the servers for names, for a short time and without a word: what
// cannot be read is not offered. No fleet is opened, which would fence.
func known[T any](a *app, cmd *cobra.Command, ask func(context.Context, []*mysql.Config) ([]T, error)) []T {
	ctx, cancel := context.WithTimeout(a.forShell(cmd), completionTimeout)
	defer cancel()
	servers, err := a.fleetServers()
	if err != nil {
		return nil
	}
	found, _ := ask(ctx, servers)
	return found
}

// completeSequences offers the names of sequences as the first argument.
func (a *app) completeSequences(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return offer(typed, nil)
	}
	var all []cobra.Completion
	for _, s := range known(a, cmd, names.Sequences) {
		all = append(all, cobra.CompletionWithDesc(s.Name, oneLine(s.Description)))
	}
	return offer(typed, all)
}

// completeWorkers offers the worker numbers that somebody has.
func (a *app) completeWorkers(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return offer(typed, nil)
	}
	var all []cobra.Completion
	for _, l := range known(a, cmd, names.Workers) {
		about := strings.TrimSpace(string(l.State) + " " + oneLine(leaseHolder(l)))
		all = append(all, cobra.CompletionWithDesc(strconv.FormatInt(l.Number, 10), about))
	}
	return offer(typed, all)
}

// completeServers offers the servers, with how each stands. Their names need no
// server that answers.
func (a *app) completeServers(cmd *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	ctx := a.forShell(cmd)
	servers, err := a.fleetServers()
	if err != nil || len(args) > 0 {
		return offer(typed, nil)
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
	defer cancel()
	var all []cobra.Completion
	found, err := ticket.Inspect(ctx, ticket.Config{Servers: servers, Timeout: completionTimeout})
	for _, i := range found {
		all = append(all, cobra.CompletionWithDesc(i.Server, fleetState(i)))
	}
	if err != nil {
		for _, s := range servers {
			all = append(all, dsn.Label(s))
		}
	}
	return offer(typed, all)
}

// completeVersions offers the versions of the schema as the first argument.
func completeVersions(_ *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return offer(typed, nil)
	}
	versions := []cobra.Completion{cobra.CompletionWithDesc("0", "no schema")}
	for _, m := range migrations.All() {
		versions = append(versions, cobra.CompletionWithDesc(strconv.FormatInt(m.Version, 10), m.Name))
	}
	return offer(typed, versions)
}

// completeLayout offers the layouts known by name to --layout.
func completeLayout(cmd *cobra.Command) {
	var all []cobra.Completion
	for _, p := range snowflake.Presets() {
		all = append(all, cobra.CompletionWithDesc(p.Name, fmt.Sprintf("runs out on %s", p.Layout.Exhausted().Format(time.DateOnly))))
	}
	_ = cmd.RegisterFlagCompletionFunc("layout", cobra.FixedCompletions(all, cobra.ShellCompDirectiveNoFileComp))
}
