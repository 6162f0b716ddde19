package relay

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

// Every state of the page, on a phone and on a desktop, passes axe-core.
func TestPageStates(t *testing.T) {
	browser := chrome(t)
	for _, s := range []shape{desktop, phone} {
		t.Run(s.name, func(t *testing.T) {
			t.Run("refused", func(t *testing.T) { refusedStates(t, newTab(t, browser, s)) })
			t.Run("open", func(t *testing.T) { openStates(t, newTab(t, browser, s)) })
			t.Run("ended", func(t *testing.T) { endedStates(t, newTab(t, browser, s), s) })
			t.Run("dark", func(t *testing.T) { darkStates(t, newTab(t, browser, s)) })
		})
	}
}

func refusedStates(t *testing.T, b *tab) {
	g := newRig(t, "", nil)
	b.do(chromedp.Navigate(g.view()))
	b.card("refused")
	b.axe("half-link")
	b.do(chromedp.Navigate(g.link() + "%22."))
	b.card("refused")
	b.axe("cut-link")
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(g.link()))
	b.card("before")
	b.axe("before")
	g.seat.refusal = fault.New(fault.Busy, "a person is at the viewer of linkedin.com").Try("5dive browser viewer-revoke linkedin.com")
	b.do(chromedp.Click(chromedp.CSS("#enter")))
	b.wait(`!document.getElementById("before-error").hidden`)
	b.axe("busy")
	g.seat.change(func() { g.seat.spent = true })
	b.do(chromedp.Click(chromedp.CSS("#enter")))
	b.card("refused")
	b.axe("spent")
	b.quiet()
}

func openStates(t *testing.T, b *tab) {
	g := newRig(t, "", nil)
	b.open(g)
	g.seat.wait(t, "the size of the pane", func() bool { return len(g.seat.sizes) > 0 })
	b.connected()
	b.axe("open")
	b.do(chromedp.Click(chromedp.CSS("#tool-keys")))
	b.axe("keys")
	b.do(chromedp.Click(chromedp.CSS("#tool-text")))
	b.axe("text")
	b.do(chromedp.Click(chromedp.CSS("#text-many")), chromedp.Click(chromedp.CSS("#text-show")))
	b.do(chromedp.SendKeys(chromedp.CSS("#text-lines"), "Dear all,\nthe release is out."))
	b.axe("text-lines")
	b.do(chromedp.Click(chromedp.CSS("#text-close")), chromedp.Click(chromedp.CSS("#tool-keys")), chromedp.Click(chromedp.CSS("#tool-help")))
	b.axe("help")
	b.do(chromedp.Click(chromedp.CSS("#help-close")), chromedp.Click(chromedp.CSS("#cancel")))
	b.axe("sure")
	b.do(chromedp.Click(chromedp.CSS("#sure-back")))
	g.seat.change(func() { g.seat.dropping = true })
	g.seat.screen.drop()
	b.wait(`document.getElementById("connection").dataset.state === "lost"`)
	b.axe("lost")
	g.seat.change(func() { g.seat.dropping = false })
	b.connected()
	b.quiet()
}

func endedStates(t *testing.T, b *tab, s shape) {
	for _, c := range []struct {
		name   string
		answer api.DoneResult
	}{
		{"authenticated", api.DoneResult{State: "authenticated", Saved: true}},
		{"expired", api.DoneResult{State: "session expired — human action required", Saved: true}},
		{"challenge", api.DoneResult{State: "CHALLENGE — human action required", Saved: true}},
		{"unknown", api.DoneResult{State: "UNKNOWN (no adapter)", Saved: true}},
		{"killed", api.DoneResult{State: "authenticated", Saved: false}},
	} {
		if s.touch && c.name != "authenticated" && c.name != "challenge" {
			continue // the same card with other words
		}
		g := newRig(t, "", nil)
		g.seat.verdict, g.seat.hold = c.answer, make(chan struct{})
		b.open(g)
		b.do(chromedp.Click(chromedp.CSS("#done")))
		b.card("saving")
		b.wait(`document.getElementById("saving-step").textContent === "Closing the browser."`)
		if c.name == "authenticated" {
			b.axe("saving")
		}
		close(g.seat.hold)
		b.card("ended")
		b.axe("done-" + c.name)
		if got := eval[string](b, `document.getElementById("ended-state").textContent`); got != c.answer.State {
			t.Errorf("the page shows %q, want the exact words %q", got, c.answer.State)
		}
	}
	g := newRig(t, "", nil)
	b.open(g)
	b.do(chromedp.Click(chromedp.CSS("#cancel")), chromedp.Click(chromedp.CSS("#sure-yes")))
	b.card("ended")
	b.axe("cancelled")
	g = newRig(t, "", nil)
	b.open(g)
	g.seat.change(func() { g.seat.phase, g.seat.end = "ended", "revoked" })
	g.seat.screen.drop()
	b.card("ended")
	b.axe("revoked")
	b.quiet()
}

func darkStates(t *testing.T, b *tab) {
	b.dark()
	g := newRig(t, "", nil)
	b.do(chromedp.Navigate(g.link()))
	b.card("before")
	b.axe("before")
	b.do(chromedp.Click(chromedp.CSS("#enter")))
	b.connected()
	b.do(chromedp.Click(chromedp.CSS("#tool-text")))
	b.axe("open")
	b.quiet()
}
