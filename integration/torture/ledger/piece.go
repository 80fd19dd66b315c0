package ledger

import (
	"math/bits"

	"github.com/oddeven/oddeven/internal/schema"
	"github.com/oddeven/oddeven/snowflake"
)

// class is numbers that lie dense: of the tickets or one sequence those congruent to
// one another, or those of one worker.
type class struct {
	space int32 // a sequence, see scheme; workers
	value int64 // number modulo increment; worker number
}

// workers is the space of all Snowflake IDs.
const workers = -1

// piece is IDs of a run that are of one class. Their place in it is key: the
// round, or tick and sequence number as one number. It says nothing of shards.
type piece struct {
	class
	key, step, count int64 // step may be 0 or negative; it is 0 if count is 1
	id, stride       int64 // the same as IDs
}

func (p *piece) lastKey() int64 { return p.key + p.step*(p.count-1) }
func (p *piece) lastID() int64  { return p.id + p.stride*(p.count-1) }

// low and high are the ends of the keys.
func (p *piece) low() int64  { return min(p.key, p.lastKey()) }
func (p *piece) high() int64 { return max(p.key, p.lastKey()) }

// source is a stream with what is known of it.
type source struct {
	Stream
	file     string
	number   int   // in the file
	space    int32 // of its numbers; workers if it has none
	ceiling  int64 // of its numbers
	position int64 // IDs so far
}

// scheme takes IDs apart.
type scheme struct {
	increment int64
	layout    snowflake.Layout
	seqBits   int
	low       int // bits of the worker number that are in its own field

	tick, datacenter, worker, sequence field
	top                                int64 // the largest ID of the layout
}

// field is where a field of a Snowflake ID is. Taking billions of IDs apart by
// Layout.Decompose would take most of a check's time.
type field struct {
	shift int
	mask  int64
}

func (f field) of(id int64) int64 { return id >> f.shift & f.mask }

func newScheme(f Fleet) scheme {
	at := func(k snowflake.Kind, one snowflake.Parts) field {
		width := f.Layout.Width(k)
		if width == 0 {
			return field{}
		}
		id, _ := f.Layout.Compose(one) // fits: there is a bit for it
		return field{bits.TrailingZeros64(uint64(id)), 1<<width - 1}
	}
	return scheme{
		increment: f.Increment, layout: f.Layout,
		seqBits:    f.Layout.Width(snowflake.KindSequence),
		low:        f.Layout.Width(snowflake.KindWorker),
		tick:       at(snowflake.KindTime, snowflake.Parts{Tick: 1}),
		datacenter: at(snowflake.KindDatacenter, snowflake.Parts{Datacenter: 1}),
		worker:     at(snowflake.KindWorker, snowflake.Parts{Worker: 1}),
		sequence:   at(snowflake.KindSequence, snowflake.Parts{Sequence: 1}),
		top:        int64(1)<<f.Layout.Bits() - 1,
	}
}

// split cuts a run into pieces, in its order. Pieces go to use, and IDs that none can
// be made of to stray. The piece is good for the call only.
func (s *scheme) split(src *source, r run, p *piece, use func(*piece), stray func(id int64)) {
	if r.count == 1 {
		r.stride = 0
	}
	if s.whole(src, r, p) {
		use(p)
		return
	}
	for i := range r.count {
		one := run{first: r.first + i*r.stride, count: 1}
		if s.whole(src, one, p) {
			use(p)
		} else {
			stray(one.first)
		}
	}
}

// upper reports whether an ID is to be looked at as one of a worker.
func upper(src *source, id int64) bool {
	return src.Source == SourceWorker || src.Source == SourceFacade && id >= schema.Ceiling
}

// whole makes a piece of a run, if it is of one class.
func (s *scheme) whole(src *source, r run, p *piece) bool {
	*p = piece{id: r.first, stride: r.stride, count: r.count}
	if upper(src, r.first) {
		return upper(src, r.last()) && s.wholeOfWorker(r, p)
	}
	last := r.last()
	if r.first <= 0 || last <= 0 || upper(src, last) {
		return false
	}
	number, unit := r.first>>src.ShardBits, s.increment<<src.ShardBits
	p.class = class{src.space, number % s.increment}
	p.key, p.step = (number-1)/s.increment, r.stride/unit
	return number > 0 && last>>src.ShardBits > 0 && r.stride%unit == 0
}

// wholeOfWorker is whole for IDs of workers. A run that stays in one tick differs in
// the bits of the sequence alone, and so it is one piece.
func (s *scheme) wholeOfWorker(r run, p *piece) bool {
	if r.first < 0 || r.first > s.top || s.layout.IsZero() {
		return false
	}
	p.class = class{workers, s.datacenter.of(r.first)<<s.low | s.worker.of(r.first)}
	p.key = s.tick.of(r.first)<<s.seqBits | s.sequence.of(r.first)
	p.step = r.stride >> s.sequence.shift
	inSequence := s.sequence.mask << s.sequence.shift
	return r.count == 1 || (r.first^r.last())&^inSequence == 0 && r.stride == p.step<<s.sequence.shift
}
