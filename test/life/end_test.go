//go:build e2e

package life_test

import (
	"testing"
	"time"

	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/serve"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/scene"
	"github.com/5dive/browser/test/site"
)

// Done pressed while the site still answers the login: Chrome forgets that it was told to end when a page replaces the one that it has
// just asked, in about half of these moments. The browser ends by itself all the same and the login is kept.
func TestDoneWhileLoading(t *testing.T) {
	s := scene.New(t)
	for _, pause := range []time.Duration{0, 10 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond} {
		s.Site.Forget()
		s.Serve("/login")
		if _, err := s.Site.WaitEvent(scene.Limit(t, time.Minute), "/login", "painted"); err != nil {
			t.Fatal(err)
		}
		token := types(s, s.Site.Name+"\t"+s.Site.Password+"\r")
		if _, err := s.Site.WaitRequest(scene.Limit(t, time.Minute), "the account", func(r site.Request) bool { return r.Path == "/account" }); err != nil {
			t.Fatal(err)
		}
		time.Sleep(pause) // it is the moment that is tried
		saves(s, token)
		s.Site.Forget()
		s.Serve("/account")
		s.Account(true)
		s.Stop()
		s.Site.SignOutAll()
	}
}

// A browser that asks before it ends is answered: a page with an unsaved letter, a download under way.
func TestDoneAnswers(t *testing.T) {
	s := scene.New(t)
	s.SignIn(true)
	s.Stop()
	for _, c := range []struct{ page, keys, event string }{{"/beforeunload", "dear", "guard"}, {"/slow.bin", "", ""}} {
		s.Site.Forget()
		s.Serve(c.page)
		if _, err := s.Site.WaitRequest(scene.Limit(t, time.Minute), c.page, func(r site.Request) bool { return r.Path == c.page }); err != nil {
			t.Fatal(err)
		}
		if c.event != "" {
			if _, err := s.Site.WaitEvent(scene.Limit(t, time.Minute), c.page, "painted"); err != nil {
				t.Fatal(err)
			}
		}
		token := types(s, c.keys)
		if c.event != "" {
			if _, err := s.Site.WaitEvent(scene.Limit(t, time.Minute), c.page, c.event); err != nil {
				t.Fatal(err)
			}
		}
		saves(s, token)
	}
	s.Site.Forget()
	s.Serve("/account")
	s.Account(true)
}

// types opens a view, keeps its picture coming as a page does, and types.
func types(s *scene.Scene, keys string) secret.Text {
	s.T.Helper()
	token, client, conn := s.Look()
	go func() {
		for buffer := make([]byte, 1<<16); ; {
			if _, err := client.Stream.Read(buffer); err != nil {
				return
			}
		}
	}()
	s.T.Cleanup(func() { conn.Close() })
	for _, c := range keys {
		sym := uint32(c)
		switch c {
		case '\t':
			sym = 0xff09
		case '\r':
			sym = 0xff0d
		}
		for _, down := range []bool{true, false} {
			if err := client.Key(sym, down); err != nil {
				s.T.Fatal(err)
			}
		}
	}
	return token
}

// saves presses Done and holds the answer to a browser that ended by itself.
func saves(s *scene.Scene, token secret.Text) {
	s.T.Helper()
	var r api.DoneResult
	if err := s.Client(serve.RoleRelay).CallView(scene.Limit(s.T, 2*time.Minute), api.PathDone, token.Reveal(), struct{}{}, &r, nil); err != nil {
		s.T.Fatal(err)
	}
	if !r.Saved {
		s.T.Errorf("after Done: %+v", r)
	}
}
