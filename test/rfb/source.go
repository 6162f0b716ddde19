package rfb

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Source is a fake VNC server: RFB 3.8, security None. It answers a pointer event with a Bell (one byte), for measuring
// delay, and the first picture request with Blast bytes of raw picture as fast as they are taken, for measuring work. Set
// the fields before the first connection. It is safe for concurrent use; Close ends its connections and waits for them.
type Source struct {
	Width, Height int    // 0 is 1280x800
	Name          string // of the desktop
	Blast         int64  // bytes; 0 sends none, a negative number never ends

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at each change
	messages []Message
	opened   int
	conns    map[net.Conn]bool
	sent     atomic.Int64
	serving  sync.WaitGroup
}

// Dial connects to the source over a pair of Unix sockets. The caller closes the connection.
func (s *Source) Dial(ctx context.Context) (net.Conn, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	ours, err := conn(fds[0])
	if err != nil {
		return nil, err
	}
	theirs, err := conn(fds[1])
	if err != nil {
		return nil, err
	}
	s.serving.Go(func() { s.Serve(theirs) })
	return ours, nil
}

func conn(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "rfb")
	defer f.Close()
	return net.FileConn(f)
}

// Listen serves every connection to l until it is closed.
func (s *Source) Listen(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.serving.Go(func() { s.Serve(c) })
	}
}

// Serve serves one client until it leaves, and closes c.
func (s *Source) Serve(c net.Conn) error {
	defer c.Close()
	s.keep(c, true)
	defer s.keep(c, false)
	r := bufio.NewReader(c)
	if err := s.greet(r, c); err != nil {
		return err
	}
	var blast sync.WaitGroup
	defer blast.Wait()
	defer c.Close()
	var once sync.Once
	for {
		m, err := readMessage(r)
		if err != nil {
			return err
		}
		s.note(m)
		switch {
		case m.Type() == 5:
			if _, err := c.Write([]byte{2}); err != nil {
				return err
			}
		case m.Type() == 3 && s.Blast != 0:
			once.Do(func() { blast.Go(func() { s.blast(c) }) })
		}
	}
}

// greet ends the server's half of the handshake.
func (s *Source) greet(r io.Reader, w io.Writer) error {
	if _, err := io.WriteString(w, banner); err != nil {
		return err
	}
	if got, err := take(r, 12); err != nil || string(got) != banner {
		return fmt.Errorf("version %q: %w", got, err)
	}
	w.Write([]byte{1, 1})
	if got, err := take(r, 1); err != nil || got[0] != 1 {
		return fmt.Errorf("security type %v: %w", got, err)
	}
	w.Write([]byte{0, 0, 0, 0})
	if _, err := take(r, 1); err != nil {
		return err
	}
	_, err := w.Write(s.init())
	return err
}

// init is ServerInit.
func (s *Source) init() []byte {
	if s.Width == 0 {
		s.Width, s.Height = 1280, 800
	}
	p := binary.BigEndian.AppendUint16(nil, uint16(s.Width))
	p = binary.BigEndian.AppendUint16(p, uint16(s.Height))
	p = append(p, 32, 24, 0, 1, 0, 255, 0, 255, 0, 255, 16, 8, 0, 0, 0, 0)
	p = binary.BigEndian.AppendUint32(p, uint32(len(s.Name)))
	return append(p, s.Name...)
}

// blast sends updates of one raw rectangle of 128x128, the last one cut short.
func (s *Source) blast(w io.Writer) {
	const side = 128
	update := append([]byte{0, 0, 0, 1, 0, 0, 0, 0, 0, side, 0, side, 0, 0, 0, 0}, make([]byte, 4*side*side)...)
	for left := s.Blast; left != 0; {
		n := int64(len(update))
		if left > 0 {
			n = min(n, left)
			left -= n
		}
		wrote, err := w.Write(update[:n])
		s.sent.Add(int64(wrote))
		if err != nil {
			return
		}
	}
}

func take(r io.Reader, n int) ([]byte, error) {
	p := make([]byte, n)
	_, err := io.ReadFull(r, p)
	return p, err
}
