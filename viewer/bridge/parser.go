package bridge

import (
	"encoding/binary"
	"fmt"
)

// Messages of a client (RFC 6143, 7.5; the community's rfbproto for the rest).
const (
	setPixelFormat   = 0
	setEncodings     = 2
	updateRequest    = 3
	keyEvent         = 4
	pointerEvent     = 5
	clientCutText    = 6
	continuousUpdate = 150
	clientFence      = 248
	xvp              = 250
	setDesktopSize   = 251
	qemu             = 255
)

// Bounds of the lengths that a client may claim.
const (
	maxCutText   = 16 << 20 // dropped as it comes, so it costs no memory
	maxEncodings = 1024
	maxFence     = 64 // rfbproto
)

// key is a key press or release that was taken out of the stream.
type key struct {
	sym  uint32
	down bool
}

// parser reads the client's messages from bytes that are cut anywhere. It holds at most one unfinished message.
type parser struct {
	watch   bool
	held    []byte // the beginning of a message
	skip    int64  // bytes of clipboard still to drop
	pointer [6]byte
	out     []byte            // what passes to the server: whole messages; the caller empties it
	asked   func(list []byte) // is told each list of encodings that passes; may be nil
	touched bool              // a key or the pointer was used; the caller resets it
}

// parse takes messages from in until one is a key, which it gives, or in is used up. rest is what it did not look at.
func (p *parser) parse(in []byte) (pressed *key, rest []byte, err error) {
	for len(in) > 0 {
		if p.skip > 0 {
			n := min(p.skip, int64(len(in)))
			p.skip, in = p.skip-n, in[n:]
			continue
		}
		var msg []byte
		if msg, in, err = p.message(in); err != nil {
			return nil, nil, err
		}
		if msg == nil {
			break
		}
		pressed, err = p.take(msg)
		p.held = p.held[:0]
		if pressed != nil || err != nil {
			return pressed, in, err
		}
	}
	return nil, in, nil
}

// message is the next whole message, or nil when in ends before it does: then its beginning is held.
func (p *parser) message(in []byte) (msg, rest []byte, err error) {
	if len(p.held) == 0 {
		if need, err := size(in); err != nil || need <= len(in) {
			return in[:need], in[need:], err
		}
	}
	for {
		need, err := size(p.held)
		if err != nil {
			return nil, nil, err
		}
		if len(p.held) > 0 && len(p.held) >= need {
			return p.held, in, nil
		}
		if len(in) == 0 {
			return nil, nil, nil
		}
		take := min(need-len(p.held), len(in))
		p.held, in = append(p.held, in[:take]...), in[take:]
	}
}

// size is the length of the message that begins with b, or, when b is too short to tell, a number greater than len(b) up to
// which it must be read first.
func size(b []byte) (int, error) {
	if len(b) == 0 {
		return 1, nil
	}
	switch b[0] {
	case setPixelFormat:
		return 20, nil
	case setEncodings:
		return counted(b, 4, 4, maxEncodings, "encodings")
	case updateRequest, continuousUpdate:
		return 10, nil
	case keyEvent, clientCutText: // the text of a cut text is not part of its message here: see parser.skip
		return 8, nil
	case pointerEvent:
		return 6, nil
	case clientFence:
		return counted(b, 9, 1, maxFence, "bytes of a fence")
	case xvp:
		return 4, nil
	case setDesktopSize:
		return counted(b, 8, 16, 255, "screens")
	case qemu:
		return qemuSize(b)
	}
	return 0, fmt.Errorf("%w: message type %d is unknown", ErrClient, b[0])
}

// counted is the size of a message with a header and a counted list behind it.
func counted(b []byte, header, each, limit int, what string) (int, error) {
	if len(b) < header {
		return header, nil
	}
	var n int
	switch b[0] {
	case setEncodings:
		n = int(binary.BigEndian.Uint16(b[2:]))
	case clientFence:
		n = int(b[8])
	case setDesktopSize:
		n = int(b[6])
	}
	if n > limit {
		return 0, fmt.Errorf("%w: %d %s", ErrClient, n, what)
	}
	return header + n*each, nil
}

// qemuSize is the size of QEMU's own messages, of which only its key event is known: audio is never offered.
func qemuSize(b []byte) (int, error) {
	if len(b) >= 2 && b[1] != 0 {
		return 0, fmt.Errorf("%w: message type 255.%d is unknown", ErrClient, b[1])
	}
	return 12, nil
}
