// Package site is the demo site: a small letter box service called Harbour Post that the demo shows and that the
// tests use as their out-of-band witness. What a browser did is read from the site's own log (Requests, Logins,
// Fields, Events), never from the browser.
//
// It owns one account, its sessions and its log, all in memory. It refuses nothing that a real site would take, loads
// nothing from elsewhere, and draws the same picture each time. It trusts every client: it records what test pages
// report about themselves, passwords included, so it serves tests and demos on loopback and nothing else.
package site

import (
	"embed"
	"html/template"
	"net/http"
	"sync"
)

//go:embed pages static
var files embed.FS

// Config is the one account of the site. The zero value is the account of the demo: "mira", "harbour-lantern-42".
type Config struct{ Name, Password string }

// Site is the demo site; it is an http.Handler. Safe for concurrent use. It starts nothing and needs no closing.
type Site struct {
	Name, Password string // the account, for the one who plays the person

	log      journal
	pages    *template.Template
	routes   *http.ServeMux
	mu       sync.Mutex
	sessions map[string]string // cookie value -> cookie name
	keys     map[string]bool   // keys of Enter -> kept
}

// New makes a site with nobody signed in.
func New(c Config) *Site {
	if c.Name == "" {
		c = Config{Name: "mira", Password: "harbour-lantern-42"}
	}
	s := &Site{Name: c.Name, Password: c.Password, sessions: map[string]string{}, keys: map[string]bool{}}
	s.log.changed = make(chan struct{})
	s.log.fields = map[string]string{}
	s.pages = template.Must(template.ParseFS(files, "pages/*.html"))
	s.routes = s.mux()
	return s
}

// ServeHTTP logs the request, then answers it.
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.log.request(s.seen(r))
	// A page taken from the cache would be a page load that the log does not see.
	w.Header().Set("Cache-Control", "no-store")
	s.routes.ServeHTTP(w, r)
}

func (s *Site) mux() *http.ServeMux {
	m := http.NewServeMux()
	m.HandleFunc("GET /{$}", s.front)
	m.HandleFunc("GET /login", s.loginPage)
	m.HandleFunc("POST /login", s.login)
	m.HandleFunc("POST /logout", s.logout)
	m.HandleFunc("GET /enter", s.enter)
	m.HandleFunc("GET /account", s.account)
	for _, name := range []string{"popup", "consent", "select", "dialog", "beforeunload", "type", "busy", "tabs", "download"} {
		m.HandleFunc("GET /"+name, s.page(name))
	}
	m.HandleFunc("GET /colour", s.colour)
	m.HandleFunc("GET /slow.bin", slow)
	m.HandleFunc("POST /report", s.report)
	m.HandleFunc("GET /log.json", s.logJSON)
	m.Handle("GET /static/", http.FileServerFS(files))
	m.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, files, "static/icon.svg")
	})
	return m
}
