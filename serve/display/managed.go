package display

import (
	"context"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/jezek/xgb/xproto"
)

// askAgain is how often openbox is asked whether it works: what it reads of X before its main loop begins stays lying until
// something else arrives, a window that was to be mapped as well as our question.
const askAgain = 50 * time.Millisecond

// managed waits until openbox does its work: it announces itself (EWMH, _NET_SUPPORTING_WM_CHECK) long before that, so
// it is asked for the size of a frame, which it answers with a property.
func (d *Display) managed(ctx context.Context, wm *child) error {
	window, extents, request, err := d.frameQuestion()
	if err != nil {
		return err
	}
	defer xproto.DestroyWindow(d.link.x, window)
	tick := time.NewTicker(askAgain)
	defer tick.Stop()
	for {
		next := d.link.pulse.next()
		reply, err := xproto.GetProperty(d.link.x, false, window, extents, xproto.AtomCardinal, 0, 4).Reply()
		if err != nil {
			return fault.New(fault.Failed, "cannot start openbox: %w", err)
		}
		if len(reply.Value) > 0 {
			return nil
		}
		select {
		case <-next:
		case <-tick.C:
			d.link.tellManager(window, request)
		case <-wm.done:
			return fault.New(fault.Failed, "cannot start openbox: %s", wm.said.last())
		case <-d.link.done:
			return fault.New(fault.Failed, "cannot start openbox: the display ended")
		case <-ctx.Done():
			return cause(ctx, "start openbox")
		}
	}
}

// frameQuestion makes a window, never shown, of which openbox may be asked what frame it would get.
func (d *Display) frameQuestion() (window xproto.Window, extents, request xproto.Atom, err error) {
	if extents, err = d.link.atom("_NET_FRAME_EXTENTS"); err != nil {
		return 0, 0, 0, err
	}
	if request, err = d.link.atom("_NET_REQUEST_FRAME_EXTENTS"); err != nil {
		return 0, 0, 0, err
	}
	if window, err = d.link.hiddenWindow(); err != nil {
		return 0, 0, 0, err
	}
	return window, extents, request, d.link.watch(window, xproto.EventMaskPropertyChange)
}

// tellManager sends openbox a message about a window (EWMH: by the root window).
func (l *link) tellManager(about xproto.Window, kind xproto.Atom, data ...uint32) {
	message := xproto.ClientMessageEvent{Format: 32, Window: about, Type: kind,
		Data: xproto.ClientMessageDataUnionData32New(append(data, make([]uint32, 5-len(data))...))}
	xproto.SendEvent(l.x, false, l.root, xproto.EventMaskSubstructureNotify|xproto.EventMaskSubstructureRedirect, string(message.Bytes()))
}

// keepShown brings every window back that was made an icon: Chrome has a button for that, and there is nothing on the
// screen that a person could get it back with.
func (d *Display) keepShown(stop <-chan struct{}) {
	state, err := d.link.atom("WM_STATE")
	if err != nil {
		return
	}
	activate, err := d.link.atom("_NET_ACTIVE_WINDOW")
	if err != nil {
		return
	}
	for {
		next := d.link.pulse.next()
		windows, _ := d.link.windowList("_NET_CLIENT_LIST", xproto.AtomWindow)
		for _, w := range windows {
			reply, err := xproto.GetProperty(d.link.x, false, w, state, state, 0, 2).Reply()
			if err == nil && len(reply.Value) > 0 && words(reply.Value)[0] == iconic {
				d.link.tellManager(w, activate, fromPager)
			}
		}
		select {
		case <-next:
		case <-stop:
			return
		case <-d.link.done:
			return
		}
	}
}

const (
	iconic    = 3 // WM_STATE of a window that is an icon (ICCCM, 4.1.3.1)
	fromPager = 2 // the source of a message that a person meant (EWMH)
)
