// Package bridge carries one view between a websocket and a VNC server that only the seat service can reach.
//
// It ends both RFB 3.8 handshakes itself (RFC 6143): to the client it is a server with security None (the caller has
// authorised already) or VNC password, to the screen a client with None. After that the server's bytes pass unparsed, in
// binary messages of at most 192 KiB, while the client's messages are read one by one: keys are taken out and given to the
// Screen, pointer and picture requests pass, the clipboard and every request that would let the client size the screen are
// dropped, encodings outside a list are taken out, and anything unknown ends the view with its reason in the close frame.
//
// Nothing is queued: a slow client makes the VNC server wait. A client that is silent to pings ends; nothing waits without a
// deadline. Lengths are bytes. It trusts the Screen and nobody at the websocket. Errors wrap ErrClient, ErrSilent, ErrPassword,
// ErrScreen, or are the cause of the context.
package bridge

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/gorilla/websocket"

	"github.com/5dive/browser/internal/secret"
)

// Why a view's connection ended, when neither the client closed it nor the context ended.
var (
	ErrClient   = errors.New("the client broke the protocol")
	ErrSilent   = errors.New("the client fell silent")
	ErrPassword = errors.New("the client did not know a password")
	ErrScreen   = errors.New("the screen ended")
)

// Screen is what a view shows. Key, Touched and ReleaseKeys are called from one goroutine at a time.
type Screen interface {
	// Dial connects to a VNC server that asks for no password; the bridge closes the connection.
	Dial(ctx context.Context) (net.Conn, error)
	// Key presses or releases a key, by X keysym.
	Key(keysym uint32, down bool) error
	// Touched tells that a key or the pointer was used. It must not block.
	Touched()
	// ReleaseKeys lets go of every key that is still down. It is called once, at the end of a connection that was not Watch.
	ReleaseKeys()
}

// Options shape one connection. The zero value is the product's: every duration has a default.
type Options struct {
	Watch     bool          // the picture alone: keys and pointer are dropped
	Ping      time.Duration // between pings; 20 s (proxies cut a silent websocket after 60 s)
	Dead      time.Duration // without a byte from the client, or with a write stuck; 60 s
	Handshake time.Duration // for each message of the RFB handshake, four times that for the whole; 5 s
	Opened    func()        // called once, when the client's handshake has ended well: gives back the slot of a Limit
}

// defaults fills in what is zero.
func (o Options) defaults() Options {
	set := func(d *time.Duration, to time.Duration) {
		if *d <= 0 {
			*d = to
		}
	}
	set(&o.Ping, 20*time.Second)
	set(&o.Dead, 60*time.Second)
	set(&o.Handshake, 5*time.Second)
	if o.Opened == nil {
		o.Opened = func() {}
	}
	return o
}

// Carry carries a client that the caller has authorised, until one side ends or ctx does; then it closes ws. It returns
// nil when the client closed in good order. The cause of ctx, which must hold no secret, is told to the client.
func Carry(ctx context.Context, ws *websocket.Conn, screen Screen, o Options) error {
	o = o.defaults()
	c := newClient(ws, o)
	return c.run(ctx, func(ctx context.Context) error {
		// The VNC server's own start (x11vnc: 0.15 s) runs while the client's answers are on their way.
		server := dialAhead(ctx, screen, o)
		if err := c.greet(nil); err != nil {
			server.drop()
			return err
		}
		o.Opened()
		conn, err := server.wait()
		if err != nil {
			return err
		}
		return c.stream(conn, screen)
	})
}

// CarryPassword carries a client that shows a VNC password: pick calls matches with the password of each view in turn and
// answers with the screen of the one that matched. Three wrong tries close the connection. The rest is as in Carry.
func CarryPassword(ctx context.Context, ws *websocket.Conn, pick func(matches func(secret.Text) bool) (Screen, bool), o Options) error {
	o = o.defaults()
	c := newClient(ws, o)
	return c.run(ctx, func(ctx context.Context) error {
		var screen Screen
		err := c.greet(func(matches func(secret.Text) bool) (ok bool) {
			screen, ok = pick(matches)
			return ok
		})
		if err != nil {
			return err
		}
		o.Opened()
		conn, err := dial(ctx, screen, o)
		if err != nil {
			return err
		}
		return c.stream(conn, screen)
	})
}
