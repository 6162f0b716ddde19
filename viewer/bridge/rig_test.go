package bridge_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/viewer/bridge"
)

// screen is a Screen over a fake VNC server; it notes what the bridge does with it.
type screen struct {
	*rfb.Source
	dial func(context.Context) (net.Conn, error) // nil: the source's

	mu       sync.Mutex
	keys     []stroke
	touched  int
	released int
	fault    error // of Key
}

type stroke struct {
	sym  uint32
	down bool
}

func newScreen(t *testing.T) *screen {
	s := &screen{Source: &rfb.Source{Name: "seat1"}}
	t.Cleanup(s.Close)
	return s
}

func (s *screen) Dial(ctx context.Context) (net.Conn, error) {
	if s.dial != nil {
		return s.dial(ctx)
	}
	return s.Source.Dial(ctx)
}

func (s *screen) Key(sym uint32, down bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keys = append(s.keys, stroke{sym, down})
	return s.fault
}

func (s *screen) Touched()     { s.mu.Lock(); s.touched++; s.mu.Unlock() }
func (s *screen) ReleaseKeys() { s.mu.Lock(); s.released++; s.mu.Unlock() }

func (s *screen) look() (keys []stroke, touched, released int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]stroke(nil), s.keys...), s.touched, s.released
}

// rig is an HTTP server whose every websocket is carried, and what became of each.
type rig struct {
	*httptest.Server
	ends   chan error
	cancel context.CancelCauseFunc
}

// newRig serves carry on loopback until the test ends.
func newRig(t *testing.T, carry func(ctx context.Context, ws *websocket.Conn) error) *rig {
	ctx, cancel := context.WithCancelCause(context.Background())
	r := &rig{ends: make(chan error, 100), cancel: cancel}
	r.Server = httptest.NewUnstartedServer(nil)
	host := r.Listener.Addr().String()
	var views sync.WaitGroup
	r.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ws, err := bridge.Upgrader{Hosts: []string{host}, Origins: []string{"http://" + host}}.Upgrade(w, req)
		if err == nil {
			views.Add(1)
			defer views.Done()
			r.ends <- carry(ctx, ws)
		}
	})
	r.Start()
	t.Cleanup(func() {
		cancel(errors.New("the test is over"))
		r.Close()
		views.Wait()
	})
	return r
}

// carryRig carries every websocket to s.
func carryRig(t *testing.T, s *screen, o bridge.Options) *rig {
	return newRig(t, func(ctx context.Context, ws *websocket.Conn) error { return bridge.Carry(ctx, ws, s, o) })
}

// dial opens a websocket to the rig.
func (r *rig) dial(t *testing.T) *rfb.Websocket {
	t.Helper()
	conn, err := net.Dial("tcp4", r.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	ws, _, err := rfb.DialWebsocket(conn, r.URL+"/any/path", nil)
	if err != nil {
		t.Fatal(err)
	}
	return ws
}

// join opens a websocket and ends the handshake.
func (r *rig) join(t *testing.T) (*rfb.Client, *rfb.Websocket) {
	t.Helper()
	ws := r.dial(t)
	c, err := rfb.Join(ws, "")
	if err != nil {
		t.Fatal(err)
	}
	return c, ws
}

// end waits for the end of the oldest connection.
func (r *rig) end(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ends:
		return err
	case <-time.After(10 * time.Second):
		t.Fatal("the bridge still carries the connection")
		return nil
	}
}

// closed reads until the connection ends and gives the close frame, or nil if there was none.
func closed(ws *rfb.Websocket) *rfb.CloseError {
	p := make([]byte, 4096)
	for {
		if _, err := ws.Read(p); err != nil {
			var c *rfb.CloseError
			errors.As(err, &c)
			return c
		}
	}
}

// until waits until the source looks as asked.
func until(t *testing.T, s *screen, looks func(s *rfb.Source) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if !s.Wait(ctx, looks) {
		t.Fatalf("the source still has %d connections and %d messages: %v", s.Open(), len(s.Messages()), s.Messages())
	}
}
