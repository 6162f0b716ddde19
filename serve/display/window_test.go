package display

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// Chrome's main window fills the screen and follows each new size; a popup is a window of its own with a frame to move
// and close it by; a window that was made an icon comes back.
func TestWindows(t *testing.T) {
	s, d, e := page(t)
	e.await("a window that fills the screen", func(n told) bool { return n.OuterWidth == 1280 && n.OuterHeight == 800 })
	for _, c := range [][4]int{{360, 640, 500, 888}, {412, 915, 500, 1110}, {1920, 1080, 1920, 1080}, {5000, 5000, 1920, 1112}, {1280, 800, 1280, 800}} {
		a := s.must(call{Verb: "resize", Width: c[0], Height: c[1]})
		if a.Width != c[2] || a.Height != c[3] {
			t.Errorf("%dx%d became %dx%d, want %dx%d", c[0], c[1], a.Width, a.Height, c[2], c[3])
		}
		e.await("the window to follow", func(n told) bool { return n.OuterWidth == c[2] && n.OuterHeight == c[3] })
	}
	t.Run("popup", func(t *testing.T) {
		e.await("the button", func(n told) bool { return n.ButtonX > 0 })
		n, _ := e.now()
		output(t, s.client(d, "xdotool", "mousemove", fmt.Sprint(n.ButtonX), fmt.Sprint(n.ButtonY+n.OuterHeight-n.Height), "click", "1"))
		popup := func() string {
			out, _ := s.client(d, "xdotool", "search", "--onlyvisible", "--name", "^popup").Output()
			return strings.TrimSpace(string(out))
		}
		until(t, 10*time.Second, "the popup", func() bool { return popup() != "" })
		frame := output(t, s.client(d, "xprop", "-id", popup(), "_NET_FRAME_EXTENTS", "_NET_WM_STATE"))
		if strings.Contains(frame, "= 0, 0, 0, 0") || strings.Contains(frame, "MAXIMIZED") {
			t.Errorf("the popup has no frame, or fills the screen: %s", frame)
		}
		output(t, s.client(d, "xdotool", "windowclose", popup()))
	})
	t.Run("icon", func(t *testing.T) {
		id := strings.TrimSpace(output(t, s.client(d, "xdotool", "search", "--onlyvisible", "--name", "^echo")))
		for range 3 {
			s.client(d, "xdotool", "windowminimize", id).Run()
			until(t, 5*time.Second, "the window to come back", func() bool {
				return strings.Contains(output(t, s.client(d, "xwininfo", "-id", id)), "IsViewable")
			})
		}
	})
}

// No key and no mouse button reaches a menu or a shortcut of the window manager, whose own menu offers a terminal.
func TestNoManagerKeys(t *testing.T) {
	s := newSeat(t)
	d := s.must(call{Verb: "start"})
	s.run(s.client(d, "xclock"))
	s.must(call{Verb: "window"})
	before := s.processes()
	for _, key := range []string{"alt+F4", "super+e", "alt+space", "ctrl+alt+Delete", "super+F1", "alt+Escape", "super+d", "ctrl+alt+Right", "alt+Tab"} {
		output(t, s.client(d, "xdotool", "key", key))
	}
	for _, button := range []string{"1", "2", "3", "4", "5"} {
		output(t, s.client(d, "xdotool", "mousemove", "1000", "700", "click", button))
	}
	output(t, s.client(d, "xdotool", "getmouselocation")) // all of that has been taken
	for pid, line := range s.processes() {
		if _, old := before[pid]; !old {
			t.Errorf("started: %s", line)
		}
	}
	tree := output(t, s.client(d, "xwininfo", "-root", "-tree"))
	if !strings.Contains(tree, "xclock") || strings.Contains(tree, "Openbox 3") {
		t.Errorf("the window is gone, or a menu is up: %s", tree)
	}
}

// The second step says yes to what has the focus.
func TestUrgeAnswers(t *testing.T) {
	s := newSeat(t)
	d := s.must(call{Verb: "start"})
	ask := s.client(d, "xmessage", "-default", "okay", "-buttons", "okay:7", "leave?")
	if err := ask.Start(); err != nil {
		t.Fatal(err)
	}
	s.must(call{Verb: "window"})
	done := make(chan error, 1)
	go func() { done <- ask.Wait() }()
	for tick := time.NewTicker(200 * time.Millisecond); ; {
		select {
		case <-done:
			if code := ask.ProcessState.ExitCode(); code != 7 {
				t.Errorf("exit %d, want that of the button", code)
			}
			return
		case <-tick.C:
			s.must(call{Verb: "urge", Width: 1})
		}
	}
}

// The third step closes a window, as its button does.
func TestUrgeCloses(t *testing.T) {
	s := newSeat(t)
	d := s.must(call{Verb: "start"})
	clock := s.client(d, "xclock")
	if err := clock.Start(); err != nil {
		t.Fatal(err)
	}
	s.must(call{Verb: "window"})
	s.must(call{Verb: "urge", Width: 2})
	clock.Wait() // a window that stays holds the test up to its limit
}
