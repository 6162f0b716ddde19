package bridge

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// chunkSize is the most that one message carries to the client: about what a Unix socket holds (212992 bytes with the
// kernel's own bookkeeping), so that one read empties it. With 64 KiB the bridge takes a third more CPU a byte.
const chunkSize = 192 << 10

// chunk is a buffer with what one read gave.
type chunk struct {
	buf [chunkSize]byte
	n   int
}

var chunks = sync.Pool{New: func() any { return new(chunk) }}

func (c *chunk) bytes() []byte { return c.buf[:c.n] }
func (c *chunk) free()         { chunks.Put(c) }

// source reads a VNC server. It takes a buffer only once there is something to read, so that fifty views that show a
// still page hold none.
type source struct {
	conn  net.Conn
	raw   syscall.RawConn // nil: conn is not a socket
	chunk *chunk
	err   error
	most  int // bytes that the next read takes
	ready func(fd uintptr) bool
}

func newSource(conn net.Conn) *source {
	s := &source{conn: conn}
	s.ready = s.take
	var err error
	switch conn := conn.(type) { // not any syscall.Conn: a wrapper may have bytes of its own
	case *net.UnixConn:
		s.raw, err = conn.SyscallConn()
	case *net.TCPConn:
		s.raw, err = conn.SyscallConn()
	}
	if err != nil {
		s.raw = nil
	}
	return s
}

// next waits for bytes and takes most of them at most; the caller frees the chunk.
func (s *source) next(most int) (*chunk, error) {
	s.most = most
	if s.raw == nil {
		return s.plain()
	}
	s.chunk, s.err = nil, nil
	if err := s.raw.Read(s.ready); err != nil {
		return nil, err
	}
	return s.chunk, s.err
}

// take reads without waiting; false means that there is nothing yet.
func (s *source) take(fd uintptr) bool {
	c := chunks.Get().(*chunk)
	n, err := unix.Read(int(fd), c.buf[:s.most])
	for err == unix.EINTR {
		n, err = unix.Read(int(fd), c.buf[:s.most])
	}
	if n > 0 {
		c.n, s.chunk = n, c
		return true
	}
	c.free()
	switch err {
	case unix.EAGAIN:
		return false
	case nil:
		s.err = io.EOF
	default:
		s.err = os.NewSyscallError("read", err)
	}
	return true
}

func (s *source) plain() (*chunk, error) {
	c := chunks.Get().(*chunk)
	n, err := s.conn.Read(c.buf[:s.most])
	if n == 0 && err != nil {
		c.free()
		return nil, err
	}
	c.n = n
	return c, nil
}
