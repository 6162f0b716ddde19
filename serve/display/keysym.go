package display

// writes tells whether a keysym stands for a character, so that Shift must be as the keyboard wants it: the character
// may need Shift here and not on the person's own keyboard, or the other way round.
func writes(sym uint32) bool {
	switch {
	case sym >= 0x20 && sym <= 0x7e, sym >= 0xa0 && sym <= 0xff: // Latin-1
		return true
	case sym >= 0x100 && sym <= 0x20ff: // the older character sets
		return true
	case sym >= 0xffaa && sym <= 0xffb9: // the keypad's digits and signs
		return true
	}
	return sym >= keysymUnicode+0x100 && sym <= keysymUnicode+0x10ffff
}

// modifier tells whether a keysym is one of Shift, Control, Meta, Alt, Super and Hyper.
func modifier(sym uint32) bool {
	return sym >= keysymShiftL && sym <= keysymHyperR && !swallowed(sym)
}

func shift(sym uint32) bool { return sym == keysymShiftL || sym == keysymShiftR }

// swallowed keysyms never reach the display: a client sends the character that its own lock or level key made, and a
// lock that is on here too would turn it round.
func swallowed(sym uint32) bool {
	switch sym {
	case 0, keysymMode, keysymNumLock, keysymCapsLock, keysymShiftOn, keysymScroll:
		return true
	}
	return sym >= 0xfe01 && sym <= 0xfe1f && sym != 0 || // ISO locks, latches and levels (AltGr)
		sym >= 0x1008fe00 && sym <= 0x1008feff || // XF86 keys that act on an X server
		sym >= 0xfed0 && sym <= 0xfed5 // First_Virtual_Screen .. Terminate_Server
}

// plain gives a keysym its oldest name: U+0041 and the keysym A are one key.
func plain(sym uint32) uint32 {
	if sym >= keysymUnicode && sym < keysymUnicode+0x100 {
		return keysymOf(rune(sym - keysymUnicode))
	}
	return sym
}

// lower is the keysym of the small letter, for a shortcut: Control and A with the person's Caps Lock on is Control+a.
func lower(sym uint32) uint32 {
	if sym >= 'A' && sym <= 'Z' {
		return sym + 'a' - 'A'
	}
	return sym
}

// keysymOf is the keysym of a character; 0 for a control character that has no key.
func keysymOf(r rune) uint32 {
	switch {
	case r == '\n' || r == '\r':
		return keysymReturn
	case r == '\t':
		return keysymTab
	case r >= 0x20 && r <= 0x7e, r >= 0xa0 && r <= 0xff:
		return uint32(r)
	case r >= 0x100 && r <= 0x10ffff:
		return keysymUnicode + uint32(r)
	}
	return 0
}
