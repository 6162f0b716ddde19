package site

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/5dive/browser/internal/secret"
)

// keep is how many entries of a kind the log holds; older ones are forgotten.
const keep = 20000

// Request is one HTTP request as it arrived.
type Request struct {
	Time          time.Time
	Method, Path  string
	Query         string
	Cookies       []string // the names that were sent, sorted
	Session, Kept bool     // the session cookie, the persistent cookie: sent and still valid
	UserAgent     string
}

// Page tells whether the request asked for a page that a person sees, not for a script or a report.
func (r Request) Page() bool { return r.Method == "GET" && pageNames[r.Path] }

// Login is one press of the sign-in button.
type Login struct {
	Time  time.Time
	Name  string
	Right bool // name and password were those of the account
	Keep  bool // "keep me signed in" was ticked
	Typed secret.Text
}

// Event is something that a page told about itself: Kind "load", "visibility", "key", "choice", "dialog" and so on.
type Event struct {
	Time   time.Time // of arrival
	At     time.Time // by the page's clock, when it happened
	Page   string    // path of the page
	Kind   string
	Detail map[string]any
}

// Text is the detail called name as text, "" if it is not there.
func (e Event) Text(name string) string {
	if v, ok := e.Detail[name]; ok {
		return fmt.Sprint(v)
	}
	return ""
}

// Place is where the page had the element called id when it told about itself (Kind "load", "resize", "visibility"): its middle, in
// pixels of the screen.
func (e Event) Place(id string) (x, y int, ok bool) {
	places, _ := e.Detail["places"].(map[string]any)
	at, _ := places[id].([]any)
	if len(at) != 2 {
		return 0, 0, false
	}
	left, _ := at[0].(float64)
	top, _ := at[1].(float64)
	return int(left), int(top), true
}

// Number is the detail called name as a number, 0 if it is none.
func (e Event) Number(name string) int {
	n, _ := e.Detail[name].(float64)
	return int(n)
}

type journal struct {
	mu       sync.Mutex
	changed  chan struct{} // closed and replaced at each entry
	requests []Request
	logins   []Login
	events   []Event
	fields   map[string]string
}

func (j *journal) write(entry func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	entry()
	close(j.changed)
	j.changed = make(chan struct{})
}

func capped[T any](list []T, next T) []T {
	list = append(list, next)
	return list[max(0, len(list)-keep):]
}

func (j *journal) request(r Request) { j.write(func() { j.requests = capped(j.requests, r) }) }
func (j *journal) login(l Login)     { j.write(func() { j.logins = capped(j.logins, l) }) }
func (j *journal) event(e Event)     { j.write(func() { j.events = capped(j.events, e) }) }
func (j *journal) field(name, value string) {
	j.write(func() { j.fields[name] = value })
}

// Requests are the requests so far, oldest first.
func (s *Site) Requests() []Request {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return slices.Clone(s.log.requests)
}

// Pages are the requests for pages: one for each page that a browser opened or re-opened.
func (s *Site) Pages() []Request {
	return slices.DeleteFunc(s.Requests(), func(r Request) bool { return !r.Page() })
}

// Logins are the presses of the sign-in button so far.
func (s *Site) Logins() []Login {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return slices.Clone(s.log.logins)
}

// Events are the events so far, in order of arrival.
func (s *Site) Events() []Event {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return slices.Clone(s.log.events)
}

// Fields are the newest values of the input fields of /type, by field name.
func (s *Site) Fields() map[string]string {
	s.log.mu.Lock()
	defer s.log.mu.Unlock()
	return maps.Clone(s.log.fields)
}

// Forget empties the log; who is signed in stays.
func (s *Site) Forget() {
	s.log.write(func() {
		s.log.requests, s.log.logins, s.log.events = nil, nil, nil
		s.log.fields = map[string]string{}
	})
}

// Wait returns when ok is true, which it asks now and after each entry of the log. When ctx ends first, the error
// names what was waited for.
func (s *Site) Wait(ctx context.Context, what string, ok func() bool) error {
	for {
		s.log.mu.Lock()
		changed := s.log.changed
		s.log.mu.Unlock()
		if ok() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("cannot see %s on the demo site: %w", what, context.Cause(ctx))
		}
	}
}

// WaitRequest waits for a request that match accepts, counting those already there, and returns the first.
func (s *Site) WaitRequest(ctx context.Context, what string, match func(Request) bool) (Request, error) {
	return first(ctx, s, what, s.Requests, match)
}

// WaitLogin waits for a press of the sign-in button.
func (s *Site) WaitLogin(ctx context.Context, match func(Login) bool) (Login, error) {
	return first(ctx, s, "a login", s.Logins, match)
}

// WaitEvent waits for an event of one page ("" is any page) and kind.
func (s *Site) WaitEvent(ctx context.Context, page, kind string) (Event, error) {
	return first(ctx, s, "event "+kind+" of "+page, s.Events, func(e Event) bool {
		return (page == "" || e.Page == page) && e.Kind == kind
	})
}

// WaitField waits until the field called name holds exactly value.
func (s *Site) WaitField(ctx context.Context, name, value string) error {
	return s.Wait(ctx, "the expected text in field "+name, func() bool { return s.Fields()[name] == value })
}

func first[T any](ctx context.Context, s *Site, what string, list func() []T, match func(T) bool) (found T, err error) {
	err = s.Wait(ctx, what, func() bool {
		all := list()
		i := slices.IndexFunc(all, match)
		if i >= 0 {
			found = all[i]
		}
		return i >= 0
	})
	return found, err
}
