package relay

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/viewer/ticket"
)

func TestPublicURL(t *testing.T) {
	for _, bad := range []string{"", "box.example", "ftp://box.example", "https://box.example/x", "https://u@box.example", "https://Box.example",
		"https://box.example?x", "https://box.example#x", "http://"} {
		if _, err := New(Config{PublicURL: bad}); fault.Of(err) != fault.Config {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// The text for a seat that is not there must be that of a ticket that is not there.
func TestUnknownReadsLikeTicket(t *testing.T) {
	_, err := ticket.New(func() clock.Instant { return clock.Instant{} }).Peek("x", "y")
	if err == nil || err.Error() != unknown.Error() || fault.Of(err) != unknown.Kind {
		t.Errorf("ticket says %v, relay says %v", err, unknown)
	}
	g := newRig(t, "", nil)
	var texts []string
	for _, p := range []string{"/v/ana/other", "/v/nobody/" + testView, viewPath} {
		for _, call := range []string{`/peek {"hash":"00"}`, `/enter {"nonce":"00"}`} {
			step, body, _ := strings.Cut(call, " ")
			resp, text := g.do(t, request{path: p + step, body: body})
			texts = append(texts, fmt.Sprint(resp.StatusCode, text))
		}
	}
	for _, text := range texts {
		if text != texts[0] || !strings.HasPrefix(text, "422") {
			t.Errorf("answers differ: %q", texts)
			break
		}
	}
}

// Row 50 and case V01: whatever looks at a link changes nothing, and every answer carries the security headers.
func TestLookingChangesNothing(t *testing.T) {
	g := newRig(t, "", nil)
	agents := []string{"curl/8", "TelegramBot (like TwitterBot)", "Slackbot-LinkExpanding 1.0 (+https://api.example/robots)",
		"facebookexternalhit/1.1", "Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/146.0.0.0"}
	for _, path := range []string{viewPath, viewPath + "/stream", "/assets/page.js", viewPath + "/enter", viewPath + "/done", "/v/ana/nothere",
		"/", "/favicon.ico", "/robots.txt", viewPath + "/", viewPath + "/nothing", "/v/ana", "/v/ANA/x", "/v/ana%2fx/y", "/assets/../page.go", "/assets/"} {
		for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "PROPFIND"} {
			for _, headers := range []map[string]string{{"User-Agent": agents[len(path)%len(agents)]},
				{"Sec-Purpose": "prefetch;prerender", "Purpose": "prefetch"}, {"Range": "bytes=0-1023"}, {"X-HTTP-Method-Override": "POST"}} {
				resp, text := g.do(t, request{method: method, path: path, headers: headers})
				checkHeaders(t, method+" "+path, resp)
				if len(resp.Cookies()) > 0 {
					t.Errorf("%s %s set a cookie", method, path)
				}
				if method == "HEAD" && text != "" {
					t.Errorf("HEAD %s has a body", path)
				}
			}
		}
	}
	g.seat.mu.Lock()
	dials, spent := g.seat.dials, g.seat.spent
	g.seat.mu.Unlock()
	if dials != 0 || spent {
		t.Errorf("looking reached the seat service: %d connections, spent %v", dials, spent)
	}
	g.enter(t)
}

// checkHeaders holds an answer to the headers of every answer.
func checkHeaders(t *testing.T, what string, resp *http.Response) {
	t.Helper()
	for name, want := range map[string]string{
		"Content-Security-Policy": policy, "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store", "Cross-Origin-Opener-Policy": "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := resp.Header.Values(name); len(got) != 1 || got[0] != want {
			t.Errorf("%s: %d, %s: %q", what, resp.StatusCode, name, got)
		}
	}
	for name := range resp.Header {
		if strings.HasPrefix(name, "Access-Control") || name == "Server" {
			t.Errorf("%s: has %s", what, name)
		}
	}
}

func TestStatusOfLooking(t *testing.T) {
	g := newRig(t, "", nil)
	for _, c := range []struct {
		method, path string
		status       int
		kind         string
	}{
		{"GET", viewPath, 200, "text/html; charset=utf-8"},
		{"GET", "/v/nobody/nothing", 200, "text/html; charset=utf-8"},
		{"GET", "/assets/page.js", 200, "text/javascript; charset=utf-8"},
		{"GET", "/assets/licences.txt", 200, "text/plain; charset=utf-8"},
		{"OPTIONS", viewPath + "/enter", 204, ""},
		{"GET", viewPath + "/enter", 405, "application/json"},
		{"POST", viewPath, 405, "application/json"},
		{"POST", "/assets/page.js", 405, "application/json"},
		{"GET", viewPath + "/stream", 403, "application/json"},
		{"GET", "/", 404, "application/json"},
		{"GET", "/assets/index.html", 404, "application/json"},
		{"GET", "/assets/.gitkeep", 404, "application/json"},
		{"GET", "/assets/page.js.gz", 404, "application/json"},
		{"GET", viewPath + "/", 404, "application/json"},
		{"GET", "/v//x", 404, "application/json"},
		{"GET", "/v/ana/..", 404, "application/json"},
		{"GET", "/v/ana/x%00", 404, "application/json"},
	} {
		resp, _ := g.do(t, request{method: c.method, path: c.path})
		if resp.StatusCode != c.status || resp.Header.Get("Content-Type") != c.kind {
			t.Errorf("%s %s: %d %q, want %d %q", c.method, c.path, resp.StatusCode, resp.Header.Get("Content-Type"), c.status, c.kind)
		}
	}
}

// Row 48: only the exact pair of Host and Origin is let in, for posts and for the stream.
func TestHostAndOrigin(t *testing.T) {
	g := newRig(t, "", nil)
	cookie := g.enter(t)
	_, port, _ := strings.Cut(g.host, ":")
	for _, c := range []struct {
		name, host, origin, site string
		status                   int
	}{
		{"exact", g.host, g.url, "same-origin", 200},
		{"localhost", "localhost:" + port, "http://localhost:" + port, "same-origin", 200},
		{"no fetch metadata", g.host, g.url, "-", 200},
		{"no origin", g.host, "-", "same-origin", 403},
		{"null", g.host, "null", "same-origin", 403},
		{"empty", g.host, "", "same-origin", 403},
		{"other host", g.host, "http://evil.test", "cross-site", 403},
		{"rebound", "evil.test:" + port, "http://evil.test:" + port, "same-origin", 421},
		{"other port", g.host, "http://127.0.0.1:1", "same-site", 403},
		{"no port", g.host, "http://127.0.0.1", "same-site", 403},
		{"suffix", g.host, g.url + ".evil.test", "cross-site", 403},
		{"https", g.host, "https://" + g.host, "cross-site", 403},
		{"localhost to address", g.host, "http://localhost:" + port, "cross-site", 403},
		{"address to localhost", "localhost:" + port, g.url, "cross-site", 403},
		{"upper case", g.host, strings.ToUpper(g.url), "same-origin", 403},
		{"slash", g.host, g.url + "/", "same-origin", 403},
		{"two origins", g.host, g.url + ", http://evil.test", "same-origin", 403},
		{"cross-site with our origin", g.host, g.url, "cross-site", 403},
		{"same-site", g.host, g.url, "same-site", 403},
		{"by hand", g.host, g.url, "none", 403},
		{"host without port", "127.0.0.1", g.url, "same-origin", 421},
		{"host with another port", "127.0.0.1:1", g.url, "same-origin", 421},
		{"host by v6", "[::1]:" + port, "http://[::1]:" + port, "same-origin", 421},
		{"host in upper case", "LOCALHOST:" + port, "http://localhost:" + port, "same-origin", 421},
		{"host with a dot", "localhost.:" + port, "http://localhost.:" + port, "same-origin", 421},
	} {
		headers := map[string]string{"Cookie": cookie, "Origin": c.origin, "Sec-Fetch-Site": c.site}
		for _, step := range []string{"state", "peek", "enter", "text", "size", "done", "cancel"} {
			if c.status == 200 && step != "state" {
				continue
			}
			resp, text := g.do(t, request{path: viewPath + "/" + step, body: "{}", host: c.host, headers: headers})
			if resp.StatusCode != c.status {
				t.Errorf("%s, %s: %d %s, want %d", c.name, step, resp.StatusCode, text, c.status)
			}
		}
		want := c.status
		if want == 200 {
			want = 101
		}
		if got := g.upgrade(t, c.host, headers); got != want {
			t.Errorf("%s, stream: %d, want %d", c.name, got, want)
		}
	}
}

// upgrade asks for the stream and gives the status; a stream that opens is closed.
func (g *rig) upgrade(t *testing.T, host string, headers map[string]string) int {
	t.Helper()
	all := map[string]string{"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13",
		"Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Protocol": "binary"}
	for name, value := range headers {
		all[name] = value
	}
	req, err := http.NewRequest(http.MethodGet, g.view()+"/stream", nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range all {
		if value != "-" {
			req.Header.Set(name, value)
		}
	}
	req.Host = host
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	checkHeaders(t, "stream", resp)
	return resp.StatusCode
}

func TestBodies(t *testing.T) {
	g := newRig(t, "", nil)
	cookie := g.enter(t)
	for _, c := range []struct {
		name, body, kind string
		status           int
	}{
		{"good", `{}`, "application/json; charset=utf-8", 200},
		{"form", `{}`, "application/x-www-form-urlencoded", 415},
		{"plain", `{}`, "text/plain", 415},
		{"none", `{}`, "-", 415},
		{"empty", ``, "application/json", 400},
		{"unknown field", `{"view":"x"}`, "application/json", 400},
		{"two", `{}{}`, "application/json", 400},
		{"array", `[]`, "application/json", 400},
		{"huge", `{"x":"` + strings.Repeat("y", api.MaxBody) + `"}`, "application/json", 400},
	} {
		resp, text := g.do(t, request{path: viewPath + "/state", body: c.body, headers: map[string]string{"Cookie": cookie, "Content-Type": c.kind}})
		if resp.StatusCode != c.status {
			t.Errorf("%s: %d %s, want %d", c.name, resp.StatusCode, text, c.status)
		}
	}
}

// The cookie is good for its own seat, view and session only, and for no other value.
func TestCookie(t *testing.T) {
	who := "mallory"
	g := newRig(t, "", func(*http.Request) (string, bool) { return who, who != "" })
	who = "ana@example"
	resp, _ := g.do(t, request{path: viewPath + "/enter", body: `{"nonce":"` + testNonce + `"}`})
	c := resp.Cookies()[0]
	if !c.HttpOnly || c.Secure || c.SameSite != http.SameSiteStrictMode || c.Path != viewPath || c.MaxAge != 3600 || c.Domain != "" || c.Name != "view" {
		t.Errorf("cookie is %+v", c)
	}
	state := func(path, header string) int {
		resp, _ := g.do(t, request{path: path + "/state", body: "{}", headers: map[string]string{"Cookie": header}})
		return resp.StatusCode
	}
	good := c.Name + "=" + c.Value
	token, mac, _ := strings.Cut(c.Value, ".")
	for _, k := range []struct {
		name, path, header string
		status             int
	}{
		{"good", viewPath, good, 200},
		{"after a planted one", viewPath, "view=planted.x; " + good, 200},
		{"none", viewPath, "x=y", 403},
		{"empty", viewPath, "view=", 403},
		{"no mac", viewPath, "view=" + token, 403},
		{"empty mac", viewPath, "view=" + token + ".", 403},
		{"cut mac", viewPath, "view=" + token + "." + mac[:20], 403},
		{"other token", viewPath, "view=" + token[1:] + "." + mac, 403},
		{"other view", "/v/ana/other", good, 403},
		{"other seat", "/v/bob/" + testView, good, 403},
	} {
		if got := state(k.path, k.header); got != k.status {
			t.Errorf("%s: %d, want %d", k.name, got, k.status)
		}
	}
	for _, other := range []string{"mallory", "", Local} {
		if who = other; state(viewPath, good) != 403 {
			t.Errorf("session %q may use the cookie of another", other)
		}
	}
}

func TestSecureCookie(t *testing.T) {
	g := newRig(t, "https://box.example", func(*http.Request) (string, bool) { return "ana", true })
	resp, text := g.do(t, request{path: viewPath + "/enter", body: `{"nonce":"` + testNonce + `"}`, host: "box.example",
		headers: map[string]string{"Origin": "https://box.example"}})
	if len(resp.Cookies()) != 1 {
		t.Fatalf("%s %s", resp.Status, text)
	}
	if c := resp.Cookies()[0]; !c.Secure || c.Name != "__Secure-view" {
		t.Errorf("cookie is %+v", c)
	}
	if resp, _ := g.do(t, request{method: "GET", path: viewPath}); resp.StatusCode != 421 {
		t.Errorf("the listener's own address is answered: %d", resp.StatusCode)
	}
}

// The person sees the seat service's line and hint, but no socket path of the box, no token, and nothing of a body.
func TestRefusals(t *testing.T) {
	g := newRig(t, "", nil)
	g.seat.refusal = fault.New(fault.Busy, "a person is at the viewer of linkedin.com").Try("5dive browser viewer-revoke linkedin.com")
	resp, text := g.do(t, request{path: viewPath + "/enter", body: `{"nonce":"` + testNonce + `"}`})
	if resp.StatusCode != fault.Busy.Status() || !strings.Contains(text, `"hint":"5dive browser viewer-revoke`) || !strings.Contains(text, `"code":"busy"`) {
		t.Errorf("%s %s", resp.Status, text)
	}
	cookie := g.enter(t)
	g.seat.change(func() { g.seat.dropping = true })
	resp, text = g.do(t, request{path: viewPath + "/state", body: "{}", headers: map[string]string{"Cookie": cookie}})
	if resp.StatusCode != http.StatusServiceUnavailable || strings.ContainsAny(text, "/\\") && strings.Contains(text, ".sock") {
		t.Errorf("%s %s", resp.Status, text)
	}
	for _, body := range []string{`{"nonce":"` + testNonce + `"`, `{"nonce":5,"` + testNonce + `":1}`, `"` + testNonce + `"`} {
		_, text := g.do(t, request{path: viewPath + "/enter", body: body})
		if strings.Contains(text, testNonce) {
			t.Errorf("a refusal repeats the nonce: %s", text)
		}
	}
}

// Done goes on when the person closes the page while it runs.
func TestDoneOutlivesPage(t *testing.T) {
	g := newRig(t, "", nil)
	cookie := g.enter(t)
	g.seat.hold = make(chan struct{})
	req, _ := http.NewRequest(http.MethodPost, g.view()+"/done", strings.NewReader("{}"))
	for name, value := range map[string]string{"Origin": g.url, "Content-Type": "application/json", "Cookie": cookie} {
		req.Header.Set(name, value)
	}
	transport := &http.Transport{}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); got != api.ContentType {
		t.Errorf("done answers %s", got)
	}
	resp.Body.Close()
	transport.CloseIdleConnections()
	time.AfterFunc(100*time.Millisecond, func() { close(g.seat.hold) })
	g.seat.wait(t, "done to end", func() bool { return g.seat.phase == "ended" })
}
