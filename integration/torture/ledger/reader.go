package ledger

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
)

// visitor is told what is in a file, in its order. Functions that are nil are not
// called.
type visitor struct {
	stream func(number int, s Stream)
	run    func(number int, r run)
	lease  func(Lease)
	call   func(Call)
	event  func(Event)
}

// damage is what is wrong with a file.
type damage struct {
	offset int64 // of the frame
	err    error
}

func (d *damage) Error() string {
	return fmt.Sprintf("at byte %d: %s; what follows was not read", d.offset, d.err)
}

func (d *damage) Unwrap() error { return d.err }

// checkEvery is after how many frames read looks at ctx.
const checkEvery = 256

// read reads a file. torn says that it ends in the middle of a frame, or without
// having been closed, as that of a killed process does. The error is ctx's own, a
// *damage, or one of the reader.
func read(ctx context.Context, r io.Reader, v visitor) (torn bool, err error) {
	f := newFrames(r)
	d := decoder{v: v}
	err = f.begin()
	for err == nil {
		if f.index%checkEvery == 0 && ctx.Err() != nil {
			return false, ctx.Err()
		}
		start := f.offset
		var payload []byte
		if payload, err = f.next(); err != nil {
			break
		}
		if err := d.frame(payload); err != nil {
			return false, &damage{start, err}
		}
	}
	switch {
	case errors.Is(err, errTorn) && !d.ended:
		return true, nil
	case errors.Is(err, io.EOF):
		return !d.ended, nil
	}
	return false, &damage{f.offset, err}
}

// decoder reads payloads.
type decoder struct {
	v     visitor
	last  []int64 // ID of each stream
	ended bool
}

func (d *decoder) frame(payload []byte) error {
	if d.ended {
		return errors.New("there is more after the end")
	}
	kind, rest := payload[0], payload[1:]
	switch kind {
	case kindStream:
		return decode(rest, Stream.check, func(s Stream) {
			d.last = append(d.last, 0)
			if d.v.stream != nil {
				d.v.stream(len(d.last)-1, s)
			}
		})
	case kindIDs:
		return d.ids(rest)
	case kindLease:
		return decode(rest, Lease.check, d.v.lease)
	case kindCall:
		return decode(rest, func(Call) error { return nil }, d.v.call)
	case kindEvent:
		return decode(rest, Event.check, d.v.event)
	case kindEnd:
		d.ended = true
		return nil
	}
	return fmt.Errorf("a record of kind %q, which this reader does not know", kind)
}

// decode reads a record in JSON.
func decode[T any](text []byte, check func(T) error, use func(T)) error {
	var v T
	if err := json.Unmarshal(text, &v); err != nil {
		return fmt.Errorf("decode %T: %w", v, err)
	}
	if err := check(v); err != nil {
		return err
	}
	if use != nil {
		use(v)
	}
	return nil
}

var errShort = errors.New("a block of IDs is cut short")

// ids reads a block.
func (d *decoder) ids(data []byte) error {
	number, n := binary.Uvarint(data)
	if n <= 0 {
		return errShort
	}
	data = data[n:]
	if number >= uint64(len(d.last)) {
		return fmt.Errorf("IDs of stream %d; %d have begun", number, len(d.last))
	}
	count, n := binary.Uvarint(data)
	if n <= 0 || count == 0 || count > maxBlock {
		return fmt.Errorf("a block of %d IDs; 1 to %d", count, maxBlock)
	}
	if d.v.run == nil {
		return nil
	}
	return d.tokens(data[n:], int(number), count)
}

// tokens turns tokens into runs. A single ID and the run that follows it are one.
func (d *decoder) tokens(data []byte, number int, left uint64) error {
	last := d.last[number]
	var pending run
	for len(data) > 0 {
		next, rest, err := token(data, last)
		if err != nil {
			return err
		}
		if uint64(next.count) > left {
			return errors.New("a block of IDs has more than it says")
		}
		left -= uint64(next.count)
		last, data = next.last(), rest
		switch {
		case next.stride != apart && pending.count == 1:
			pending.stride, pending.count = next.stride, 1+next.count
		case next.stride != apart && pending.count > 1 && next.stride == pending.stride:
			pending.count += next.count
		default:
			if pending.count > 0 {
				d.v.run(number, pending)
			}
			pending = next
		}
	}
	if left > 0 {
		return errShort
	}
	d.v.run(number, pending)
	d.last[number] = last
	return nil
}

// apart is the stride of a single ID that is not a difference to the one before; no
// difference is that large.
const apart = math.MinInt64

// token reads the IDs of one token, whose first follows last.
func token(data []byte, last int64) (r run, rest []byte, err error) {
	v, n := binary.Uvarint(data)
	if n <= 0 {
		return run{}, nil, errShort
	}
	data = data[n:]
	zigzag := v >> 1
	stride := int64(zigzag>>1) ^ -int64(zigzag&1)
	count := uint64(1)
	if v&1 == 1 {
		if count, n = binary.Uvarint(data); n <= 0 {
			return run{}, nil, errShort
		}
		data = data[n:]
	}
	switch {
	case count == 0 && stride == 0 && len(data) >= 8:
		return run{first: int64(binary.LittleEndian.Uint64(data)), stride: apart, count: 1}, data[8:], nil
	case count == 0 || count > maxBlock || !reachable(last, stride, count):
		return run{}, nil, fmt.Errorf("a run of %d IDs by %d after %d", count, stride, last)
	}
	return run{first: last + stride, stride: stride, count: int64(count)}, data, nil
}
