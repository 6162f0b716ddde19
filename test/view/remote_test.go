package view_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/test/site"
)

// This file is what the person does to the page in the remote browser, seen from the viewer page.

// screenSize is the size of the remote screen as the viewer page has it.
func (p *guest) screenSize() (width, height int) {
	p.t.Helper()
	type size struct{ W, H int }
	s := eval[size](p, `(c => ({ W: c.width, H: c.height }))(document.querySelector("#screen canvas"))`)
	return s.W, s.H
}

// about is the newest that a page of the site told about itself.
func (g *rig) about(page string) (site.Event, bool) {
	all := g.site.Events()
	for _, e := range slices.Backward(all) {
		if e.Page == page && e.Detail["places"] != nil {
			return e, true
		}
	}
	return site.Event{}, false
}

// settled waits until a page has painted and fills the remote screen as it is now: the window follows each change of the size.
func (p *guest) settled(page string) site.Event {
	p.t.Helper()
	var at site.Event
	settled := func() bool {
		e, ok := p.g.about(page)
		if !ok || p.g.painted(page) == 0 {
			return false
		}
		w, h := p.screenSize()
		at = e
		return e.Number("outerWidth") == w && e.Number("outerHeight") == h
	}
	if !until(p.t, settled) {
		w, h := p.screenSize()
		p.t.Fatalf("page %s did not come to fill the screen; that is %dx%d, the page told %v", page, w, h, at.Detail)
	}
	return at
}

// still waits until a window of its own, a popup, has painted and is where it stays: the window manager moves it after it is shown.
func (p *guest) still(page string) {
	p.t.Helper()
	var at site.Event
	var since time.Time
	if !until(p.t, func() bool {
		e, ok := p.g.about(page)
		if !ok || p.g.painted(page) == 0 {
			return false
		}
		if !e.Time.Equal(at.Time) {
			at, since = e, time.Now()
		}
		return time.Since(since) > 500*time.Millisecond
	}) {
		p.t.Fatalf("page %s did not come to rest", page)
	}
}

// awake waits until a page has the focus and keeps it: a window that closes hands it on in several steps, and keys that are pressed
// between them go nowhere.
func (p *guest) awake(page string) {
	p.t.Helper()
	if !until(p.t, func() bool {
		for _, e := range slices.Backward(p.g.site.Events()) {
			if e.Page == page && (e.Kind == "focus" || e.Kind == "blur") {
				return e.Kind == "focus" && time.Since(e.Time) > 500*time.Millisecond
			}
		}
		return true // it was never lost
	}) {
		p.t.Fatalf("page %s did not get the focus", page)
	}
}

// until asks again and again, for what neither the site nor the page tells by itself; false when it takes too long.
func until(t *testing.T, ok func() bool) bool {
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	for late := soon(t).Done(); !ok(); {
		select {
		case <-again.C:
		case <-late:
			return false
		}
	}
	return true
}

// visit opens a page of the site in the remote browser, by its address bar.
func (p *guest) visit(path string) {
	p.t.Helper()
	p.g.site.Forget()
	p.goTo(path)
	page, _, _ := strings.Cut(path, "?")
	p.settled(page)
}

// goTo types an address of the site into the remote browser and does not wait for anything.
func (p *guest) goTo(path string) {
	p.t.Helper()
	before := p.g.count("blur", "")
	p.must(p.Chord(ctrl, keyL))
	// Chrome hands Ctrl+L to the page first: what is typed before the page has answered goes into the page, on any desktop.
	p.must(p.g.site.Wait(soon(p.t), "the focus leave the page", func() bool { return p.g.count("blur", "") > before }))
	p.must(p.Type(strings.TrimPrefix(p.g.origin, "http://") + path))
	p.must(p.Chord(0, keyDelete)) // what the address bar would add by itself
	p.must(p.Type("\r"))
}

// click clicks on an element of the page, by its id.
func (p *guest) click(page, id string) {
	p.t.Helper()
	x, y := p.place(page, id)
	p.must(p.ClickScreen(x, y))
}

func (p *guest) place(page, id string) (x, y int) {
	p.t.Helper()
	e, ok := p.g.about(page)
	if !ok {
		p.t.Fatalf("page %s told nothing about itself", page)
	}
	if x, y, ok = e.Place(id); !ok {
		p.t.Fatalf("page %s has no #%s", page, id)
	}
	return x, y
}

// focus clicks into a field of /type and waits until the page saw that.
func (p *guest) focus(id string) {
	p.t.Helper()
	before := p.g.clicks(id)
	p.click("/type", id)
	p.must(p.g.site.Wait(soon(p.t), "a click on "+id, func() bool { return p.g.clicks(id) > before }))
}

func (g *rig) painted(page string) (n int) {
	for _, e := range g.site.Events() {
		if e.Kind == "painted" && e.Page == page {
			n++
		}
	}
	return n
}

func (g *rig) clicks(id string) (n int) {
	for _, e := range g.site.Events() {
		if e.Kind == "click" && e.Text("id") == id {
			n++
		}
	}
	return n
}

func (g *rig) count(kind, name string) (n int) {
	for _, e := range g.site.Events() {
		if e.Kind == kind && (name == "" || e.Text("name") == name) {
			n++
		}
	}
	return n
}

// holds waits until a field of /type holds text. The text is a secret as far as logs go: it is not repeated.
func (p *guest) holds(field, text string) {
	p.t.Helper()
	if err := p.g.site.WaitField(soon(p.t), field, text); err != nil {
		got := p.g.site.Fields()[field]
		p.t.Fatalf("%v: it holds %d characters, want %d; first difference at %d: got %.40q, want %.40q", err,
			len([]rune(got)), len([]rune(text)), common(got, text), after(got, common(got, text)), after(text, common(got, text)))
	}
}

func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func after(s string, n int) string { return s[min(n, len(s)):] }

// patch is a piece of the remote screen: an expression that sums it up, and what that is now.
type patch struct{ js, now string }

func (p *guest) picture(x, y, width, height int) patch {
	p.t.Helper()
	js := fmt.Sprintf(`document.querySelector("#screen canvas").getContext("2d").getImageData(%d, %d, %d, %d).data.reduce((sum, b) => (sum * 31 + b) %% 1000000007, 7)`, x, y, width, height)
	return patch{js, strconv.Itoa(eval[int](p, js))}
}
