package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"time"

	"github.com/5dive/browser/test/rfb"
)

// RFB encodings that the watcher knows: raw rectangles alone, so that a changed pixel is seen as it comes; continuous updates and fences, as
// noVNC uses them against a far server (rfbproto: 313, 312).
const (
	raw        = 0
	continuous = -313
	fence      = -312
)

// watcher reads what a VNC server sends and counts pictures.
type watcher struct {
	client *rfb.Client
	stream io.ReadWriter
	on     bool  // continuous updates are on
	seen   *rect // where the box with the pure colour begins, once a picture showed it
}

// frame is one FramebufferUpdate: when it was whole, and whether it covers a point.
type frame struct {
	at    time.Time
	rects []rect
}

type rect struct {
	x, y, w, h int
}

func (f frame) covers(x, y int) bool {
	for _, r := range f.rects {
		if x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h {
			return true
		}
	}
	return false
}

// watch asks for raw pictures, continuously if the server can.
func watch(stream io.ReadWriter, password string, keepOn bool) (*watcher, error) {
	c, err := rfb.Join(stream, password)
	if err != nil {
		return nil, err
	}
	w := &watcher{client: c, stream: stream}
	list := []int32{raw}
	if keepOn {
		list = append(list, continuous, fence)
	}
	if err := c.Send(rfb.Encodings(list...)...); err != nil {
		return nil, err
	}
	return w, c.Update()
}

// more asks for what changes next; a server with continuous updates needs no asking.
func (w *watcher) more() error {
	if w.on {
		return nil
	}
	c := w.client
	return c.Send(3, 1, 0, 0, 0, 0, byte(c.Width>>8), byte(c.Width), byte(c.Height>>8), byte(c.Height))
}

// next reads up to the next picture.
func (w *watcher) next() (frame, error) {
	for {
		var kind [1]byte
		if _, err := io.ReadFull(w.stream, kind[:]); err != nil {
			return frame{}, err
		}
		switch kind[0] {
		case 0:
			return w.update()
		case 150: // the server can: switch it on for the whole screen
			c := w.client
			w.on = true
			if err := c.Send(150, 1, 0, 0, 0, 0, byte(c.Width>>8), byte(c.Width), byte(c.Height>>8), byte(c.Height)); err != nil {
				return frame{}, err
			}
		case 248:
			if err := w.fence(); err != nil {
				return frame{}, err
			}
		case 2: // bell
		default:
			return frame{}, fmt.Errorf("message %d of the server", kind[0])
		}
	}
}

// fence answers a request of the server, by which it measures the line.
func (w *watcher) fence() error {
	head := make([]byte, 8)
	if _, err := io.ReadFull(w.stream, head); err != nil {
		return err
	}
	payload := make([]byte, head[7])
	if _, err := io.ReadFull(w.stream, payload); err != nil {
		return err
	}
	flags := binary.BigEndian.Uint32(head[3:])
	if flags&(1<<31) == 0 {
		return nil
	}
	answer := binary.BigEndian.AppendUint32([]byte{248, 0, 0, 0}, flags&3)
	return w.client.Send(append(append(answer, head[7]), payload...)...)
}

func (w *watcher) update() (frame, error) {
	var f frame
	head := make([]byte, 3)
	if _, err := io.ReadFull(w.stream, head); err != nil {
		return f, err
	}
	for range binary.BigEndian.Uint16(head[1:]) {
		b := make([]byte, 12)
		if _, err := io.ReadFull(w.stream, b); err != nil {
			return f, err
		}
		r := rect{x: int(binary.BigEndian.Uint16(b)), y: int(binary.BigEndian.Uint16(b[2:])), w: int(binary.BigEndian.Uint16(b[4:])), h: int(binary.BigEndian.Uint16(b[6:]))}
		if enc := int32(binary.BigEndian.Uint32(b[8:])); enc != raw {
			return f, fmt.Errorf("encoding %d was not asked for", enc)
		}
		if n := int64(r.w) * int64(r.h) * 4; n > 0 {
			if err := w.picture(r, n); err != nil {
				return f, err
			}
		}
		f.rects = append(f.rects, r)
	}
	f.at = time.Now()
	return f, nil
}

// picture reads the pixels of a rectangle. Until the box was seen it looks for pure red or green, in the server's own order: blue, green, red.
func (w *watcher) picture(r rect, n int64) error {
	if w.seen != nil {
		_, err := io.CopyN(io.Discard, w.stream, n)
		return err
	}
	pixels := make([]byte, n)
	if _, err := io.ReadFull(w.stream, pixels); err != nil {
		return err
	}
	for i := 0; i+3 < len(pixels); i += 4 {
		if c := [3]byte(pixels[i:]); c == [3]byte{0, 0, 255} || c == [3]byte{0, 255, 0} {
			w.seen = &rect{x: r.x + i/4%r.w, y: r.y + i/4/r.w}
			return nil
		}
	}
	return nil
}
