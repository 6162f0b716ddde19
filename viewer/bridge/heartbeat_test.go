package bridge_test

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/viewer/bridge"
)

// TestPingsKeepAQuietClient: a client that only answers pings stays, long after it would count as gone without.
func TestPingsKeepAQuietClient(t *testing.T) {
	s := newScreen(t)
	r := carryRig(t, s, bridge.Options{Ping: 50 * time.Millisecond, Dead: 300 * time.Millisecond})
	_, ws := r.join(t)
	ws.Conn().SetReadDeadline(time.Now().Add(time.Second))
	io.Copy(io.Discard, ws) // ends by its own deadline
	select {
	case err := <-r.ends:
		t.Fatalf("the bridge ends with %v", err)
	default:
	}
	if ws.Pings < 10 {
		t.Errorf("%d pings in a second, one each 50 ms was asked for", ws.Pings)
	}
}

// TestClientPings: the other way round; the answer carries what the ping did.
func TestClientPings(t *testing.T) {
	s := newScreen(t)
	r := carryRig(t, s, bridge.Options{})
	_, ws := r.join(t)
	ws.Frame(rfb.Fin|rfb.Ping, []byte("are you there"))
	got := make([]byte, 15)
	if _, err := io.ReadFull(ws.Conn(), got); err != nil || string(got) != "\x8a\x0dare you there" {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestHalfOpen: a client that answers nothing is gone after Dead, whether its line takes the picture or not (case V04).
func TestHalfOpen(t *testing.T) {
	for name, blast := range map[string]int64{"still page": 0, "busy page": -1} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			s.Blast = blast
			r := carryRig(t, s, bridge.Options{Ping: 50 * time.Millisecond, Dead: 300 * time.Millisecond})
			c, _ := r.join(t)
			c.Update() // and then not a byte is read or written
			start := time.Now()
			if err := r.end(t); !errors.Is(err, bridge.ErrSilent) {
				t.Errorf("the bridge ends with %v", err)
			}
			if d := time.Since(start); d > 2*time.Second {
				t.Errorf("after %v", d)
			}
			until(t, s, func(s *rfb.Source) bool { return s.Open() == 0 })
		})
	}
}
