package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

const (
	// maxRepeats is how many ranges of duplicates a part keeps, maxCopies how many
	// copies of one are named.
	maxRepeats = 1000
	maxCopies  = 6
)

// duplicates finds IDs that are there twice. The blocks are dealt out to parts, by a
// hash. Each processor reads all files and looks at the blocks of one part, which it
// shares with nobody; there are as many parts as it takes to stay in the budget.
func (c *checker) duplicates(ctx context.Context, total *tally, budget int64) error {
	var need int64
	for _, n := range total.blocks {
		need += cost(n)
	}
	total.blocks = nil
	rounds := need/budget + 1
	parts := rounds * int64(c.procs)
	var repeats []repeat
	var extra int64
	for round := range rounds {
		found := make([]*part, c.procs)
		err := c.together(c.procs, func(i int) error {
			found[i] = newPart(uint64(round*int64(c.procs)+int64(i)), uint64(parts))
			return found[i].readAll(ctx, c)
		})
		if err != nil {
			return err
		}
		for _, p := range found {
			repeats = append(repeats, p.repeats...)
			extra += p.extra
		}
	}
	if extra == 0 {
		return nil
	}
	return c.locate(ctx, merge(repeats), extra)
}

// repeat is keys of a class that are there more than once.
type repeat struct {
	class
	low, high int64
}

// merge joins neighbours.
func merge(repeats []repeat) []repeat {
	slices.SortFunc(repeats, func(a, b repeat) int {
		return cmp.Or(cmp.Compare(a.space, b.space), cmp.Compare(a.value, b.value), cmp.Compare(a.low, b.low))
	})
	var merged []repeat
	for _, r := range repeats {
		if n := len(merged); n > 0 && merged[n-1].class == r.class && r.low <= merged[n-1].high+1 {
			merged[n-1].high = max(merged[n-1].high, r.high)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// part is the blocks that one processor looks at in a round.
type part struct {
	own, of uint64
	blocks  map[blockID]*block
	recent  [1024]recent // by hash

	now     blockID // which hit is about
	repeats []repeat
	extra   int64
}

// recent is a block that was used not long ago.
type recent struct {
	id blockID
	b  *block
}

func newPart(own, of uint64) *part {
	return &part{own: own, of: of, blocks: map[blockID]*block{}}
}

func (p *part) readAll(ctx context.Context, c *checker) error {
	var pc piece
	ignore := func(int64) {}
	take := func(pc *piece) { p.take(pc) }
	for _, path := range c.files {
		v := c.sources(path, func(src *source, r run) { c.scheme.split(src, r, &pc, take, ignore) })
		if _, err := c.read(ctx, path, v); err != nil {
			return err
		}
	}
	return nil
}

// hash mixes a block's name.
func (id blockID) hash() uint64 {
	h := uint64(id.block)*0x9e3779b97f4a7c15 ^ uint64(id.value)*0xc2b2ae3d27d4eb4f ^ uint64(uint32(id.space))*0x165667b19e3779f9
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// take adds a piece, as far as it lies in blocks of this part.
func (p *part) take(pc *piece) {
	pc.blocks(func(number int64, low, step, n int) {
		id := blockID{pc.class, number}
		h := id.hash()
		if h%p.of != p.own {
			return
		}
		slot := &p.recent[h>>54]
		if slot.b == nil || slot.id != id {
			*slot = recent{id, p.block(id)}
		}
		p.now = id
		slot.b.add(low, step, n, p.hit)
	})
}

func (p *part) block(id blockID) *block {
	b := p.blocks[id]
	if b == nil {
		b = &block{}
		p.blocks[id] = b
	}
	return b
}

// hit takes a key that was there already.
func (p *part) hit(key int) {
	p.extra++
	k := p.now.block<<blockBits | int64(key)
	if n := len(p.repeats); n > 0 {
		if r := &p.repeats[n-1]; r.class == p.now.class && r.low <= k && k <= r.high+1 {
			r.high = max(r.high, k)
			return
		}
	}
	if len(p.repeats) < maxRepeats {
		p.repeats = append(p.repeats, repeat{p.now.class, k, k})
	}
}

// copies is where a duplicate is.
type copies struct {
	repeat
	mu    sync.Mutex // guards all below
	id    int64
	where []string
	count int
}

// locate reads everything again for the streams that have the first of each range
// of duplicates, and reports them.
func (c *checker) locate(ctx context.Context, repeats []repeat, extra int64) error {
	wanted := map[class][]*copies{}
	var list []*copies
	for _, r := range repeats[:min(len(repeats), maxFindings)] {
		w := &copies{repeat: r}
		list = append(list, w)
		wanted[r.class] = append(wanted[r.class], w)
	}
	err := c.each(func(_ int, path string) error {
		var pc piece
		v := c.sources(path, func(src *source, r run) {
			c.scheme.split(src, r, &pc, func(pc *piece) {
				for _, w := range wanted[pc.class] {
					w.look(src, r, pc)
				}
			}, func(int64) {})
		})
		_, err := c.read(ctx, path, v)
		return err
	})
	if err != nil {
		return err
	}
	for i, w := range list {
		n := int64(0) // so that the number is right whatever is named
		if i == 0 {
			n = extra
		}
		c.findings.add(KindDuplicate, n, "%s", w.describe(c))
	}
	return nil
}

// look notes whether a piece has the key.
func (w *copies) look(src *source, r run, p *piece) {
	if w.low < p.low() || w.low > p.high() {
		return
	}
	index, times := int64(0), int(p.count)
	if p.step != 0 {
		if (w.low-p.key)%p.step != 0 {
			return
		}
		index, times = (w.low-p.key)/p.step, 1
	}
	id := p.id + index*p.stride
	w.mu.Lock()
	defer w.mu.Unlock()
	w.id = id
	w.count += times
	if len(w.where) < maxCopies {
		w.where = append(w.where, src.where(r, id))
	}
}

func (w *copies) describe(c *checker) string {
	what := "of a worker"
	if w.space != workers {
		what = "of the tickets"
		if name := c.names[w.space]; name != "" {
			what = fmt.Sprintf("of sequence %q", name)
		}
	}
	slices.Sort(w.where)
	text := fmt.Sprintf("ID %d %s was handed out %d times: %s", w.id, what, w.count, strings.Join(w.where, "; "))
	if w.high > w.low {
		text += fmt.Sprintf("; and so were the %d that follow it there", w.high-w.low)
	}
	return text
}
