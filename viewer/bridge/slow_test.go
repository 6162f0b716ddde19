package bridge_test

import (
	"io"
	"net"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/viewer/bridge"
)

// TestSlowViewer is the bridge's part of case V05: the picture of a slow client is not stored up, its keys do not wait
// behind it, a fast client next to it is not slowed, and pings do not end it.
func TestSlowViewer(t *testing.T) {
	s := newScreen(t)
	s.Blast = -1
	r := carryRig(t, s, bridge.Options{Ping: 100 * time.Millisecond, Dead: 2 * time.Second})
	slow, ws := r.join(t)
	if err := ws.Conn().(*net.TCPConn).SetReadBuffer(32 << 10); err != nil {
		t.Fatal(err)
	}
	slow.Update()
	var got int64
	drip := time.NewTicker(100 * time.Millisecond)
	defer drip.Stop()
	for i := range 30 { // 40 KB/s for 3 s
		<-drip.C
		n, err := io.CopyN(io.Discard, ws, 4000)
		if got += n; err != nil {
			t.Fatalf("after %d bytes: %v", got, err)
		}
		start := time.Now()
		slow.Key(uint32('a'+i), true)
		untilKeys(t, s, i+1)
		if d := time.Since(start); d > 200*time.Millisecond {
			t.Errorf("a key took %v behind the picture", d)
		}
	}
	if waiting := s.Sent() - got; waiting > 1<<20 {
		t.Errorf("%d KiB of picture are stored up between the VNC server and the slow client", waiting>>10)
	}
}

// TestSlowViewerCoarser: the list of a client whose line is slow is repeated with a coarser quality, and nothing else in it is changed;
// a client that asked for no quality, and one whose line is fast, keep what they asked for.
func TestSlowViewerCoarser(t *testing.T) {
	for _, c := range []struct {
		name  string
		rate  int // bytes in 100 ms; 0 takes all there is
		asks  []int32
		wants []rfb.Message
	}{
		{"slow", 4000, []int32{7, -24, -254, -239}, []rfb.Message{rfb.Encodings(7, -24, -254, -239), rfb.Encodings(7, -32, -254, -239)}},
		{"a quarter of a megabyte a second", 25000, []int32{7, -24}, []rfb.Message{rfb.Encodings(7, -24), rfb.Encodings(7, -30)}},
		{"asks for less already", 25000, []int32{7, -31}, []rfb.Message{rfb.Encodings(7, -31), rfb.Encodings(7, -31)}},
		{"no quality", 4000, []int32{7, -254}, []rfb.Message{rfb.Encodings(7, -254)}},
		{"fast", 0, []int32{7, -24}, []rfb.Message{rfb.Encodings(7, -24)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newScreen(t)
			s.Blast = -1
			r := carryRig(t, s, bridge.Options{})
			client, ws := r.join(t)
			if err := ws.Conn().(*net.TCPConn).SetReadBuffer(16 << 10); err != nil {
				t.Fatal(err)
			}
			client.Send(rfb.Encodings(c.asks...)...)
			client.Update()
			lists := func() (found []rfb.Message) {
				for _, m := range s.Messages() {
					if m.Type() == 2 {
						found = append(found, m)
					}
				}
				return found
			}
			drip := time.NewTicker(100 * time.Millisecond)
			defer drip.Stop()
			took := time.Duration(0)
			for begun := time.Now(); took < 8*time.Second && (len(lists()) < len(c.wants) || len(c.wants) == 1); took = time.Since(begun) {
				if c.rate == 0 {
					io.CopyN(io.Discard, ws, 1<<20)
					continue
				}
				<-drip.C
				io.CopyN(io.Discard, ws, int64(c.rate))
			}
			if got := lists(); !reflect.DeepEqual(got, c.wants) {
				t.Errorf("after %v the server was asked for %v, want %v", took, got, c.wants)
			}
		})
	}
}

// TestSlowViewersMemory: fifty clients that take nothing cost no more than one buffer each.
func TestSlowViewersMemory(t *testing.T) {
	s := newScreen(t)
	s.Blast = -1
	r := carryRig(t, s, bridge.Options{})
	before := heap()
	for range 50 {
		c, _ := r.join(t)
		c.Update()
	}
	until(t, s, func(s *rfb.Source) bool { return len(s.Messages()) == 50 })
	time.Sleep(500 * time.Millisecond) // nothing to observe: the point is that nothing more happens
	if grown := heap() - before; grown > 16<<20 {
		t.Errorf("the heap grew by %d KiB, the fake source included", grown>>10)
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func untilKeys(t *testing.T, s *screen, n int) {
	t.Helper()
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); runtime.Gosched() {
		if keys, _, _ := s.look(); len(keys) >= n {
			return
		}
	}
	t.Fatalf("key %d did not arrive", n)
}
