package ledger

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/oddeven/oddeven/internal/schema"
)

// tally is what a processor has counted.
type tally struct {
	ids, ranges, unleased int64
	bySource              map[string]int64
	classes               map[class]*extent
	blocks                map[blockID]int64 // IDs in them
}

func newTally() *tally {
	return &tally{bySource: map[string]int64{}, classes: map[class]*extent{}, blocks: map[blockID]int64{}}
}

// take adds another one.
func (t *tally) take(o *tally) {
	t.ids, t.ranges, t.unleased = t.ids+o.ids, t.ranges+o.ranges, t.unleased+o.unleased
	for k, n := range o.bySource {
		t.bySource[k] += n
	}
	for k, n := range o.blocks {
		t.blocks[k] += n
	}
	for k, e := range o.classes {
		if all := t.classes[k]; all != nil {
			*all = extent{min(all.low, e.low), max(all.high, e.high), all.count + e.count}
		} else {
			t.classes[k] = e
		}
	}
}

// scanAll checks every ID for itself, and counts them.
func (c *checker) scanAll(ctx context.Context) (*tally, error) {
	tallies := make([]*tally, c.procs)
	for i := range tallies {
		tallies[i] = newTally()
	}
	err := c.each(func(proc int, path string) error { return c.scan(ctx, path, tallies[proc]) })
	if err != nil {
		return nil, err
	}
	total := tallies[0]
	for _, t := range tallies[1:] {
		total.take(t)
	}
	return total, nil
}

// scan checks the IDs of a file.
func (c *checker) scan(ctx context.Context, path string, t *tally) error {
	scans := map[*source]*scan{}
	var p piece
	v := c.sources(path, func(src *source, r run) {
		s := scans[src]
		if s == nil {
			s = &scan{c: c, t: t, src: src, fronts: map[class]*front{}}
			scans[src] = s
		}
		t.ids += r.count
		t.ranges++
		t.bySource[src.Source] += r.count
		s.run = r
		c.scheme.split(src, r, &p, s.piece, s.stray)
	})
	_, wrong, err := readFile(ctx, path, v)
	if wrong != nil {
		c.findings.add(KindLog, 1, "%s: %s", filepath.Base(path), wrong)
	}
	for _, s := range scans {
		for _, f := range s.fronts {
			s.count(f)
		}
	}
	return err
}

// scan is the check of a stream.
type scan struct {
	c   *checker
	t   *tally
	src *source
	run run // that is looked at

	fronts map[class]*front
	at     *front // used last
	lower  int64  // the last number below the ceiling, of streams that rise
}

// front is how far a stream is in a class.
type front struct {
	class
	extent  *extent
	last    int64 // key
	foreign bool  // the class is no server's
	holds   []*holding
	block   int64 // where IDs are counted, and not in the tally yet
	inBlock int64
}

// stray takes an ID that is of no class.
func (s *scan) stray(id int64) {
	if upper(s.src, id) {
		s.c.findings.add(KindPlane, 1, "%d of %s can't be of the layout %s", id, s.where(id), s.c.fleet.Layout)
		return
	}
	s.c.findings.add(KindPlane, 1, "%d of %s has no number above %d shard bits; the first is 1", id, s.where(id), s.src.ShardBits)
}

func (s *scan) piece(p *piece) {
	f := s.at
	if f == nil || f.class != p.class {
		f = s.front(p.class)
		s.at = f
	}
	if f.foreign {
		s.c.findings.add(KindResidue, p.count, "%s of %s are congruent to %d modulo %d; no server has this offset", p.ids(), s.where(p.id), p.value%s.c.fleet.Increment, s.c.fleet.Increment)
	}
	if p.space == workers {
		s.worker(f, p)
	} else if top := max(p.id, p.lastID()) >> s.src.ShardBits; top > s.src.ceiling {
		s.c.findings.add(KindPlane, p.count, "%s of %s: the number goes up to %d; the ceiling is %d", p.ids(), s.where(p.id), top, s.src.ceiling)
	}
	if s.src.Ordered {
		s.order(f, p)
	}
	f.last = p.lastKey()
	f.extent.add(p)
	p.blocks(func(block int64, _, _, n int) {
		if block != f.block {
			s.count(f)
			f.block = block
		}
		f.inBlock += int64(n)
	})
}

// front returns what is known of a class.
func (s *scan) front(c class) *front {
	f := s.fronts[c]
	if f != nil {
		return f
	}
	f = &front{class: c, last: -1, extent: s.t.classes[c]}
	if f.extent == nil {
		f.extent = &extent{}
		s.t.classes[c] = f.extent
	}
	offset := c.value % s.c.fleet.Increment
	if offset == 0 {
		offset = s.c.fleet.Increment
	}
	_, known := s.c.fleet.Offsets[offset]
	f.foreign = !known
	if c.space == workers {
		f.holds = s.c.leases.of(s.src.Process, c.value)
	}
	s.fronts[c] = f
	return f
}

// worker checks plane and lease of Snowflake IDs. All of a piece that stays in a tick
// lie in the same rectangles.
func (s *scan) worker(f *front, p *piece) {
	if low := min(p.id, p.lastID()); low < schema.Ceiling {
		s.c.findings.add(KindPlane, p.count, "%s of %s is a worker's and below 2^53", p.ids(), s.where(p.id))
	}
	if len(f.holds) == 0 {
		s.t.unleased += p.count
		return
	}
	tick := p.key >> s.c.scheme.seqBits
	for _, h := range f.holds {
		if h.from <= tick && tick < h.until {
			return
		}
	}
	h := f.holds[len(f.holds)-1]
	s.c.findings.add(KindLease, p.count, "%s of %s: tick %d of worker %d is outside its lease [%d, %d), and any other of this process", p.ids(), s.where(p.id), tick, p.value, h.from, h.until)
}

// order checks that IDs rise: of one worker and of one server's tickets by key, of a
// sequence by number.
func (s *scan) order(f *front, p *piece) {
	last, first := f.last, p.key
	if p.space != workers && s.src.Source != SourceTicket {
		last, first = s.lower, p.id>>s.src.ShardBits
		s.lower = p.lastID() >> s.src.ShardBits
	}
	if first <= last || p.count > 1 && p.step <= 0 {
		s.c.findings.add(KindOrder, 1, "%s of %s: not above the one before", p.ids(), s.where(p.id))
	}
}

// count puts what was counted in a block into the tally.
func (s *scan) count(f *front) {
	if f.inBlock > 0 {
		s.t.blocks[blockID{f.class, f.block}] += f.inBlock
		f.inBlock = 0
	}
}

// ids names the IDs of a piece.
func (p *piece) ids() string {
	if p.count == 1 {
		return fmt.Sprintf("ID %d", p.id)
	}
	return fmt.Sprintf("IDs %d to %d (%d by %d)", p.id, p.lastID(), p.count, p.stride)
}

// where says where an ID of the run is.
func (s *scan) where(id int64) string { return s.src.where(s.run, id) }

// where says where an ID of a run is, the one that is read now.
func (src *source) where(r run, id int64) string {
	after := int64(0)
	if r.count > 1 && r.stride != 0 {
		after = (id - r.first) / r.stride
	}
	what := src.Source
	if src.Sequence != "" {
		what = fmt.Sprintf("%s %q", what, src.Sequence)
	}
	return fmt.Sprintf("%s (%s, %s stream %d, ID %d)", src.Process, what, src.file, src.number, src.position+after+1)
}
