package main

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"github.com/oddeven/oddeven/internal/bench"
	ids "github.com/oddeven/oddeven/internal/decode"
	"github.com/oddeven/oddeven/internal/doctor"
)

// pathOf is a command as it is typed.
func pathOf(cmd *cobra.Command) []string { return strings.Fields(cmd.CommandPath())[1:] }

// Every line of every help text fits 80 columns, with flags and lists of commands.
func TestHelpFitsATerminal(t *testing.T) {
	t.Parallel()
	seen := 0
	everyBelow((&app{}).root(), func(cmd *cobra.Command) {
		r := command(t, nil, append(pathOf(cmd), "--help")...)
		require.Equal(t, exitOK, r.code)
		require.Contains(t, r.out, "Usage:\n  "+cmd.CommandPath())
		fits(t, r.out)
		require.NotContains(t, r.out, "default []", "an empty default")
		seen++
	})
	require.Greater(t, seen, 25)
}

// jsonFields are the names of the fields that encoding/json writes.
func jsonFields(typ reflect.Type, into map[string]bool) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice:
		jsonFields(typ.Elem(), into)
	case reflect.Struct:
		for field := range typ.Fields() {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
				into[name] = true
				jsonFields(field.Type, into)
			}
		}
	}
}

// documented is a line of a help text that explains fields: "  name, name  text",
// or the names alone with the text in the next line.
var documented = regexp.MustCompile(`(?m)^ {2,6}([a-z][a-z0-9_]*(?:, [a-z][a-z0-9_]*)*)(?: {2,}\S|$)`)

// What -o json prints is what --help explains, name by name.
func TestFieldsOfJSONAreDocumented(t *testing.T) {
	t.Parallel()
	decoded := reflect.StructOf(nil)
	prints := map[string]reflect.Type{
		"oddeven migrate up": reflect.TypeFor[reportJSON](), "oddeven migrate down": reflect.TypeFor[reportJSON](),
		"oddeven migrate to": reflect.TypeFor[reportJSON](), "oddeven migrate status": reflect.TypeFor[reportJSON](),
		"oddeven migrate adopt": reflect.TypeFor[reportJSON](), "oddeven fleet status": reflect.TypeFor[[]inspectionJSON](),
		"oddeven sequence list": reflect.TypeFor[[]sequenceJSON](), "oddeven sequence show": reflect.TypeFor[sequenceJSON](),
		"oddeven sequence create": reflect.TypeFor[planJSON](), "oddeven sequence bump": reflect.TypeFor[planJSON](),
		"oddeven sequence repair": reflect.TypeFor[planJSON](), "oddeven sequence delete": reflect.TypeFor[planJSON](),
		"oddeven worker list": reflect.TypeFor[[]leaseJSON](), "oddeven doctor": reflect.TypeFor[doctor.Report](),
		"oddeven layouts": reflect.TypeFor[[]layoutJSON](), "oddeven decode": decoded,
		"oddeven stats": reflect.TypeFor[statsJSON](), "oddeven bench": reflect.TypeFor[bench.Report](),
		"oddeven import": reflect.TypeFor[importJSON](),
	}
	everyBelow((&app{}).root(), func(cmd *cobra.Command) {
		if cmd.LocalFlags().Lookup("output") == nil {
			return
		}
		typ, known := prints[cmd.CommandPath()]
		if !known {
			t.Logf("%s has -o and is not listed here", cmd.CommandPath())
			t.Fail()
			return
		}
		want := map[string]bool{}
		if typ == decoded {
			want = fieldsOfDecode(t)
		}
		jsonFields(typ, want)
		_, after, found := strings.Cut(cmd.Long, "With -o json ")
		require.True(t, found, cmd.CommandPath())
		got := map[string]bool{}
		for _, line := range documented.FindAllStringSubmatch(after, -1) {
			for name := range strings.SplitSeq(line[1], ", ") {
				got[name] = true
			}
		}
		require.Equal(t, slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)), cmd.CommandPath())
	})
}

// fieldsOfDecode are those that `decode` can print. It writes them without
// encoding/json, so they are those of its texts.
func fieldsOfDecode(t *testing.T) map[string]bool {
	t.Helper()
	fields := map[string]bool{}
	for _, p := range ids.Parts() {
		fields[p.String()] = true
	}
	out := command(t, nil, append([]string{"decode", "-o", "json", "--"}, everyKind...)...).out
	for _, name := range regexp.MustCompile(`"([a-z_]+)":`).FindAllStringSubmatch(out, -1) {
		fields[name[1]] = true
	}
	return fields
}
