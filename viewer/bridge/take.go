package bridge

import (
	"encoding/binary"
	"fmt"
)

// take decides about one whole message: a key is given back, the rest is appended to p.out or dropped.
func (p *parser) take(msg []byte) (*key, error) {
	switch msg[0] {
	case keyEvent:
		return p.press(binary.BigEndian.Uint32(msg[4:]), msg[1] != 0), nil
	case qemu: // the keysym stands beside the scan code
		return p.press(binary.BigEndian.Uint32(msg[4:]), binary.BigEndian.Uint16(msg[2:]) != 0), nil
	case pointerEvent:
		p.point(msg)
	case clientCutText:
		return nil, p.drop(int32(binary.BigEndian.Uint32(msg[4:])))
	case setEncodings:
		p.encodings(msg)
	case xvp, setDesktopSize: // power buttons; the size is set by the service
	default:
		p.out = append(p.out, msg...)
	}
	return nil, nil
}

// press is a key, unless the view is for watching or the key has no symbol.
func (p *parser) press(sym uint32, down bool) *key {
	if p.watch || sym == 0 {
		return nil
	}
	p.touched = true
	return &key{sym, down}
}

// point passes the pointer on and remembers it.
func (p *parser) point(msg []byte) {
	if p.watch {
		return
	}
	p.touched = true
	copy(p.pointer[:], msg)
	p.out = append(p.out, msg...)
}

// release is the message that lets go of the pointer's buttons, or nothing if none is down.
func (p *parser) release() []byte {
	if p.pointer[1] == 0 {
		return nil
	}
	up := p.pointer
	up[1] = 0
	return up[:]
}

// drop passes over the text of a clipboard message; a negative length is that of the extended clipboard. Text enters the
// page by another way (POST text), and what a person has in the clipboard is none of the box's business.
func (p *parser) drop(length int32) error {
	n := int64(length)
	if n < 0 {
		n = -n
	}
	if n > maxCutText {
		return fmt.Errorf("%w: %d bytes of clipboard", ErrClient, n)
	}
	p.skip = n
	return nil
}

// encodings passes the list on without what is not allowed.
func (p *parser) encodings(msg []byte) {
	start := len(p.out)
	p.out = append(p.out, msg[:4]...)
	for list := msg[4:]; len(list) >= 4; list = list[4:] {
		if allowed(int32(binary.BigEndian.Uint32(list))) {
			p.out = append(p.out, list[:4]...)
		}
	}
	binary.BigEndian.PutUint16(p.out[start+2:], uint16((len(p.out)-start-4)/4))
	if p.asked != nil {
		p.asked(p.out[start:])
	}
}

// allowed tells whether a client may ask for an encoding: pictures, pointers and sizes, and the two that keep a long line
// full (fence, continuous updates). What is not in the list is left out because it would make the client or the server send
// messages that this parser does not know or that carry a clipboard: extended clipboard (-1063131698), QEMU keys (-258) and
// audio (-259), gii (-305), xvp (-309), extended mouse buttons (-316), and whatever comes later.
func allowed(encoding int32) bool {
	switch encoding {
	case 0, 1, 2, 4, 5, 6, 7, 8, 15, 16, 17, 21, 50, // Raw, CopyRect, RRE, CoRRE, Hextile, zlib, Tight, zlibhex, TRLE, ZRLE, ZYWRLE, JPEG, H.264
		-223, -308, // desktop size, and with screens
		-224,       // last rectangle
		-232,       // pointer position
		-239, -240, // cursor, X cursor
		-260,       // Tight PNG
		-261,       // LED state
		-307,       // desktop name
		-312, -313, // fence, continuous updates
		-314,       // cursor with alpha
		0x574d5664: // VMware cursor
		return true
	}
	return -32 <= encoding && encoding <= -23 || // JPEG quality
		-256 <= encoding && encoding <= -247 || // compression
		-512 <= encoding && encoding <= -412 || // fine quality
		-768 <= encoding && encoding <= -763 // subsampling
}
