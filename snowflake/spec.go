package snowflake

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// MaxSpec is an upper bound of the length of Layout.String in bytes, and the longest text that
// ParseLayout looks at.
const MaxSpec = 200

// specForm is how a spec looks, for error messages.
const specForm = "time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z"

// String returns the spec of the layout, for instance
//
//	time:41,worker:10,sequence:12;unit=1ms;epoch=2026-01-01T00:00:00Z
//
// with the fields highest first, their widths in bits, and the epoch in UTC with three decimals or
// none. It is ASCII and at most MaxSpec bytes long. Every layout has exactly one spec, so specs can
// be stored and compared byte by byte; ParseLayout turns it back. The zero Layout gives "".
func (l Layout) String() string {
	if l.IsZero() {
		return ""
	}
	var b strings.Builder
	for i, f := range l.Fields() {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(f.Kind.String() + ":" + strconv.Itoa(f.Bits))
	}
	b.WriteString(";unit=" + formatUnit(l.unit) + ";epoch=" + formatEpoch(l.epoch))
	return b.String()
}

// ParseLayout returns the layout that text names: a preset ("twitter", see Presets) or a spec as
// Layout.String writes it. It is strict: a spec written in another way than String would write it
// (spaces, capitals, leading zeros, unit=1000ms for 1s, another time zone) is refused, and the
// error shows how to write it. The error is a *LayoutError.
func ParseLayout(text string) (Layout, error) {
	if len(text) > MaxSpec {
		return Layout{}, specError(text[:20]+"...", fmt.Sprintf("has %d bytes; at most %d", len(text), MaxSpec))
	}
	if !strings.ContainsAny(text, ":;=,") {
		return Preset(text)
	}
	l, err := parseSpec(text)
	if err != nil {
		return Layout{}, err
	}
	if canonical := l.String(); canonical != text {
		return Layout{}, &LayoutError{Field: "spec", Value: text,
			Problem: fmt.Sprintf("spec %q is not in the one form that is stored and compared", text),
			Remedy:  "write " + canonical}
	}
	return l, nil
}

// parseSpec may accept more than the canonical form, which its caller then compares with.
func parseSpec(text string) (Layout, error) {
	parts := strings.Split(text, ";")
	if len(parts) != 3 {
		return Layout{}, specError(text, fmt.Sprintf("has %d parts separated by semicolons, not 3", len(parts)))
	}
	fields, err := parseFields(text, parts[0])
	if err != nil {
		return Layout{}, err
	}
	unit, err := time.ParseDuration(strings.TrimPrefix(parts[1], "unit="))
	if err != nil || !strings.HasPrefix(parts[1], "unit=") {
		return Layout{}, specError(text, fmt.Sprintf("has %q where unit=DURATION belongs", parts[1]))
	}
	epoch, err := time.Parse(time.RFC3339, strings.TrimPrefix(parts[2], "epoch="))
	if err != nil || !strings.HasPrefix(parts[2], "epoch=") {
		return Layout{}, specError(text, fmt.Sprintf("has %q where epoch=TIME belongs", parts[2]))
	}
	return NewLayout(unit, epoch, fields...)
}

// parseFields parses "time:41,worker:10,…".
func parseFields(text, list string) ([]Field, error) {
	var fields []Field
	for item := range strings.SplitSeq(list, ",") {
		name, width, _ := strings.Cut(item, ":")
		kind := kindNamed(name)
		n, err := strconv.ParseUint(width, 10, 16)
		if kind == 0 || err != nil {
			return nil, specError(text, fmt.Sprintf("has %q where FIELD:BITS belongs (time, datacenter, worker, shard, sequence)", item))
		}
		fields = append(fields, Field{Kind: kind, Bits: int(n)})
	}
	return fields, nil
}

// kindNamed returns the kind with that name, 0 if there is none.
func kindNamed(name string) Kind {
	for k := KindTime; k < kindEnd; k++ {
		if k.String() == name {
			return k
		}
	}
	return 0
}

// specError is for text that is not a spec at all.
func specError(text, problem string) error {
	return &LayoutError{Field: "spec", Value: text,
		Problem: fmt.Sprintf("spec %q %s", text, problem),
		Remedy:  "write it like " + specForm}
}

// formatUnit writes milliseconds in the largest of h, m, s and ms that needs no fraction.
func formatUnit(milli int64) string {
	switch {
	case milli%3_600_000 == 0:
		return strconv.FormatInt(milli/3_600_000, 10) + "h"
	case milli%60_000 == 0:
		return strconv.FormatInt(milli/60_000, 10) + "m"
	case milli%1000 == 0:
		return strconv.FormatInt(milli/1000, 10) + "s"
	default:
		return strconv.FormatInt(milli, 10) + "ms"
	}
}

// formatEpoch writes milliseconds of Unix time as RFC 3339 in UTC.
func formatEpoch(milli int64) string {
	form := "2006-01-02T15:04:05Z"
	if milli%1000 != 0 {
		form = "2006-01-02T15:04:05.000Z"
	}
	return time.UnixMilli(milli).UTC().Format(form)
}
