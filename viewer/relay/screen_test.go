package relay

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/gorilla/websocket"
)

// fakeScreen is an RFB 3.8 server, security None, behind a websocket: a picture of the asked size, and a log of input.
type fakeScreen struct {
	seat *fakeSeat

	draw          sync.Mutex // one picture at a time: a late one of the old size would stay
	mu            sync.Mutex // guards the connection and the size
	ws            *websocket.Conn
	width, height int

	// guarded by seat.mu
	connects, cuts int
	mouse          []string // "BUTTONS X,Y"
	order          []string // "key:61", "text:hello", in the order of arrival, key presses only
	ups            []uint32 // keys let go
}

var upgrader = websocket.Upgrader{Subprotocols: []string{"binary"}}

// drop cuts the connection without a goodbye.
func (f *fakeScreen) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ws != nil {
		f.ws.NetConn().Close()
		f.ws = nil
	}
}

func (f *fakeScreen) serve(w http.ResponseWriter, req *http.Request) {
	ws, err := upgrader.Upgrade(w, req, nil)
	if err != nil {
		return
	}
	defer ws.Close()
	f.mu.Lock()
	f.ws = ws
	if f.width == 0 {
		f.width, f.height = 1280, 800
	}
	f.mu.Unlock()
	in := &messages{ws: ws}
	if f.handshake(in) == nil {
		f.seat.change(func() { f.connects++ })
		for f.message(in) == nil {
		}
	}
}

// messages reads the client's binary messages as one stream.
type messages struct {
	ws   *websocket.Conn
	rest io.Reader
}

func (m *messages) Read(b []byte) (int, error) {
	for {
		if m.rest != nil {
			if n, err := m.rest.Read(b); n > 0 || err != io.EOF {
				return n, err
			}
		}
		_, r, err := m.ws.NextReader()
		if err != nil {
			return 0, err
		}
		m.rest = r
	}
}

func (f *fakeScreen) write(parts ...any) error {
	var b bytes.Buffer
	for _, p := range parts {
		binary.Write(&b, binary.BigEndian, p)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ws == nil {
		return io.ErrClosedPipe
	}
	return f.ws.WriteMessage(websocket.BinaryMessage, b.Bytes())
}

func (f *fakeScreen) handshake(in io.Reader) error {
	if err := f.write([]byte("RFB 003.008\n")); err != nil {
		return err
	}
	if _, err := io.ReadFull(in, make([]byte, 12)); err != nil {
		return err
	}
	f.write([]byte{1, 1})
	io.ReadFull(in, make([]byte, 1))
	f.write(uint32(0))
	if _, err := io.ReadFull(in, make([]byte, 1)); err != nil {
		return err
	}
	f.mu.Lock()
	w, h := uint16(f.width), uint16(f.height)
	f.mu.Unlock()
	format := []byte{32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 0, 8, 16, 0, 0, 0}
	return f.write(w, h, format, uint32(4), []byte("fake"))
}

// message reads one message of the client.
func (f *fakeScreen) message(in io.Reader) error {
	kind := make([]byte, 1)
	if _, err := io.ReadFull(in, kind); err != nil {
		return err
	}
	rest := map[byte]int{0: 19, 2: 3, 3: 9, 4: 7, 5: 5, 6: 7}[kind[0]]
	if rest == 0 {
		return fmt.Errorf("message %d", kind[0])
	}
	b := make([]byte, rest)
	if _, err := io.ReadFull(in, b); err != nil {
		return err
	}
	switch kind[0] {
	case 2:
		_, err := io.ReadFull(in, make([]byte, 4*int(binary.BigEndian.Uint16(b[1:]))))
		return err
	case 3:
		if b[0] == 0 {
			return f.picture()
		}
	case 4:
		f.key(binary.BigEndian.Uint32(b[3:]), b[0] == 1)
	case 5:
		f.seat.change(func() {
			f.mouse = append(f.mouse, fmt.Sprintf("%d %d,%d", b[0], binary.BigEndian.Uint16(b[1:]), binary.BigEndian.Uint16(b[3:])))
		})
	case 6:
		f.seat.change(func() { f.cuts++ })
		_, err := io.CopyN(io.Discard, in, int64(int32(binary.BigEndian.Uint32(b[3:]))))
		return err
	}
	return nil
}

func (f *fakeScreen) key(sym uint32, down bool) {
	f.seat.change(func() {
		if down {
			f.order = append(f.order, fmt.Sprintf("key:%x", sym))
		} else {
			f.ups = append(f.ups, sym)
		}
	})
}

// resize tells the client of a new size, as X0tigervnc does after RandR.
func (f *fakeScreen) resize(w, h int) {
	f.draw.Lock()
	defer f.draw.Unlock()
	f.mu.Lock()
	f.width, f.height = w, h
	f.mu.Unlock()
	const desktopSize = -223
	f.write(uint8(0), uint8(0), uint16(1), uint16(0), uint16(0), uint16(w), uint16(h), int32(desktopSize))
	f.paint()
}

func (f *fakeScreen) picture() error {
	f.draw.Lock()
	defer f.draw.Unlock()
	return f.paint()
}

// paint sends all of the screen in RRE, a ground and boxes on it: a bar, and the form of a login page.
func (f *fakeScreen) paint() error {
	f.mu.Lock()
	w, h := f.width, f.height
	f.mu.Unlock()
	left, right := max(16, w/2-180), min(w-16, w/2+180)
	boxes := []struct {
		colour       [3]byte
		x0, y0, x, y int
	}{
		{[3]byte{222, 227, 232}, 0, 0, w, 84},
		{[3]byte{255, 255, 255}, 60, 44, w - 60, 76},
		{[3]byte{255, 255, 255}, left, 140, right, 420},
		{[3]byte{233, 237, 240}, left + 24, 200, right - 24, 240},
		{[3]byte{233, 237, 240}, left + 24, 260, right - 24, 300},
		{[3]byte{10, 102, 194}, left + 24, 330, right - 24, 374},
	}
	const rre = 2
	parts := []any{uint8(0), uint8(0), uint16(1), uint16(0), uint16(0), uint16(w), uint16(h), int32(rre),
		uint32(len(boxes)), []byte{244, 246, 248, 255}}
	for _, b := range boxes {
		parts = append(parts, b.colour[:], uint8(255), uint16(b.x0), uint16(b.y0), uint16(b.x-b.x0), uint16(b.y-b.y0))
	}
	return f.write(parts...)
}
