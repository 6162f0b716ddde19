package view_test

import (
	"github.com/5dive/browser/test/site"
)

// happened waits for an event of a page, one that match accepts.
func (p *guest) happened(page, kind string, match func(site.Event) bool) {
	p.t.Helper()
	p.must(p.g.site.Wait(soon(p.t), "event "+kind+" of "+page, func() bool {
		for _, e := range p.g.site.Events() {
			if e.Page == page && e.Kind == kind && match(e) {
				return true
			}
		}
		return false
	}))
}

func is(name, value string) func(site.Event) bool {
	return func(e site.Event) bool { return e.Text(name) == value }
}

// popup: a second window of the site, as a sign-in elsewhere opens it, answered and closed.
func popup(p *guest) {
	p.enter(p.g.mint(p.t).Link)
	for _, answer := range []string{"allow", "deny"} {
		p.visit("/popup")
		p.click("/popup", "open")
		p.still("/consent")
		p.shot("popup")
		p.click("/consent", answer)
		p.happened("/popup", "popup", is("answer", answer))
		p.awake("/popup")
		p.g.site.Forget()
	}
}

// choose: the list of a native select is a window of its own, by keyboard and by mouse.
func choose(p *guest) {
	p.enter(p.g.mint(p.t).Link)
	p.visit("/select")
	p.must(p.Type(" ")) // opens the list
	p.must(p.Chord(0, keyDown))
	p.must(p.Chord(0, keyDown))
	p.must(p.Type("\r"))
	p.happened("/select", "choice", is("value", "south"))
	p.visit("/select")
	x, y := p.place("/select", "pier")
	below := p.picture(x-30, y+25, 60, 100)
	p.must(p.ClickScreen(x, y))
	p.must(p.Await("the list", `(`+below.js+`) !== `+below.now, long))
	p.shot("list")
	p.must(p.ClickScreen(x, y+75))
	p.happened("/select", "choice", func(e site.Event) bool { return e.Text("value") != "north" })
}

// dialogs of the browser itself, which a page opens.
func dialogs(p *guest) {
	p.enter(p.g.mint(p.t).Link)
	for _, d := range []struct{ kind, keys, result string }{
		{"alert", "\r", "undefined"}, {"confirm", "\r", "true"}, {"confirm", "\x1b", "false"}, {"prompt", "Swan\r", "Swan"},
	} {
		p.visit("/dialog")
		p.click("/dialog", d.kind)
		p.happened("/dialog", "dialog-opening", is("kind", d.kind))
		p.shot(d.kind)
		p.must(p.Type(d.keys))
		p.happened("/dialog", "dialog", is("result", d.result))
		p.awake("/dialog")
	}
}
