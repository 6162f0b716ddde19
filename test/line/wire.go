package line

import (
	"net"
	"sync"
	"time"
)

const (
	piece = 4 << 10 // bytes that travel together; small, so that a slow line runs smoothly
	// inFlight bounds what is on its way in one direction, as the queue of a router does. At a round trip of 100 ms it lets 300 Mbit/s through.
	inFlight = 1 << 20
	// queued is the same for a line with a rate: what a slow line holds before it takes no more.
	queued = 16 << 10
)

// wire is one connection with its two ends.
type wire struct {
	line           *Line
	client, server *net.TCPConn
	once           sync.Once
	gone           chan struct{} // closed by reset
}

// reset cuts both ends without a goodbye in good order. It does not wait.
func (w *wire) reset() {
	w.once.Do(func() {
		close(w.gone)
		for _, c := range []*net.TCPConn{w.client, w.server} {
			if c != nil {
				c.SetLinger(0)
				c.Close()
			}
		}
	})
}

// connect reaches the far end, once there is no hole.
func (w *wire) connect() bool {
	if !w.passable() {
		return false
	}
	server, err := net.Dial("tcp4", w.line.target)
	if err != nil {
		return false
	}
	w.line.mu.Lock() // reset reads server under the same lock
	defer w.line.mu.Unlock()
	select {
	case <-w.gone:
		server.Close()
		return false
	default:
	}
	w.server = server.(*net.TCPConn)
	return true
}

// passable waits while there is a hole; false if the wire was cut meanwhile.
func (w *wire) passable() bool {
	for {
		s, changed := w.line.now()
		if !s.Hole {
			return true
		}
		select {
		case <-changed:
		case <-w.gone:
			return false
		}
	}
}

// packet is what was read at once, with the moment at which it is due at the other end. A nil data is the end of the stream.
type packet struct {
	data []byte
	due  time.Time
}

// pass carries one direction until its source ends, then closes the writing side of to.
func (w *wire) pass(from, to *net.TCPConn, rate func(Shape) int) {
	way := newWay()
	var reading sync.WaitGroup
	reading.Go(func() { w.read(from, way, rate) })
	w.write(to, way, rate)
	way.stop()
	from.CloseRead()
	reading.Wait()
}

func (w *wire) read(from *net.TCPConn, way *way, rate func(Shape) int) {
	defer way.end()
	for {
		buf := make([]byte, piece)
		n, err := from.Read(buf)
		if n > 0 {
			s, _ := w.line.now()
			room := inFlight
			if rate(s) > 0 {
				room = queued
			}
			if !way.put(packet{buf[:n], time.Now().Add(s.Delay)}, room) {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (w *wire) write(to *net.TCPConn, way *way, rate func(Shape) int) {
	defer to.CloseWrite()
	free := time.Time{} // when the line has room for the next byte
	for {
		p, ok := way.take()
		if !ok || !w.until(p.due) || !w.passable() {
			return
		}
		s, _ := w.line.now()
		if r := rate(s); r > 0 {
			if now := time.Now(); free.Before(now) {
				free = now
			}
			free = free.Add(time.Duration(len(p.data)) * time.Second / time.Duration(r))
			if !w.until(free) {
				return
			}
		}
		if _, err := to.Write(p.data); err != nil {
			w.reset() // the end that still sends has to see it
			return
		}
	}
}

// until waits for a moment; false if the wire was cut meanwhile.
func (w *wire) until(due time.Time) bool {
	wait := time.Until(due)
	if wait <= 0 {
		return true
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-w.gone:
		return false
	}
}
