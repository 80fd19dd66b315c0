package bench

import (
	"math/rand/v2"
	"slices"
	"sync"
)

const (
	pageBits = 16 // IDs of a page of the bitmap, as a power of two
	tapeLen  = 512

	// IDs from memory are told apart block by block, one block in sampleShare:
	// to note every one would take longer than to draw it. Blocks are chosen by
	// the ID, so an ID that comes twice is either seen both times or never.
	blockBits   = 12
	sampleShare = 64
)

// seen is a set of IDs that were handed out: a bitmap, in pages, because IDs that
// are drawn together lie together. Its methods are safe for concurrent use.
type seen struct {
	salt uint64 // which blocks are in the sample

	mu         sync.Mutex // guards all below
	pages      map[int64]*[1 << pageBits / 64]uint64
	checked    int64
	duplicates int64
	first      int64 // ID that came twice
}

func newSeen() *seen {
	return &seen{salt: rand.Uint64(), pages: map[int64]*[1 << pageBits / 64]uint64{}}
}

// add notes IDs, and counts those that are there already.
func (s *seen) add(ids []int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		page := s.pages[id>>pageBits]
		if page == nil {
			page = new([1 << pageBits / 64]uint64)
			s.pages[id>>pageBits] = page
		}
		word, bit := id>>6&(1<<pageBits/64-1), uint64(1)<<(id&63)
		if page[word]&bit != 0 {
			s.twiceLocked(id)
		}
		page[word] |= bit
	}
	s.checked += int64(len(ids))
}

// twice notes that an ID came again.
func (s *seen) twice(id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.twiceLocked(id)
}

func (s *seen) twiceLocked(id int64) {
	if s.duplicates == 0 {
		s.first = id
	}
	s.duplicates++
}

// sampled reports whether a block of IDs is in the sample.
func (s *seen) sampled(block int64) bool {
	return (uint64(block)^s.salt)*0x9E3779B97F4A7C15>>32%sampleShare == 0
}

// addRising notes those IDs of one caller that are in the sample, and counts
// those that do not rise.
func (s *seen) addRising(last int64, ids []int64) {
	for _, id := range ids {
		if id <= last {
			s.twice(id)
			s.addSample(ids)
			return
		}
		last = id
	}
	for len(ids) > 0 {
		block := ids[0] >> blockBits
		n, _ := slices.BinarySearch(ids, (block+1)<<blockBits)
		if s.sampled(block) {
			s.add(ids[:n])
		}
		ids = ids[n:]
	}
}

// addSample notes those IDs that are in the sample, in any order.
func (s *seen) addSample(ids []int64) {
	for len(ids) > 0 {
		block, n := ids[0]>>blockBits, 1
		for n < len(ids) && ids[n]>>blockBits == block {
			n++
		}
		if s.sampled(block) {
			s.add(ids[:n])
		}
		ids = ids[n:]
	}
}

// counts are how many IDs were compared with all others, how many of them had
// been there before, and the first of those.
func (s *seen) counts() (checked, duplicates, first int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.checked, s.duplicates, s.first
}

// tape is what one caller has drawn and not yet added to a set, so that callers
// seldom meet there. Not safe for concurrent use.
type tape struct {
	set *seen
	ids []int64
}

func (t *tape) note(id int64) {
	t.ids = append(t.ids, id)
	if len(t.ids) >= tapeLen {
		t.flush()
	}
}

func (t *tape) flush() {
	t.set.add(t.ids)
	t.ids = t.ids[:0]
}
