package person

import (
	"errors"
	"strconv"
	"time"

	"github.com/chromedp/chromedp"
)

// SendText uses the page's own box for text.
func (p *Person) SendText(text string, several bool) error { return p.send(text, several, false) }

// SendTyped uses the box with "Type it key by key".
func (p *Person) SendTyped(text string) error { return p.send(text, false, true) }

// Refused gives the words with which the box for text says no.
func (p *Person) Refused(text string) (string, error) {
	if err := p.fill(text, true, false); err != nil {
		return "", err
	}
	said, err := p.Read("#text-error", time.Minute)
	if err != nil {
		return "", err
	}
	return said, p.Press("#text-close")
}

func (p *Person) send(text string, several, typed bool) error {
	if err := p.fill(text, several, typed); err != nil {
		return err
	}
	return p.Await("the box to be closed", `document.querySelector("#text").hidden`, time.Minute)
}

// fill opens the box, sets its two ticks, puts the text in and presses Send. The text goes in as a paste does, at once.
func (p *Person) fill(text string, several, typed bool) error {
	if err := p.Press("#tool-text"); err != nil {
		return err
	}
	for id, on := range map[string]bool{"text-many": several, "text-typed": typed} {
		if is, err := Evaluate[bool](p, `document.getElementById("`+id+`").checked`); err != nil {
			return err
		} else if is != on {
			if err := p.Press("#" + id); err != nil {
				return err
			}
		}
	}
	field := map[bool]string{false: "#text-line", true: "#text-lines"}[several]
	ctx, cancel := p.within(time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.WaitVisible(chromedp.CSS(field)), chromedp.Focus(chromedp.CSS(field))); err != nil {
		return errors.New("cannot find the box for text")
	}
	if err := p.Insert(text); err != nil {
		return err
	}
	if err := p.Await("the text in the box", `document.querySelector("`+field+`").value.length === `+strconv.Itoa(units(text)), time.Minute); err != nil {
		return err
	}
	return p.Press("#text-send")
}

// units is the length of a text as JavaScript counts it.
func units(text string) (n int) {
	for _, r := range text {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}
