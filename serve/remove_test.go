package serve

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/serve/api"
)

// stored is an idle service with a store that passes the audit and one profile in it.
func stored(t *testing.T) (*Service, seat.Site) {
	t.Helper()
	s := idle(t)
	s.config.Seat.GID = os.Getegid()
	site := seat.Site{Host: "example.com"}
	for _, step := range []func() error{
		func() error { return os.Chmod(s.config.Seat.Root, 0o711) },
		s.config.Seat.Ensure,
		func() error { return s.config.Seat.Make(site) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
	}
	return s, site
}

func TestRemove(t *testing.T) {
	s, site := stored(t)
	rm := func() *api.Error {
		_, refusal := ask(s.handler(RoleSeat), http.MethodPost, api.PathRemove, `{"site":"example.com"}`)
		return refusal
	}
	s.wish(site.ID(), request{"https://example.com/", 1280, 800})
	p := s.profile(site)
	for _, state := range []State{Starting, Served, Window, Stopping} {
		p.state = state
		if got := rm(); got == nil || got.Code != string(fault.Busy) || !strings.Contains(got.Message, string(state)) {
			t.Errorf("%s: %+v", state, got)
		}
	}
	p.state = Stopped
	held, err := s.config.Seat.Lock(site)
	if err != nil {
		t.Fatal(err)
	}
	if got := rm(); got == nil || got.Code != string(fault.Busy) {
		t.Errorf("locked: %+v", got)
	}
	held.Close()
	if len(s.wishes()) != 1 {
		t.Error("a refusal dropped the wish")
	}
	if got := rm(); got != nil {
		t.Fatalf("stopped: %+v", got)
	}
	if _, err := os.Lstat(s.config.Seat.Profile(site)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the profile is still there: %v", err)
	}
	events, err := os.ReadFile(filepath.Join(s.config.Seat.State(), "events.ndjson"))
	if err != nil || strings.Count(string(events), `"removed"`) != 1 {
		t.Errorf("events: %s, %v", events, err)
	}
	if len(s.wishes()) != 0 || len(s.open) != 0 {
		t.Errorf("left: wishes %v, open %v", s.wishes(), s.open)
	}
	if got := rm(); got == nil || got.Code != string(fault.Usage) {
		t.Errorf("no profile: %+v", got)
	}
}

// TestOlderMajorIsRefused: by what profile.json says, before anything runs, in one line; the record stays as it is.
func TestOlderMajorIsRefused(t *testing.T) {
	s, site := stored(t)
	last := seat.Profile{Chrome: "/usr/lib/chromium/chromium", Name: "Chromium", Version: "141.0.1.2", Major: 141}
	if err := s.config.Seat.SetRecord(site, last); err != nil {
		t.Fatal(err)
	}
	older := browser.Binary{Path: last.Chrome, Name: "Chromium", Version: "140.9.9.9", Major: 140}
	err := s.profile(site).checkVersion(older, func(string) {})
	if fault.Of(err) != fault.Denied || strings.Contains(err.Error(), "\n") {
		t.Fatalf("an older major: %v", err)
	}
	for _, word := range []string{"140.9.9.9", "141.0.1.2", "older"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if now, err := s.config.Seat.Record(site); err != nil || now != last {
		t.Errorf("the record is %+v, %v", now, err)
	}
}
