package view_test

import (
	"github.com/5dive/browser/test/person"
)

// phone: the page fits a phone, the remote screen takes its shape, and its own keyboard types.
func phone(desktop *guest) {
	p := desktop.g.person(desktop.t, person.Config{Width: 390, Height: 844, Phone: true}).in(desktop.t)
	p.enter(p.g.mint(p.t, "--note=To renew the season ticket").Link)
	p.g.site.Forget()
	p.must(p.Await("a remote screen in the phone's shape", `(c => c.height > c.width)(document.querySelector("#screen canvas"))`, long))
	p.shot("open")
	type shape struct{ Page, Stage, Canvas, Ratio float64 }
	s := eval[shape](p, `(() => { const c = document.querySelector("#screen canvas"), r = c.getBoundingClientRect(), s = document.querySelector("#stage").getBoundingClientRect();
		return { Page: document.documentElement.scrollWidth, Stage: s.height, Canvas: r.height, Ratio: (c.width / c.height) / (s.width / s.height) } })()`)
	if s.Page > 390 {
		p.t.Errorf("the page is %v wide on a phone of 390", s.Page)
	}
	if s.Ratio < 0.97 || s.Ratio > 1.03 || s.Canvas < 0.95*s.Stage {
		p.t.Errorf("the remote screen has not the pane's shape: %+v", s)
	}
	p.visit("/type")
	x, y := p.place("/type", "password")
	p.must(p.TapScreen(x, y))
	p.must(p.g.site.Wait(soon(p.t), "a click on the password", func() bool { return p.g.clicks("password") > 0 }))
	p.must(p.Press("#tool-keyboard"))
	for _, piece := range []string{"aZ", "0!", "ä€", "ñ ", "中", "🙂", "end"} {
		p.must(p.Insert(piece))
	}
	p.must(p.Type("\b"))
	p.holds("password", "aZ0!ä€ñ 中🙂en")
	p.shot("typed")
}
