package view_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/browser"
	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/serve/api"
	"github.com/5dive/browser/test/person"
	"github.com/5dive/browser/test/site"
	"github.com/5dive/browser/test/stage"
)

const (
	profile = "harbour-post.example"
	long    = 60 * time.Second // for a step of a busy machine; nothing is asserted about speed by it
)

// rig is one seat with one VNC server, the site that it logs in to, and the user who is the person.
type rig struct {
	server string
	stage  *stage.Stage
	site   *site.Site
	origin string // of the site
	user   testuser.User
}

// newRig makes a seat whose settings ask for one VNC server; "" leaves it to the default.
func newRig(t *testing.T, server string) *rig {
	t.Helper()
	s, err := stage.New(product)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			log, _ := os.ReadFile(filepath.Join(s.Dir(), ".state", "service.log"))
			t.Logf("service.log:\n%s", log)
		}
		if err := s.End(); err != nil {
			t.Error(err)
		}
	})
	g := &rig{server: server, stage: s, user: testuser.New(t)}
	g.site, g.origin = newSite(t)
	g.verb(t, "ls") // makes the store
	if server != "" {
		g.settings(t, `{"vnc": "`+server+`"}`)
	}
	return g
}

// newSite starts a demo site of its own.
func newSite(t *testing.T) (*site.Site, string) {
	t.Helper()
	s := site.New(site.Config{})
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: s}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	return s, "http://" + l.Addr().String()
}

func (g *rig) settings(t *testing.T, json string) {
	t.Helper()
	path := filepath.Join(g.stage.Dir(), "settings.json")
	if err := os.WriteFile(path, []byte(json), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(path, g.stage.UID, g.stage.GID); err != nil {
		t.Fatal(err)
	}
}

// soon is a context for one step.
func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), long)
	t.Cleanup(cancel)
	return ctx
}

func (g *rig) verb(t *testing.T, words ...string) string {
	t.Helper()
	out, err := g.stage.Verb(soon(t), words...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// serve makes sure that the seat's browser runs; a stopped one opens path.
func (g *rig) serve(t *testing.T, path string) api.ServeResult {
	t.Helper()
	var out api.ServeResult
	if err := g.stage.JSON(soon(t), &out, "serve", profile, "--url="+g.origin+path); err != nil {
		t.Fatal(err)
	}
	return out
}

// mint gives a fresh link; an older view is revoked first.
func (g *rig) mint(t *testing.T, words ...string) api.ViewerResult {
	t.Helper()
	g.verb(t, "viewer-revoke", profile)
	var out api.ViewerResult
	if err := g.stage.JSON(soon(t), &out, append([]string{"viewer", profile, "--bind=local"}, words...)...); err != nil {
		t.Fatal(err)
	}
	if g.server != "" && out.Server != g.server {
		t.Fatalf("the VNC server is %s, want %s", out.Server, g.server)
	}
	return out
}

// ls is the profile's row.
func (g *rig) ls(t *testing.T) api.Profile {
	t.Helper()
	var out api.ListResult
	if err := g.stage.JSON(soon(t), &out, "ls"); err != nil {
		t.Fatal(err)
	}
	for _, p := range out.Profiles {
		if p.Site == profile {
			return p
		}
	}
	t.Fatalf("ls does not show %s: %+v", profile, out)
	return api.Profile{}
}

// guest is the person at work on a page.
type guest struct {
	*person.Person
	t *testing.T
	g *rig
}

// person starts the person's browser; it ends with the test.
func (g *rig) person(t *testing.T, c person.Config) *guest {
	t.Helper()
	chrome, err := browser.Find("")
	if err != nil {
		t.Fatal(err)
	}
	c.Binary, c.Home, c.UID, c.GID = chrome.Path, g.user.Home, g.user.UID, g.user.GID
	if c.Width == 0 {
		c.Width, c.Height = 1280, 860
	}
	p, err := person.New(context.WithoutCancel(t.Context()), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return &guest{Person: p, t: t, g: g}
}

// in gives the same person to a subtest, which keeps a picture when it fails.
func (p *guest) in(t *testing.T) *guest {
	q := &guest{Person: p.Person, t: t, g: p.g}
	t.Cleanup(func() {
		if t.Failed() {
			q.shot("failed")
			q.story()
		}
	})
	return q
}

func (p *guest) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// story tells what the site saw last and what the viewer page said.
func (p *guest) story() {
	all := p.g.site.Events()
	for _, e := range all[max(0, len(all)-40):] {
		delete(e.Detail, "places")
		p.t.Logf("%s %s %s %v", e.Time.Format("05.000"), e.Page, e.Kind, e.Detail)
	}
	if said, err := person.Evaluate[[]string](p.Person, `window.said ?? []`); err == nil {
		p.t.Logf("the page said: %q", said)
	}
}

// listen keeps what the page tells a screen reader, toasts included.
const listen = `window.said = []; for (const id of ["status", "alarm"]) new MutationObserver(() => said.push(document.getElementById(id).textContent))
	.observe(document.getElementById(id), { childList: true, characterData: true, subtree: true })`

// shot keeps a picture where VIEW_SHOTS asks for it.
func (p *guest) shot(name string) {
	dir := os.Getenv("VIEW_SHOTS")
	if dir == "" {
		return
	}
	if err := p.Shot(filepath.Join(dir, strings.ReplaceAll(p.t.Name(), "/", "-")+"-"+name+".png")); err != nil {
		p.t.Log(err)
	}
}

// enter opens a link, presses the button and waits for the remote screen.
func (p *guest) enter(link string) {
	p.t.Helper()
	p.must(p.Visit("about:blank")) // the same address with another fragment would not load
	p.must(p.Visit(link))
	eval[any](p, listen)
	p.must(p.Press("#enter"))
	p.must(p.Connected())
}

// eval asks the viewer page.
func eval[T any](p *guest, js string) T {
	p.t.Helper()
	v, err := person.Evaluate[T](p.Person, js)
	p.must(err)
	return v
}
