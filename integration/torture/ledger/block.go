package ledger

import (
	"math/bits"
	"slices"
)

const (
	// blockBits is how many bits of a key are the place in its block.
	blockBits = 16
	blockSize = 1 << blockBits
	// bitmapBytes is the size of a block that has a bit for every key.
	bitmapBytes = blockSize / 8
	// sparse is the most keys that a block keeps as a list: at this size its list has
	// the capacity of a bitmap.
	sparse = bitmapBytes / 4
	// blockOverhead is about what a block takes with its place in a map.
	blockOverhead = 120
)

// blockID is a block of a class.
type blockID struct {
	class
	block int64
}

// cost is about how many bytes a block with n IDs takes.
func cost(n int64) int64 {
	if n > sparse {
		return blockOverhead + bitmapBytes
	}
	return blockOverhead + 4*n
}

// blocks cuts a piece at the ends of blocks: n keys from low on, by step, which is
// at least 0, and 0 only for one and the same key n times. A piece that falls is
// turned round.
func (p *piece) blocks(use func(block int64, low, step, n int)) {
	key, step, left := p.key, p.step, p.count
	if step < 0 {
		key, step = p.lastKey(), -step
	}
	for left > 0 {
		block, low := key>>blockBits, int(key&(blockSize-1))
		n := left
		if step > 0 {
			n = min(left, (blockSize-1-int64(low))/step+1)
		}
		use(block, low, int(step), int(n))
		key += n * step
		left -= n
	}
}

// block is the keys of a block that somebody has.
type block struct {
	list []uint16 // sorted; while there are few
	bits *[blockSize / 64]uint64
}

// add adds n keys. Those that are there already go to hit.
func (b *block) add(low, step, n int, hit func(key int)) {
	if b.bits == nil && len(b.list)+n > sparse {
		b.spread()
	}
	switch {
	case b.bits == nil:
		for i := range n {
			b.insert(low+i*step, hit)
		}
	case step == 1 && n >= 16:
		b.fill(low, low+n, hit)
	default:
		for i := range n {
			key := low + i*step
			word, bit := &b.bits[key>>6], uint64(1)<<(key&63)
			if *word&bit != 0 {
				hit(key)
			}
			*word |= bit
		}
	}
}

// spread makes a bitmap of the list.
func (b *block) spread() {
	b.bits = new([blockSize / 64]uint64)
	for _, key := range b.list {
		b.bits[key>>6] |= 1 << (key & 63)
	}
	b.list = nil
}

// insert adds a key to the list. IDs of a stream rise as a rule, so that it is the last.
func (b *block) insert(key int, hit func(key int)) {
	k := uint16(key)
	if n := len(b.list); n == 0 || b.list[n-1] < k {
		b.list = append(b.list, k)
		return
	}
	at, found := slices.BinarySearch(b.list, k)
	if found {
		hit(key)
		return
	}
	b.list = slices.Insert(b.list, at, k)
}

// fill sets the bits from low up to, not including, high.
func (b *block) fill(low, high int, hit func(key int)) {
	for low < high {
		word := low >> 6
		end := min((word+1)<<6, high)
		mask := (^uint64(0) >> (64 - (end - low))) << (low & 63)
		for both := b.bits[word] & mask; both != 0; both &= both - 1 {
			hit(word<<6 + bits.TrailingZeros64(both))
		}
		b.bits[word] |= mask
		low = end
	}
}
