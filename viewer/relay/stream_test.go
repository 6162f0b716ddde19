package relay

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/5dive/browser/serve/api"
)

// dial opens the stream as a browser would.
func (g *rig) dial(t *testing.T, cookie string) *websocket.Conn {
	t.Helper()
	dialer := websocket.Dialer{Subprotocols: []string{"binary"}}
	ws, resp, err := dialer.Dial("ws://"+g.host+viewPath+"/stream", http.Header{"Origin": {g.url}, "Cookie": {cookie}})
	if err != nil {
		t.Fatalf("cannot open the stream: %v %+v", err, resp)
	}
	t.Cleanup(func() { ws.Close() })
	if ws.Subprotocol() != "binary" {
		t.Errorf("subprotocol %q", ws.Subprotocol())
	}
	return ws
}

// What goes to the seat service is made by the relay: the token, and no header of the person's.
func TestStreamHeaders(t *testing.T) {
	g := newRig(t, "", nil)
	cookie := g.enter(t)
	ws := g.dial(t, cookie)
	if _, hello, err := ws.ReadMessage(); err != nil || string(hello) != "RFB 003.008\n" {
		t.Fatalf("first message %q, %v", hello, err)
	}
	g.seat.mu.Lock()
	last := g.seat.headers[len(g.seat.headers)-1]
	g.seat.mu.Unlock()
	for name := range last {
		switch name {
		case "Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version", "Sec-Websocket-Protocol", "View-Token":
		default:
			t.Errorf("the seat service was sent %s: %q", name, last[name])
		}
	}
	if last.Get(api.TokenHeader) != testToken {
		t.Errorf("token is %q", last.Get(api.TokenHeader))
	}
}

func TestStreamRefusals(t *testing.T) {
	g := newRig(t, "", nil)
	if got := g.upgrade(t, g.host, map[string]string{"Origin": g.url}); got != 403 {
		t.Errorf("without a cookie: %d", got)
	}
	cookie := g.enter(t)
	for name, headers := range map[string]map[string]string{
		"no upgrade": {"Upgrade": "-"}, "no connection": {"Connection": "close"}, "old": {"Sec-WebSocket-Version": "8"},
		"no key": {"Sec-WebSocket-Key": "-"}, "short key": {"Sec-WebSocket-Key": "c2hvcnQ="},
	} {
		headers["Origin"], headers["Cookie"] = g.url, cookie
		if got := g.upgrade(t, g.host, headers); got != 426 {
			t.Errorf("%s: %d, want 426", name, got)
		}
	}
	g.seat.change(func() { g.seat.phase = "" }) // the seat service no longer knows the token
	if got := g.upgrade(t, g.host, map[string]string{"Origin": g.url, "Cookie": cookie}); got != 403 {
		t.Errorf("an ended view: %d", got)
	}
}

// Close ends what is carried, waits for it, and lets no new stream in.
func TestCloseEndsStreams(t *testing.T) {
	g := newRig(t, "", nil)
	cookie := g.enter(t)
	ws := g.dial(t, cookie)
	ws.ReadMessage()
	g.relay.Close()
	if _, _, err := ws.ReadMessage(); err == nil {
		t.Error("the stream outlived the relay")
	}
	if ws, _, err := websocket.DefaultDialer.Dial("ws://"+g.host+viewPath+"/stream", http.Header{"Origin": {g.url}, "Cookie": {cookie}}); err == nil {
		ws.Close()
		t.Error("a closed relay opened a stream")
	}
}

// A person who goes takes the stream with him, and a seat service that goes takes the person's.
func TestStreamEnds(t *testing.T) {
	g := newRig(t, "", nil)
	cookie := g.enter(t)
	idle := func() bool {
		g.relay.mu.Lock()
		defer g.relay.mu.Unlock()
		return len(g.relay.streams) == 0
	}
	ws := g.dial(t, cookie)
	ws.ReadMessage()
	ws.NetConn().Close()
	eventually(t, "the stream of a gone person to end", idle)
	ws = g.dial(t, cookie)
	ws.ReadMessage()
	g.seat.screen.drop()
	if _, _, err := ws.ReadMessage(); err == nil {
		t.Error("the person was not told")
	}
	ws.NetConn().Close()
	eventually(t, "the stream of a gone seat service to end", idle)
}

// eventually polls what has no event of its own.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(15 * time.Second); !is(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited too long for %s", what)
		}
	}
}

// pipes gives a carried stream with its two far ends.
func pipes(t *testing.T) (c *carried, person, seat net.Conn) {
	t.Helper()
	ends := func() (net.Conn, net.Conn) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		far, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		near, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { far.Close(); near.Close() })
		return near, far
	}
	c = &carried{}
	c.person, person = ends()
	c.seat, seat = ends()
	return c, person, seat
}

// bufferOf is a reader of conn that holds text already.
func bufferOf(t *testing.T, conn net.Conn, text string) *bufio.Reader {
	t.Helper()
	r := bufio.NewReader(io.MultiReader(strings.NewReader(text), conn))
	if _, err := r.Peek(len(text)); err != nil {
		t.Fatal(err)
	}
	return r
}

// Bytes that came with the upgrade go first, and a half-close lets the other direction finish.
func TestCarry(t *testing.T) {
	c, person, seat := pipes(t)
	picture := make([]byte, 3<<20)
	rand.Read(picture)
	var carrying sync.WaitGroup
	carrying.Go(func() { c.carry(bufferOf(t, c.person, "early keys "), bufferOf(t, c.seat, "early picture ")) })
	var keys, got []byte
	carrying.Go(func() { keys, _ = io.ReadAll(seat); seat.Write(picture); seat.Close() })
	person.Write([]byte("late keys"))
	person.(*net.TCPConn).CloseWrite()
	got, _ = io.ReadAll(person)
	carrying.Wait()
	if string(keys) != "early keys late keys" {
		t.Errorf("the seat got %q", keys)
	}
	if !bytes.Equal(got, append([]byte("early picture "), picture...)) {
		t.Errorf("the person got %d bytes", len(got))
	}
}

// Row 51 is the bridge's; here: a client that sends its first frames with the upgrade loses none.
func TestPipelinedUpgrade(t *testing.T) {
	g := newRig(t, "", nil)
	cookie := g.enter(t)
	conn, err := net.Dial("tcp", g.host)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	frame := append([]byte{0x82, 0x80 | 12, 0, 0, 0, 0}, "RFB 003.008\n"...)
	head := strings.Join([]string{"GET " + viewPath + "/stream HTTP/1.1", "Host: " + g.host, "Connection: Upgrade", "Upgrade: websocket",
		"Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Origin: " + g.url, "Cookie: " + cookie, "", ""}, "\r\n")
	conn.Write(append([]byte(head), frame...))
	conn.SetReadDeadline(time.Now().Add(10 * time.Second))
	var got []byte
	for b := make([]byte, 4096); !bytes.Contains(got, []byte{0x82, 2, 1, 1}); { // the security types: the version was read
		n, err := conn.Read(b)
		if err != nil {
			t.Fatalf("%v after %q", err, got)
		}
		got = append(got, b[:n]...)
	}
}
