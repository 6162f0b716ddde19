package view_test

import "strings"

// password has 40 characters, with every sign of ASCII that a keyboard has besides letters and digits.
const password = `aZ0!"#$%&'()*+,-./:;<=>?@[\]^_` + "`" + `{|}~ qY9x`

const signs = `Pä€中🙂@~^` + "`" + `ñ`

// typing: key by key through noVNC, into a field that hides what it holds and into one that does not.
func typing(p *guest) {
	if len(password) != 40 {
		p.t.Fatalf("the password has %d characters", len(password))
	}
	p.enter(p.g.mint(p.t, "--note=typing").Link)
	p.visit("/type?keys")
	p.shot("desktop")
	for _, field := range []string{"password", "one", "nopaste"} {
		p.focus(field)
		p.must(p.Type(password))
		p.holds(field, password)
	}
	p.focus("many")
	p.must(p.Type("first line\rsecond line\r\rfourth"))
	p.holds("many", "first line\nsecond line\n\nfourth")
	p.shot("typed")
}

// text: the box of the page, for what no keyboard has.
func text(p *guest) {
	p.enter(p.g.mint(p.t).Link)
	p.visit("/type?keys")
	p.focus("one")
	p.must(p.SendText(signs, false))
	p.holds("one", signs)
	p.focus("many")
	lines := strings.Join([]string{"Liebe Mira,", "", "das Päckchen kostet 4,50 €.", "名前: 🐚 👩‍🚀", "\tñandú"}, "\n")
	p.must(p.SendText(lines, true))
	p.holds("many", lines)
	p.focus("nopaste") // refuses to be pasted into: it has to be typed
	p.must(p.SendTyped(signs))
	p.holds("nopaste", signs)
}

// paste: Ctrl+V on the screen.
func paste(p *guest) {
	link := p.g.mint(p.t).Link
	p.enter(link)
	p.visit("/type?keys")
	origin := link[:strings.Index(link, "/v/")]
	for _, text := range []string{signs, "the newer text, at the first Ctrl+V"} {
		p.focus("one")
		p.must(p.Chord(ctrl, keyA))
		p.must(p.Copy(origin, text))
		p.must(p.Paste())
		p.holds("one", text)
	}
	p.must(p.Type("!"))
	p.holds("one", "the newer text, at the first Ctrl+V!")
}
