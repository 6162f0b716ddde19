package display

import (
	"context"

	"github.com/5dive/browser/internal/fault"
	"github.com/jezek/xgb"
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
	windows, err := d.windowList("_NET_CLIENT_LIST", xproto.AtomWindow)
	if err != nil {
		return false, err
	}
	for _, w := range windows {
		if d.watch(w, xproto.EventMaskStructureNotify) != nil {
			continue // gone meanwhile
		}
		if a, err := xproto.GetWindowAttributes(d.link.x, w).Reply(); err == nil && a.MapState == xproto.MapStateViewable {
			return true, nil
		}
	}
	return false, nil
}

// windowList reads a list of windows from a property of the root window.
func (d *Display) windowList(property string, kind xproto.Atom) ([]xproto.Window, error) {
	atom, err := d.link.atom(property)
	if err != nil {
		return nil, err
	}
	reply, err := xproto.GetProperty(d.link.x, false, d.link.root, atom, kind, 0, 1024).Reply()
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot read %s of the display: %w", property, err)
	}
	var list []xproto.Window
	for b := reply.Value; len(b) >= 4; b = b[4:] {
		list = append(list, xproto.Window(xgb.Get32(b)))
	}
	return list, nil
}

func (d *Display) watch(w xproto.Window, mask uint32) error {
	err := xproto.ChangeWindowAttributesChecked(d.link.x, w, xproto.CwEventMask, []uint32{mask}).Check()
	if err != nil {
		return fault.New(fault.Failed, "cannot watch a window of the display: %w", err)
	}
	return nil
}

// PressReturn presses and releases Return in the window that has the focus: the answer "yes" to a dialog that keeps
// Chrome from ending.
func (d *Display) PressReturn() error {
	keys, err := readKeymap(d.link)
	if err != nil {
		return err
	}
	place, ok := keys.find(keysymReturn)
	if !ok {
		return fault.New(fault.Failed, "cannot press Return: the keyboard of the display has none")
	}
	if err := d.link.press(place.code, true); err != nil {
		return err
	}
	return d.link.press(place.code, false)
}
