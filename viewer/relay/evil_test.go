package relay

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// evilPage serves the attacker's page on a loopback port of its own, under the name evil.test.
func evilPage(t *testing.T) string {
	t.Helper()
	script, err := os.ReadFile("testdata/evil.html")
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write(script)
	})}
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(listener) }()
	t.Cleanup(func() { server.Close(); <-served })
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return "http://evil.test:" + port + "/"
}

// watch keeps the status of each request that reaches the relay.
func (g *rig) watch() func() []string {
	var mu sync.Mutex
	var seen []string
	inner := g.server.Handler
	g.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		status := &statusWriter{ResponseWriter: w, status: 101}
		inner.ServeHTTP(status, req)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, fmt.Sprint(req.Method, " ", req.URL.Path, " ", status.status))
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), seen...)
	}
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// naive undoes the checks: each request looks as if a page of the relay had sent it.
func (g *rig) naive() {
	inner := g.server.Handler
	g.server.Handler = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req.Host = g.host
		if req.Method == http.MethodPost || req.Header.Get("Upgrade") != "" {
			req.Header.Set("Origin", g.url)
			req.Header.Set("Sec-Fetch-Site", "same-origin")
			req.Header.Set("Content-Type", "application/json")
		}
		inner.ServeHTTP(w, req)
	})
}

// Row 49: a page of another site, and one whose name was rebound to the relay, get nowhere, though they know link and nonce.
// The same attacks against a relay without its checks spend the link, so they are real.
func TestEvilPage(t *testing.T) {
	browser := chrome(t, chromedp.Flag("host-resolver-rules", "MAP evil.test 127.0.0.1"),
		// Local Network Access would stop some of it in this browser; the relay must not lean on that.
		chromedp.Flag("disable-features", "LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests"))
	evil := evilPage(t)
	attack := func(b *tab, name, target string) string {
		return eval[string](b, fmt.Sprintf(`attacks[%q](%q, %q, %q)`, name, target, viewPath, testNonce))
	}
	for _, naive := range []bool{false, true} {
		for _, name := range []string{"simple", "cors", "form", "beacon"} {
			t.Run(fmt.Sprintf("%s/naive=%v", name, naive), func(t *testing.T) {
				g := newRig(t, "", nil)
				if naive {
					g.naive()
				}
				seen := g.watch()
				b := newTab(t, browser, desktop)
				b.do(chromedp.Navigate(evil))
				said := attack(b, name, g.url)
				// The browser's preflight stops cors, since the relay consents to nothing; the "=" of a form is no JSON.
				wins := naive && (name == "simple" || name == "beacon")
				if name != "cors" {
					eventually(t, "the attack to arrive", func() bool { return strings.Contains(strings.Join(seen(), "\n"), "/enter") })
				}
				g.seat.mu.Lock()
				defer g.seat.mu.Unlock()
				if g.seat.spent != wins {
					t.Errorf("spent: %v; page: %s; relay: %v", g.seat.spent, said, seen())
				}
			})
		}
	}
	t.Run("websocket", func(t *testing.T) {
		g := newRig(t, "", nil)
		seen := g.watch()
		b := newTab(t, browser, desktop)
		b.open(g) // the person is in the view in this very browser
		b.do(chromedp.Navigate(evil))
		if said := attack(b, "websocket", g.url); said != "closed" {
			t.Errorf("the websocket is %s", said)
		}
		if all := seen(); !slices.Contains(all, "GET "+viewPath+"/stream 403") {
			t.Errorf("relay: %v", all)
		}
	})
	t.Run("frame", func(t *testing.T) {
		g := newRig(t, "", nil)
		b := newTab(t, browser, desktop)
		b.do(chromedp.Navigate(evil))
		if said := attack(b, "frame", g.url); said != "opaque" {
			t.Errorf("the frame is %s", said)
		}
		g.seat.mu.Lock()
		defer g.seat.mu.Unlock()
		if g.seat.calls["/v1/view/peek"] != 0 {
			t.Error("the page ran inside a frame of another site")
		}
	})
	t.Run("opener", func(t *testing.T) {
		g := newRig(t, "", nil)
		b := newTab(t, browser, desktop)
		b.do(chromedp.Navigate(evil))
		if said := attack(b, "opener", g.url); said != "severed" {
			t.Errorf("the opened page is %s", said)
		}
	})
	t.Run("script", func(t *testing.T) {
		g := newRig(t, "", nil)
		b := newTab(t, browser, desktop)
		b.do(chromedp.Navigate(evil))
		if said := attack(b, "script", g.url); said != "refused" {
			t.Errorf("the relay's script is %s", said)
		}
	})
	t.Run("rebound", func(t *testing.T) {
		g := newRig(t, "", nil)
		seen := g.watch()
		b := newTab(t, browser, desktop)
		rebound := strings.Replace(g.url, "127.0.0.1", "evil.test", 1)
		resp, err := chromedp.Run(b.ctx, chromedp.NavigateResponse(rebound+viewPath+"#"+testNonce))
		if err != nil || resp.Status != http.StatusMisdirectedRequest {
			t.Fatalf("the document: %v %+v", err, resp)
		}
		for _, step := range []string{"peek", "enter", "state", "done"} {
			if status := eval[int](b, fmt.Sprintf(`fetch(%q, {method: "POST", headers: {"Content-Type": "application/json"}, body: "{}"}).then(r => r.status).catch(() => 421)`,
				viewPath+"/"+step)); status != 421 {
				t.Errorf("%s of a rebound page: %d", step, status)
			}
		}
		g.seat.mu.Lock()
		defer g.seat.mu.Unlock()
		if g.seat.dials != 0 {
			t.Errorf("it reached the seat service: %v", seen())
		}
	})
	// A scanner that runs scripts and presses nothing spends nothing (case V01).
	t.Run("scanner", func(t *testing.T) {
		g := newRig(t, "", nil)
		b := newTab(t, browser, phone)
		b.do(chromedp.Navigate(g.link()))
		b.card("before")
		b.do(chromedp.Reload())
		b.card("refused")
		g.seat.mu.Lock()
		spent := g.seat.spent
		g.seat.mu.Unlock()
		if spent {
			t.Error("looking spent the link")
		}
		g.enter(t)
	})
}
