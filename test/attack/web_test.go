package attack_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/serve"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/person"
	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/test/scene"
)

// asks sends one request to the view's port with these headers, and gives status and headers.
func (w *world) asks(method, path string, header http.Header) *http.Response {
	w.T.Helper()
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", w.port))
	if err != nil {
		w.T.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(30 * time.Second))
	text := method + " " + path + " HTTP/1.1\r\n"
	for name, values := range header {
		for _, v := range values {
			text += name + ": " + v + "\r\n"
		}
	}
	if _, err := io.WriteString(c, text+"Connection: close\r\n\r\n"); err != nil {
		w.T.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: method})
	if err != nil {
		w.T.Fatal(err)
	}
	resp.Body.Close()
	return resp
}

// upgrade are the headers of a websocket's beginning.
func upgrade(host string, origin ...string) http.Header {
	h := http.Header{"Host": {host}, "Upgrade": {"websocket"}, "Sec-WebSocket-Version": {"13"},
		"Sec-WebSocket-Key": {base64.StdEncoding.EncodeToString(make([]byte, 16))}}
	if origin != nil {
		h["Origin"] = origin
	}
	return h
}

// originAndHost is row 48 on the real port: the leg of an outside relay takes no Origin and the literal Host alone; the page takes a post
// from its own origin alone.
func originAndHost(t *testing.T, w *world) {
	w.Serve("/login")
	v := w.link("the view", w.Mint("local"))
	host := fmt.Sprintf("127.0.0.1:%d", w.port)
	origin := "http://" + host
	dial := func(header http.Header) int {
		c, err := net.Dial("tcp4", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(30 * time.Second))
		_, resp, err := rfb.DialWebsocket(c, origin+"/", header)
		if resp == nil {
			t.Fatal(err)
		}
		return resp.StatusCode
	}
	for name, row := range map[string]struct {
		header http.Header
		want   int
	}{
		"an outside relay":       {http.Header{}, 101},
		"a page of this origin":  {http.Header{"Origin": {origin}}, 403},
		"null":                   {http.Header{"Origin": {"null"}}, 403},
		"another site":           {http.Header{"Origin": {"http://evil.test"}}, 403},
		"another port":           {http.Header{"Origin": {"http://127.0.0.1:1"}}, 403},
		"a suffix":               {http.Header{"Origin": {origin + ".evil.test"}}, 403},
		"https":                  {http.Header{"Origin": {"https://" + host}}, 403},
		"a rebound name":         {http.Header{"Host": {fmt.Sprintf("evil.test:%d", w.port)}}, 421},
		"a rebound name, origin": {http.Header{"Host": {fmt.Sprintf("evil.test:%d", w.port)}, "Origin": {fmt.Sprintf("http://evil.test:%d", w.port)}}, 421},
		"no port":                {http.Header{"Host": {"127.0.0.1"}}, 421},
	} {
		if got := dial(row.header); got != row.want {
			t.Errorf("websocket, %s: status %d, want %d", name, got, row.want)
		}
	}
	post := func(host, origin, site string) int {
		h := http.Header{"Host": {host}, "Content-Type": {"application/json"}, "Content-Length": {"0"}}
		if origin != "" {
			h.Set("Origin", origin)
		}
		if site != "" {
			h.Set("Sec-Fetch-Site", site)
		}
		return w.asks("POST", w.page(v)+"/enter", h).StatusCode
	}
	for name, row := range map[string]struct {
		host, origin, site string
		want               int
	}{
		"another site":   {host, "http://evil.test", "cross-site", 403},
		"no origin":      {host, "", "", 403},
		"null":           {host, "null", "cross-site", 403},
		"same site only": {host, origin, "same-site", 403},
		"localhost page": {host, fmt.Sprintf("http://localhost:%d", w.port), "same-origin", 403},
		"https":          {host, "https://" + host, "", 403},
		"rebound":        {"evil.test", "http://evil.test", "same-origin", 421},
		"its own page":   {host, origin, "same-origin", 400}, // admitted, and the empty body refused
	} {
		if got := post(row.host, row.origin, row.site); got != row.want {
			t.Errorf("post, %s: status %d, want %d", name, got, row.want)
		}
	}
	w.Must("viewer-revoke", scene.Name)
}

// lookers is row 50: what previewers, scanners and prefetching browsers do to a link.
func lookers(t *testing.T, w *world) {
	w.Serve("/login")
	v := w.link("the view", w.Mint("local"))
	host := fmt.Sprintf("127.0.0.1:%d", w.port)
	for _, agent := range []string{"curl/8", "Slackbot-LinkExpanding 1.0", "facebookexternalhit/1.1", "Mozilla/5.0 Chrome/156", "WhatsApp/2"} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE", "POST"} {
			for _, path := range []string{w.page(v), w.page(v) + "/peek", w.page(v) + "/enter", w.page(v) + "/stream", w.page(v) + "/done", "/", "/nothing"} {
				h := http.Header{"Host": {host}, "User-Agent": {agent}, "Purpose": {"prefetch"}, "Sec-Purpose": {"prefetch;prerender"}}
				hardened(t, method+" "+path, w.asks(method, path, h))
			}
		}
	}
	hardened(t, "a wrong host", w.asks("GET", w.page(v), http.Header{"Host": {"evil.test"}}))
	token := w.enter("the view", v) // still good
	if token.Empty() {
		t.Error("the link was spent by looking")
	}
	w.Must("viewer-revoke", scene.Name)
}

// hardened holds an answer to the headers that every answer of the relay has.
func hardened(t *testing.T, what string, r *http.Response) {
	t.Helper()
	if r.StatusCode == 400 && r.Header.Get("Content-Type") == "text/plain; charset=utf-8" && r.Header.Get("X-Frame-Options") == "" {
		return // net/http itself refused a request that no handler saw
	}
	for name, want := range map[string]string{"Content-Security-Policy": "default-src 'none'", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin"} {
		if got := r.Header.Get(name); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, %s is %q", what, r.Status, name, got)
		}
	}
}

// badFrames is row 51 on the real port, before and behind the password.
func badFrames(t *testing.T, w *world) {
	w.Serve("/login")
	huge := []byte{rfb.Fin | rfb.Binary, 0x80 | 127, 0, 0, 0, 0, 0x80, 0, 0, 0, 1, 2, 3, 4}
	bad := map[string]func(ws *rfb.Websocket) error{
		"unmasked":                func(ws *rfb.Websocket) error { return ws.Raw([]byte{rfb.Fin | rfb.Binary, 2, 1, 2}) },
		"reserved bit":            func(ws *rfb.Websocket) error { return ws.Frame(rfb.Fin|0x40|rfb.Binary, []byte{1}) },
		"reserved opcode":         func(ws *rfb.Websocket) error { return ws.Frame(rfb.Fin|0x3, []byte{1}) },
		"two gigabytes":           func(ws *rfb.Websocket) error { return ws.Raw(huge) },
		"text":                    func(ws *rfb.Websocket) error { return ws.Frame(rfb.Fin|rfb.Text, []byte("RFB 003.008\n")) },
		"fragmented control":      func(ws *rfb.Websocket) error { return ws.Frame(rfb.Ping, []byte{1}) },
		"long ping":               func(ws *rfb.Websocket) error { return ws.Frame(rfb.Fin|rfb.Ping, make([]byte, 126)) },
		"continuation of nothing": func(ws *rfb.Websocket) error { return ws.Frame(rfb.Fin, []byte{1}) },
		"unknown message, waiting": func(ws *rfb.Websocket) error {
			_, err := ws.Write([]byte("GET / HTTP/1.1\r\n\r\n" + strings.Repeat("x", 64)))
			return err
		},
	}
	v := w.link("the view", w.Mint("local"))
	_, _, conn := w.redeem("the view", v.Nonce)
	conn.Close()
	for name, send := range bad {
		for _, password := range []string{"", w.secrets["the VNC password of the view"]} {
			if !closes(t, w.port, password, send) {
				t.Errorf("%s, password %t: the connection stays open", name, password != "")
			}
		}
	}
	// pipelined bytes behind a right handshake are read, and the view works on
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", w.port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(time.Minute))
	ws, _, err := rfb.DialWebsocket(c, fmt.Sprintf("http://127.0.0.1:%d/", w.port), nil)
	if err != nil {
		t.Fatal(err)
	}
	client, err := rfb.Join(ws, w.secrets["the VNC password of the view"])
	if err != nil {
		t.Fatalf("the redeemer did not get in again: %v", err)
	}
	if err := client.Update(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(client.Stream, make([]byte, 1000)); err != nil {
		t.Errorf("no picture: %v", err)
	}
	w.Must("viewer-revoke", scene.Name)
}

// closes tells whether the port closes a connection that sends what send sends.
func closes(t *testing.T, port int, password string, send func(*rfb.Websocket) error) bool {
	t.Helper()
	c, err := net.Dial("tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(30 * time.Second))
	ws, _, err := rfb.DialWebsocket(c, fmt.Sprintf("http://127.0.0.1:%d/", port), nil)
	if err != nil {
		t.Fatal(err)
	}
	if password != "" {
		if _, err := rfb.Join(ws, password); err != nil {
			t.Fatalf("cannot join: %v", err)
		}
	}
	send(ws)
	_, err = io.Copy(io.Discard, c)
	timeout, ok := err.(net.Error)
	return !ok || !timeout.Timeout()
}

// evil is a page of another site that goes for the view's port as pages can; what it gets stands in its title.
const evil = "evil.html"

// evilPage is row 49: in a real Chromium, with websockify as the naive bridge that its websocket does open.
func evilPage(t *testing.T, w *world) {
	w.Serve("/login")
	v := w.link("the view", w.Mint("local"))
	source := &rfb.Source{Width: 64, Height: 64}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go source.Listen(l)
	t.Cleanup(func() { l.Close(); source.Close() })
	naive := freePort(t)
	background(t, exec.Command("websockify", fmt.Sprintf("127.0.0.1:%d", naive), l.Addr().String()))
	scene.Until(t, 30*time.Second, "websockify", func() bool { return connects("tcp4", fmt.Sprintf("127.0.0.1:%d", naive)) == nil })
	pages := httptest.NewServer(http.FileServer(http.Dir("testdata")))
	defer pages.Close()
	p := w.stranger()
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(pages.URL, "http://"))
	try := func(target int, path string) string {
		address := fmt.Sprintf("http://evil.test:%s/%s?port=%d&path=%s", port, evil, target, path)
		if err := p.Visit(address); err != nil {
			t.Fatal(err)
		}
		if err := p.Await("the end of the page's attacks", `document.title.startsWith("done")`, time.Minute); err != nil {
			t.Fatal(err)
		}
		said, err := person.Evaluate[string](p, "document.title")
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	if got := try(naive, "/"); !strings.Contains(got, "socket=open") {
		t.Errorf("the control failed: the naive bridge was not opened: %s", got)
	}
	for _, path := range []string{"/", w.page(v), w.page(v) + "/stream"} {
		if got := try(w.port, path); got != "done socket=closed fetch=blocked post=blocked frame=blocked" {
			t.Errorf("on %s the page got: %s", path, got)
		}
	}
	rebound := fmt.Sprintf("http://evil.test:%d%s", w.port, w.page(v))
	if err := p.Visit(rebound); err != nil {
		t.Fatal(err)
	}
	status, err := person.Evaluate[int](p, `performance.getEntriesByType("navigation")[0].responseStatus`)
	if err != nil || status != 421 {
		t.Errorf("the page by a rebound name has status %d, %v; want 421", status, err)
	}
	if err := w.Client(serve.RoleRelay).Call(scene.Limit(t, time.Minute), api.PathEnter, api.EnterRequest{View: v.View, Nonce: v.Nonce, Session: v.Bind}, nil, nil); err != nil {
		t.Errorf("the link was spent by the page: %v", err)
	}
	w.Must("viewer-revoke", scene.Name)
}

// stranger is a browser in which evil.test is this machine, as after a rebinding.
func (w *world) stranger() *person.Person {
	w.T.Helper()
	chrome, err := browser.Find("")
	if err != nil {
		w.T.Fatal(err)
	}
	u := testuser.New(w.T)
	p, err := person.New(context.Background(), person.Config{Binary: chrome.Path, Home: u.Home, UID: u.UID, GID: u.GID, Width: 800, Height: 600,
		Flags: map[string]any{"host-resolver-rules": "MAP evil.test 127.0.0.1"}})
	if err != nil {
		w.T.Fatal(err)
	}
	w.T.Cleanup(p.Close)
	return p
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// endToEnd is row 52: from the link to the page's colour in the person's own browser; then a replay is refused and nothing is left of the
// view.
func endToEnd(t *testing.T, w *world) {
	w.Stop()
	w.Serve("/colour?c=" + marker)
	v := w.link("the view", w.Mint("local"))
	p := w.visitor(v)
	colour := `(() => { const c = document.querySelector("#screen canvas"), d = c.getContext("2d").getImageData(c.width / 2 | 0, c.height / 2 | 0, 1, 1).data;
		return d[0] === 0x12 && d[1] === 0xab && d[2] === 0xef })()`
	if err := p.Await("the page's colour", colour, time.Minute); err != nil {
		t.Error(err)
	}
	if err := p.Press("#done"); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Read("#ended-state", time.Minute); err != nil {
		t.Fatal(err)
	}
	q := api.EnterRequest{View: v.View, Nonce: v.Nonce, Session: v.Bind}
	if err := w.Client(serve.RoleRelay).Call(scene.Limit(t, time.Minute), api.PathEnter, q, nil, nil); err == nil {
		t.Error("a replay was let in")
	}
	scene.Until(t, 30*time.Second, "the end of everything but the service", func() bool { return len(scene.Tasks(w.Stage.UID)) == 1 })
	segments, err := scene.Segments()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range segments {
		if s.UID == w.Stage.UID {
			t.Errorf("a segment is left: %+v", s)
		}
	}
	if left := w.Leftovers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
}
