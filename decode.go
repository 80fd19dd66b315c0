package oddeven

import (
	"fmt"
	"time"

	"github.com/oddeven/oddeven/internal/schema"
)

// Plane is the part of the space of IDs that an ID lies in. The words are those
// of `oddeven decode`.
type Plane string

// The planes of a fleet.
const (
	// PlaneSegment is for tickets and IDs of segments, below 2^53. Which of the two it
	// is can't be seen.
	PlaneSegment Plane = "segment"
	// PlaneSnowflake is for IDs of workers, from 2^53 on.
	PlaneSnowflake Plane = "snowflake"
)

// Origin is what an ID tells about where it comes from. A field that its plane
// does not have is zero.
type Origin struct {
	// Plane says which of the fields below mean anything.
	Plane Plane
	// Shard is the shard; 0 in a fleet without shard bits. Tickets have none: in a
	// fleet with shard bits nothing that Decode says of a ticket means anything.
	Shard int64

	// Server is the offset of the server that issued it, 1 to the increment of the
	// fleet; 0 while no server has been reached. In PlaneSegment.
	Server int64

	// Worker is the worker number, Time when its tick begins, in UTC, by the clock of
	// the server that leased it, and at most snowflake.Config.MaxAhead early, and
	// Sequence what tells it apart from others of that tick. In PlaneSnowflake.
	Worker   int64
	Time     time.Time
	Sequence int64
}

// Decode says what an ID tells about its origin, supposed that this fleet has
// issued it: that can't be seen, nor of which sequence it is. It does no I/O. The
// error is an *IDError for what no ID of this fleet can be.
func (c *Client) Decode(id ID) (Origin, error) {
	c.mu.Lock()
	s := c.scheme
	c.mu.Unlock()
	if id < 0 {
		return Origin{}, negativeError(int64(id))
	}
	if int64(id) >= schema.Ceiling {
		return s.decodeSnowflake(id)
	}
	number := int64(id) >> s.bits
	if number == 0 {
		return Origin{}, newIDError(id.String(), -1, fmt.Sprintf("has the number 0 above %d shard bits, and the first of a fleet is 1", s.bits), "use IDs as they were issued")
	}
	o := Origin{Plane: PlaneSegment, Shard: id.Shard(s.bits)}
	if s.increment > 0 {
		o.Server = (number-1)%s.increment + 1
	}
	return o, nil
}

// decodeSnowflake is Decode in the upper plane.
func (s scheme) decodeSnowflake(id ID) (Origin, error) {
	foreign := func() (Origin, error) {
		return Origin{}, newIDError(id.String(), -1, "cannot be of the layout "+s.layout.String(), "see that it is of this fleet")
	}
	parts, err := s.layout.Decompose(int64(id))
	if err != nil {
		return foreign()
	}
	worker, err := s.layout.Number(parts.Datacenter, parts.Worker)
	if err != nil {
		return foreign()
	}
	return Origin{
		Plane: PlaneSnowflake, Shard: parts.Shard, Worker: worker, Time: s.layout.TimeOf(parts.Tick), Sequence: parts.Sequence,
	}, nil
}
