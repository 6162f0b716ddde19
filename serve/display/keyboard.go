package display

import (
	"github.com/5dive/browser/internal/fault"
	"github.com/jezek/xgb/xproto"
)

// keyboard turns keysyms into the keys of a display. It is not safe for concurrent use.
type keyboard struct {
	link  *link
	keys  keymap
	held  map[uint32]byte // by keysym: the keycode that is down for it
	spare []byte          // keycodes of the ring: no key of the keyboard is there
	bound map[byte]uint32 // by keycode of the ring: the keysym that it carries now
	dirty map[byte]bool   // keycodes of the ring that were pressed since the last barrier
	next  int
}

func newKeyboard(l *link) (*keyboard, error) {
	keys, err := readKeymap(l)
	if err != nil {
		return nil, err
	}
	spare, err := keys.spare(l)
	if err != nil {
		return nil, err
	}
	return &keyboard{link: l, keys: keys, held: map[uint32]byte{}, spare: spare,
		bound: map[byte]uint32{}, dirty: map[byte]bool{}}, nil
}

// reload reads the mapping again, after it was changed. The ring is left out of it: bound is the account of that.
func (k *keyboard) reload() error {
	keys, err := readKeymap(k.link)
	if err != nil {
		return err
	}
	for _, code := range k.spare {
		clear(keys.row(int(code - keys.first)))
	}
	k.keys = keys
	return nil
}

// key presses or releases one keysym. What has no place on the keyboard and is no character is ignored.
func (k *keyboard) key(sym uint32, down bool) error {
	sym = plain(sym)
	if swallowed(sym) {
		return nil
	}
	if !down {
		return k.up(sym)
	}
	want := sym
	if k.shortcut() {
		want = lower(sym)
	}
	at, ok, err := k.locate(want)
	if err != nil || !ok {
		return err
	}
	if _, again := k.held[sym]; again && modifier(sym) {
		return nil // a modifier does not repeat
	}
	if err := k.clear(sym, at.code); err != nil {
		return err
	}
	k.held[sym] = at.code
	if !writes(want) || at.free {
		return k.link.press(at.code, true)
	}
	return k.withShift(at.shifted, func() error { return k.link.press(at.code, true) })
}

// shortcut tells whether a modifier other than Shift is held, and Shift is not.
func (k *keyboard) shortcut() bool {
	found := false
	for sym := range k.held {
		if shift(sym) {
			return false
		}
		found = found || modifier(sym)
	}
	return found
}

// clear releases what is in the way of a press: the key itself, of which this is a repeat (the server drops a second
// press of a key that is down), and a key that is down for another keysym of the same place.
func (k *keyboard) clear(sym uint32, code byte) error {
	for other, held := range k.held {
		if held == code || other == sym {
			if err := k.up(other); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *keyboard) up(sym uint32) error {
	code, ok := k.held[sym]
	if !ok {
		return nil
	}
	delete(k.held, sym)
	return k.link.press(code, false)
}

// withShift does something while Shift is as wanted, and puts it back.
func (k *keyboard) withShift(wanted bool, do func() error) error {
	var down []byte
	for sym, code := range k.held {
		if shift(sym) {
			down = append(down, code)
		}
	}
	switch {
	case wanted && len(down) == 0:
		at, ok := k.keys.find(keysymShiftL)
		if !ok {
			return fault.New(fault.Failed, "cannot type on the display: its keyboard has no Shift")
		}
		return k.bracket([]byte{at.code}, true, do)
	case !wanted && len(down) > 0:
		return k.bracket(down, false, do)
	}
	return do()
}

// bracket sets keys down or up, does something, and sets them back.
func (k *keyboard) bracket(codes []byte, down bool, do func() error) error {
	for _, code := range codes {
		if err := k.link.press(code, down); err != nil {
			return err
		}
	}
	err := do()
	for _, code := range codes {
		if back := k.link.press(code, !down); err == nil {
			err = back
		}
	}
	return err
}

// releaseAll releases every key that the server holds down, whoever pressed it.
func (k *keyboard) releaseAll() error {
	clear(k.held)
	reply, err := xproto.QueryKeymap(k.link.x).Reply()
	if err != nil {
		return fault.New(fault.Failed, "cannot read the keys of the display: %w", err)
	}
	for i := range len(reply.Keys) * 8 {
		if reply.Keys[i/8]&(1<<(i%8)) == 0 {
			continue
		}
		if err := k.link.press(byte(i), false); err != nil {
			return err
		}
	}
	return nil
}
