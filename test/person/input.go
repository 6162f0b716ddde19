package person

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// point is a place in the page, in CSS pixels.
type point struct{ X, Y float64 }

// onPage tells where in the page a point of the remote screen is shown.
func (p *Person) onPage(x, y int) (point, error) {
	at, err := Evaluate[point](p, `(() => { const c = document.querySelector("#screen canvas"), r = c.getBoundingClientRect();
		return { X: r.left + (`+strconv.Itoa(x)+` + 0.5) * r.width / c.width, Y: r.top + (`+strconv.Itoa(y)+` + 0.5) * r.height / c.height } })()`)
	if err != nil {
		return at, fmt.Errorf("cannot find the remote screen: %w", err)
	}
	return at, nil
}

// ClickScreen clicks on the remote screen, at a point of the screen's own pixels.
func (p *Person) ClickScreen(x, y int) error {
	at, err := p.onPage(x, y)
	if err != nil {
		return err
	}
	ctx, cancel := p.within(20 * time.Second)
	defer cancel()
	return chromedp.Do(ctx, chromedp.MouseClickXY(at.X, at.Y))
}

// TapScreen touches the remote screen with a finger, for a short while.
func (p *Person) TapScreen(x, y int) error {
	at, err := p.onPage(x, y)
	if err != nil {
		return err
	}
	return p.touch(&input.TouchPoint{X: at.X, Y: at.Y})
}

// touch puts a finger down and takes it up again.
func (p *Person) touch(at *input.TouchPoint) error {
	send := func(kind input.DispatchTouchEventType, points ...*input.TouchPoint) error {
		return p.do(func(ctx context.Context) error {
			_, err := chromedp.Call(ctx, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
			return err
		})
	}
	return errors.Join(send(input.DispatchTouchEventTypeTouchStart, at), send(input.DispatchTouchEventTypeTouchEnd))
}

// do runs something that speaks to the page's target.
func (p *Person) do(what func(context.Context) error) error {
	ctx, cancel := p.within(20 * time.Second)
	defer cancel()
	return chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error { return what(ctx) }))
}

// Insert enters text as a phone's keyboard does: all at once, with no key for it.
func (p *Person) Insert(text string) error {
	err := p.do(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return err
	})
	if err != nil {
		return errors.New("cannot enter text into the page") // the cause might repeat it
	}
	return nil
}

// Key is one key of a keyboard. Its names are those of KeyboardEvent.
type Key struct {
	Name, Code string
	Virtual    int64    // Windows virtual key code
	Commands   []string // of the editor, which a headless browser does not derive from the key
}

// Modifiers of Chord.
const (
	Alt   = 1
	Ctrl  = 2
	Shift = 8
)

var modifierKeys = []struct {
	bit int64
	key Key
}{
	{Alt, Key{Name: "Alt", Code: "AltLeft", Virtual: 18}},
	{Ctrl, Key{Name: "Control", Code: "ControlLeft", Virtual: 17}},
	{Shift, Key{Name: "Shift", Code: "ShiftLeft", Virtual: 16}},
}

// Chord presses a key while modifiers are held, with no wait between the events.
func (p *Person) Chord(modifiers int64, k Key) error {
	held := int64(0)
	for _, m := range modifierKeys {
		if modifiers&m.bit != 0 {
			held |= m.bit
			if err := p.event(input.DispatchKeyEventTypeRawKeyDown, m.key, held); err != nil {
				return err
			}
		}
	}
	err := errors.Join(p.event(input.DispatchKeyEventTypeRawKeyDown, k, held), p.event(input.DispatchKeyEventTypeKeyUp, Key{Name: k.Name, Code: k.Code, Virtual: k.Virtual}, held))
	for i := len(modifierKeys) - 1; i >= 0; i-- {
		if m := modifierKeys[i]; held&m.bit != 0 {
			held &^= m.bit
			err = errors.Join(err, p.event(input.DispatchKeyEventTypeKeyUp, m.key, held))
		}
	}
	return err
}

func (p *Person) event(kind input.DispatchKeyEventType, k Key, held int64) error {
	return p.do(func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: kind, Key: k.Name, Code: k.Code,
			WindowsVirtualKeyCode: k.Virtual, Modifiers: held, Commands: k.Commands})
		return err
	})
}

// Copy puts text on the clipboard of the person's own browser. origin is that of the page that is open.
func (p *Person) Copy(origin, text string) error {
	ctx, cancel := p.within(20 * time.Second)
	defer cancel()
	_, err := chromedp.CallBrowser(ctx, browser.SetPermission, browser.SetPermissionParams{Origin: origin,
		Permission: &browser.PermissionDescriptor{Name: "clipboard-write"}, Setting: browser.PermissionSettingGranted})
	if err != nil {
		return fmt.Errorf("cannot allow the clipboard: %w", err)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		return errors.New("cannot quote the text")
	}
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](`navigator.clipboard.writeText(`+string(quoted)+`).then(() => true)`, chromedp.EvalAwaitPromise)); err != nil {
		return errors.New("cannot write the clipboard")
	}
	return nil
}

// Paste presses Ctrl+V.
func (p *Person) Paste() error {
	return p.Chord(Ctrl, Key{Name: "v", Code: "KeyV", Virtual: 86, Commands: []string{"paste"}})
}
