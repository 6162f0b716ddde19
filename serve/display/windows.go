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

// PressReturn presses and releases Return in the window that has the focus: the answer "yes" to a dialog that keeps
// Chrome from ending.
func (d *Display) PressReturn() error { return d.tap(keysymReturn) }

// CloseTab presses and releases Ctrl+W, which closes the tab in front, in the window that has the focus.
func (d *Display) CloseTab() error { return d.tap(keysymControlL, 'w') }

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
