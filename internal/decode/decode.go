// Package decode says what can be read from an ID: one of ours, one of another
// Snowflake scheme, a UUID or a MongoDB ObjectID.
package decode

import (
	"fmt"
	"strconv"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
)

// Config says whose IDs are read, and how numbers are written.
type Config struct {
	// Layout is the Snowflake layout. Defaults to snowflake.Default.
	Layout snowflake.Layout

	// Foreign means that the layout is not that of a fleet of ours: every number
	// is read by it. Otherwise only numbers from 2^53 on are, and those below are
	// tickets and IDs of sequences.
	Foreign bool

	// Increment and ShardBits are the fleet's. With Increment 0 neither is known,
	// and nothing is said of the server and the shard of a number below 2^53.
	Increment int64
	ShardBits int

	// Base is 10 or 32. Defaults to 10.
	Base int

	// Now returns the time that a time in an ID is compared with. Defaults to
	// time.Now.
	Now func() time.Time
}

// Decoder reads IDs. It is not safe for concurrent use.
type Decoder struct {
	cfg   Config
	name  string // of the layout: that of a preset, or its spec
	parts []layoutPart
	now   int64 // a time that has been, in milliseconds of Unix time
}

// layoutPart is a field of the layout that is shown.
type layoutPart struct {
	part  Part
	value func(snowflake.Parts) int64
}

// New returns a Decoder. Increment and ShardBits of cfg are a fleet's, which has
// checked them.
func New(cfg Config) *Decoder {
	if cfg.Layout.IsZero() {
		cfg.Layout = snowflake.Default()
	}
	if cfg.Base == 0 {
		cfg.Base = 10
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	return &Decoder{cfg: cfg, name: layoutName(cfg.Layout), parts: partsOf(cfg.Layout)}
}

// Layout returns the name of the layout that Snowflake IDs are read by: that of
// a preset, or its spec.
func (d *Decoder) Layout() string { return d.name }

// layoutName is what ParseLayout accepts for a layout, as short as can be.
func layoutName(l snowflake.Layout) string {
	for _, p := range snowflake.Presets() {
		if p.Layout == l {
			return p.Name
		}
	}
	return l.String()
}

// partsOf are the fields that IDs of a layout have, without the time.
func partsOf(l snowflake.Layout) []layoutPart {
	all := []struct {
		kind snowflake.Kind
		layoutPart
	}{
		{snowflake.KindDatacenter, layoutPart{Datacenter, func(p snowflake.Parts) int64 { return p.Datacenter }}},
		{snowflake.KindWorker, layoutPart{Worker, func(p snowflake.Parts) int64 { return p.Worker }}},
		{snowflake.KindShard, layoutPart{Shard, func(p snowflake.Parts) int64 { return p.Shard }}},
		{snowflake.KindSequence, layoutPart{Sequence, func(p snowflake.Parts) int64 { return p.Sequence }}},
	}
	var have []layoutPart
	for _, f := range all {
		if l.Width(f.kind) > 0 {
			have = append(have, f.layoutPart)
		}
	}
	return have
}

// Decode reads one ID: 24 characters are an ObjectID, 32 and 36 a UUID, and
// everything else is a number in the base of the configuration. It is strict:
// what an ID would not be written as is refused. The error is an *Error.
func (d *Decoder) Decode(text string) (Result, error) {
	var r Result
	var err error
	switch len(text) {
	case objectIDChars:
		r, err = decodeObjectID(text)
	case uuidChars, uuidHexChars:
		r, err = decodeUUID(text)
	default:
		r, err = d.decodeNumber(text)
	}
	if err != nil {
		return Result{}, err
	}
	r.Future = r.Timed && d.future(r.Milli)
	return r, nil
}

// future reports whether a time is yet to come. The clock is read only if the
// time is after the last reading: what has been stays so.
func (d *Decoder) future(milli int64) bool {
	if milli <= d.now {
		return false
	}
	d.now = d.cfg.Now().UnixMilli()
	return milli > d.now
}

// decodeNumber reads an ID of 63 bits.
func (d *Decoder) decodeNumber(text string) (Result, error) {
	id, err := d.parseNumber(text)
	if err != nil {
		return Result{}, err
	}
	r := Result{ID: text}
	if d.cfg.Base == 32 {
		r.ID = strconv.FormatInt(id, 10)
	}
	if d.cfg.Foreign || id >= schema.Ceiling {
		return r, d.decodeSnowflake(&r, text, id)
	}
	return r, d.decodeSegment(&r, text, id)
}

// decodeSnowflake takes an ID of the upper plane apart.
func (d *Decoder) decodeSnowflake(r *Result, text string, id int64) error {
	l := d.cfg.Layout
	parts, err := l.Decompose(id)
	if err != nil {
		return newError(text, fmt.Sprintf("cannot be of the layout %s, which has %d bits", d.name, l.Bits()), "give the layout that it was made with")
	}
	r.Plane, r.Layout = PlaneSnowflake, d.name
	r.setTime(l.TimeOf(parts.Tick).UnixMilli())
	for _, f := range d.parts {
		r.set(f.part, f.value(parts))
	}
	if l.WorkerBits() > 0 {
		node, err := l.Number(parts.Datacenter, parts.Worker)
		if err != nil {
			return err // they came out of their fields
		}
		r.set(Node, node)
	}
	return nil
}

// decodeSegment reads an ID of the lower plane: the shard in the lowest bits,
// and above it a number whose residue tells the server.
func (d *Decoder) decodeSegment(r *Result, text string, id int64) error {
	r.Plane = PlaneSegment
	number := id
	if d.cfg.Increment > 0 {
		number = id >> d.cfg.ShardBits
	}
	if number == 0 {
		return newError(text, "cannot be an ID: the first number of a fleet is 1"+d.aboveShard(), "look where it comes from")
	}
	if d.cfg.Increment == 0 {
		return nil
	}
	if d.cfg.ShardBits > 0 {
		r.set(Shard, id&(1<<d.cfg.ShardBits-1))
	}
	r.set(Server, (number-1)%d.cfg.Increment+1)
	return nil
}

// aboveShard says where the number of an ID begins, if not at its end.
func (d *Decoder) aboveShard() string {
	if d.cfg.Increment == 0 || d.cfg.ShardBits == 0 {
		return ""
	}
	return fmt.Sprintf(", above %d shard bits", d.cfg.ShardBits)
}
