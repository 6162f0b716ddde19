package display

import (
	"context"

	"github.com/5dive/browser/internal/fault"
	"github.com/jezek/xgb/xproto"
)

// FirstWindow waits until a client's window is on the screen. It returns at once when one is.
func (d *Display) FirstWindow(ctx context.Context) error {
	for {
		next := d.link.pulse.next()
		seen, err := d.windowSeen()
		if err != nil || seen {
			return err
		}
		select {
		case <-next:
		case <-d.link.done:
			return fault.New(fault.Failed, "cannot see a window: the display ended")
		case <-ctx.Done():
			return cause(ctx, "see a window")
		}
	}
}

// windowSeen tells whether one of the windows that openbox manages is viewable, and has each report when it becomes so.
func (d *Display) windowSeen() (bool, error) {
	windows, err := d.link.windowList("_NET_CLIENT_LIST", xproto.AtomWindow)
	if err != nil {
		return false, err
	}
	for _, w := range windows {
		if d.link.watch(w, xproto.EventMaskStructureNotify) != nil {
			continue // gone meanwhile
		}
		if a, err := xproto.GetWindowAttributes(d.link.x, w).Reply(); err == nil && a.MapState == xproto.MapStateViewable {
			return true, nil
		}
	}
	return false, nil
}

// Urge takes one step, counted from 0, towards the end of a Chrome that was asked to end and waits. Chrome draws its questions inside its own
// window, so X does not tell whether there is one; the steps are in an order in which each answers one question and harms no other:
//
//	Ctrl+W       frees a Chrome whose page was replaced while it was asked whether to leave; a dialog ignores it
//	Return       answers "Leave site?"; of "Download is in progress" it chooses to stay
//	close        asks again a Chrome that so chose, and closes a file chooser
//	Tab, Return  chooses "Exit" of "Download is in progress"
func (d *Display) Urge(step int) error {
	switch step % 4 {
	case 0:
		return d.tap(keysymControlL, 'w')
	case 1:
		return d.tap(keysymReturn)
	case 2:
		return d.closeWindows()
	default:
		if err := d.tap(keysymTab); err != nil {
			return err
		}
		return d.tap(keysymReturn)
	}
}

// closeWindows asks every window to close, as its own button does.
func (d *Display) closeWindows() error {
	windows, err := d.link.windowList("_NET_CLIENT_LIST", xproto.AtomWindow)
	if err != nil {
		return err
	}
	kind, err := d.link.atom("_NET_CLOSE_WINDOW")
	if err != nil {
		return err
	}
	for _, w := range windows {
		d.link.tellManager(w, kind, 0, fromPager)
	}
	return nil
}

// tap presses keys one after the other and releases them the other way round.
func (d *Display) tap(syms ...uint32) error {
	keys, err := readKeymap(d.link)
	if err != nil {
		return err
	}
	for _, sym := range syms {
		place, ok := keys.find(sym)
		if !ok {
			return fault.New(fault.Failed, "cannot press key %#x: the keyboard of the display has none", sym)
		}
		if err := d.link.press(place.code, true); err != nil {
			return err
		}
		defer d.link.press(place.code, false)
	}
	return nil
}
