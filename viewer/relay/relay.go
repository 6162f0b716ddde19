// Package relay is the HTTP server for people: it serves the page of a view and carries that view between the person's
// browser and the seat service. It runs as a user of its own and can do nothing on a seat's socket but look at a link,
// spend it, and use the view that this opened.
//
// GET, HEAD and OPTIONS never change anything, so that link previewers, mail scanners and prefetching spend nothing.
// Every step is a POST of the page itself, held to an exact Host, an exact Origin, Sec-Fetch-Site, a JSON body, the
// person's session and the view's cookie. The nonce of a link is in the fragment, which no browser sends; it comes in the
// body of one POST and is in no log, header or URL.
//
// Trusted: the seat services behind Config.Seat, and Config.Session for who the person is. Not trusted: every header, the
// page's scripts, other local users. Refusals are fault.Error, as JSON {code, message, hint}, with the status of their kind;
// sizes are bytes. Nothing is logged.
package relay

import (
	"crypto/rand"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/viewer/page"
)

// Config says where the relay stands and whom it asks.
type Config struct {
	// PublicURL is the origin that people's browsers use, "https://box.example" or "http://127.0.0.1:6090": no path. Over
	// https cookies are Secure. A loopback address may be written 127.0.0.1 or localhost by the browser, same port.
	PublicURL string
	// Session tells who sends a request, from what the relay itself can check (Sessions makes one); false: nobody known.
	Session func(*http.Request) (string, bool)
	// Seat gives the client of a seat service; false: there is no such seat.
	Seat func(name string) (*api.Client, bool)
}

// Relay is the handler. It is safe for concurrent use; Close ends the views that it carries.
type Relay struct {
	config  Config
	origins map[string]string // Host header -> the one Origin that goes with it
	secure  bool
	files   map[string]page.File
	key     []byte // of the cookies' MAC: they end with the process

	mu      sync.Mutex
	streams map[*carried]struct{}
	closed  bool
	running sync.WaitGroup
}

// New makes a relay; it starts nothing. A wrong PublicURL is fault.Config, a binary that was built without the page
// fault.Missing.
func New(config Config) (*Relay, error) {
	if !page.Built() {
		return nil, fault.New(fault.Missing, "cannot serve views: this binary was built without the viewer page").Try("make")
	}
	origins, secure, err := allowed(config.PublicURL)
	if err != nil {
		return nil, err
	}
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return &Relay{config: config, origins: origins, secure: secure, files: page.Files(), key: key,
		streams: map[*carried]struct{}{}}, nil
}

// allowed lists the Host headers that are right, each with its Origin.
func allowed(public string) (origins map[string]string, secure bool, err error) {
	u, err := url.Parse(public)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || u.Host != strings.ToLower(u.Host) {
		return nil, false, fault.New(fault.Config, "cannot use the public URL %q: want https://HOST or http://HOST:PORT, in lower case, no path", public)
	}
	origins = map[string]string{u.Host: u.Scheme + "://" + u.Host}
	for _, name := range loopbackNames {
		if u.Hostname() == name && u.Port() != "" {
			for _, other := range loopbackNames {
				origins[other+":"+u.Port()] = u.Scheme + "://" + other + ":" + u.Port()
			}
		}
	}
	return origins, u.Scheme == "https", nil
}

// loopbackNames are what a person may write for the box itself. [::1] is not among them: another user may hold its port.
var loopbackNames = []string{"127.0.0.1", "localhost"}

// Close ends every view that is carried and waits for it. The views live on in their seats; later streams are refused.
func (r *Relay) Close() {
	r.mu.Lock()
	r.closed = true
	for s := range r.streams {
		s.cut()
	}
	r.mu.Unlock()
	r.running.Wait()
}
