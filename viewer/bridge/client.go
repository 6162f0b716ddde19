package bridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
)

// client is the websocket's end of a view. One goroutine reads it, one writes data, one writes control frames.
type client struct {
	ws    *websocket.Conn
	o     Options
	msg   io.Reader     // the message that is being read, or nil
	buf   []byte        // its last piece
	in    []byte        // what of that piece was not used yet
	open  bool          // the handshake is over: silence is judged by Options.Dead
	pongs chan string   // pings of the client that wait for their answer; the newest is dropped
	done  chan struct{} // closed by hangUp
	once  sync.Once
	cause error // what hangUp was first called with; read after done
}

func newClient(ws *websocket.Conn, o Options) *client {
	c := &client{ws: ws, o: o, buf: make([]byte, 4<<10), pongs: make(chan string, 1), done: make(chan struct{})}
	ws.SetReadLimit(maxFrame)
	ws.EnableWriteCompression(false)
	ws.SetPongHandler(func(string) error { c.heard(); return nil })
	ws.SetPingHandler(func(data string) error {
		c.heard()
		select {
		case c.pongs <- data:
		default:
		}
		return nil
	})
	return c
}

// run does the work of a connection under its heartbeat and closes it at the end, or when ctx ends.
func (c *client) run(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { c.hangUp(context.Cause(ctx)) })
	defer stop()
	var beat sync.WaitGroup
	beat.Go(c.beat)
	err := work(ctx)
	c.hangUp(err)
	beat.Wait()
	if errors.Is(c.cause, errLeft) {
		return nil
	}
	return c.cause
}

// hangUp says why in a close frame, if the client still takes one, and closes the connection, which ends every read and
// write on it. Only the first call counts; the others wait for it.
func (c *client) hangUp(cause error) {
	c.once.Do(func() {
		c.cause = cause
		code, why := closing(cause)
		c.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, why), time.Now().Add(250*time.Millisecond))
		c.ws.Close()
		close(c.done)
	})
}

// closing is the code (RFC 6455, 7.4.1) and the reason of the close frame.
func closing(cause error) (code int, why string) {
	switch {
	case errors.Is(cause, errLeft):
		return websocket.CloseNormalClosure, ""
	case errors.Is(cause, ErrClient):
		code = websocket.CloseProtocolError
	case errors.Is(cause, ErrPassword), errors.Is(cause, ErrSilent):
		code = websocket.ClosePolicyViolation
	default:
		code = websocket.CloseGoingAway
	}
	why = cause.Error()
	why = strings.ToValidUTF8(why[:min(len(why), 123)], "") // a control frame holds 125 bytes
	return code, why
}

// beat sends pings and answers those of the client until the connection ends. It is the only one to do so: an answer
// sent by the reader would make keys wait for the picture, and one with a short deadline would kill a slow client.
func (c *client) beat() {
	ticker := time.NewTicker(c.o.Ping)
	defer ticker.Stop()
	for {
		select {
		case <-c.done:
			return
		case <-ticker.C:
			c.ws.WriteControl(websocket.PingMessage, nil, time.Now().Add(c.o.Dead))
		case data := <-c.pongs:
			c.ws.WriteControl(websocket.PongMessage, []byte(data), time.Now().Add(c.o.Dead))
		}
	}
}

// send writes one binary message.
func (c *client) send(p []byte) error {
	c.ws.SetWriteDeadline(time.Now().Add(c.o.Dead))
	if err := c.ws.WriteMessage(websocket.BinaryMessage, p); err != nil {
		return lost(err)
	}
	return nil
}

// next reads the next bytes of the client into c.in, wherever its messages begin and end.
func (c *client) next() error {
	for {
		if c.msg == nil {
			kind, msg, err := c.ws.NextReader()
			if err != nil {
				return lost(err)
			}
			if kind != websocket.BinaryMessage {
				return fmt.Errorf("%w: a text message", ErrClient)
			}
			c.msg = msg
		}
		n, err := c.msg.Read(c.buf)
		switch {
		case err == io.EOF:
			c.msg = nil
		case err != nil:
			return lost(err)
		}
		if n > 0 {
			c.heard()
			c.in = c.buf[:n]
			return nil
		}
	}
}

// heard puts off the moment at which the client counts as gone.
func (c *client) heard() {
	if c.open {
		c.ws.SetReadDeadline(time.Now().Add(c.o.Dead))
	}
}

// errLeft is the client's own close in good order; Carry reports it as nil.
var errLeft = errors.New("the client left")

// lost tells apart a client that left in good order, one that went away, and one that broke the rules of websockets.
func lost(err error) error {
	var closed *websocket.CloseError
	var broken net.Error
	switch {
	case errors.Is(err, websocket.ErrCloseSent), errors.As(err, &closed) && closed.Code != websocket.CloseAbnormalClosure:
		return errLeft
	case closed != nil, errors.As(err, &broken), errors.Is(err, net.ErrClosed):
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	return fmt.Errorf("%w: %w", ErrClient, err)
}
