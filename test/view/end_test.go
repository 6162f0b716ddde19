package view_test

import (
	"github.com/5dive/browser/test/site"
)

// cancel ends the view and leaves the browser as it is.
func cancel(p *guest) {
	p.enter(p.g.mint(p.t).Link)
	p.must(p.Press("#cancel"))
	p.must(p.Press("#sure-yes"))
	p.ended("The view is closed")
	p.row("served", "none")
	p.enter(p.g.mint(p.t).Link)
}

// revoke: the page sees that the link was taken back, without being asked.
func revoke(p *guest) {
	p.enter(p.g.mint(p.t).Link)
	p.g.verb(p.t, "viewer-revoke", profile)
	p.ended("The view was ended from the box")
	p.row("served", "none")
	p.enter(p.g.mint(p.t).Link)
}

// done saves the login although the page asks whether to leave, and shows the answer. The next browser has the login.
func done(p *guest) {
	p.enter(p.g.mint(p.t).Link)
	path, _ := p.g.site.Enter(true)
	p.visit("/login")
	p.goTo(path)
	if _, err := p.g.site.WaitRequest(soon(p.t), "the account", func(r site.Request) bool { return r.Path == "/account" && r.Session && r.Kept }); err != nil {
		p.t.Fatal(err)
	}
	p.settled("/account")
	p.visit("/beforeunload")
	p.click("/beforeunload", "letter")
	p.must(p.Type("not sent yet"))
	p.happened("/beforeunload", "guard", func(site.Event) bool { return true })
	p.must(p.Press("#done"))
	state, err := p.Read("#ended-state", long)
	p.must(err)
	saved, err := p.Read("#ended-saved", long)
	p.must(err)
	p.shot("ended")
	if saved != "Yes, on the box" || state != "UNKNOWN (no probe has run)" {
		p.t.Errorf("the page says %q, saved %q", state, saved)
	}
	p.row("stopped", "none")
	p.g.site.Forget()
	p.g.serve(p.t, "/account")
	r, err := p.g.site.WaitRequest(soon(p.t), "the account or the login page", func(r site.Request) bool { return r.Path == "/account" || r.Path == "/login" })
	p.must(err)
	if r.Path != "/account" || !r.Session || !r.Kept {
		p.t.Errorf("after Done the site sees %s, session cookie %t, kept cookie %t", r.Path, r.Session, r.Kept)
	}
	p.enter(p.g.mint(p.t).Link)
}

// ended waits for the card of the end, with its title.
func (p *guest) ended(title string) {
	p.t.Helper()
	got, err := p.Read("#ended-title", long)
	p.must(err)
	if got != title {
		p.t.Errorf("the page says %q, want %q", got, title)
	}
}

// row holds ls to what it says about the profile.
func (p *guest) row(held, viewer string) {
	p.t.Helper()
	if row := p.g.ls(p.t); row.Held != held || row.Viewer != viewer {
		p.t.Errorf("ls says held %s, viewer %s, want %s and %s", row.Held, row.Viewer, held, viewer)
	}
}
