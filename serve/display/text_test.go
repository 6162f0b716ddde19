package display

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/internal/fault"
)

const (
	tricky  = "Pä€中🙂@~^`ñ"
	symbols = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"
)

// page is a seat with Chromium on a display, its echo page ready for keys.
func page(t *testing.T) (*seat, answer, *echo) {
	t.Helper()
	s, e := newSeat(t), newEcho(t)
	d := s.must(call{Verb: "start"})
	s.chrome(d, e.site.URL+"/echo.html")
	e.await("the field", func(n told) bool { return n.Focus == "field" })
	// Chromium believes to have the focus before X gives it keys.
	until(t, 15*time.Second, "the first key", func() bool {
		s.must(call{Verb: "tap", Text: " "})
		n, _ := e.now()
		return n.Field != ""
	})
	s.empty(e)
	return s, d, e
}

// empty clears the field by the keyboard.
func (s *seat) empty(e *echo) {
	s.t.Helper()
	s.must(call{Verb: "key", Keysym: keysymControlL, Down: true})
	s.must(call{Verb: "tap", Text: "a"})
	s.must(call{Verb: "key", Keysym: keysymControlL})
	for _, down := range []bool{true, false} {
		s.must(call{Verb: "key", Keysym: 0xff08, Down: down})
	}
	e.await("an empty field", func(n told) bool { return n.Field == "" })
}

func (e *echo) field(want string) {
	e.t.Helper()
	e.await(fmt.Sprintf("the field to hold %q", want), func(n told) bool { return n.Field == want })
}

// Text reaches a field exactly, by the clipboard and typed, and leaves nothing behind in the clipboard.
func TestText(t *testing.T) {
	s, d, e := page(t)
	for _, c := range []struct {
		name, text string
		typed      bool
		way        string
	}{
		{"pasted", tricky, false, Pasted},
		{"typed", tricky, true, Typed},
		{"long pasted", strings.Repeat("naïve 名前 🐚 €", 400), false, Pasted},
		{"more characters than spare keys", "αβγδεζηθικλμνξοπρστυφχψωабвгдежзийклмнопрстуфхцчшщъыьэюя中文字", true, Typed},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			if a := s.must(call{Verb: "text", Text: c.text, Typed: c.typed}); a.Way != c.way {
				t.Errorf("way %q, want %q", a.Way, c.way)
			}
			e.field(c.text)
			s.empty(e)
			if left := output(t, s.client(d, "xdotool", "version")); left == "" {
				t.Fatal("no X client runs")
			}
			if owner := s.must(call{Verb: "owner"}); owner.Number != 0 {
				t.Error("the clipboard still has an owner")
			}
		})
	}
}

// A modifier that the person holds while text comes in, Control of his own Control+V for one, does not act on it, and its
// late release does no harm.
func TestTextWithHeldModifiers(t *testing.T) {
	s, _, e := page(t)
	for _, typed := range []bool{false, true} {
		for _, sym := range []uint32{keysymControlL, keysymShiftL, 0xffe9} {
			s.must(call{Verb: "key", Keysym: sym, Down: true})
		}
		s.must(call{Verb: "text", Text: "aB€", Typed: typed})
		s.must(call{Verb: "key", Keysym: keysymControlL})
		e.field("aB€")
		s.empty(e)
	}
}

// Newlines are text when pasted and Return when typed.
func TestNewlines(t *testing.T) {
	s, d, e := page(t)
	output(t, s.client(d, "xdotool", "mousemove", "100", "140", "click", "1"))
	e.await("the text area", func(n told) bool { return n.Focus == "lines" })
	s.must(call{Verb: "text", Text: "a\nb\r\n"})
	s.must(call{Verb: "text", Text: "c\nd\r\ne", Typed: true})
	e.await("five lines", func(n told) bool { return n.Lines == "a\nb\nc\nd\ne" })
}

// Where nothing takes the paste, the text is typed.
func TestTextFallsBackToKeys(t *testing.T) {
	s := newSeat(t)
	d := s.must(call{Verb: "start"})
	said := &tail{}
	xev := s.client(d, "stdbuf", "-oL", "xev", "-event", "keyboard")
	xev.Stdout = said
	s.run(xev)
	s.must(call{Verb: "window"})
	until(t, 5*time.Second, "the focus", func() bool {
		return strings.Contains(output(t, s.client(d, "xdotool", "getwindowfocus", "getwindowname")), "Event Tester")
	})
	if a := s.must(call{Verb: "text", Text: "hi"}); a.Way != Typed {
		t.Errorf("way %q", a.Way)
	}
	until(t, 5*time.Second, "the letters", func() bool {
		said.mu.Lock()
		defer said.mu.Unlock()
		return strings.Contains(string(said.text), "keysym 0x68, h") && strings.Contains(string(said.text), "keysym 0x69, i")
	})
}

func TestTextRefuses(t *testing.T) {
	s := newSeat(t)
	s.must(call{Verb: "start"})
	for name, text := range map[string]string{"escape": "a\x1bb", "NUL": "a\x00", "too long": strings.Repeat("x", MaxText+1)} {
		a := s.try(call{Verb: "text", Text: text})
		if a.FaultKind != string(fault.Usage) || len(a.Err) > 200 {
			t.Errorf("%s: got %q %.200q", name, a.FaultKind, a.Err)
		}
	}
}

// Every printable ASCII character comes out of Key as itself, as in a 40-character password, whatever Shift and
// Caps Lock the person has.
func TestPassword(t *testing.T) {
	s, _, e := page(t)
	password := "Aa0z9Z" + symbols + "qW"
	if len(password) != 40 {
		t.Fatalf("%d characters", len(password))
	}
	s.must(call{Verb: "tap", Text: password})
	e.field(password)
	s.empty(e)
	s.must(call{Verb: "key", Keysym: keysymShiftL, Down: true}) // another keyboard has these with Shift, or Caps Lock is on
	s.must(call{Verb: "tap", Text: password})
	s.must(call{Verb: "key", Keysym: keysymShiftL})
	e.field(password)
	s.empty(e)
	for _, lock := range []uint32{keysymCapsLock, keysymNumLock, 0xfe03} {
		s.must(call{Verb: "key", Keysym: lock, Down: true})
	}
	s.must(call{Verb: "tap", Text: password})
	e.field(password)
}

// A held key repeats as often as the viewer says, and not by itself; releasing all keys ends a held Shift.
func TestHeldKeys(t *testing.T) {
	s, _, e := page(t)
	for range 3 {
		s.must(call{Verb: "key", Keysym: 'q', Down: true})
	}
	s.must(call{Verb: "key", Keysym: 'q'})
	s.must(call{Verb: "key", Keysym: 'w', Down: true})
	time.Sleep(1500 * time.Millisecond) // longer than any repeat delay; that nothing happens cannot be waited for
	s.must(call{Verb: "key", Keysym: 'w'})
	e.field("qqqw")
	s.must(call{Verb: "key", Keysym: keysymShiftL, Down: true})
	s.must(call{Verb: "release"})
	s.must(call{Verb: "key", Keysym: 'e', Down: true})
	s.must(call{Verb: "key", Keysym: 0xff51, Down: true}) // Left
	s.must(call{Verb: "hangup"})
	e.await("all keys up", func(n told) bool {
		return slices.Contains(n.Keys, "up e") && slices.Contains(n.Keys, "up ArrowLeft")
	})
	s.must(call{Verb: "tap", Text: "r"})
	e.await("what follows", func(n told) bool { return n.Field == "qqqwre" })
}

// Tab with Shift is Shift and Tab, and a shortcut with Caps Lock on is the shortcut.
func TestShortcuts(t *testing.T) {
	s, _, e := page(t)
	tap := func(syms ...uint32) {
		for _, sym := range syms {
			s.must(call{Verb: "key", Keysym: sym, Down: true})
		}
		for _, sym := range slices.Backward(syms) {
			s.must(call{Verb: "key", Keysym: sym})
		}
	}
	tap(keysymTab)
	e.await("the next field", func(n told) bool { return n.Focus == "lines" })
	tap(keysymShiftL, keysymTab)
	e.await("the field before", func(n told) bool { return n.Focus == "field" })
	s.must(call{Verb: "tap", Text: "gone"})
	e.field("gone")
	tap(keysymControlL, 'A')
	tap(0xff08)
	e.field("")
}

// Keysyms of a hostile viewer: nothing breaks, and what is no key is ignored.
func TestStrangeKeysyms(t *testing.T) {
	s, _, e := page(t)
	for _, sym := range []uint32{0, 1, 0x7f, 0xfed5, 0xffff_ffff, 0x1008fe01, 0x1000000, 0x110ffff + 1, 0x2000000, 0x100d800, 0xff7e} {
		for _, down := range []bool{true, true, false, false} {
			if a := s.try(call{Verb: "key", Keysym: sym, Down: down}); a.Err != "" {
				t.Errorf("%#x: %s", sym, a.Err)
			}
		}
	}
	output(t, s.client(answer{Name: s.must(call{Verb: "facts"}).Name, Authority: s.must(call{Verb: "facts"}).Authority}, "xdotool", "mousemove", "100", "97", "click", "1"))
	s.must(call{Verb: "tap", Text: "ok"})
	e.await("keys that still work", func(n told) bool { return strings.HasSuffix(n.Field, "ok") })
}
