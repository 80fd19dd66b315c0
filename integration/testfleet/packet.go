package testfleet

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
)

// The part of the MySQL protocol that the tap understands: how packets are
// framed, and what the commands of a client are called.

// Command names one command of the client protocol, such as "COM_QUERY".
type Command string

// Commands that tests ask about. Others appear in the log under their names
// or, where they have none here, as "COM_0x1e".
const (
	ComQuery       Command = "COM_QUERY"
	ComPrepare     Command = "COM_STMT_PREPARE"
	ComExecute     Command = "COM_STMT_EXECUTE"
	ComClose       Command = "COM_STMT_CLOSE"
	ComPing        Command = "COM_PING"
	ComReset       Command = "COM_RESET_CONNECTION"
	ComInitDB      Command = "COM_INIT_DB"
	ComChangeUser  Command = "COM_CHANGE_USER"
	ComStatistics  Command = "COM_STATISTICS"
	ComBulkExecute Command = "COM_STMT_BULK_EXECUTE"
	ComQuit        Command = "COM_QUIT"
	// Opaque stands for everything on a connection that the tap cannot read
	// because the client switched to TLS or compression.
	Opaque Command = "OPAQUE"
)

// commands are the first byte of a command packet.
var commands = map[byte]Command{
	0x01: ComQuit,
	0x02: ComInitDB,
	0x03: ComQuery,
	0x09: ComStatistics,
	0x0e: ComPing,
	0x11: ComChangeUser,
	0x16: ComPrepare,
	0x17: ComExecute,
	0x19: ComClose,
	0x1f: ComReset,
	0xfa: ComBulkExecute,
}

// commandName returns the name of a command byte.
func commandName(b byte) Command {
	if c, ok := commands[b]; ok {
		return c
	}
	return Command(fmt.Sprintf("COM_%#02x", b))
}

// Capability bits of the client's handshake response after which the tap can
// no longer read along.
const (
	clientCompress = 1 << 5
	clientSSL      = 1 << 11
	clientZstd     = 1 << 26
)

// A packet is one packet of a client: a header of four bytes (length of the
// payload in three, sequence number in one) and the payload.
type packet []byte

// packetHeader is the size of a header in bytes.
const packetHeader = 4

func (p packet) sequence() byte  { return p[3] }
func (p packet) payload() []byte { return p[packetHeader:] }

// isCommand reports whether p begins a command: in the command phase a client
// starts counting at 0, in the handshake the server did.
func (p packet) isCommand() bool { return p.sequence() == 0 && len(p.payload()) > 0 }

// isOpaque reports whether p, the client's first packet, announces that what
// follows cannot be read.
func (p packet) isOpaque() bool {
	if len(p.payload()) < 4 {
		return false
	}
	return binary.LittleEndian.Uint32(p.payload())&(clientCompress|clientSSL|clientZstd) != 0
}

// readPacket reads the next packet, reusing buf.
func readPacket(r *bufio.Reader, buf []byte) (packet, error) {
	buf = append(buf[:0], make([]byte, packetHeader)...)
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, err
	}
	length := int(buf[0]) | int(buf[1])<<8 | int(buf[2])<<16
	if total := packetHeader + length; cap(buf) < total {
		buf = append(make([]byte, 0, total), buf...)
	}
	buf = buf[:packetHeader+length]
	if _, err := io.ReadFull(r, buf[packetHeader:]); err != nil {
		return nil, err
	}
	return buf, nil
}

// statementID returns the number of a prepared statement in the payload of a
// command about it.
func statementID(payload []byte) (uint32, bool) {
	if len(payload) < 5 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(payload[1:]), true
}

// preparedReply is how many bytes of the reply to COM_STMT_PREPARE it takes to
// know the number of the statement: header, status, number.
const preparedReply = packetHeader + 1 + 4

// preparedID returns the number that the server gave a statement; false if it
// refused to prepare it.
func preparedID(reply []byte) (uint32, bool) {
	if len(reply) < preparedReply || reply[packetHeader] != 0 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(reply[packetHeader+1:]), true
}
