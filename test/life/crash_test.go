package life_test

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/internal/secret"
	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/seat"
	"github.com/5dive/browser/test/rfb"
	"github.com/5dive/browser/test/scene"
)

func contains(text, part string) bool { return strings.Contains(text, part) }

// A crash of Chrome is seen, told in the journal and made good by a new start, with the login.
func TestChromeCrashes(t *testing.T) {
	for _, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGSEGV} {
		t.Run(sig.String(), func(t *testing.T) {
			s := written(t)
			first := s.Find("chrome")
			s.Site.Forget()
			scene.Signal(t, first, sig)
			scene.Until(t, time.Minute, "the restart", func() bool {
				now := s.All("chrome")
				return s.Happened("chrome_restart") == 1 && len(now) == 1 && now[0].PID != first
			})
			s.Account(true)
			exit := s.Events()
			if e := find(exit, "chrome_exit"); e.Fields["signal"] == "" {
				t.Errorf("the journal says %+v", e)
			}
			if pages := s.Site.Pages(); len(pages) != 1 {
				t.Errorf("the new start opened %d pages", len(pages))
			}
			if r := s.Serve("/account"); !r.Already {
				t.Errorf("serve after the crash: %+v", r)
			}
			if r := s.Stop(); r.Killed {
				t.Errorf("the stop after the crash: %+v", r)
			}
			s.Alone(s.Service(), soon)
		})
	}
}

// The display is the profile's life: with it the profile ends, the service goes on, and the next serve has a new one.
func TestDisplayKilled(t *testing.T) {
	s := written(t)
	_, _, conn := s.Look()
	defer conn.Close()
	service := s.Service()
	scene.Signal(t, s.Find("Xvfb"), syscall.SIGKILL)
	s.Alone(service, soon)
	scene.Until(t, soon, "the profile to be stopped", func() bool { return contains(s.Must("ls", "--json"), `"held":"stopped"`) })
	if left := s.Leftovers(); len(left) > 0 {
		t.Errorf("left: %v", left)
	}
	s.Kept(true)
}

// The VNC server killed during a view: who comes back gets a new one, with the same token.
func TestVNCServerKilled(t *testing.T) {
	for vnc, program := range map[string]string{"tigervnc": "X0tigervnc", "x11vnc": "x11vnc"} {
		t.Run(vnc, func(t *testing.T) {
			s := scene.New(t)
			s.Must("ls")
			s.Settings(`{"vnc":"` + vnc + `"}`)
			s.Serve("/login")
			token, client, conn := s.Look()
			first := s.Find(program)
			scene.Signal(t, first, syscall.SIGKILL)
			for buffer := make([]byte, 4096); ; { // the stream ends
				if _, err := client.Stream.Read(buffer); err != nil {
					break
				}
			}
			conn.Close()
			again, conn := back(s, token)
			defer conn.Close()
			s.Picture(again)
			if now := s.Find(program); now == first {
				t.Error("the killed server is still there")
			}
			s.Must("viewer-revoke", scene.Name)
			scene.Until(t, soon, "the end of the VNC server", func() bool { return len(s.All(program)) == 0 })
		})
	}
}

// A link outlives the VNC server that it was minted with.
func TestVNCServerKilledBeforeTheLink(t *testing.T) {
	s := scene.New(t)
	s.Serve("/login")
	v := s.Mint("local")
	scene.Signal(t, s.Find("X0tigervnc"), syscall.SIGKILL)
	client, conn := back(s, s.Enter(v))
	defer conn.Close()
	s.Picture(client)
}

// back opens the stream again and again, as the page does, until the killed server is known to be dead.
func back(s *scene.Scene, token secret.Text) (client *rfb.Client, conn net.Conn) {
	s.T.Helper()
	scene.Until(s.T, time.Minute, "the stream to come back", func() (ok bool) {
		client, conn, ok = s.TryStream(token)
		return ok
	})
	return client, conn
}

// The window manager is started again; the view does not notice.
func TestWindowManagerKilled(t *testing.T) {
	s := scene.New(t)
	s.Serve("/login")
	_, client, conn := s.Look()
	defer conn.Close()
	for range 2 {
		first := s.Find("openbox")
		scene.Signal(t, first, syscall.SIGKILL)
		scene.Until(t, soon, "another window manager", func() bool {
			now := s.All("openbox")
			return len(now) == 1 && now[0].PID != first
		})
	}
	s.Picture(client)
	if r := s.Stop(); r.Killed {
		t.Errorf("the stop: %+v", r)
	}
}

// Closing the last window is no crash: with nobody looking the profile ends, with a view open Chrome comes back.
func TestLastWindowClosed(t *testing.T) {
	s := written(t)
	first := s.Find("chrome")
	closeWindow(s)
	s.Alone(s.Service(), time.Minute)
	if n := s.Happened("chrome_restart"); n != 0 || scene.Alive(first) {
		t.Errorf("%d restarts", n)
	}
	s.Again(true)
	_, _, conn := s.Look()
	defer conn.Close()
	first = s.Find("chrome")
	s.Site.Forget()
	closeWindow(s)
	scene.Until(t, time.Minute, "the browser to come back", func() bool {
		now := s.All("chrome")
		return len(now) == 1 && now[0].PID != first
	})
	s.Account(true)
}

// closeWindow presses what closes the last tab, as a person would.
func closeWindow(s *scene.Scene) {
	s.T.Helper()
	cmd := testuser.Command(s.AsUser(), "xdotool", "key", "--clearmodifiers", "ctrl+w")
	cmd.Env = append(cmd.Env, fmt.Sprintf("DISPLAY=unix:%d", s.Display()), "XAUTHORITY="+s.Authority())
	if out, err := cmd.CombinedOutput(); err != nil {
		s.T.Fatalf("xdotool: %v: %s", err, out)
	}
}

// find is the last event of a name.
func find(all []seat.Event, name string) (last seat.Event) {
	for _, e := range all {
		if e.Name == name {
			last = e
		}
	}
	return last
}
