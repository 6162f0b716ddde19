package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/viewer"
)

// Role is who calls, told by the listener that the call came by.
type Role string

// The roles. Root calls as the seat.
const (
	RoleSeat  Role = "seat"
	RoleRelay Role = "relay"
)

// route is one path with the roles that may call it. No role in the list means no.
type route struct {
	path   string
	allow  []Role
	view   bool // the caller must hold the token of a view
	handle func(*call) (any, error)
}

var (
	seatOnly = []Role{RoleSeat}
	carriers = []Role{RoleSeat, RoleRelay}
)

// routes is every call that there is.
func (s *Service) routes() []route {
	return []route{
		{api.PathVersion, carriers, false, s.version},
		{api.PathServe, seatOnly, false, s.serve},
		{api.PathStop, seatOnly, false, s.stop},
		{api.PathRemove, seatOnly, false, s.remove},
		{api.PathList, seatOnly, false, s.list},
		{api.PathWindow, seatOnly, false, s.window},
		{api.PathViewer, seatOnly, false, s.mint},
		{api.PathRevoke, seatOnly, false, s.revoke},
		{api.PathWait, seatOnly, false, s.wait},
		{api.PathRedeem, carriers, false, s.redeem},
		{api.PathPeek, carriers, false, s.peek},
		{api.PathEnter, carriers, false, s.enter},
		{api.PathState, carriers, true, s.viewState},
		{api.PathText, carriers, true, s.text},
		{api.PathSize, carriers, true, s.size},
		{api.PathDone, carriers, true, s.done},
		{api.PathCancel, carriers, true, s.cancelView},
	}
}

// call is one request in work.
type call struct {
	ctx    context.Context
	body   []byte
	view   *viewer.View // for routes of a view
	stream *stream
}

// decode reads the request body strictly.
func (c *call) decode(into any) error {
	from := json.NewDecoder(bytes.NewReader(c.body))
	from.DisallowUnknownFields()
	if err := from.Decode(into); err != nil {
		return fault.New(fault.Usage, "cannot read the request: %w", err)
	}
	return nil
}

// progress sends one line of the story.
func (c *call) progress(text string) { c.stream.line(map[string]string{"progress": text}) }

// handler serves one role's listener.
func (s *Service) handler(role Role) http.Handler {
	mux := http.NewServeMux()
	for _, r := range s.routes() {
		if slices.Contains(r.allow, role) {
			mux.HandleFunc("POST "+r.path, func(w http.ResponseWriter, req *http.Request) { s.answer(w, req, r) })
		}
	}
	mux.HandleFunc("GET "+api.PathStream, s.carry)
	mux.HandleFunc("/", func(w http.ResponseWriter, req *http.Request) {
		newStream(w).fail(fault.New(fault.Denied, "cannot call %s %.100q: no such call for this caller", req.Method, req.URL.Path))
	})
	return mux
}

// answer runs one call and writes its last line.
func (s *Service) answer(w http.ResponseWriter, req *http.Request, r route) {
	out := newStream(w)
	defer out.close()
	end, ok := s.begin()
	if !ok {
		out.fail(s.ending())
		return
	}
	defer end()
	c := &call{ctx: req.Context(), stream: out}
	var err error
	if c.body, err = readBody(w, req); err != nil {
		out.fail(err)
		return
	}
	if r.view {
		if c.view, err = s.views.ByToken(secret.New(req.Header.Get(api.TokenHeader))); err != nil {
			out.fail(err)
			return
		}
	}
	result, err := r.handle(c)
	if err != nil {
		out.fail(err)
		return
	}
	out.result(result)
}
