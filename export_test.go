package oddeven

import "github.com/oddeven/oddeven/snowflake"

// NewDecoderForTest is a Client that knows how IDs are put together, and nothing else.
func NewDecoderForTest(increment int64, bits int, layout snowflake.Layout) *Client {
	c := newClient(Config{})
	c.scheme = scheme{increment: increment, bits: bits, layout: layout}
	return c
}
