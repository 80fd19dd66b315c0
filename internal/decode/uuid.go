package decode

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
)

const (
	uuidChars     = 36 // with dashes
	uuidHexChars  = 32 // without
	objectIDChars = 24
)

// gregorian is the time from 1582-10-15, where UUIDs of version 1 and 6 count
// from, to 1970, in units of 100 ns.
const gregorian = 0x01B21DD213814000

// decodeUUID reads a UUID with or without dashes.
func decodeUUID(text string) (Result, error) {
	b, ok := parseUUID(text)
	if !ok {
		return Result{}, newError(text, "is not a UUID", "write it as xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, with or without the dashes")
	}
	if b[8]&0xC0 != 0x80 {
		return Result{}, newError(text, "is a UUID of another variant than RFC 9562", "look where it comes from; versions 1, 6 and 7 can be read")
	}
	version := int(b[6] >> 4)
	r := Result{ID: formatUUID(b), Plane: PlaneUUID, Layout: "uuidv" + strconv.Itoa(version)}
	switch version {
	case 1:
		r.setGregorian(b, int64(binary.BigEndian.Uint16(b[6:])&0x0FFF)<<48|int64(binary.BigEndian.Uint16(b[4:]))<<32|int64(binary.BigEndian.Uint32(b[:])))
	case 6:
		r.setGregorian(b, int64(binary.BigEndian.Uint32(b[:]))<<28|int64(binary.BigEndian.Uint16(b[4:]))<<12|int64(binary.BigEndian.Uint16(b[6:])&0x0FFF))
	case 7:
		r.setTime(int64(binary.BigEndian.Uint64(b[:]) >> 16))
	default:
		return Result{}, newError(text, fmt.Sprintf("is a UUID of version %d, which holds no time", version), "there is nothing to read in it; versions 1, 6 and 7 have a time")
	}
	return r, nil
}

// setGregorian sets what versions 1 and 6 have: time, clock sequence and node.
func (r *Result) setGregorian(b [16]byte, ticks int64) {
	since := ticks - gregorian
	milli := since / 10_000
	if since%10_000 < 0 {
		milli--
	}
	r.setTime(milli)
	r.set(Sequence, int64(binary.BigEndian.Uint16(b[8:])&0x3FFF))
	r.set(Node, int64(binary.BigEndian.Uint64(b[8:])&0xFFFF_FFFF_FFFF))
}

// parseUUID reads 32 hexadecimal digits, with dashes at their places or none.
func parseUUID(text string) (b [16]byte, ok bool) {
	if len(text) == uuidChars {
		if text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
			return b, false
		}
		text = text[:8] + text[9:13] + text[14:18] + text[19:23] + text[24:]
	}
	n, err := hex.Decode(b[:], []byte(text))
	return b, err == nil && n == len(b)
}

func formatUUID(b [16]byte) string {
	digits := hex.EncodeToString(b[:])
	return digits[:8] + "-" + digits[8:12] + "-" + digits[12:16] + "-" + digits[16:20] + "-" + digits[20:]
}

// decodeObjectID reads an ObjectID: 4 bytes of seconds, 5 that are random for
// each process, 3 of a counter. Any 24 hexadecimal digits can be one.
func decodeObjectID(text string) (Result, error) {
	var b [12]byte
	if _, err := hex.Decode(b[:], []byte(text)); err != nil {
		return Result{}, newError(text, "is not an ObjectID", "write it as 24 hexadecimal digits")
	}
	r := Result{ID: hex.EncodeToString(b[:]), Plane: PlaneObjectID, Layout: "objectid"}
	r.setTime(int64(binary.BigEndian.Uint32(b[:])) * 1000)
	r.set(Node, int64(binary.BigEndian.Uint64(b[1:])&0xFF_FFFF_FFFF))
	r.set(Sequence, int64(binary.BigEndian.Uint32(b[8:])&0xFF_FFFF))
	return r, nil
}
