package display

import (
	"slices"

	"github.com/5dive/browser/internal/fault"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// Keysyms by name (X11/keysymdef.h).
const (
	keysymTab      = 0xff09
	keysymReturn   = 0xff0d
	keysymScroll   = 0xff14
	keysymMode     = 0xff7e
	keysymNumLock  = 0xff7f
	keysymShiftL   = 0xffe1
	keysymShiftR   = 0xffe2
	keysymControlL = 0xffe3
	keysymCapsLock = 0xffe5
	keysymShiftOn  = 0xffe6
	keysymHyperR   = 0xffee
	keysymUnicode  = 0x01000000
)

// keymap is the keyboard mapping of a display: for each keycode its keysyms, of which the first two are those without
// and with Shift.
type keymap struct {
	first byte
	per   int
	syms  []xproto.Keysym
}

// place is where a keysym stands on the keyboard. free tells that Shift makes no difference there.
type place struct {
	code    byte
	shifted bool
	free    bool
}

func readKeymap(l *link) (keymap, error) {
	first, last := l.setup.MinKeycode, l.setup.MaxKeycode
	reply, err := xproto.GetKeyboardMapping(l.x, first, byte(last-first+1)).Reply()
	if err != nil {
		return keymap{}, fault.New(fault.Failed, "cannot read the keyboard of the display: %w", err)
	}
	return keymap{first: byte(first), per: int(reply.KeysymsPerKeycode), syms: reply.Keysyms}, nil
}

// row is the keysyms of the i-th keycode.
func (k keymap) row(i int) []xproto.Keysym { return k.syms[i*k.per : (i+1)*k.per] }

func (k keymap) rows() int {
	if k.per == 0 {
		return 0
	}
	return len(k.syms) / k.per
}

// find looks for a keysym, first without Shift.
func (k keymap) find(sym uint32) (place, bool) {
	for column := range min(2, k.per) {
		for i := range k.rows() {
			row := k.row(i)
			if uint32(row[column]) != sym {
				continue
			}
			free := k.per < 2 || row[1] == 0 || row[0] == row[1]
			return place{code: k.first + byte(i), shifted: column == 1, free: free}, true
		}
	}
	return place{}, false
}

// spare lists the keycodes that can carry a character for a time: those that carry nothing, without the ones that
// Chromium gives no text for, which are modifiers and the keycode of evdev's key 0 (measured, each of 23).
func (k keymap) spare(l *link) ([]byte, error) {
	modifiers, err := xproto.GetModifierMapping(l.x).Reply()
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot read the modifiers of the display: %w", err)
	}
	var codes []byte
	for i := range k.rows() {
		code := k.first + byte(i)
		blank := !slices.ContainsFunc(k.row(i), func(sym xproto.Keysym) bool { return sym != 0 })
		if blank && code > evdevNone && !slices.Contains(modifiers.Keycodes, xproto.Keycode(code)) {
			codes = append(codes, code)
		}
	}
	return codes, nil
}

// evdevNone is the keycode of KEY_RESERVED (linux/input-event-codes.h): X adds 8.
const evdevNone = 8

// press sends one key event by XTEST and returns when the server has taken it.
func (l *link) press(code byte, down bool) error {
	kind := byte(xproto.KeyPress)
	if !down {
		kind = xproto.KeyRelease
	}
	if err := xtest.FakeInputChecked(l.x, kind, code, 0, l.root, 0, 0, 0).Check(); err != nil {
		return fault.New(fault.Failed, "cannot press a key on the display: %w", err)
	}
	return nil
}
