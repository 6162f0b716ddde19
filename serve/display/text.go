package display

import (
	"context"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/secret"
)

// How Text brought a text to the page.
const (
	Pasted = "pasted"
	Typed  = "typed"
)

const (
	// MaxText is the longest text in bytes. It goes in one X request, whose limit is 256 KiB.
	MaxText = 200 << 10
	// Chromium asks for the text twice and for its targets up to 15 times, the last 0.1 s after the first.
	pasteQuiet = 300 * time.Millisecond
	pasteWait  = time.Second
)

// Text brings a text into the field that has the focus, all keys released before: by the clipboard and Control+V, or, if
// nothing asks for the clipboard within a second or typed is set, key by key. It returns which way it went. Newlines are
// Return only when typed. The clipboard is empty afterwards. The text is at most MaxText bytes of UTF-8 without
// control characters but newline and tab, else fault.Usage; no error holds any of it.
func (in *Input) Text(ctx context.Context, text secret.Text, typed bool) (way string, err error) {
	if err := checkText(text.Reveal()); err != nil {
		return "", err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.follow(); err != nil {
		return "", err
	}
	if err := in.keys.releaseAll(); err != nil {
		return "", err
	}
	if !typed {
		pasted, err := in.paste(ctx, text)
		if err != nil || pasted {
			return Pasted, err
		}
	}
	return Typed, in.typeText(ctx, text)
}

func checkText(text string) error {
	switch {
	case len(text) > MaxText:
		return fault.New(fault.Usage, "cannot enter the text: it is longer than %d bytes", MaxText)
	case !utf8.ValidString(text):
		return fault.New(fault.Usage, "cannot enter the text: it is not UTF-8")
	}
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			return fault.New(fault.Usage, "cannot enter the text: it holds a control character")
		}
	}
	return nil
}

// paste offers the text, presses Control+V and keeps the offer until nobody asked for a while.
func (in *Input) paste(ctx context.Context, text secret.Text) (bool, error) {
	if err := in.offer.make(in.link, text.Reveal()); err != nil {
		return false, err
	}
	defer in.offer.withdraw(in.link)
	if err := in.chord(keysymControlL, 'v'); err != nil {
		return false, err
	}
	return in.offer.await(ctx, in.link)
}

// await returns true when the text was taken and nobody has asked for pasteQuiet, false when nobody took it in time.
func (o *offer) await(ctx context.Context, l *link) (bool, error) {
	deadline := time.Now().Add(pasteWait)
	for {
		o.mu.Lock()
		next, served, asked, held := o.pulse.next(), o.served, o.asked, o.text != nil
		o.mu.Unlock()
		until := deadline
		if served {
			until = asked.Add(pasteQuiet)
		}
		if !held || !time.Now().Before(until) {
			return served, nil
		}
		timer := time.NewTimer(time.Until(until))
		select {
		case <-next:
		case <-timer.C:
		case <-l.done:
			return false, fault.New(fault.Failed, "cannot enter the text: the display ended")
		case <-ctx.Done():
			return false, cause(ctx, "enter the text")
		}
		timer.Stop()
	}
}

// chord presses a modifier and a key and releases both.
func (in *Input) chord(mod, sym uint32) error {
	for _, step := range []struct {
		sym  uint32
		down bool
	}{{mod, true}, {sym, true}, {sym, false}, {mod, false}} {
		if err := in.keys.key(step.sym, step.down); err != nil {
			return err
		}
	}
	return nil
}

// typeText presses and releases a key for each character.
func (in *Input) typeText(ctx context.Context, text secret.Text) error {
	var last rune
	for _, r := range text.Reveal() {
		if ctx.Err() != nil {
			return cause(ctx, "enter the text")
		}
		crlf := last == '\r' && r == '\n'
		last = r
		if crlf {
			continue
		}
		sym := keysymOf(r)
		if err := in.keys.key(sym, true); err != nil {
			return err
		}
		if err := in.keys.key(sym, false); err != nil {
			return err
		}
	}
	return nil
}
