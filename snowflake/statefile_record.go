package snowflake

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"time"
)

// recordSize is the size of a state file: always the same, so that a record
// replaces the one before in a single write, which takes no new space.
const recordSize = 1024

const recordForm = "oddeven worker 1 %08x "

// recordHead is how long the beginning is that recordForm writes.
const recordHead = 26

// place is where a state file belongs. Nothing of it is the same for a copy, on
// another machine, or after a start of the system.
type place struct {
	Boot    string `json:"boot"`
	Machine string `json:"machine"`
	Device  uint64 `json:"device"`
	Inode   uint64 `json:"inode"`
}

// String says where.
func (p place) String() string {
	return fmt.Sprintf("file %d:%d of machine %s started as %s", p.Device, p.Inode, p.Machine, p.Boot)
}

// record is what a state file holds.
type record struct {
	place
	Fleet    string `json:"fleet"` // identity in hexadecimal
	Layout   string `json:"layout"`
	Number   int64  `json:"number"`
	Offset   int64  `json:"offset"`
	Nonce    string `json:"nonce"` // in hexadecimal
	From     int64  `json:"from"`
	Until    int64  `json:"until"`
	Mark     int64  `json:"mark"` // every tick at or after it is unused
	Length   int64  `json:"length"`
	ServerMS int64  `json:"server_ms"` // time of the server, and the uptime of the host then: hints
	UptimeMS int64  `json:"uptime_ms"`
}

// recordOf is the record of a lease at an uptime.
func recordOf(h hold, at place, mark, uptime int64) record {
	return record{
		place: at, Fleet: h.terms.fleet, Layout: h.terms.layout.String(), Number: h.number, Offset: h.offset,
		Nonce: hex.EncodeToString(h.nonce[:]), From: h.rect.from, Until: h.rect.until, Mark: mark, Length: h.terms.length,
		ServerMS: h.time.ms, UptimeMS: uptime,
	}
}

// resume is what is left of the lease for a process that takes it up, or why it
// can't be.
func (r record) resume(cfg Config, identity string, host hostFacts) (hold, error) {
	layout, err := ParseLayout(r.Layout)
	if err != nil {
		return hold{}, err
	}
	h := hold{number: r.Number, offset: r.Offset, rect: rectangle{from: r.Mark, until: r.Until},
		terms: rowTerms{fleet: r.Fleet, layout: layout, length: r.Length}}
	id, err := hex.DecodeString(r.Nonce)
	if err != nil || copy(h.nonce[:], id) != len(h.nonce) {
		return h, fmt.Errorf("nonce %q is none", r.Nonce)
	}
	uptime, err := host.uptimeMilli()
	if err != nil {
		return h, err
	}
	h.time = serverTime{ms: r.ServerMS + max(0, uptime-r.UptimeMS), read: time.Now()}
	switch {
	case r.From < 0 || r.Mark < r.From || r.Until < r.Mark || r.Length < minLeaseTicks:
		return h, fmt.Errorf("ticks %d, %d and %d by %d make no sense", r.From, r.Mark, r.Until, r.Length)
	case identity != "" && r.Fleet != identity:
		return h, fmt.Errorf("it belongs to fleet %s, not to %s", r.Fleet, identity)
	case !cfg.Layout.IsZero() && layout != cfg.Layout:
		return h, fmt.Errorf("it has the layout %s, not %s", layout, cfg.Layout)
	case max(h.terms.tick(h.time.ms), r.Mark) >= r.Until:
		return h, fmt.Errorf("its lease ended at %s", formatTime(layout.TimeOf(r.Until)))
	}
	if cfg.Ceiling > 0 {
		return h, layout.CheckAbove(cfg.Ceiling, layout.TimeOf(r.Mark))
	}
	return h, nil
}

// encode is the record with its checksum, in recordSize bytes.
func (r record) encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return seal(text)
}

// seal puts the checksum before a record, and fills it up to recordSize.
func seal(text []byte) ([]byte, error) {
	if len(text) >= recordSize-recordHead {
		return nil, fmt.Errorf("record of %d bytes does not fit", len(text))
	}
	out := fmt.Appendf(make([]byte, 0, recordSize), recordForm, crc32.ChecksumIEEE(text))
	out = append(out, text...)
	out = append(out, bytes.Repeat([]byte(" "), recordSize-1-len(out))...)
	return append(out, '\n'), nil
}

// readRecord reads and checks the record of a file.
func readRecord(file io.ReaderAt) (record, error) {
	var r record
	text, err := io.ReadAll(io.NewSectionReader(file, 0, recordSize+1))
	if err != nil {
		return r, err
	}
	if len(text) != recordSize {
		return r, fmt.Errorf("it has %d bytes and not %d", len(text), recordSize)
	}
	var sum uint32
	body := bytes.TrimRight(text[recordHead:], " \n")
	if _, err := fmt.Sscanf(string(text[:recordHead]), recordForm, &sum); err != nil || sum != crc32.ChecksumIEEE(body) {
		return r, errors.New("it is damaged")
	}
	if err := json.Unmarshal(body, &r); err != nil {
		return r, fmt.Errorf("it is damaged: %w", err)
	}
	return r, nil
}
