package bridge

import (
	"fmt"
	"net"
	"sync"
	"time"
)

// stream carries bytes both ways until one side ends, and closes conn.
func (c *client) stream(conn net.Conn, screen Screen) error {
	var ends sync.WaitGroup
	pace := newPace()
	ends.Go(func() { c.hangUp(c.pump(conn, pace)) })
	ends.Go(func() { c.coarsen(conn, pace) })
	var unstuck sync.WaitGroup
	unstuck.Go(func() {
		<-c.done
		conn.SetWriteDeadline(time.Now()) // a VNC server that reads nothing must not hold up the end
	})
	p := parser{watch: c.o.Watch, asked: pace.ask}
	c.hangUp(c.pass(&p, conn, screen))
	unstuck.Wait()
	if !c.o.Watch {
		conn.SetWriteDeadline(time.Now().Add(250 * time.Millisecond))
		conn.Write(p.release())
		screen.ReleaseKeys()
	}
	conn.Close()
	ends.Wait()
	return c.cause
}

// pump sends the server's bytes to the client as they come, each read one message.
func (c *client) pump(conn net.Conn, pace *pace) error {
	from := newSource(conn)
	for {
		chunk, err := from.next(pace.most)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrScreen, err)
		}
		began := time.Now()
		err = c.send(chunk.bytes())
		pace.sent(chunk.n, time.Since(began))
		chunk.free()
		if err != nil {
			return err
		}
	}
}

// coarsen repeats the client's list of encodings when its line has become slower or faster. It has a goroutine of its own: whoever
// reads the server must never wait for it.
func (c *client) coarsen(conn net.Conn, pace *pace) {
	for {
		select {
		case <-c.done:
			return
		case <-pace.changed:
			if err := c.write(conn, pace.list()); err != nil {
				c.hangUp(err)
			}
		}
	}
}

// pass reads the client's messages and does what each asks for. It begins with what came behind the handshake.
func (c *client) pass(p *parser, conn net.Conn, screen Screen) error {
	for {
		if err := c.feed(p, conn, screen); err != nil {
			return err
		}
		if err := c.next(); err != nil {
			return err
		}
	}
}

// feed parses what was read. What passes is written before each key, so that a key never overtakes the click before it.
func (c *client) feed(p *parser, conn net.Conn, screen Screen) error {
	for len(c.in) > 0 {
		key, rest, err := p.parse(c.in)
		c.in = rest
		if p.touched {
			screen.Touched()
			p.touched = false
		}
		if werr := c.write(conn, p.out); werr != nil {
			return werr
		}
		p.out = p.out[:0]
		if err != nil {
			return err
		}
		if key == nil {
			continue
		}
		if err := screen.Key(key.sym, key.down); err != nil {
			return fmt.Errorf("%w: cannot press a key: %w", ErrScreen, err)
		}
	}
	return nil
}

// write hands whole messages to the VNC server; two at once do not mix, net.Conn sees to that.
func (c *client) write(conn net.Conn, p []byte) error {
	if len(p) == 0 {
		return nil
	}
	conn.SetWriteDeadline(time.Now().Add(c.o.Dead))
	select {
	case <-c.done: // its own deadline may already have been overwritten
		return net.ErrClosed
	default:
	}
	if _, err := conn.Write(p); err != nil {
		return fmt.Errorf("%w: %w", ErrScreen, err)
	}
	return nil
}
