package display

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

// viewer is a VNC client: RFB 3.8, no security, raw pixels and the two ways of telling a new size (RFC 6143, 7.8.2, and
// the community's ExtendedDesktopSize).
type viewer struct {
	t             testing.TB
	conn          net.Conn
	in            *bufio.Reader
	width, height int
	pixels        []byte // 4 bytes each, blue first
}

const (
	encodingRaw          = 0
	encodingSize         = -223
	encodingExtendedSize = -308
)

// dial connects to a server whose queue may be full.
func dial(t testing.TB, socket string) (conn net.Conn) {
	t.Helper()
	until(t, 10*time.Second, "a connection to "+socket, func() (ok bool) {
		var err error
		if conn, err = net.Dial("unix", socket); err != nil && !errors.Is(err, syscall.EAGAIN) {
			t.Fatal(err)
		}
		return err == nil
	})
	return conn
}

func view(t testing.TB, socket string, encodings ...int32) *viewer {
	t.Helper()
	conn := dial(t, socket)
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	v := &viewer{t: t, conn: conn, in: bufio.NewReaderSize(conn, 1<<20)}
	if got := string(v.read(12)); got != "RFB 003.008\n" {
		t.Fatalf("banner %q", got)
	}
	v.write([]byte("RFB 003.008\n"))
	kinds := v.read(int(v.read(1)[0]))
	if len(kinds) != 1 || kinds[0] != 1 {
		t.Fatalf("security types %v, want only None", kinds)
	}
	v.write([]byte{1})
	if result := v.read(4); result[3] != 0 {
		t.Fatalf("security result %v", result)
	}
	v.write([]byte{1}) // shared
	init := v.read(24)
	v.resized(int(binary.BigEndian.Uint16(init)), int(binary.BigEndian.Uint16(init[2:])))
	v.read(int(binary.BigEndian.Uint32(init[20:])))
	v.write([]byte{0, 0, 0, 0, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0}) // pixel format
	list := []byte{2, 0, 0, byte(1 + len(encodings))}
	list = binary.BigEndian.AppendUint32(list, encodingRaw)
	for _, e := range encodings {
		list = binary.BigEndian.AppendUint32(list, uint32(e))
	}
	v.write(list)
	return v
}

func (v *viewer) read(n int) []byte {
	v.t.Helper()
	b := make([]byte, n)
	if _, err := io.ReadFull(v.in, b); err != nil {
		v.t.Fatalf("viewer: %v", err)
	}
	return b
}

func (v *viewer) write(b []byte) {
	v.t.Helper()
	if _, err := v.conn.Write(b); err != nil {
		v.t.Fatalf("viewer: %v", err)
	}
}

func (v *viewer) resized(width, height int) {
	v.width, v.height, v.pixels = width, height, make([]byte, width*height*4)
}

// request asks for the picture, of the present size.
func (v *viewer) request(incremental bool) {
	b := []byte{3, 0, 0, 0, 0, 0}
	if incremental {
		b[1] = 1
	}
	b = binary.BigEndian.AppendUint16(b, uint16(v.width))
	v.write(binary.BigEndian.AppendUint16(b, uint16(v.height)))
}

// message takes one message of the server.
func (v *viewer) message() {
	v.t.Helper()
	switch kind := v.read(1)[0]; kind {
	case 0:
		for range binary.BigEndian.Uint16(v.read(3)[1:]) {
			v.rectangle()
		}
	case 2: // bell
	case 3:
		v.t.Fatal("the server sends its clipboard")
	default:
		v.t.Fatalf("message %d", kind)
	}
}

func (v *viewer) rectangle() {
	v.t.Helper()
	h := v.read(12)
	field := func(i int) int { return int(binary.BigEndian.Uint16(h[i:])) }
	x, y, w, hh := field(0), field(2), field(4), field(6)
	switch encoding := int32(binary.BigEndian.Uint32(h[8:])); encoding {
	case encodingRaw:
		for row := range hh {
			line := v.read(w * 4)
			if y+row < v.height && x+w <= v.width {
				copy(v.pixels[((y+row)*v.width+x)*4:], line)
			}
		}
	case encodingSize:
		v.resized(w, hh)
	case encodingExtendedSize:
		screens := v.read(4)[0]
		v.read(16 * int(screens))
		if x == 0 || y == 0 { // x: whose change; y: status
			v.resized(w, hh)
		}
	default:
		v.t.Fatalf("encoding %d", encoding)
	}
}

// await takes messages until the picture is as wanted.
func (v *viewer) await(what string, ok func() bool) {
	v.t.Helper()
	v.request(false)
	for deadline := time.Now().Add(15 * time.Second); !ok(); {
		if time.Now().After(deadline) {
			v.t.Fatalf("viewer waited for %s; it sees %dx%d", what, v.width, v.height)
		}
		was := [2]int{v.width, v.height}
		v.message()
		v.request(was == [2]int{v.width, v.height})
	}
}

// shows counts the pixels of a colour.
func (v *viewer) shows(colour uint32) (n int) {
	for p := v.pixels; len(p) >= 4; p = p[4:] {
		if binary.LittleEndian.Uint32(p)&0xffffff == colour {
			n++
		}
	}
	return n
}

func (v *viewer) size() string { return fmt.Sprintf("%dx%d", v.width, v.height) }
