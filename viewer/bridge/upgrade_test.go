package bridge_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/viewer/bridge"
)

// TestHostAndOrigin is row 48, for the outside leg (which may send no Origin) and for a leg that must.
func TestHostAndOrigin(t *testing.T) {
	const host, origin = "127.0.0.1:6080", "http://127.0.0.1:6080"
	for _, row := range []struct {
		name, host string
		origins    []string
		need       bool
		want       int
	}{
		{"exact pair", host, []string{origin}, true, 101},
		{"no origin, outside leg", host, nil, false, 101},
		{"no origin, page's leg", host, nil, true, 403},
		{"null", host, []string{"null"}, false, 403},
		{"empty", host, []string{""}, false, 403},
		{"other host", host, []string{"http://evil.test"}, false, 403},
		{"other port", host, []string{"http://127.0.0.1:6081"}, false, 403},
		{"no port", host, []string{"http://127.0.0.1"}, false, 403},
		{"suffix", host, []string{origin + ".evil.test"}, false, 403},
		{"prefix", host, []string{"http://evil.test#" + origin}, false, 403},
		{"https", host, []string{"https://127.0.0.1:6080"}, false, 403},
		{"localhost", host, []string{"http://localhost:6080"}, false, 403},
		{"upper case", host, []string{strings.ToUpper(origin)}, false, 403},
		{"two", host, []string{origin, "http://evil.test"}, false, 403},
		{"rebound name", "evil.test:6080", []string{"http://evil.test:6080"}, false, 421},
		{"rebound name, right origin", "evil.test:6080", []string{origin}, false, 421},
		{"no port in host", "127.0.0.1", []string{origin}, false, 421},
		{"localhost in host", "localhost:6080", []string{origin}, false, 421},
		{"trailing dot", "127.0.0.1.:6080", []string{origin}, false, 421},
	} {
		t.Run(row.name, func(t *testing.T) {
			u := bridge.Upgrader{Hosts: []string{host}, Origins: []string{origin}, NeedOrigin: row.need}
			header := http.Header{"Host": {row.host}}
			if row.origins != nil {
				header["Origin"] = row.origins
			}
			if got := ask(t, u, header); got.StatusCode != row.want {
				t.Errorf("the answer is %s, want %d", got.Status, row.want)
			}
		})
	}
	t.Run("zero Upgrader", func(t *testing.T) {
		if got := ask(t, bridge.Upgrader{}, http.Header{"Host": {host}}); got.StatusCode != 421 {
			t.Errorf("the answer is %s", got.Status)
		}
	})
}

func TestSubprotocolAndCompression(t *testing.T) {
	u := bridge.Upgrader{Hosts: []string{"h"}}
	for offer, want := range map[string]string{"": "", "binary": "binary", "base64": "", "base64, binary": "binary"} {
		header := http.Header{"Host": {"h"}, "Sec-Websocket-Extensions": {"permessage-deflate"}}
		if offer != "" {
			header.Set("Sec-Websocket-Protocol", offer)
		}
		got := ask(t, u, header)
		if got.StatusCode != 101 || got.Header.Get("Sec-Websocket-Protocol") != want || got.Header.Get("Sec-Websocket-Extensions") != "" {
			t.Errorf("offer %q: %s %v", offer, got.Status, got.Header)
		}
	}
}

// ask asks a server with that Upgrader for a websocket and gives its answer.
func ask(t *testing.T, u bridge.Upgrader, header http.Header) *http.Response {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if ws, err := u.Upgrade(w, r); err == nil {
			ws.Close()
		}
	}))
	defer server.Close()
	conn, err := net.Dial("tcp4", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, resp, err := rfb.DialWebsocket(conn, "http://h/", header)
	if resp == nil {
		t.Fatal(err)
	}
	return resp
}

// TestPending is the second half of row 20: the ninth unfinished handshake of one user gets 503, a place comes back when
// one ends or when a client is through, and another user still gets in.
func TestPending(t *testing.T) {
	s := newScreen(t)
	var limit bridge.Limit
	serve := func(w http.ResponseWriter, r *http.Request) {
		leave, ok := limit.Enter(r)
		if !ok {
			http.Error(w, "too many", http.StatusServiceUnavailable)
			return
		}
		defer leave()
		ws, err := bridge.Upgrader{Hosts: []string{"h"}}.Upgrade(w, r)
		if err == nil {
			bridge.Carry(context.Background(), ws, s, bridge.Options{Handshake: 20 * time.Second, Opened: leave})
		}
	}
	server := httptest.NewServer(http.HandlerFunc(serve))
	defer server.Close()
	defer s.Close()
	addr := server.Listener.Addr().String()
	var pending []*rfb.Websocket
	enter := func() (*rfb.Websocket, int) {
		t.Helper()
		conn, err := net.Dial("tcp4", addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		ws, resp, _ := rfb.DialWebsocket(conn, "http://h/", nil)
		if resp == nil {
			t.Fatal("no answer")
		}
		return ws, resp.StatusCode
	}
	for i := range 8 {
		ws, status := enter()
		if status != 101 {
			t.Fatalf("client %d gets %d", i, status)
		}
		pending = append(pending, ws)
	}
	if _, status := enter(); status != 503 {
		t.Errorf("the ninth gets %d", status)
	}
	if status := asUser(t, 65533, addr); status != 101 {
		t.Errorf("another user gets %d", status)
	}
	if _, err := rfb.Join(pending[0], ""); err != nil {
		t.Fatal(err)
	}
	if _, status := enter(); status != 101 {
		t.Errorf("after one is through, the next gets %d", status)
	}
}

// asUser asks the server as another user of the machine: what counts is the uid that made the socket.
func asUser(t *testing.T, uid int, addr string) (status int) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	unix.SetfsuidRetUid(uid)
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if back, _ := unix.SetfsuidRetUid(os.Getuid()); back != uid {
		t.Fatalf("cannot act as another user: the test must run as root")
	}
	if err != nil {
		t.Fatal(err)
	}
	to := netip.MustParseAddrPort(addr)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(to.Port()), Addr: to.Addr().As4()}); err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), "tcp")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	_, resp, err := rfb.DialWebsocket(conn, "http://h/", nil)
	if resp == nil {
		t.Fatal(err)
	}
	return resp.StatusCode
}
