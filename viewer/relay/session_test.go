package relay

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/testuser"
)

func TestLocal(t *testing.T) {
	for _, c := range []struct {
		name, remote, host, header string
		want                       bool
	}{
		{"loopback", "127.0.0.1:5000", "127.0.0.1:6090", "", true},
		{"other loopback", "127.1.2.3:5000", "localhost:6090", "", true},
		{"v6 loopback", "[::1]:5000", "localhost:6090", "", true},
		{"far", "192.0.2.1:5000", "127.0.0.1:6090", "", false},
		{"unix", "@", "127.0.0.1:6090", "", false},
		{"public host", "127.0.0.1:5000", "box.example", "", false},
		{"public host with port", "127.0.0.1:5000", "box.example:6090", "", false},
		{"name like loopback", "127.0.0.1:5000", "localhost.evil.test:6090", "", false},
		{"forwarded", "127.0.0.1:5000", "127.0.0.1:6090", "Forwarded", false},
		{"forwarded for", "127.0.0.1:5000", "127.0.0.1:6090", "x-forwarded-for", false},
		{"forwarded anything", "127.0.0.1:5000", "127.0.0.1:6090", "X-Forwarded-Whatever", false},
		{"via", "127.0.0.1:5000", "127.0.0.1:6090", "Via", false},
		{"real ip", "127.0.0.1:5000", "127.0.0.1:6090", "X-Real-IP", false},
		{"cloud", "127.0.0.1:5000", "127.0.0.1:6090", "CF-Connecting-IP", false},
		{"unrelated", "127.0.0.1:5000", "127.0.0.1:6090", "X-Other", true},
	} {
		req := httptest.NewRequest(http.MethodGet, "/", nil)
		req.RemoteAddr, req.Host = c.remote, c.host
		if c.header != "" {
			req.Header.Set(c.header, "")
		}
		if id, ok := Sessions(nil)(req); ok != c.want || (ok && id != Local) {
			t.Errorf("%s: %q %v", c.name, id, ok)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, bad := range [][]string{nil, {}, {""}, {"a", "b"}, {"a b"}, {"local"}, {"Local"}, {"ä"}, {"a\tb"}, {strings.Repeat("a", 257)}} {
		if id, ok := named(bad); ok {
			t.Errorf("%q is taken as %q", bad, id)
		}
	}
	if id, ok := named([]string{"ana@example.com"}); !ok || id != "ana@example.com" {
		t.Errorf("%q %v", id, ok)
	}
}

// TestAsk is not a test: run by the tests below as another user, it asks a relay who it is.
func TestAsk(t *testing.T) {
	network, address, _ := strings.Cut(os.Getenv("RELAY_ASK"), " ")
	if network == "" {
		return
	}
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	req, _ := http.NewRequest(http.MethodGet, "http://127.0.0.1:80/", nil)
	if header := os.Getenv("RELAY_HEADER"); header != "" {
		req.Header.Set("X-Session", header)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DialContext: dial}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	fmt.Printf("who=%s\n", text)
}

// A session header counts only on a connection of the proxy's own user, by Unix socket and by loopback TCP of both kinds.
func TestProxyByUID(t *testing.T) {
	proxy, other := testuser.New(t), testuser.New(t)
	sessions := Sessions(&Proxy{Header: "x-session", UID: proxy.UID})
	server := Server(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		id, ok := sessions(req)
		fmt.Fprintf(w, "%s/%v", id, ok)
	}))
	dir, err := os.MkdirTemp("", "relay")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	os.Chmod(dir, 0o755)
	socket := filepath.Join(dir, "sock")
	for _, at := range []struct{ name, network, address string }{{"unix", "unix", socket}, {"tcp4", "tcp4", "127.0.0.1:0"}, {"dual", "tcp", "localhost:0"}, {"tcp6", "tcp6", "[::1]:0"}} {
		listener, err := net.Listen(at.network, at.address)
		if err != nil {
			t.Fatal(err)
		}
		if at.network == "unix" {
			os.Chmod(socket, 0o666)
		}
		served := make(chan struct{})
		go func() { defer close(served); server.Serve(listener) }()
		t.Cleanup(func() { server.Close(); <-served })
		plain := Local + "/true"
		if at.network == "unix" {
			plain = "/false"
		}
		for _, c := range []struct {
			name, header, want string
			user               testuser.User
		}{
			{"proxy", "ana", "ana/true", proxy},
			{"proxy without header", "", "/false", proxy},
			{"proxy says local", "local", "local/false", proxy},
			{"other with header", "ana", "/false", other},
			{"other without header", "", plain, other},
		} {
			cmd := testuser.Self(c.user, "-test.run=^TestAsk$", "-test.v")
			cmd.Env = append(cmd.Env, "RELAY_ASK="+at.network+" "+listener.Addr().String(), "RELAY_HEADER="+c.header)
			out, err := cmd.CombinedOutput()
			if _, who, _ := strings.Cut(string(out), "who="); err != nil || !strings.HasPrefix(who, c.want+"\n") {
				t.Errorf("%s, %s: %v %s, want %s", at.name, c.name, err, out, c.want)
			}
		}
	}
}

// A closed or half-open socket of the table has no owner that counts.
func TestFindOnlyEstablished(t *testing.T) {
	const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:9C40 0100007F:17CA 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0000000000000000
   1: 0100007F:9C41 0100007F:17CA 01 00000000:00000000 00:00000000 00000000  1003        0 5 1 0000000000000000
`
	ours := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6090}
	for port, want := range map[int]int{40000: -1, 40001: 1003, 40002: -1} {
		if got := find(strings.NewReader(table), &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}, ours); got != want {
			t.Errorf("port %d: %d, want %d", port, got, want)
		}
	}
}
