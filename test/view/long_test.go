//go:build long

package view_test

import (
	"testing"
	"time"

	"github.com/5dive/browser/test/line"
)

// Case V04 with the real times: the person's network vanishes without a goodbye. The service lets go of the client within 90 s, and 2
// minutes later of the view; then the seat is free for a new link.
func TestHole(t *testing.T) {
	each(t, []part{{"hole", func(desktop *guest) {
		p, l := desktop.g.afar(desktop.t)
		v := p.g.mint(p.t)
		p.enter(v.Link)
		p.visit("/busy")
		l.Set(line.Shape{Hole: true})
		begun := time.Now()
		p.waits("viewer_ws_closed", v.View, 95*time.Second)
		p.t.Logf("the client is gone after %v", time.Since(begun).Round(time.Second))
		p.waits("viewer_expired", v.View, 130*time.Second)
		p.t.Logf("the view has ended after %v", time.Since(begun).Round(time.Second))
		p.row("served", "none")
		desktop.enter(p.g.mint(p.t).Link)
	}}})
}

// waits holds the seat to an event of a view, by its journal.
func (p *guest) waits(name, view string, within time.Duration) {
	p.t.Helper()
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	for late := time.After(within); len(p.g.journal(p.t, name, view)) == 0; {
		select {
		case <-again.C:
		case <-late:
			p.t.Fatalf("no %s within %v", name, within)
		}
	}
}
