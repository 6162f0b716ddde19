package life_test

import (
	"fmt"
	"os/exec"
	"strings"
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
		happens(s, "/login", "painted")
		token := types(s, s.Site.Name+"\t"+s.Site.Password+"\r")
		asked(s, "/account")
		time.Sleep(pause) // it is the moment that is tried
		saves(s, token)
		s.Site.Forget()
		s.Serve("/account")
		s.Account(true)
		s.Stop()
		s.Site.SignOutAll()
	}
}

// A browser that asks before it ends is answered: a page with an unsaved letter, a download under way, both, and an open file chooser.
func TestDoneAnswers(t *testing.T) {
	s := scene.New(t)
	s.SignIn(true)
	s.Stop()
	letter := func(more string) func(*scene.Scene) secret.Text {
		return func(s *scene.Scene) secret.Text {
			happens(s, "/beforeunload", "painted")
			token := types(s, "dear"+more)
			happens(s, "/beforeunload", "guard")
			return token
		}
	}
	for name, c := range map[string]struct {
		page string
		act  func(*scene.Scene) secret.Text
		then func(*scene.Scene)
	}{
		"letter":   {"/beforeunload", letter(""), nil},
		"download": {"/slow.bin", func(s *scene.Scene) secret.Text { return types(s, "") }, nil},
		"both":     {"/beforeunload", letter("\t\r"), func(s *scene.Scene) { asked(s, "/slow.bin") }},
		"chooser":  {"/beforeunload", letter("\t\t "), func(s *scene.Scene) { windows(s, 2) }},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.In(t)
			s.Site.Forget()
			s.Serve(c.page)
			asked(s, c.page)
			token := c.act(s)
			if c.then != nil {
				c.then(s)
			}
			saves(s, token)
		})
	}
	s.Site.Forget()
	s.Serve("/account")
	s.Account(true)
}

func happens(s *scene.Scene, page, event string) {
	s.T.Helper()
	if _, err := s.Site.WaitEvent(scene.Limit(s.T, time.Minute), page, event); err != nil {
		s.T.Fatal(err)
	}
}

func asked(s *scene.Scene, path string) {
	s.T.Helper()
	if _, err := s.Site.WaitRequest(scene.Limit(s.T, time.Minute), path, func(r site.Request) bool { return r.Path == path }); err != nil {
		s.T.Fatal(err)
	}
}

// windows waits until the display has so many.
func windows(s *scene.Scene, want int) {
	s.T.Helper()
	scene.Until(s.T, time.Minute, "the window", func() bool {
		cmd := exec.Command("xprop", "-display", fmt.Sprintf("unix:%d", s.Display()), "-root", "_NET_CLIENT_LIST")
		cmd.Env = []string{"XAUTHORITY=" + s.Authority()}
		out, err := cmd.Output()
		return err == nil && strings.Count(string(out), "0x") >= want
	})
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
