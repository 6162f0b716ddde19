package viewer

import (
	"context"
	"errors"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/viewer/bridge"
)

// client is the one connection that now looks. A view has at most one: whoever comes back replaces his own old connection,
// which may be half open.
type client struct {
	cancel context.CancelCauseFunc
	gone   chan struct{}
}

// end cuts the connection and waits until it is gone.
func (c *client) end(why error) {
	c.cancel(why)
	<-c.gone
}

var errReplaced = errors.New("opened again elsewhere")

// Carry carries the websocket of one who holds the view's token, until he, the view or ctx ends.
func (w *View) Carry(ctx context.Context, ws *bridge.Conn, o bridge.Options) error {
	ctx, done, err := w.attach(ctx)
	if err != nil {
		ws.Close()
		return err
	}
	defer done()
	return bridge.Carry(ctx, ws, w, o)
}

// CarryPassword carries a websocket that shows the password of any open view of the seat, as an outside relay does.
func (v *Views) CarryPassword(ctx context.Context, ws *bridge.Conn, o bridge.Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	done := func() {}
	defer func() { done() }()
	return bridge.CarryPassword(ctx, ws, func(matches func(secret.Text) bool) (bridge.Screen, bool) {
		for _, w := range v.all() {
			if w.Phase() != Open || !matches(w.password) {
				continue
			}
			joined, leave, err := w.attach(ctx)
			if err != nil {
				return nil, false
			}
			done = leave
			context.AfterFunc(joined, func() { cancel(context.Cause(joined)) })
			return w, true
		}
		return nil, false
	}, o)
}

// attach makes the caller the view's one client, in place of an older one. done must be called when the connection has ended.
func (w *View) attach(ctx context.Context) (joined context.Context, done func(), err error) {
	joined, cancel := context.WithCancelCause(ctx)
	c := &client{cancel: cancel, gone: make(chan struct{})}
	w.mu.Lock()
	if w.phase != Open {
		w.mu.Unlock()
		cancel(nil)
		return nil, nil, fault.New(fault.Failed, "cannot show %s: the view has ended", w.Site)
	}
	old := w.client
	w.client = c
	w.mu.Unlock()
	if old != nil {
		old.end(errReplaced)
	}
	w.views.config.Note("viewer_ws_connected", w.Site, map[string]string{"view": w.ID})
	return joined, func() { w.detach(c) }, nil
}

func (w *View) detach(c *client) {
	now := w.views.config.Clock().Boot
	w.mu.Lock()
	if w.client == c {
		w.client, w.seen = nil, now
	}
	w.mu.Unlock()
	c.cancel(nil)
	close(c.gone)
	w.views.config.Note("viewer_ws_closed", w.Site, map[string]string{"view": w.ID})
}

// Key presses or releases a key (bridge.Screen).
func (w *View) Key(keysym uint32, down bool) error {
	in, err := w.keyboard()
	if err != nil {
		return err
	}
	return in.Key(keysym, down)
}

// Touched notes input (bridge.Screen).
func (w *View) Touched() { w.touched() }

// ReleaseKeys lets go of every key that is down (bridge.Screen).
func (w *View) ReleaseKeys() {
	w.mu.Lock()
	in := w.input
	w.mu.Unlock()
	if in != nil {
		in.ReleaseKeys() // a display that is gone holds no key
	}
}
