package relay

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/5dive/browser/serve/api"
)

// rig is a relay on a loopback port in front of one fake seat.
type rig struct {
	seat   *fakeSeat
	relay  *Relay
	server *http.Server
	url    string // http://127.0.0.1:PORT
	host   string
}

func (r *rig) view() string { return r.url + "/v/" + testSeat + "/" + testView }
func (r *rig) link() string { return r.view() + "#" + testNonce }

// newRig starts a relay with the given public URL ("" is its own address) and sessions (nil is none but local).
func newRig(t *testing.T, public string, session func(*http.Request) (string, bool)) *rig {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &rig{seat: newSeat(t), host: listener.Addr().String()}
	g.url = "http://" + g.host
	if public == "" {
		public = g.url
	}
	if session == nil {
		session = Sessions(nil)
	}
	g.relay, err = New(Config{PublicURL: public, Session: session, Seat: func(name string) (*api.Client, bool) {
		return g.seat.client, name == testSeat
	}})
	if err != nil {
		t.Fatal(err)
	}
	server := Server(g.relay)
	g.server = server
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(listener) }()
	t.Cleanup(func() {
		server.Close()
		g.relay.Close()
		<-served
	})
	return g
}

// request is one HTTP request to a rig; the zero value is a good POST of a page of the relay.
type request struct {
	method, path, body string
	host               string
	headers            map[string]string // "-" as value removes one
}

// do sends it over a connection of its own and gives status, headers and body.
func (g *rig) do(t *testing.T, r request) (*http.Response, string) {
	t.Helper()
	if r.method == "" {
		r.method = http.MethodPost
	}
	req, err := http.NewRequest(r.method, g.url+r.path, strings.NewReader(r.body))
	if err != nil {
		t.Fatal(err)
	}
	if r.method == http.MethodPost {
		req.Header.Set("Origin", g.url)
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.headers {
		if value == "-" {
			req.Header.Del(name)
		} else {
			req.Header.Set(name, value)
		}
	}
	if r.host != "" {
		req.Host = r.host
	}
	transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

const viewPath = "/v/" + testSeat + "/" + testView

// enter spends the link and gives the cookie, as a Cookie header.
func (g *rig) enter(t *testing.T) string {
	t.Helper()
	resp, text := g.do(t, request{path: viewPath + "/enter", body: `{"nonce":"` + testNonce + `"}`})
	if resp.StatusCode != http.StatusOK || len(resp.Cookies()) != 1 {
		t.Fatalf("enter: %s %s", resp.Status, text)
	}
	c := resp.Cookies()[0]
	return c.Name + "=" + c.Value
}
