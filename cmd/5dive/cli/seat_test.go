package cli

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

// fakeSeat speaks the wire of a seat service. The site's first label says what happens: a fault's kind makes every call refuse
// with it. It appends each call to the file `calls`.
type fakeSeat struct {
	dir string
	mu  sync.Mutex
	// hold of the one window that is open: closing ends its call
	release chan struct{}
	freed   chan struct{}
}

const nonce = "6e6f6e63656e6f6e63656e6f6e63656e6f6e63656e6f6e63656e6f6e63656e6f"

// startSeat serves on a socket in dir until the test ends.
func startSeat(dir string, after func(func())) (socket string, err error) {
	socket = filepath.Join(dir, "seat.sock")
	l, err := net.Listen("unix", socket)
	if err != nil {
		return "", err
	}
	s := &fakeSeat{dir: dir}
	server := &http.Server{Handler: http.HandlerFunc(s.serve)}
	done := make(chan struct{})
	go func() { defer close(done); server.Serve(l) }()
	after(func() { server.Close(); <-done })
	return socket, nil
}

func newSeat(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	socket, err := startSeat(dir, t.Cleanup)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SEAT_SOCKET", socket)
	return dir
}

// call is everything that any request may hold.
type seatCall struct {
	Site, URL, Size, Bind, Note, Nonce, Session, View string
	TTL                                               int
}

func (s *fakeSeat) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	appendLine(filepath.Join(s.dir, "calls"), r.URL.Path+" "+strings.Replace(string(body), nonce, "NONCE", 1))
	var q seatCall
	json.Unmarshal(body, &q)
	out := &answerer{w: w}
	kind, _, _ := strings.Cut(q.Site, ".")
	switch {
	case fault.Kind(kind).Valid():
		out.refuse(fault.New(fault.Kind(kind), "cannot open %s: it is\nso", q.Site).Try("5dive browser help"))
	case kind == "strange":
		out.refuse(errors.New("cannot open it: \x1b[2Jstrange \u202etext"))
	case kind == "broken":
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	case kind == "silent":
		out.progress("silent")
		<-r.Context().Done()
	default:
		s.answer(r, q, out)
	}
}

func (s *fakeSeat) answer(r *http.Request, q seatCall, out *answerer) {
	switch r.URL.Path {
	case api.PathServe:
		out.progress("starting the display")
		out.progress("starting Chrome")
		out.result(api.ServeResult{Site: q.Site, State: "served", Chrome: "Chromium 140"})
	case api.PathStop:
		s.stop()
		out.result(api.StopResult{Site: q.Site, State: "stopped", Killed: strings.HasPrefix(q.Site, "killed.")})
	case api.PathRemove:
		out.result(api.RemoveResult{Site: q.Site, Removed: true})
	case api.PathViewer:
		host := "http://127.0.0.1:6081"
		if strings.HasPrefix(q.Site, "public.") {
			host = "https://box.example.com"
		}
		if q.TTL == 0 {
			q.TTL = 600
		}
		out.result(api.ViewerResult{Site: q.Site, View: q.Site + "-view", Link: host + "/v/alice/v1#" + nonce, Nonce: nonce,
			Bind: q.Bind, Expires: q.TTL, Server: "tigervnc"})
	case api.PathRedeem:
		if q.Nonce != nonce {
			out.refuse(fault.New(fault.Failed, "the link is not good"))
			return
		}
		out.result(api.RedeemResult{Target: "127.0.0.1:6080", Password: "pw123456"})
	case api.PathRevoke:
		out.result(api.RevokeResult{Site: q.Site, Revoked: true})
	case api.PathList:
		list := s.list()
		list.Profiles = slices.DeleteFunc(list.Profiles, func(p api.Profile) bool { return q.Site != "" && q.Site != p.Site })
		out.result(list)
	case api.PathWait:
		s.wait(r, q, out)
	case api.PathWindow:
		s.hold(r, q, out)
	}
}

// list is empty where the file `empty` stands, and has a bad profile where `bad` does.
func (s *fakeSeat) list() api.ListResult {
	if _, err := os.Stat(filepath.Join(s.dir, "empty")); err == nil {
		return api.ListResult{Seat: "alice"}
	}
	var bad []api.Profile
	if _, err := os.Stat(filepath.Join(s.dir, "bad")); err == nil {
		bad = []api.Profile{{Site: "bad.com", State: "UNKNOWN (bad profile)", Held: "stopped", Viewer: "none",
			Bad: &api.Error{Code: "denied", Message: "cannot trust bad.com: mode is 0755, want 0700", Hint: "chmod 0700 bad.com"}}}
	}
	return api.ListResult{Seat: "alice", Profiles: append(bad, []api.Profile{
		{Site: "linkedin.com", State: "UNKNOWN (no probe has run)", LastSeen: "2026-09-14T10:00:00Z", Held: "served", Viewer: "waiting"},
		{Site: "x.com+work", State: "UNKNOWN (no probe has run)", Held: "stopped", Viewer: "none"},
	}...)}
}

// wait ends as the site of the view says.
func (s *fakeSeat) wait(r *http.Request, q seatCall, out *answerer) {
	switch kind, _, _ := strings.Cut(q.View, "."); kind {
	case "forever":
		out.progress("waiting for the person")
		<-r.Context().Done()
	case "gone":
		out.result(api.WaitResult{End: "expired"})
	case "out":
		out.result(api.WaitResult{End: "done", State: "session expired — human action required"})
	case "captcha":
		out.result(api.WaitResult{End: "done", State: "CHALLENGE — human action required"})
	case "in":
		out.result(api.WaitResult{End: "done", State: "authenticated"})
	default:
		out.result(api.WaitResult{End: "done"})
	}
}

// hold keeps a window: `person.` is closed by the person, `crash.` ends badly, `taken.` is taken back by the service once it
// runs, `cut.` loses its connection then, and `stay.` waits for a signal.
func (s *fakeSeat) hold(r *http.Request, q seatCall, out *answerer) {
	kind, _, _ := strings.Cut(q.Site, ".")
	mode, notes := kind, filepath.Join(s.dir, "chrome")
	s.mu.Lock()
	s.release, s.freed = make(chan struct{}), make(chan struct{})
	release, freed := s.release, s.freed
	s.mu.Unlock()
	defer close(freed)
	out.progress("preparing the profile")
	out.line(map[string]any{"window": api.Window{Argv: []string{lookPath("chrome"), mode, notes}, Env: []string{"LANG=en"}, Dir: s.dir}})
	switch kind {
	case "taken":
		waitFor(r.Context(), notes, "started")
	case "cut":
		waitFor(r.Context(), notes, "started")
		panic(http.ErrAbortHandler)
	default:
		select {
		case <-release:
		case <-r.Context().Done():
			appendLine(filepath.Join(s.dir, "calls"), "window broke off")
			return
		}
	}
	out.result(api.StopResult{Site: q.Site, State: "stopped"})
}

// stop ends the hold, if there is one, and waits for its call.
func (s *fakeSeat) stop() {
	s.mu.Lock()
	release, freed := s.release, s.freed
	s.release = nil
	s.mu.Unlock()
	if release != nil {
		close(release)
		<-freed
	}
}

// answerer writes the lines of an answer.
type answerer struct{ w http.ResponseWriter }

func (a *answerer) line(v any) {
	json.NewEncoder(a.w).Encode(v)
	a.w.(http.Flusher).Flush()
}

func (a *answerer) progress(text string) { a.line(api.Line{Progress: text}) }
func (a *answerer) refuse(err error)     { a.line(api.Line{Error: api.NewError(err)}) }

func (a *answerer) result(v any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	a.line(api.Line{Result: b})
}
