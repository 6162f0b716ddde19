package display

import (
	"embed"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

//go:embed testdata
var pages embed.FS

// told is what the page in Chrome last told of itself.
type told struct {
	Field, Lines, Focus                    string
	Keys                                   []string
	Width, Height, OuterWidth, OuterHeight int
	ButtonX, ButtonY                       int
}

// echo is a site on loopback whose page tells it what a person did to it.
type echo struct {
	t    testing.TB
	site *httptest.Server
	mu   sync.Mutex
	last told
	any  bool
}

func newEcho(t testing.TB) *echo {
	e := &echo{t: t}
	files, err := fs.Sub(pages, "testdata")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServerFS(files))
	mux.HandleFunc("/told", func(w http.ResponseWriter, r *http.Request) {
		var now told
		if err := json.NewDecoder(r.Body).Decode(&now); err != nil {
			t.Errorf("the page told nonsense: %v", err)
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.last, e.any = now, true
	})
	e.site = httptest.NewServer(mux)
	t.Cleanup(e.site.Close)
	return e
}

func (e *echo) now() (told, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.last, e.any
}

// await waits until the page is as wanted, and gives its last word.
func (e *echo) await(what string, ok func(told) bool) told {
	e.t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for tick := time.NewTicker(10 * time.Millisecond); ; <-tick.C {
		now, any := e.now()
		if any && ok(now) {
			return now
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("waited for %s; the page is %+v", what, now)
		}
	}
}

// chrome runs Chromium for a seat on its display, with the echo page.
func (s *seat) chrome(d answer, url string) *exec.Cmd {
	s.t.Helper()
	data := s.user.Home + "/chrome"
	if _, err := os.Stat(data); err != nil {
		s.mkdir(data)
	}
	cmd := s.client(d, "/usr/lib/chromium/chromium", "--user-data-dir="+data, "--no-first-run", "--password-store=basic",
		"--disable-background-networking", "--disable-gpu", url)
	s.run(cmd)
	s.must(call{Verb: "window"})
	return cmd
}
