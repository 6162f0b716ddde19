package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/user"
	"strconv"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/clock"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/viewer"
)

// idle is a service with nothing open, enough to ask who may call what.
func idle(t *testing.T) *Service {
	t.Helper()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	uid, _ := strconv.Atoi(me.Uid)
	s := &Service{config: Config{Seat: seat.Seat{Root: t.TempDir(), Name: me.Username, UID: uid, Embedded: true}, Clock: clock.System}, open: map[string]*profile{}}
	s.views = viewer.New(viewer.Config{Seat: me.Username, Clock: clock.System, Note: func(string, string, map[string]string) {}})
	s.port = &port{service: s}
	s.ctx, s.cancel = context.WithCancelCause(t.Context())
	return s
}

func ask(h http.Handler, method, path, body string) (int, *api.Error) {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(method, path, strings.NewReader(body)))
	var line api.Line
	json.Unmarshal(bytes.TrimSpace(rec.Body.Bytes()), &line)
	return rec.Code, line.Error
}

// TestRouteMatrix walks every route with every role: who is not named beside the route gets the answer of a path that does not exist.
func TestRouteMatrix(t *testing.T) {
	may := map[string]string{
		api.PathVersion: "seat relay", api.PathServe: "seat", api.PathStop: "seat", api.PathRemove: "seat", api.PathList: "seat", api.PathWindow: "seat",
		api.PathViewer: "seat", api.PathRevoke: "seat", api.PathWait: "seat", api.PathRedeem: "seat relay", api.PathPeek: "seat relay",
		api.PathEnter: "seat relay", api.PathState: "seat relay", api.PathText: "seat relay", api.PathSize: "seat relay",
		api.PathDone: "seat relay", api.PathCancel: "seat relay",
	}
	s := idle(t)
	for _, r := range s.routes() {
		roles, listed := may[r.path]
		if !listed {
			t.Errorf("route %s is in no row of this test", r.path)
		}
		for _, role := range []Role{RoleSeat, RoleRelay, "metrics", ""} {
			_, refusal := ask(s.handler(role), http.MethodPost, r.path, "not json")
			unknown := refusal != nil && strings.Contains(refusal.Message, "no such call for this caller")
			if allowed := role != "" && strings.Contains(roles, string(role)); allowed == unknown {
				t.Errorf("%s as %q: allowed %t, refused as unknown %t", r.path, role, allowed, unknown)
			}
		}
		if _, refusal := ask(s.handler(RoleSeat), http.MethodGet, r.path, ""); refusal == nil || refusal.Code != "denied" {
			t.Errorf("GET %s is answered", r.path)
		}
	}
}

// TestViewRoutesWantAToken: without the token of an open view nothing of a view is told or done.
func TestViewRoutesWantAToken(t *testing.T) {
	s := idle(t)
	for _, r := range s.routes() {
		if !r.view {
			continue
		}
		status, refusal := ask(s.handler(RoleRelay), http.MethodPost, r.path, "{}")
		if status != http.StatusForbidden || refusal == nil || refusal.Code != "denied" {
			t.Errorf("%s without a token: %d %+v", r.path, status, refusal)
		}
	}
	if status, refusal := ask(s.handler(RoleRelay), http.MethodGet, api.PathStream, ""); status != http.StatusForbidden || refusal == nil || refusal.Code != "denied" {
		t.Errorf("stream without a token: %d %+v", status, refusal)
	}
	s.close()
	if status, refusal := ask(s.handler(RoleRelay), http.MethodGet, api.PathStream, ""); status != http.StatusLocked || refusal == nil || refusal.Code != "busy" {
		t.Errorf("stream of a service that ends: %d %+v", status, refusal)
	}
}

func TestLongBodyIsRefused(t *testing.T) {
	s := idle(t)
	status, refusal := ask(s.handler(RoleSeat), http.MethodPost, api.PathServe, strings.Repeat("x", api.MaxBody+1))
	if status != http.StatusBadRequest || refusal == nil || refusal.Code != "usage" {
		t.Errorf("a body of more than %d bytes: %d %+v", api.MaxBody, status, refusal)
	}
}

func TestAdmits(t *testing.T) {
	s := idle(t)
	s.config.Seat.UID = 4321
	seatMay, relayMay := s.admits(RoleSeat), s.admits(RoleRelay)
	for uid, want := range map[uint32]bool{4321: true, 0: true, 4322: false, overflowUID: false} {
		if seatMay(uid) != want {
			t.Errorf("seat socket, uid %d: admitted %t", uid, !want)
		}
	}
	if relayMay(4322) || !relayMay(4321) {
		t.Error("the relay's socket admits another seat, or not its own")
	}
	if !inUserNamespace() && relayMay(overflowUID) {
		t.Error("the overflow uid was admitted where uids are real")
	}
}

func TestPageURL(t *testing.T) {
	for text, ok := range map[string]bool{
		"https://example.com/login?a=b": true, "http://127.0.0.1:8080/": true,
		"file:///etc/passwd": false, "javascript:alert(1)": false, "chrome://settings": false, "example.com": false, "": false,
		"https://user:pass@example.com/": false, "https:///x": false, "https://example.com/\nx": false,
		"https://example.com/" + strings.Repeat("a", maxURL): false,
	} {
		got, err := pageURL(text)
		if (err == nil) != ok || ok && got != text {
			t.Errorf("%.60q: %q, %v", text, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "pass") {
			t.Errorf("the refusal repeats the URL: %v", err)
		}
	}
}

func TestScreenSize(t *testing.T) {
	for text, want := range map[string][2]int{"1280x800": {1280, 800}, "360x640": {360, 640}, "": {}, "x": {}, "1x1": {}, "99999x100": {}, "12a0x800": {}, "-800x600": {}} {
		w, h, err := screenSize(text)
		if (err == nil) != (want[0] > 0) || [2]int{w, h} != want {
			t.Errorf("%q: %dx%d, %v", text, w, h, err)
		}
	}
}
