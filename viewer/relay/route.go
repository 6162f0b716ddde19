package relay

import (
	"net/http"
	"regexp"
	"strings"

	"github.com/5dive/browser/internal/fault"
)

// An address of the relay is /assets/FILE or /v/SEAT/VIEW[/STEP].
var (
	seatForm = regexp.MustCompile(`^[a-z_][a-z0-9_.-]{0,63}$`)
	viewForm = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
)

// place names one view.
type place struct{ seat, view string }

func (p place) path() string { return "/v/" + p.seat + "/" + p.view }

// visit is one request about one view, with what has been checked so far.
type visit struct {
	place
	session string // of the person; set where the step asks for it
	token   string // of the view; set where the step asks for the cookie
}

// step is what may be done at one address. Its access rule stands beside it: "anyone" may read what says nothing, "session" must
// be known, "cookie" must also show that this session opened this view. A post is held to the rules of a page of ours.
type step struct {
	method string
	access access
	serve  func(*Relay, http.ResponseWriter, *http.Request, visit)
}

type access int

const (
	anyone access = iota + 1
	session
	cookie
)

var steps = map[string]step{
	"":       {http.MethodGet, anyone, (*Relay).page},
	"stream": {http.MethodGet, cookie, (*Relay).stream},
	"peek":   {http.MethodPost, session, (*Relay).peek},
	"enter":  {http.MethodPost, session, (*Relay).enter},
	"state":  {http.MethodPost, cookie, (*Relay).state},
	"text":   {http.MethodPost, cookie, (*Relay).text},
	"size":   {http.MethodPost, cookie, (*Relay).size},
	"done":   {http.MethodPost, cookie, (*Relay).done},
	"cancel": {http.MethodPost, cookie, (*Relay).cancel},
}

// ServeHTTP answers one request. The Host is looked at first, so that a rebound name gets not even the page.
func (r *Relay) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	harden(w.Header())
	if !r.host(w, req) {
		return
	}
	if name, ok := strings.CutPrefix(req.URL.Path, "/assets/"); ok {
		r.asset(w, req, "assets/"+name)
		return
	}
	p, name, ok := parse(req.URL)
	s, known := steps[name]
	if !ok || !known {
		refuse(w, http.StatusNotFound, fault.New(fault.Usage, "there is nothing at this address"))
		return
	}
	if !allows(w, req, s.method) {
		return
	}
	if v, ok := r.admit(w, req, s, p); ok {
		s.serve(r, w, req, v)
	}
}

// allows checks the method. OPTIONS is answered here, without a word about other origins; HEAD goes where GET goes.
func allows(w http.ResponseWriter, req *http.Request, method string) bool {
	allow := method + ", OPTIONS"
	if method == http.MethodGet {
		allow = "GET, HEAD, OPTIONS"
	}
	switch {
	case req.Method == http.MethodOptions:
		w.Header().Set("Allow", allow)
		w.WriteHeader(http.StatusNoContent)
		return false
	case req.Method == method, req.Method == http.MethodHead && method == http.MethodGet:
		return true
	}
	w.Header().Set("Allow", allow)
	refuse(w, http.StatusMethodNotAllowed, fault.New(fault.Usage, "this address takes %s only", method))
	return false
}
