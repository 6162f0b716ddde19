package bridge

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// dial connects to the screen and ends the client's half of the handshake there, up to ClientInit: what comes next from
// the server is ServerInit, which passes to the client as it is.
func dial(ctx context.Context, screen Screen, o Options) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*o.Handshake)
	defer cancel()
	conn, err := screen.Dial(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w: cannot connect to the VNC server: %w", ErrScreen, err)
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	err = join(conn)
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, fmt.Errorf("%w: cannot greet the VNC server: %w", ErrScreen, err)
	}
	return conn, nil
}

// join speaks RFB 3.8 with security None as a client, and asks to share, so that one view never ends another.
func join(conn net.Conn) error {
	version := make([]byte, len(banner))
	if _, err := io.ReadFull(conn, version); err != nil {
		return err
	}
	if !bytes.HasPrefix(version, []byte("RFB 003.")) || string(version) < banner {
		return fmt.Errorf("it speaks %q, not RFB 3.8", version)
	}
	if _, err := conn.Write([]byte(banner)); err != nil {
		return err
	}
	if err := offer(conn); err != nil {
		return err
	}
	if _, err := conn.Write([]byte{securityNone}); err != nil {
		return err
	}
	var result [4]byte
	if _, err := io.ReadFull(conn, result[:]); err != nil {
		return err
	}
	if result != [4]byte{} {
		return fmt.Errorf("it refuses: %s", reason(conn))
	}
	_, err := conn.Write([]byte{1})
	return err
}

// offer reads the server's security types, of which None must be one.
func offer(conn net.Conn) error {
	var count [1]byte
	if _, err := io.ReadFull(conn, count[:]); err != nil {
		return err
	}
	if count[0] == 0 {
		return fmt.Errorf("it refuses: %s", reason(conn))
	}
	types := make([]byte, count[0])
	if _, err := io.ReadFull(conn, types); err != nil {
		return err
	}
	if !bytes.Contains(types, []byte{securityNone}) {
		return fmt.Errorf("it asks for a password")
	}
	return nil
}

// reason reads why a server refuses, up to 200 bytes.
func reason(conn net.Conn) string {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return "no reason given"
	}
	text, _ := io.ReadAll(io.LimitReader(conn, int64(min(200, binary.BigEndian.Uint32(size[:])))))
	return fmt.Sprintf("%q", text)
}

// ahead is a dial that runs while the client's handshake does.
type ahead struct {
	cancel context.CancelFunc
	done   chan struct{}
	conn   net.Conn
	err    error
}

func dialAhead(ctx context.Context, screen Screen, o Options) *ahead {
	ctx, cancel := context.WithCancel(ctx)
	a := &ahead{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.conn, a.err = dial(ctx, screen, o)
	}()
	return a
}

// wait gives the connection, which is the caller's from then on.
func (a *ahead) wait() (net.Conn, error) {
	<-a.done
	a.cancel()
	return a.conn, a.err
}

// drop gives it up.
func (a *ahead) drop() {
	a.cancel()
	if conn, err := a.wait(); err == nil {
		conn.Close()
	}
}
