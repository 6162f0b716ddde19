package bridge_test

import (
	"context"
	"encoding/hex"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/viewer/bridge"
)

// passwordRig carries to whichever screen's password matches.
func passwordRig(t *testing.T, screens map[string]*screen, o bridge.Options) *rig {
	return newRig(t, func(ctx context.Context, ws *websocket.Conn) error {
		return bridge.CarryPassword(ctx, ws, func(matches func(secret.Text) bool) (bridge.Screen, bool) {
			for password, s := range screens {
				if matches(secret.New(password)) {
					return s, true
				}
			}
			return nil, false
		}, o)
	})
}

func TestPasswordPicksTheView(t *testing.T) {
	a, b := newScreen(t), newScreen(t)
	a.Name, b.Name = "view a", "view b"
	r := passwordRig(t, map[string]*screen{"aaaaAAAA": a, "bbbbBBBB": b}, bridge.Options{})
	for password, name := range map[string]string{"aaaaAAAA": "view a", "bbbbBBBB": "view b"} {
		for _, version := range []string{"003.003", "003.007", "003.008"} {
			ws := r.dial(t)
			c, err := rfb.JoinVersion(ws, version, password)
			if err != nil || c.Name != name {
				t.Fatalf("RFB %s: got %+v, %v", version, c, err)
			}
			ws.Leave()
			if err := r.end(t); err != nil {
				t.Error(err)
			}
		}
	}
	if a.Opened() != 3 || b.Opened() != 3 {
		t.Errorf("the screens were dialled %d and %d times", a.Opened(), b.Opened())
	}
}

func TestWrongPasswords(t *testing.T) {
	s := newScreen(t)
	r := passwordRig(t, map[string]*screen{"rightone": s, "": s}, bridge.Options{})
	t.Run("third try is right", func(t *testing.T) {
		c, err := rfb.Join(r.dial(t), "wrong")
		if !errors.Is(err, rfb.ErrRefused) {
			t.Fatal(err)
		}
		if err := c.Authenticate("003.008", "rightonE"); !errors.Is(err, rfb.ErrRefused) {
			t.Fatal(err)
		}
		if err := c.Authenticate("003.008", "rightone"); err != nil {
			t.Fatal(err)
		}
		if err := c.Init(); err != nil {
			t.Fatal(err)
		}
		s.Close()
		r.end(t)
	})
	t.Run("three wrong close", func(t *testing.T) {
		opened := s.Opened()
		ws := r.dial(t)
		c, err := rfb.Join(ws, "wrong")
		for range 2 {
			if !errors.Is(err, rfb.ErrRefused) {
				t.Fatal(err)
			}
			err = c.Authenticate("003.008", "\x00") // the password of a view that has none
		}
		if err := r.end(t); !errors.Is(err, bridge.ErrPassword) {
			t.Errorf("the bridge ends with %v", err)
		}
		if got := closed(ws); got == nil || got.Code != 1008 {
			t.Errorf("the client reads %v", got)
		}
		if s.Opened() != opened {
			t.Error("a wrong password reached the VNC server")
		}
	})
	t.Run("None is not offered", func(t *testing.T) {
		ws := r.dial(t)
		ws.Write([]byte("RFB 003.008\n\x01"))
		if err := r.end(t); !errors.Is(err, bridge.ErrClient) {
			t.Errorf("the bridge ends with %v", err)
		}
	})
}

// TestResponseVector holds the other tests' client to openssl (DES, key bits reversed); x11vnc 0.9.16 accepted its answers.
func TestResponseVector(t *testing.T) {
	challenge := []byte("0123456789abcdef")
	const want = "dfbbbc10541744e4d6edff24930fb856"
	if got := hex.EncodeToString(rfb.Response(challenge, "Abcdefgh")); got != want {
		t.Errorf("got %s", got)
	}
}

// TestSilentClient is the first half of row 20: who says nothing, or not enough, is out after the handshake's time, and
// has started nothing.
func TestSilentClient(t *testing.T) {
	for name, say := range map[string]string{
		"nothing":            "",
		"half a version":     "RFB 003",
		"version only":       "RFB 003.008\n",
		"half of a response": "RFB 003.008\n\x02response",
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			var opened atomic.Bool
			r := passwordRig(t, map[string]*screen{"rightone": s},
				bridge.Options{Handshake: 150 * time.Millisecond, Opened: func() { opened.Store(true) }})
			ws := r.dial(t)
			start := time.Now()
			if say != "" {
				ws.Write([]byte(say))
			}
			if err := r.end(t); !errors.Is(err, bridge.ErrSilent) {
				t.Errorf("the bridge ends with %v", err)
			}
			if d := time.Since(start); d < 100*time.Millisecond || d > 2*time.Second {
				t.Errorf("after %v", d)
			}
			if s.Opened() != 0 || opened.Load() {
				t.Error("a silent client got through")
			}
		})
	}
}

// TestDrip: a client that sends a byte now and then cannot stretch the handshake beyond four times its limit.
func TestDrip(t *testing.T) {
	s := newScreen(t)
	r := passwordRig(t, map[string]*screen{"rightone": s}, bridge.Options{Handshake: 200 * time.Millisecond})
	ws := r.dial(t)
	start := time.Now()
	ws.Write([]byte("RFB 003.008\n\x02"))
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := false; !end; {
		select {
		case err := <-r.ends:
			end = true
			if !errors.Is(err, bridge.ErrSilent) {
				t.Errorf("the bridge ends with %v", err)
			}
		case <-tick.C:
			ws.Frame(rfb.Fin|rfb.Binary, nil)
		}
	}
	if d := time.Since(start); d > 1500*time.Millisecond {
		t.Errorf("after %v", d)
	}
}
