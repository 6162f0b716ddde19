package display

import (
	"sync"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// Input is the keyboard, the clipboard and the size of a display, from any process of the same uid. Its methods may be
// called from several goroutines and take turns; the keys that it holds down are its own account of one viewer.
type Input struct {
	link    *link
	offer   offer
	changed chan struct{} // a token: the keyboard mapping was changed

	mu   sync.Mutex
	keys *keyboard
}

// Dial opens a display by its number and the path of its cookie file. The caller closes it. All keys that an earlier
// Input left down are released.
func Dial(number int, authority string) (*Input, error) {
	l, err := openLink(number, authority, 0)
	if err != nil {
		return nil, err
	}
	in := &Input{link: l, changed: make(chan struct{}, 1)}
	if in.keys, err = newKeyboard(l); err == nil {
		err = in.offer.prepare(l)
	}
	if err == nil {
		err = l.watch(l.root, xproto.EventMaskSubstructureNotify) // answers to pings
	}
	if err == nil {
		l.on(in.event)
		err = in.keys.releaseAll()
	}
	if err != nil {
		l.close()
		return nil, err
	}
	return in, nil
}

// Done is closed when the display has ended or Close was called.
func (in *Input) Done() <-chan struct{} { return in.link.done }

// Close releases all keys, gives up the clipboard and closes the connection.
func (in *Input) Close() {
	in.ReleaseKeys()
	in.offer.withdraw(in.link)
	in.link.close()
}

// Key presses or releases a key by its X keysym, as a VNC client names it. A character comes out as that character,
// whatever keyboard the person has: Shift is pressed or lifted for a moment where this display's keyboard needs it, and
// a character that it lacks gets a key for the time. Lock and level keys (Caps Lock, AltGr) are swallowed, since the client
// already sends what they made; keysyms that are neither a character nor a key here are ignored, as is a release
// without a press. A press of a key that is down is a repeat.
func (in *Input) Key(keysym uint32, down bool) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.follow(); err != nil {
		return err
	}
	return in.keys.key(keysym, down)
}

// ReleaseKeys releases every key that is down. Call it when a viewer goes, or its last Shift stays down for the next.
func (in *Input) ReleaseKeys() error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.keys.releaseAll(); err != nil {
		return err
	}
	return in.keys.forget()
}

// follow reads the keyboard mapping again when it was changed.
func (in *Input) follow() error {
	select {
	case <-in.changed:
		return in.keys.reload()
	default:
		return nil
	}
}

// event runs in the goroutine of the connection.
func (in *Input) event(event xgb.Event) {
	switch e := event.(type) {
	case xproto.MappingNotifyEvent:
		if e.Request == xproto.MappingKeyboard {
			select {
			case in.changed <- struct{}{}:
			default:
			}
		}
	case xproto.SelectionRequestEvent:
		in.offer.answer(in.link, e)
	case xproto.SelectionClearEvent:
		in.offer.lost()
	}
}
