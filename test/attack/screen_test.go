package attack_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/test/scene"
)

// held is what an attacker makes of one segment.
type held struct {
	scene.Segment
	Read, Write, Colour bool
}

// segmentsRole attaches every segment of a uid, and looks for a picture of one colour: segments UID RRGGBB.
func segmentsRole(args []string) error {
	uid, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	colour, err := strconv.ParseUint(args[1], 16, 32)
	if err != nil {
		return err
	}
	segments, err := scene.Segments()
	if err != nil {
		return err
	}
	all := []held{}
	for _, s := range segments {
		if s.UID != uid {
			continue
		}
		h := held{Segment: s, Write: s.Attach(true, nil) == nil}
		h.Read = s.Attach(false, func(b []byte) { h.Colour = picture(b, uint32(colour)) }) == nil
		all = append(all, h)
	}
	return json.NewEncoder(os.Stdout).Encode(all)
}

// picture tells whether a buffer holds a thousand pixels of a colour in a row, whatever the fourth byte is.
func picture(b []byte, colour uint32) bool {
	run := 0
	for i := 0; i+4 <= len(b); i += 4 {
		if b[i] == byte(colour) && b[i+1] == byte(colour>>8) && b[i+2] == byte(colour>>16) {
			if run++; run == 1000 {
				return true
			}
			continue
		}
		run = 0
	}
	return false
}

const marker = "12abef"

func segmentsOf(t *testing.T, u testuser.User, uid int) []held {
	t.Helper()
	out, err := testuser.Self(u, "role", "segments", strconv.Itoa(uid), marker).Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []held
	if err := json.Unmarshal(out, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// Row 9, with its control: the same page in a Chromium as others start it, on a display that does ask for a cookie.
func sharedMemory(t *testing.T, w *world) {
	w.Stop()
	w.Serve("/colour?c=" + marker)
	v := w.link("the coloured view", w.Mint("local"))
	client, conn := w.Stream(w.enter("the coloured view", v))
	defer conn.Close()
	if err := client.Update(); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Site.WaitEvent(scene.Limit(t, time.Minute), "/colour", "load"); err != nil {
		t.Fatal(err)
	}
	// the control gives the time in which the product's own segments would be there too
	if got := naiveSegments(t, w); !got {
		t.Error("the control failed: a naive Chromium's picture was not to be had, so this row proves nothing")
	}
	for _, h := range segmentsOf(t, w.other, w.Stage.UID) {
		if h.Read || h.Write || h.Mode&0o007 != 0 || h.Colour {
			t.Errorf("the second user has %+v", h)
		}
	}
	w.Must("viewer-revoke", scene.Name)
}

// naiveSegments tells whether the second user finds the page's colour in the shared memory of a naive Chromium of a third one.
func naiveSegments(t *testing.T, w *world) bool {
	t.Helper()
	u := testuser.New(t)
	cookie := filepath.Join(u.Home, "cookie")
	record := append([]byte{0xff, 0xff, 0, 0, 0, 0, 0, 18}, "MIT-MAGIC-COOKIE-1"...)
	record = append(append(record, 0, 16), bytes.Repeat([]byte{7}, 16)...)
	if err := os.WriteFile(cookie, record, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(cookie, u.UID, u.GID); err != nil {
		t.Fatal(err)
	}
	r, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	x := testuser.Command(u, "Xvfb", "-displayfd", "3", "-nolisten", "tcp", "-screen", "0", "1280x800x24", "-auth", cookie)
	x.ExtraFiles = []*os.File{told}
	background(t, x)
	told.Close()
	number, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	// With DISPLAY=unix:N, as ours has it, Chromium 156 takes the display for a remote one and shares no memory: one more reason for it.
	chrome := testuser.Command(u, "/usr/lib/chromium/chromium", "--user-data-dir="+u.Home+"/chrome", "--no-first-run", "--password-store=basic",
		"--disable-gpu", w.Origin+"/colour?c="+marker)
	chrome.Env = append(chrome.Env, "DISPLAY=:"+strings.TrimSpace(number), "XAUTHORITY="+cookie)
	background(t, chrome)
	return scene.Happens(time.Minute, func() bool {
		for _, h := range segmentsOf(t, w.other, u.UID) {
			if h.Read && h.Write && h.Colour {
				return true
			}
		}
		return false
	})
}

// background runs a program until the test ends.
func background(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
}
