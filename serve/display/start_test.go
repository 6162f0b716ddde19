package display

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

// Rows 3 and 4: whatever is wrong with the authority, the start fails and leaves nothing running and no file in /tmp.
func TestStartFailsClosed(t *testing.T) {
	s := newSeat(t)
	for i, name := range []string{"missing", "empty", "garbage", "unreadable", "symlink", "deleted", "truncated", "-ac", "no -auth", "other number"} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			n := 21000 + i
			a := s.try(call{Verb: "start", Fault: name, Number: n})
			if a.Err == "" {
				t.Fatal("the display started")
			}
			if a.FaultKind != string(fault.Denied) && name != "other number" {
				t.Errorf("kind %s: %s", a.FaultKind, a.Err)
			}
			if left := s.processes(); len(left) != 1 {
				t.Errorf("left running: %v", left)
			}
			for _, n := range []int{n, 59900} {
				if taken(n) {
					t.Errorf("display %d left a file in /tmp", n)
				}
			}
			if left, _ := filepath.Glob(s.scratch + "/authority*"); len(left) > 1 || len(left) == 1 && name != "symlink" {
				t.Errorf("left %v", left)
			}
			os.Remove(s.scratch + "/authority.real")
		})
	}
	s.must(call{Verb: "start"}) // and the next one is not hindered
}

// The control of rows 3 and 4: Xvfb itself takes each of these authority files for "admit everybody".
func TestBrokenAuthorityOpensXvfb(t *testing.T) {
	s, other := newSeat(t), testuser.New(t)
	garbage, empty := filepath.Join(s.scratch, "garbage"), filepath.Join(s.scratch, "empty")
	for path, text := range map[string]string{garbage: strings.Repeat("garbage", 9), empty: ""} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{garbage, empty, s.scratch + "/missing"} {
		d := naive(t, s, "-auth", path)
		if !as(&other, d, "", intrusions["ask the server"]) {
			t.Errorf("%s: refused; the probe is not needed", path)
		}
	}
}

// Rows 5 and 6: whatever another user puts on the numbers that we would take, we get another one, and it is ours.
func TestSquatted(t *testing.T) {
	for i, kind := range []string{"abstract", "path", "file", "lock", "lock-link", "tcp"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s, other := newSeat(t), testuser.New(t)
			first, count := 22000+100*i, 21
			caught := hold(t, other, kind, first, count)
			d := s.must(call{Verb: "start", Number: first})
			if squatted := d.Number < first+count; squatted != (kind == "tcp") {
				t.Errorf("started on %d, squatted are %d to %d", d.Number, first, first+count-1)
			}
			output(t, s.client(d, "xdpyinfo"))
			if as(&other, d, "", intrusions["ask the server"]) {
				t.Error("another user got in")
			}
			if got := caught(); got != "" {
				t.Errorf("our clients went to the squatter: %s", got)
			}
		})
	}
}

// The control of row 5: a server that only shuts its abstract socket leaves the name to others, and libxcb goes there
// first: our client, with the right cookie, talks to another user.
func TestNaiveAbstractNameIsCaught(t *testing.T) {
	s, other := newSeat(t), testuser.New(t)
	caught := hold(t, other, "abstract", 23000, 1)
	r := naive(t, s, "-nolisten", "local", ":23000")
	if r.Number != 23000 {
		t.Fatalf("Xvfb noticed the squatted name: display %d", r.Number)
	}
	as(&s.user, r, "", intrusions["ask the server"])
	until(t, 2*time.Second, "the squatter to catch a client, without which the reservation is not needed",
		func() bool { return caught() != "" })
}

// hold runs a squatter until the test ends; the function it returns tells what he caught up to then.
func hold(t *testing.T, u testuser.User, kind string, first, count int) func() string {
	t.Helper()
	cmd := testuser.Self(u, "role", "squat", kind, strconv.Itoa(first), strconv.Itoa(count))
	in, _ := cmd.StdinPipe()
	out := &tail{}
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("squatter: %v", err)
		}
	})
	text := func() string {
		out.mu.Lock()
		defer out.mu.Unlock()
		return string(out.text)
	}
	until(t, 5*time.Second, "the squatter", func() bool { return strings.HasPrefix(text(), "ready\n") })
	return func() string { return strings.TrimPrefix(text(), "ready\n") }
}

// A number that is lost between our look and the server's costs a try, not the start.
func TestLostNumber(t *testing.T) {
	s := newSeat(t)
	d := s.must(call{Verb: "start", Fault: "lost", Number: 24000})
	if d.Number != 24002 {
		t.Errorf("started on %d, want 24002", d.Number)
	}
	for _, n := range []int{24000, 24001} {
		os.Remove(socketPath(n))
	}
	if left := s.running("Xvfb"); len(left) != 1 {
		t.Errorf("%d servers run", len(left))
	}
}

// Row 10: eight displays at once, all beginning at the same number, get eight numbers and are all private.
func TestEightAtOnce(t *testing.T) {
	s, other := newSeat(t), testuser.New(t)
	for i := range 8 {
		s.mkdir(fmt.Sprintf("%s/%d", s.scratch, i))
	}
	s.must(call{Verb: "several", Number: 8})
	seen := map[int]bool{}
	for i := range 8 {
		d := s.must(call{Verb: "facts", Display: i})
		seen[d.Number] = true
		if as(&other, d, "", intrusions["ask the server"]) {
			t.Errorf("display %d is open", d.Number)
		}
		if !as(&s.user, d, d.Authority, intrusions["ask the server"]) {
			t.Errorf("display %d does not serve its owner", d.Number)
		}
	}
	if len(seen) != 8 {
		t.Errorf("numbers: %v", seen)
	}
}

// Row 8, our part: a killed server ends the display, its window manager and its VNC server, and leaves no file in /tmp.
func TestServerKilled(t *testing.T) {
	s := newSeat(t)
	for i, kind := range []Server{TigerVNC, X11VNC} {
		d := s.must(call{Verb: "start"})
		s.must(call{Verb: "vnc", Display: i, Kind: string(kind)})
		kill(t, d.Server)
		s.must(call{Verb: "ended", Display: i})
		s.must(call{Verb: "close", Display: i})
		if left := s.processes(); len(left) != 1 {
			t.Errorf("left running: %v", left)
		}
		if taken(d.Number) {
			t.Error("the display left a file in /tmp")
		}
	}
}

// Xvfb ends by itself after its last client, also when the process that started it was killed.
func TestEndsWithLastClient(t *testing.T) {
	s := newSeat(t)
	d := s.must(call{Verb: "start"})
	s.must(call{Verb: "vnc", Kind: string(TigerVNC)})
	clock := s.client(d, "xclock")
	if err := clock.Start(); err != nil {
		t.Fatal(err)
	}
	s.must(call{Verb: "window"})
	s.kill()
	until(t, 3*time.Second, "the end of the window manager", func() bool { return len(s.running("openbox"))+len(s.running("X0tigervnc")) == 0 })
	if len(s.running("Xvfb")) != 1 {
		t.Error("Xvfb ended before its last client")
	}
	clock.Process.Kill()
	clock.Wait()
	until(t, 3*time.Second, "the end of Xvfb", func() bool { return len(s.running("Xvfb")) == 0 })
}

func TestSocketDirectory(t *testing.T) {
	top := t.TempDir()
	u := testuser.New(t)
	for _, c := range []struct {
		name string
		make func(path string) error
		want fault.Kind
	}{
		{"missing", func(string) error { return nil }, fault.Missing},
		{"file", func(p string) error { return os.WriteFile(p, nil, 0o600) }, fault.Denied},
		{"link", func(p string) error { return os.Symlink(top, p) }, fault.Denied},
		{"not sticky", func(p string) error { os.Mkdir(p, 0o700); return os.Chmod(p, 0o777) }, fault.Denied},
		{"another user's", func(p string) error {
			os.Mkdir(p, 0o700)
			os.Chown(p, u.UID, u.GID)
			return os.Chmod(p, os.ModeSticky|0o777)
		}, fault.Denied},
		{"as it should be", func(p string) error { os.Mkdir(p, 0o700); return os.Chmod(p, os.ModeSticky|0o777) }, ""},
	} {
		path := filepath.Join(top, strings.ReplaceAll(c.name, " ", "-"))
		if err := c.make(path); err != nil {
			t.Fatal(err)
		}
		err := checkSocketDir(path)
		if fault.Of(err) != c.want || c.want != "" && fault.Hint(err) == "" {
			t.Errorf("%s: got %v with hint %q, want kind %q", c.name, err, fault.Hint(err), c.want)
		}
	}
}
