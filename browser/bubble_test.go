package browser

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// bubbleX, bubbleY is a point of the screen where the demo site shows its background, and Chrome a white bubble when it offers to restore
// pages.
const (
	bubbleX, bubbleY = 900, 200
	white            = 0xffffff
)

// O8: Chrome does not offer to restore pages after a crash. The control is the same start without our preference and our switch.
func TestNoRestoreBubble(t *testing.T) {
	r := newRig(t)
	r.signIn(true).stop()
	if !r.bubble(false) {
		t.Fatal("the control shows no bubble: this test can no longer see one")
	}
	if r.bubble(true) {
		t.Error("Chrome offers to restore pages")
	}
}

// bubble starts Chrome on a profile that says it crashed, with or without what hides the bubble, and tells whether one came.
func (r *rig) bubble(hidden bool) bool {
	r.t.Helper()
	path := filepath.Join(r.userData, "Default", "Preferences")
	r.crashed(path)
	p := r.person("")
	if err := p.Prepare(); err != nil {
		r.t.Fatal(err)
	}
	if !hidden {
		r.crashed(path)
	}
	cmd, err := p.Command()
	if err != nil {
		r.t.Fatal(err)
	}
	if !hidden {
		cmd.Args = slices.DeleteFunc(cmd.Args, func(a string) bool { return a == "--hide-crash-restore-bubble" })
	}
	r.site.Forget()
	c := r.run(cmd)
	defer c.stop()
	if _, err := r.site.WaitEvent(r.wait(), "/account", "load"); err != nil {
		r.t.Fatal(err)
	}
	return r.staysWhite()
}

// staysWhite watches the point of the bubble: a page that is not painted yet is white too, but not for long. The bubble was seen 1-2 s after
// the page; one that does not come needs an end of the wait.
func (r *rig) staysWhite() bool {
	look := time.NewTicker(200 * time.Millisecond)
	defer look.Stop()
	since := time.Time{}
	for end := time.Now().Add(8 * time.Second); time.Now().Before(end); <-look.C {
		switch {
		case r.pixel() != white:
			since = time.Time{}
		case since.IsZero():
			since = time.Now()
		case time.Since(since) > 2*time.Second:
			return true
		}
	}
	return false
}

func (r *rig) crashed(path string) {
	r.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	spoilt := strings.ReplaceAll(string(text), `"exit_type":"Normal"`, `"exit_type":"Crashed"`)
	if !strings.Contains(spoilt, `"exit_type":"Crashed"`) {
		r.t.Fatalf("%s has no exit_type", path)
	}
	write(r.t, path, spoilt)
}

// pixel is the colour of the screen at the point of the bubble, 0 if the screen cannot be read.
func (r *rig) pixel() uint32 {
	x := exec.Command("xwd", "-root", "-silent")
	x.Env = []string{"DISPLAY=" + r.display, "XAUTHORITY=" + r.authority}
	picture, err := x.Output()
	if err != nil || len(picture) < 100 {
		return 0
	}
	word := func(i int) int { return int(binary.BigEndian.Uint32(picture[4*i:])) } // header of X11/XWDFile.h
	header, line, colours := word(0), word(12), word(19)
	at := header + 12*colours + bubbleY*line + 4*bubbleX
	if at+4 > len(picture) {
		return 0
	}
	return binary.LittleEndian.Uint32(picture[at:]) & 0xffffff
}
