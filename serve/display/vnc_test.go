package display

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/internal/testuser"
)

const marker = 0x12ab34

var servers = []Server{TigerVNC, X11VNC}

// screen is a seat with a display that shows a window of the marker's colour, and a VNC server.
func screen(t *testing.T, kind Server) (s *seat, d answer, socket string) {
	t.Helper()
	s = newSeat(t)
	d = s.must(call{Verb: "start"})
	s.run(s.client(d, "xclock", "-digital", "-bg", fmt.Sprintf("#%06x", marker), "-geometry", "400x300"))
	s.must(call{Verb: "window"})
	return s, d, s.must(call{Verb: "vnc", Kind: string(kind)}).Socket
}

// A viewer sees the screen and learns of each new size; the next one is served when the last has gone, and one that only
// connects and closes, again and again, shuts nobody out.
func TestView(t *testing.T) {
	for _, kind := range servers {
		for name, encoding := range map[string]int32{"DesktopSize": encodingSize, "ExtendedDesktopSize": encodingExtendedSize} {
			if kind == X11VNC && encoding == encodingExtendedSize {
				continue // LibVNCServer 0.9.13 knows the older way only
			}
			t.Run(string(kind)+"/"+name, func(t *testing.T) {
				s, _, socket := screen(t, kind)
				for range 10 {
					dial(t, socket).Close()
				}
				for range 2 {
					v := view(t, socket, encoding)
					v.await("the marker", func() bool { return v.shows(marker) > 50000 })
					for _, size := range [][2]int{{500, 889}, {1920, 1080}, {1600, 1000}, {1280, 800}} {
						got := s.must(call{Verb: "resize", Width: size[0], Height: size[1]})
						want := fmt.Sprintf("%dx%d", size[0], size[1])
						if fmt.Sprintf("%dx%d", got.Width, got.Height) != want {
							t.Errorf("resize to %s: got %dx%d", want, got.Width, got.Height)
						}
						v.await(want, func() bool { return v.size() == want })
					}
					v.conn.Close()
				}
				s.must(call{Verb: "unvnc"})
				if left := append(s.running("X0tigervnc"), s.running("x11vnc")...); len(left) > 0 {
					t.Errorf("left running: %v", left)
				}
				s.must(call{Verb: "vnc", Kind: string(kind)})
			})
		}
	}
}

// A client cannot change the size, and its keys and its clipboard go nowhere: they are Input's.
func TestViewerHasPointerOnly(t *testing.T) {
	for _, kind := range servers {
		t.Run(string(kind), func(t *testing.T) {
			s, d, socket := screen(t, kind)
			events := &tail{}
			xev := s.client(d, "stdbuf", "-oL", "xev", "-geometry", "400x300+10+400", "-event", "keyboard", "-event", "button")
			xev.Stdout = events
			s.run(xev)
			until(t, 5*time.Second, "xev", func() bool {
				return strings.Contains(output(t, s.client(d, "xwininfo", "-root", "-tree")), "Event Tester")
			})
			output(t, s.client(d, "xdotool", "search", "--name", "Event Tester", "windowmove", "100", "100", "windowraise", "windowfocus"))
			v := view(t, socket, encodingSize, encodingExtendedSize)
			v.await("the screen", func() bool { return v.shows(marker) > 0 })
			v.write([]byte{4, 1, 0, 0, 0, 0, 0, 'k', 4, 0, 0, 0, 0, 0, 0, 'k'})                           // key k
			v.write(append([]byte{6, 0, 0, 0, 0, 0, 0, 6}, "secret"...))                                  // cut text
			v.write([]byte{251, 0, 2, 88, 2, 88, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 2, 88, 2, 88, 0, 0, 0, 0}) // SetDesktopSize 600x600
			v.write([]byte{5, 0, 0, 200, 0, 200, 5, 1, 0, 200, 0, 200, 5, 0, 0, 200, 0, 200})             // click
			said := func() string { events.mu.Lock(); defer events.mu.Unlock(); return string(events.text) }
			until(t, 5*time.Second, "the click", func() bool { return strings.Contains(said(), "ButtonRelease") })
			if strings.Contains(said(), "KeyPress") {
				t.Error("a key of the viewer reached the display")
			}
			if a := s.must(call{Verb: "size"}); a.Width != 1280 || a.Height != 800 {
				t.Errorf("the viewer made the display %dx%d", a.Width, a.Height)
			}
		})
	}
}

// listeners lists the IP sockets of a uid that a peer could reach: TCP in state listening, any UDP (proc(5), net/tcp).
func listeners(t *testing.T, uid int) (found []string) {
	t.Helper()
	for _, table := range []string{"tcp", "tcp6", "udp", "udp6", "udplite", "udplite6", "raw", "raw6"} {
		b, err := os.ReadFile("/proc/net/" + table)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			f := strings.Fields(line)
			if len(f) > 7 && f[7] == strconv.Itoa(uid) && (f[3] == "0A" || !strings.HasPrefix(table, "tcp")) {
				found = append(found, table+" "+f[1])
			}
		}
	}
	return found
}

// Rows 11 and 16: nothing of ours listens on IP, whatever stands in the seat's ~/.x11vncrc.
func TestNoListener(t *testing.T) {
	for _, kind := range servers {
		t.Run(string(kind), func(t *testing.T) {
			s := newSeat(t)
			for _, dir := range []string{s.scratch, s.user.Home} {
				if err := os.WriteFile(filepath.Join(dir, ".x11vncrc"), []byte("rfbport 5999\nforever\nshared\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s.must(call{Verb: "start"})
			socket := s.must(call{Verb: "vnc", Kind: string(kind)}).Socket
			info, err := os.Stat(socket)
			if err != nil || info.Mode().Perm() != 0o600 || ownerOf(info) != s.user.UID {
				t.Errorf("socket: %v %v", info.Mode(), err)
			}
			v := view(t, socket)
			v.request(false)
			v.message()
			if found := listeners(t, s.user.UID); len(found) > 0 {
				t.Errorf("listening: %v", found)
			}
		})
	}
}

// The control of rows 11 and 16: the same programs as their manuals have them. A Unix socket alone still opens a port.
func TestNaiveVNCListens(t *testing.T) {
	for name, args := range map[string][]string{
		"tigervnc": {"X0tigervnc", "-rfbunixpath", "SOCKET", "-SecurityTypes", "None"},
		"x11vnc":   {"x11vnc", "-unixsock", "SOCKET", "-rfbport", "0", "-nopw", "-norc", "-noshm", "-forever"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSeat(t)
			d := s.must(call{Verb: "start"})
			for i := range args {
				args[i] = strings.Replace(args[i], "SOCKET", s.user.Home+"/v", 1)
			}
			s.run(s.client(d, args...))
			until(t, 20*time.Second, "a port, without which this test proves nothing", func() bool { return len(listeners(t, s.user.UID)) > 0 })
		})
	}
}

// Row 17: another user finds nothing secret in a command line, at the start or later, and no environment at all.
func TestNothingInArguments(t *testing.T) {
	s, other := newSeat(t), testuser.New(t)
	d := s.must(call{Verb: "start"})
	record, err := os.ReadFile(d.Authority)
	if err != nil {
		t.Fatal(err)
	}
	cookie := record[len(cookieHead):]
	socket := s.must(call{Verb: "vnc", Kind: string(X11VNC)}).Socket
	view(t, socket)
	for pid, line := range s.processes() {
		for _, form := range []string{string(cookie), fmt.Sprintf("%x", cookie), "pass"} {
			if strings.Contains(line, form) {
				t.Errorf("pid %d: %q", pid, line)
			}
		}
		if err := testuser.Command(other, "cat", fmt.Sprintf("/proc/%d/environ", pid)).Run(); err == nil {
			t.Errorf("pid %d: another user reads its environment", pid)
		}
		if environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)); bytes.Contains(environ, cookie) {
			t.Errorf("pid %d: the cookie stands in its environment", pid)
		}
	}
}

// Row 18: a server that was stopped, or hangs, is gone within 3 s of the viewer's leaving or of Close.
func TestHungServer(t *testing.T) {
	for _, kind := range servers {
		t.Run(string(kind), func(t *testing.T) {
			s, _, socket := screen(t, kind)
			v := view(t, socket)
			v.await("the marker", func() bool { return v.shows(marker) > 0 })
			pids := s.running(serverPrograms[kind])
			if len(pids) != 1 {
				t.Fatalf("%d servers", len(pids))
			}
			syscall.Kill(pids[0], syscall.SIGSTOP)
			began := time.Now()
			v.conn.Close()
			if kind == X11VNC {
				until(t, 3*time.Second, "the end of a stopped server", func() bool { return len(s.running("x11vnc")) == 0 })
			} else {
				s.must(call{Verb: "unvnc"})
			}
			if took := time.Since(began); took > 3*time.Second || len(s.running(serverPrograms[kind])) > 0 {
				t.Errorf("took %v", took)
			}
		})
	}
}

// Row 19: our children have stdin, stdout and stderr, their X connection and what they open themselves; no listening
// socket of ours, no socket of the seat's process, nothing of another child.
func TestChildrenInheritNothing(t *testing.T) {
	s, _, socket := screen(t, X11VNC)
	s.must(call{Verb: "dial"})
	view(t, socket).await("a picture", func() bool { return true })
	ours := map[string]bool{}
	for _, target := range links(t, s.process.Process.Pid) {
		if strings.HasPrefix(target, "socket:") || strings.HasPrefix(target, "pipe:") {
			ours[target] = true
		}
	}
	// Stderr is a pipe of ours; x11vnc was given one socket, the connection, and moves it from 0 to another number.
	for _, name := range []string{"Xvfb", "openbox", "x11vnc"} {
		for _, pid := range s.running(name) {
			open := links(t, pid)
			if name != "x11vnc" && open[0] != "/dev/null" {
				t.Errorf("%s: stdin is %s", name, open[0])
			}
			if group, err := syscall.Getpgid(pid); err != nil || group != pid {
				t.Errorf("%s: process group %d of pid %d", name, group, pid)
			}
			shared := map[string]bool{}
			for fd, target := range open {
				if fd > 2 && ours[target] {
					shared[target] = true
				}
			}
			if len(shared) > 1 || len(shared) == 1 && name != "x11vnc" {
				t.Errorf("%s holds descriptors of ours: %v of %v; we hold %v", name, shared, open, links(t, s.process.Process.Pid))
			}
			if out, _ := exec.Command("ss", "-lxpH").Output(); name != "Xvfb" && bytes.Contains(out, fmt.Appendf(nil, "pid=%d,", pid)) {
				t.Errorf("%s listens on a Unix socket", name)
			}
		}
	}
}

// links reads where the descriptors of a process go.
func links(t *testing.T, pid int) map[int]string {
	t.Helper()
	found := map[int]string{}
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if len(paths) == 0 {
		t.Fatalf("pid %d has no descriptors", pid)
	}
	for _, path := range paths {
		fd, _ := strconv.Atoi(filepath.Base(path))
		found[fd], _ = os.Readlink(path)
	}
	return found
}
