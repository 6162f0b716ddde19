package display

import (
	"github.com/5dive/browser/internal/fault"
	"github.com/jezek/xgb/xproto"
)

// locate finds a keysym on the keyboard; a character that is not there gets a keycode of the ring.
func (k *keyboard) locate(sym uint32) (place, bool, error) {
	if at, ok := k.keys.find(sym); ok {
		return at, true, nil
	}
	for code, carries := range k.bound {
		if carries == sym {
			k.dirty[code] = true
			return place{code: code, free: true}, true, nil
		}
	}
	if !writes(sym) {
		return place{}, false, nil
	}
	code, ok := k.turn()
	if !ok {
		return place{}, false, fault.New(fault.Failed, "cannot type a character: the display has no key to spare")
	}
	if k.dirty[code] {
		k.barrier()
	}
	if err := k.bind(code, sym); err != nil {
		return place{}, false, err
	}
	k.barrier() // pressed before the client has seen the new mapping, 1 character in 100 was lost
	k.bound[code], k.dirty[code] = sym, true
	return place{code: code, free: true}, true, nil
}

// turn is the keycode of the ring that was given out longest ago and is not down.
func (k *keyboard) turn() (byte, bool) {
	for range k.spare {
		code := k.spare[k.next%len(k.spare)]
		k.next++
		if !k.down(code) {
			return code, true
		}
	}
	return 0, false
}

// barrier waits until the client with the focus has read the keys so far: it looks a keycode up when it comes to it, and a
// keycode that carries another character by then has lost the first one.
func (k *keyboard) barrier() {
	k.link.awaitClient(barrierWait)
	clear(k.dirty)
}

func (k *keyboard) down(code byte) bool {
	for _, held := range k.held {
		if held == code {
			return true
		}
	}
	return false
}

// bind puts a keysym on a keycode, with and without Shift; 0 empties it.
func (k *keyboard) bind(code byte, sym uint32) error {
	syms := []xproto.Keysym{xproto.Keysym(sym), xproto.Keysym(sym)}
	err := xproto.ChangeKeyboardMappingChecked(k.link.x, 1, xproto.Keycode(code), byte(len(syms)), syms).Check()
	if err != nil {
		return fault.New(fault.Failed, "cannot give a character a key of the display: %w", err)
	}
	return nil
}

// forget empties the keycodes of the ring: what they carry tells what was typed.
func (k *keyboard) forget() error {
	if len(k.dirty) > 0 {
		k.barrier()
	}
	for code := range k.bound {
		if err := k.bind(code, 0); err != nil {
			return err
		}
		delete(k.bound, code)
	}
	return nil
}
