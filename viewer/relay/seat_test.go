package relay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

const (
	testSeat  = "ana"
	testView  = "6a3f00c2"
	testNonce = "4f1d0c6b5a29384756afbecd01e2f3a4b5c6d7e8f90a1b2c3d4e5f6071829304"
	testToken = "token of the view, never to be seen"
)

// fakeSeat speaks the wire of a seat service with one view in it, and remembers what it was asked.
type fakeSeat struct {
	t      *testing.T
	client *api.Client

	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at each change
	spent    bool
	session  string // who spent it
	phase    string
	end      string
	left     int
	idle     int
	note     string
	refusal  *fault.Error // of the next enter
	verdict  api.DoneResult
	hold     chan struct{} // done waits for it, text too
	calls    map[string]int
	texts    []api.TextRequest
	sizes    []api.SizeRequest
	headers  []http.Header
	screen   fakeScreen
	dropping bool // streams and calls are refused: a dead network
	dials    int
}

func newSeat(t *testing.T) *fakeSeat {
	t.Helper()
	s := &fakeSeat{t: t, changed: make(chan struct{}), phase: "open", left: 3600, idle: 600, calls: map[string]int{},
		note:    "Post the release notes on the company page",
		verdict: api.DoneResult{State: "authenticated", Saved: true}}
	s.screen.seat = s
	path := filepath.Join(t.TempDir(), "seat.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(s.serve)}
	served := make(chan struct{})
	go func() { defer close(served); server.Serve(listener) }()
	s.client = api.NewClient(func(ctx context.Context) (net.Conn, error) {
		s.change(func() { s.dials++ })
		return new(net.Dialer).DialContext(ctx, "unix", path)
	})
	t.Cleanup(func() {
		s.client.Close()
		server.Close()
		s.screen.drop()
		<-served
	})
	return s
}

// change does something under the lock and wakes who waits.
func (s *fakeSeat) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

// wait waits until is() holds, which is asked under the lock after each change.
func (s *fakeSeat) wait(t *testing.T, what string, is func() bool) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		s.mu.Lock()
		ok, next := is(), s.changed
		s.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-next:
		case <-late:
			t.Fatalf("waited too long for %s", what)
		}
	}
}

func (s *fakeSeat) serve(w http.ResponseWriter, req *http.Request) {
	s.change(func() {
		s.calls[req.URL.Path]++
		s.headers = append(s.headers, req.Header.Clone())
	})
	s.mu.Lock()
	phase, dropping := s.phase, s.dropping
	s.mu.Unlock()
	if dropping {
		panic(http.ErrAbortHandler)
	}
	token := req.Header.Get(api.TokenHeader)
	if req.URL.Path != api.PathPeek && req.URL.Path != api.PathEnter && (token != testToken || phase == "") {
		wire(w, fault.New(fault.Denied, "cannot use the view: it is not open for this caller"), nil)
		return
	}
	if req.URL.Path == api.PathStream {
		s.screen.serve(w, req)
		return
	}
	s.call(w, req)
}

func (s *fakeSeat) call(w http.ResponseWriter, req *http.Request) {
	switch req.URL.Path {
	case api.PathPeek:
		s.peek(w, req)
	case api.PathEnter:
		s.enter(w, req)
	case api.PathState:
		s.mu.Lock()
		state := api.ViewState{Site: "linkedin.com", Phase: s.phase, End: s.end, Left: s.left, Idle: s.idle, Server: "tigervnc"}
		s.mu.Unlock()
		wire(w, nil, state)
	case api.PathText:
		in := api.TextRequest{}
		body(s.t, req, &in)
		s.waitHold(req)
		s.change(func() { s.texts = append(s.texts, in); s.screen.order = append(s.screen.order, "text:"+in.Text) })
		way := "pasted"
		if in.Typed {
			way = "typed"
		}
		wire(w, nil, api.TextResult{Characters: len([]rune(in.Text)), Way: way})
	case api.PathSize:
		in := api.SizeRequest{}
		body(s.t, req, &in)
		s.screen.resize(in.Width, in.Height)
		s.change(func() { s.sizes = append(s.sizes, in) })
		wire(w, nil, api.SizeResult(in))
	case api.PathDone:
		json.NewEncoder(w).Encode(api.Line{Progress: "closing the browser"})
		http.NewResponseController(w).Flush()
		s.waitHold(req)
		s.change(func() { s.phase, s.end = "ended", "done" })
		wire(w, nil, s.verdict)
	case api.PathCancel:
		s.change(func() { s.phase, s.end = "ended", "cancelled" })
		wire(w, nil, struct{}{})
	default:
		wire(w, fault.New(fault.Usage, "no such call"), nil)
	}
}

func (s *fakeSeat) waitHold(req *http.Request) {
	s.mu.Lock()
	hold := s.hold
	s.mu.Unlock()
	if hold != nil {
		select {
		case <-hold:
		case <-req.Context().Done():
		}
	}
}

func (s *fakeSeat) peek(w http.ResponseWriter, req *http.Request) {
	in := api.PeekRequest{}
	body(s.t, req, &in)
	sum := sha256.Sum256([]byte(testNonce))
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.View != testView || in.Hash != hex.EncodeToString(sum[:]) || s.spent {
		wire(w, unknown, nil)
		return
	}
	wire(w, nil, api.Peek{Site: "linkedin.com", Seat: testSeat, Note: s.note, Left: 581, Server: "tigervnc"})
}

func (s *fakeSeat) enter(w http.ResponseWriter, req *http.Request) {
	in := api.EnterRequest{}
	body(s.t, req, &in)
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.refusal != nil:
		wire(w, s.refusal, nil)
		s.refusal = nil
	case in.View != testView || in.Nonce != testNonce || s.spent:
		wire(w, unknown, nil)
	default:
		s.spent, s.session = true, in.Session
		wire(w, nil, api.EnterResult{Token: testToken, Left: s.left})
	}
}

func body(t *testing.T, req *http.Request, into any) {
	if err := json.NewDecoder(req.Body).Decode(into); err != nil {
		t.Errorf("the relay sent a bad body to %s: %v", req.URL.Path, err)
	}
}

// wire writes the last line of an answer.
func wire(w io.Writer, refusal *fault.Error, result any) {
	line := api.Line{}
	if refusal != nil {
		line.Error = api.NewError(refusal)
	} else {
		line.Result, _ = json.Marshal(result)
	}
	json.NewEncoder(w).Encode(line)
}
