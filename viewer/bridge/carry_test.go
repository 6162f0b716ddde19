package bridge_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/viewer/bridge"
)

func TestHandshakeVersions(t *testing.T) {
	for _, version := range []string{"003.003", "003.007", "003.008", "003.889" /* Apple's */, "004.001"} {
		t.Run(version, func(t *testing.T) {
			s := newScreen(t)
			r := carryRig(t, s, bridge.Options{})
			ws := r.dial(t)
			c, err := rfb.JoinVersion(ws, version, "")
			if version == "004.001" {
				if end := r.end(t); err == nil || !errors.Is(end, bridge.ErrClient) {
					t.Errorf("client %v, bridge %v", err, end)
				}
				return
			}
			if err != nil || c.Width != 1280 || c.Height != 800 || c.Name != "seat1" {
				t.Fatalf("got %+v, %v", c, err)
			}
			if err := ws.Leave(); err != nil {
				t.Error(err)
			}
			if err := r.end(t); err != nil {
				t.Errorf("the bridge ends with %v", err)
			}
			until(t, s, func(s *rfb.Source) bool { return s.Open() == 0 })
		})
	}
}

// TestInput: keys go to the Screen, the rest to the VNC server in its order, the clipboard nowhere.
func TestInput(t *testing.T) {
	s := newScreen(t)
	r := carryRig(t, s, bridge.Options{})
	c, ws := r.join(t)
	for _, m := range [][]byte{
		rfb.Encodings(7, -313, -1063131698, -258, -239, -316, 12345),
		rfb.Pointer(1, 10, 20),
		rfb.Key('A', true), rfb.Key('A', false),
		rfb.CutText(6, "secret"),
		rfb.CutText(-8, "extended"),
		{255, 0, 0, 1, 0, 0, 0, 'b', 0, 0, 0, 30},                                  // QEMU key
		{255, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 30},                                    // without a symbol
		{251, 0, 4, 0, 3, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 4, 0, 3, 0, 0, 0, 0, 0}, // SetDesktopSize
		{250, 0, 1, 2}, // xvp: shut down
		{248, 0, 0, 0, 0x80, 0, 0, 0, 3, 'a', 'b', 'c'}, // fence
		{150, 1, 0, 0, 0, 0, 5, 0, 3, 32},               // continuous updates
		rfb.Pointer(0, 11, 21),
	} {
		if err := c.Send(m...); err != nil {
			t.Fatal(err)
		}
	}
	until(t, s, func(s *rfb.Source) bool { return len(s.Messages()) >= 5 })
	want := []rfb.Message{
		rfb.Encodings(7, -313, -239), rfb.Pointer(1, 10, 20), {248, 0, 0, 0, 0x80, 0, 0, 0, 3, 'a', 'b', 'c'},
		{150, 1, 0, 0, 0, 0, 5, 0, 3, 32}, rfb.Pointer(0, 11, 21),
	}
	if got := s.Messages(); !reflect.DeepEqual(got, want) {
		t.Errorf("the server got %v\nwant %v", got, want)
	}
	ws.Leave()
	r.end(t)
	keys, touched, released := s.look()
	if want := []stroke{{'A', true}, {'A', false}, {'b', true}}; !reflect.DeepEqual(keys, want) {
		t.Errorf("the screen got keys %v", keys)
	}
	if touched < 3 || released != 1 {
		t.Errorf("touched %d times, keys released %d times", touched, released)
	}
}

// TestCutAnywhere sends the same messages in frames cut at every place, and all in one frame.
func TestCutAnywhere(t *testing.T) {
	var all []byte
	for _, m := range []rfb.Message{
		rfb.Encodings(7, 16, -1063131698), rfb.Key('x', true), rfb.Pointer(0, 3, 4), rfb.CutText(5, "hello"), rfb.Key('x', false), rfb.Pointer(1, 5, 6),
	} {
		all = append(all, m...)
	}
	for cut := 0; cut <= len(all); cut++ {
		s := newScreen(t)
		r := carryRig(t, s, bridge.Options{})
		c, _ := r.join(t)
		c.Send(all[:cut]...)
		c.Send(all[cut:]...)
		until(t, s, func(s *rfb.Source) bool { return len(s.Messages()) == 3 })
		want := []rfb.Message{rfb.Encodings(7, 16), rfb.Pointer(0, 3, 4), rfb.Pointer(1, 5, 6)}
		if got := s.Messages(); !reflect.DeepEqual(got, want) {
			t.Fatalf("cut at %d: the server got %v", cut, got)
		}
		if keys, _, _ := s.look(); !reflect.DeepEqual(keys, []stroke{{'x', true}, {'x', false}}) {
			t.Fatalf("cut at %d: keys %v", cut, keys)
		}
		s.Close()
		r.end(t)
		r.Close()
	}
}

// TestBytesBehindTheHandshake: a client may send the end of its handshake and its first messages in one frame.
func TestBytesBehindTheHandshake(t *testing.T) {
	s := newScreen(t)
	r := carryRig(t, s, bridge.Options{})
	ws := r.dial(t)
	ws.Write(bytes.Join([][]byte{[]byte("RFB 003.008\n"), {1}, {1}, rfb.Key('k', true), rfb.Pointer(0, 1, 2)}, nil))
	until(t, s, func(s *rfb.Source) bool { return len(s.Messages()) == 1 })
	if keys, _, _ := s.look(); len(keys) != 1 {
		t.Errorf("keys %v", keys)
	}
}

func TestWatch(t *testing.T) {
	s := newScreen(t)
	r := carryRig(t, s, bridge.Options{Watch: true})
	c, ws := r.join(t)
	c.Key('A', true)
	c.Pointer(1, 2, 3)
	c.Update()
	until(t, s, func(s *rfb.Source) bool { return len(s.Messages()) == 1 })
	if m := s.Messages()[0]; m.Type() != 3 {
		t.Errorf("the server got %v", m)
	}
	ws.Leave()
	r.end(t)
	if keys, touched, released := s.look(); len(keys)+touched+released != 0 {
		t.Errorf("a watcher pressed %v, touched %d times, released %d times", keys, touched, released)
	}
}

// TestButtonsAreReleased: a client that vanishes in the middle of a drag leaves no button down.
func TestButtonsAreReleased(t *testing.T) {
	s := newScreen(t)
	r := carryRig(t, s, bridge.Options{})
	c, ws := r.join(t)
	c.Pointer(1, 30, 40)
	until(t, s, func(s *rfb.Source) bool { return len(s.Messages()) == 1 })
	ws.Close()
	if err := r.end(t); !errors.Is(err, bridge.ErrSilent) {
		t.Errorf("the bridge ends with %v", err)
	}
	until(t, s, func(s *rfb.Source) bool { return len(s.Messages()) == 2 })
	if got := s.Messages()[1]; !bytes.Equal(got, rfb.Pointer(0, 30, 40)) {
		t.Errorf("at the end the server gets %v", got)
	}
}

// TestPictureIsWhole: every byte of the server arrives, in order.
func TestPictureIsWhole(t *testing.T) {
	s := newScreen(t)
	s.Blast = 50 << 20
	r := carryRig(t, s, bridge.Options{})
	c, ws := r.join(t)
	c.Update()
	head := make([]byte, 16)
	for left := s.Blast; left > 0; {
		if _, err := io.ReadFull(ws, head[:min(16, left)]); err != nil {
			t.Fatalf("%d bytes before the end: %v", left, err)
		}
		if left >= 16 && !bytes.Equal(head, []byte{0, 0, 0, 1, 0, 0, 0, 0, 0, 128, 0, 128, 0, 0, 0, 0}) {
			t.Fatalf("%d bytes before the end: %v", left, head)
		}
		left -= min(16, left)
		n := min(left, 4*128*128)
		if _, err := io.CopyN(io.Discard, ws, n); err != nil {
			t.Fatal(err)
		}
		left -= n
	}
}

// TestEnds: how each end is told to the other side, and that nothing is left open.
func TestEnds(t *testing.T) {
	gone := errors.New("the view was revoked")
	for _, row := range []struct {
		name string
		do   func(r *rig, s *screen, c *rfb.Client, ws *rfb.Websocket)
		want error
		code int
	}{
		{"revoked", func(r *rig, _ *screen, _ *rfb.Client, _ *rfb.Websocket) { r.cancel(gone) }, gone, 1001},
		{"VNC server ends", func(_ *rig, s *screen, _ *rfb.Client, _ *rfb.Websocket) { s.Close() }, bridge.ErrScreen, 1001},
		{"key cannot be pressed", func(_ *rig, s *screen, c *rfb.Client, _ *rfb.Websocket) {
			s.mu.Lock()
			s.fault = errors.New("no display")
			s.mu.Unlock()
			c.Key('a', true)
		}, bridge.ErrScreen, 1001},
		{"unknown message", func(_ *rig, _ *screen, c *rfb.Client, _ *rfb.Websocket) { c.Send(77) }, bridge.ErrClient, 1002},
		{"QEMU audio", func(_ *rig, _ *screen, c *rfb.Client, _ *rfb.Websocket) { c.Send(255, 1, 0, 0) }, bridge.ErrClient, 1002},
		{"2 GiB of clipboard", func(_ *rig, _ *screen, c *rfb.Client, _ *rfb.Websocket) { c.Send(rfb.CutText(0x7fffffff, "")...) }, bridge.ErrClient, 1002},
		{"least number of clipboard", func(_ *rig, _ *screen, c *rfb.Client, _ *rfb.Websocket) { c.Send(rfb.CutText(-0x80000000, "")...) }, bridge.ErrClient, 1002},
		{"65535 encodings", func(_ *rig, _ *screen, c *rfb.Client, _ *rfb.Websocket) { c.Send(2, 0, 255, 255) }, bridge.ErrClient, 1002},
		{"long fence", func(_ *rig, _ *screen, c *rfb.Client, _ *rfb.Websocket) { c.Send(248, 0, 0, 0, 0, 0, 0, 0, 65) }, bridge.ErrClient, 1002},
		{"text frame", func(_ *rig, _ *screen, _ *rfb.Client, ws *rfb.Websocket) { ws.Frame(rfb.Fin|rfb.Text, []byte("hi")) }, bridge.ErrClient, 1002},
		{"reserved bit", func(_ *rig, _ *screen, _ *rfb.Client, ws *rfb.Websocket) {
			ws.Frame(rfb.Fin|0x40|rfb.Binary, []byte{3})
		}, bridge.ErrClient, 1002},
		{"unknown opcode", func(_ *rig, _ *screen, _ *rfb.Client, ws *rfb.Websocket) { ws.Frame(rfb.Fin|3, nil) }, bridge.ErrClient, 1002},
		{"unmasked", func(_ *rig, _ *screen, _ *rfb.Client, ws *rfb.Websocket) { ws.Raw([]byte{rfb.Fin | rfb.Binary, 1, 3}) }, bridge.ErrClient, 1002},
		{"2 GiB frame", func(_ *rig, _ *screen, _ *rfb.Client, ws *rfb.Websocket) {
			ws.Raw(binary.BigEndian.AppendUint64([]byte{rfb.Fin | rfb.Binary, 0xff}, 2<<30))
			ws.Raw(make([]byte, 4))
		}, bridge.ErrClient, 1009},
		{"negative length", func(_ *rig, _ *screen, _ *rfb.Client, ws *rfb.Websocket) {
			ws.Raw(binary.BigEndian.AppendUint64([]byte{rfb.Fin | rfb.Binary, 0xff}, 1<<63))
		}, bridge.ErrClient, 0},
		{"fragments over 1 MiB", func(_ *rig, _ *screen, _ *rfb.Client, ws *rfb.Websocket) {
			ws.Frame(rfb.Binary, rfb.CutText(8<<20, strings.Repeat("x", 1<<19)))
			ws.Frame(0, make([]byte, 1<<19))
		}, bridge.ErrClient, 1009},
		{"client leaves", func(_ *rig, _ *screen, _ *rfb.Client, ws *rfb.Websocket) { ws.Frame(rfb.Fin|rfb.Close, []byte{3, 232}) }, nil, 1000},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := newScreen(t)
			r := carryRig(t, s, bridge.Options{})
			c, ws := r.join(t)
			row.do(r, s, c, ws)
			if err := r.end(t); !errors.Is(err, row.want) || (row.want == nil) != (err == nil) {
				t.Errorf("the bridge ends with %v, want %v", err, row.want)
			}
			if got := closed(ws); row.code != 0 && (got == nil || got.Code != row.code) {
				t.Errorf("the client reads %v, want %d", got, row.code)
			}
			until(t, s, func(s *rfb.Source) bool { return s.Open() == 0 })
			if _, _, released := s.look(); released != 1 {
				t.Errorf("keys were released %d times", released)
			}
		})
	}
}

// TestRevokeIsPrompt: a client that reads nothing and a VNC server that reads nothing do not hold up the end.
func TestRevokeIsPrompt(t *testing.T) {
	s := newScreen(t)
	s.dial = func(ctx context.Context) (net.Conn, error) {
		ours, theirs := net.Pipe() // unbuffered: it never takes a message after its handshake
		go func() {
			io.WriteString(theirs, "RFB 003.008\n")
			io.ReadFull(theirs, make([]byte, 12))
			theirs.Write([]byte{1, 1})
			io.ReadFull(theirs, make([]byte, 1))
			theirs.Write([]byte{0, 0, 0, 0})
			io.ReadFull(theirs, make([]byte, 1))
			for {
				if _, err := theirs.Write(make([]byte, 1<<16)); err != nil {
					return
				}
			}
		}()
		return ours, nil
	}
	r := carryRig(t, s, bridge.Options{})
	ws := r.dial(t)
	ws.Write([]byte("RFB 003.008\n\x01\x01"))
	for range 1000 {
		ws.Write(rfb.Pointer(0, 1, 1))
	}
	time.AfterFunc(300*time.Millisecond, func() { r.cancel(errors.New("revoked")) })
	start := time.Now()
	r.end(t)
	if d := time.Since(start); d > 1500*time.Millisecond {
		t.Errorf("the end took %v", d)
	}
}

// TestDeadScreen: a screen that cannot be reached, is slow to greet or asks for a password ends the view with a reason.
func TestDeadScreen(t *testing.T) {
	talk := func(say string) func(context.Context) (net.Conn, error) {
		return func(context.Context) (net.Conn, error) {
			ours, theirs := net.Pipe()
			go func() {
				io.WriteString(theirs, say)
				io.Copy(io.Discard, theirs)
			}()
			return ours, nil
		}
	}
	for name, dial := range map[string]func(context.Context) (net.Conn, error){
		"no answer":  func(context.Context) (net.Conn, error) { return nil, errors.New("connection refused") },
		"silent":     talk(""),
		"not RFB":    talk("HTTP/1.1 400 Bad"),
		"RFB 3.3":    talk("RFB 003.003\n\x00\x00\x00\x01"),
		"password":   talk("RFB 003.008\n\x01\x02"),
		"no types":   talk("RFB 003.008\n\x00\x00\x00\x00\x04busy"),
		"refuses":    talk("RFB 003.008\n\x01\x01\x00\x00\x00\x01\x00\x00\x00\x04full"),
		"long story": talk("RFB 003.008\n\x00\xff\xff\xff\xff" + strings.Repeat("x", 1000)),
	} {
		t.Run(name, func(t *testing.T) {
			s := newScreen(t)
			s.dial = dial
			r := carryRig(t, s, bridge.Options{Handshake: 200 * time.Millisecond})
			ws := r.dial(t)
			rfb.Join(ws, "")
			if err := r.end(t); !errors.Is(err, bridge.ErrScreen) {
				t.Errorf("the bridge ends with %v", err)
			}
		})
	}
}
