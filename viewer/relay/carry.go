package relay

import (
	"bufio"
	"io"
	"net"
	"time"
)

const (
	toPerson = 64 << 10 // bytes read at once: pictures
	toSeat   = 4 << 10  // keys and pointer
)

// hold enters a stream into the list that Close ends; false once the relay is closed.
func (r *Relay) hold(c *carried) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.streams[c] = struct{}{}
	r.running.Add(1)
	return true
}

func (r *Relay) drop(c *carried) {
	r.mu.Lock()
	delete(r.streams, c)
	r.mu.Unlock()
	r.running.Done()
}

// carry copies both ways until both ends have ended. When one direction ends, its end is passed on as a half-close, and the
// other direction has lingerLimit to say its last words. The readers hold what came with the upgrade.
func (c *carried) carry(person, seat *bufio.Reader) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		splice(c.person, seat, c.seat, toPerson)
		c.linger()
	}()
	splice(c.seat, person, c.person, toSeat)
	c.linger()
	<-ended
}

func (c *carried) linger() {
	deadline := time.Now().Add(lingerLimit)
	c.person.SetReadDeadline(deadline)
	c.seat.SetReadDeadline(deadline)
}

// splice copies what is buffered, then the connection itself, and closes the writing side of to.
func splice(to net.Conn, first *bufio.Reader, from net.Conn, size int) {
	held, _ := first.Peek(first.Buffered())
	_, err := patient{to}.Write(held)
	if err == nil {
		_, err = io.CopyBuffer(patient{to}, source{from}, make([]byte, size))
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		half.CloseWrite()
	} else {
		to.Close()
	}
}

// patient gives each write writeLimit: a person whose network has vanished must not hold his view for the quarter of an
// hour that the kernel would (case V04).
type patient struct{ conn net.Conn }

func (p patient) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil
	}
	p.conn.SetWriteDeadline(time.Now().Add(writeLimit))
	return p.conn.Write(b)
}

// source hides the connection's WriteTo, which would go past patient.
type source struct{ conn net.Conn }

func (s source) Read(b []byte) (int, error) { return s.conn.Read(b) }
