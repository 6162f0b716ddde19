package display

import (
	"bufio"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/5dive/browser/internal/testuser"
)

// naive is an Xvfb as most start it: no TCP, and open to every user of the box.
func naive(t *testing.T, s *seat, args ...string) answer {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := testuser.Command(s.user, append([]string{"Xvfb", "-displayfd", "3", "-nolisten", "tcp", "-noreset"}, args...)...)
	cmd.ExtraFiles = []*os.File{w}
	s.run(cmd)
	w.Close()
	defer r.Close()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("naive Xvfb: %v", err)
	}
	n, _ := strconv.Atoi(strings.TrimSpace(line))
	t.Cleanup(func() {
		os.Remove(socketPath(n))
		os.Remove(lockPath(n))
	})
	return answer{Number: n, Name: displayName(n), Authority: "/nonexistent", Server: cmd.Process.Pid}
}

// intrusions are what a user does to somebody else's screen with ordinary programs.
var intrusions = map[string][]string{
	"read the screen":  {"xwd", "-root", "-silent", "-out", "/dev/null"},
	"ask the server":   {"xdpyinfo"},
	"press a key":      {"xdotool", "key", "a"},
	"move the pointer": {"xdotool", "mousemove", "1", "1"},
	"list the windows": {"xwininfo", "-root", "-tree"},
}

// as runs an intrusion as a user, with or without the cookie, and tells whether it went through.
func as(u *testuser.User, a answer, authority string, argv []string) bool {
	var cmd *exec.Cmd
	if u == nil {
		cmd = exec.Command(argv[0], argv[1:]...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "HOME=/nonexistent"}
	} else {
		cmd = testuser.Command(*u, argv...)
	}
	cmd.Env = append(cmd.Env, "DISPLAY="+a.Name)
	if authority != "" {
		cmd.Env = append(cmd.Env, "XAUTHORITY="+authority)
	}
	return cmd.Run() == nil
}

// Rows 1, 2 and 7 of the table in docs: another user gets nothing from either name of the server, the owner and root
// get in with the cookie only, and nobody can fill the client slots.
func TestPrivate(t *testing.T) {
	s, other := newSeat(t), testuser.New(t)
	d := s.must(call{Verb: "start"})
	s.run(s.client(d, "xclock"))
	s.must(call{Verb: "window"})
	for name, argv := range intrusions {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			if as(&other, d, "", argv) || as(&other, d, d.Authority, argv) {
				t.Error("another user got in")
			}
			if as(&s.user, d, "", argv) || as(nil, d, "", argv) {
				t.Error("the owner or root got in without a cookie")
			}
			if !as(&s.user, d, d.Authority, argv) || !as(nil, d, d.Authority, argv) {
				t.Error("the owner or root did not get in with the cookie")
			}
		})
	}
	got := strings.Split(strings.TrimSpace(output(t, testuser.Self(other, "role", "greet", strconv.Itoa(d.Number)))), "\n")
	slices.Sort(got)
	want := []string{"abstract connection refused", "bind true", "held 0", "path permission denied"}
	if !slices.Equal(got, want) {
		t.Errorf("another user on the sockets: got %q, want %q", got, want)
	}
	output(t, s.client(d, "xdpyinfo")) // still serving
	if got := output(t, testuser.Self(s.user, "role", "greet", strconv.Itoa(d.Number))); !strings.Contains(got, "path status 0") {
		t.Errorf("own uid without a cookie: got %q", got)
	}
}

// The control: the same user with the same programs owns a naive Xvfb.
func TestNaiveIsOpen(t *testing.T) {
	s, other := newSeat(t), testuser.New(t)
	d := naive(t, s)
	for name, argv := range intrusions {
		if !as(&other, d, "", argv) {
			t.Errorf("%s: refused; this test proves nothing", name)
		}
	}
	got := output(t, testuser.Self(other, "role", "greet", strconv.Itoa(d.Number)))
	if !strings.Contains(got, "path status 1") || !strings.Contains(got, "abstract status 1") || strings.Contains(got, "held 0") {
		t.Errorf("naive server: got %q", got)
	}
}
