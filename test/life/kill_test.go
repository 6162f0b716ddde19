package life_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/test/scene"
)

// written signs in and stops, so that both cookies are on the disk, opens the browser again and a view of it: the scene of every death.
func written(t *testing.T) *scene.Scene {
	t.Helper()
	s := scene.New(t)
	s.SignIn(true)
	s.Stop()
	s.Again(true)
	return s
}

// Each death of the service, and of the keeper, during a view: nothing is left, and the login is there.
func TestKilled(t *testing.T) {
	for _, row := range []struct {
		name    string
		service syscall.Signal // 0: the service lives on
		keeper  syscall.Signal
	}{
		{"service SIGTERM", syscall.SIGTERM, 0},
		{"service SIGKILL", syscall.SIGKILL, 0},
		{"service SIGQUIT", syscall.SIGQUIT, 0},
		{"service SIGSEGV", syscall.SIGSEGV, 0}, // as a panic ends it: by the runtime, with no deferred call run
		{"keeper SIGKILL", 0, syscall.SIGKILL},
		{"service SIGKILL and keeper SIGKILL", syscall.SIGKILL, syscall.SIGKILL},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := written(t)
			_, _, conn := s.Look()
			defer conn.Close()
			service, keeper := s.Service(), s.Find("keeper")
			old := scene.Tasks(s.Stage.UID)
			for pid, sig := range map[int]syscall.Signal{service: row.service, keeper: row.keeper} {
				if sig != 0 {
					scene.Signal(t, pid, sig)
				}
			}
			if row.service == 0 {
				s.Alone(service, soon)
			} else if row.keeper == 0 {
				s.Nothing(soon)
				if left := s.Scratch(); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			}
			s.Must("ls") // a service that starts ends what a killed keeper left
			gone(t, old, service, row.service == 0)
			s.Kept(true)
			s.Alone(s.Service(), soon)
			if left := s.Leftovers(); len(left) > 0 {
				t.Errorf("left after the stop: %v", left)
			}
		})
	}
}

// gone waits until every process of a list has ended, but the service where it lives on.
func gone(t *testing.T, old []scene.Task, service int, lives bool) {
	t.Helper()
	for _, p := range old {
		if p.PID == service && lives {
			continue
		}
		if !scene.Happens(soon, func() bool { return !scene.Alive(p.PID) }) {
			t.Errorf("still there: %v", p)
		}
	}
}

// What a killed service wrote to the disk: the address of a page may hold a token, so it does not stay.
func TestKilledLeavesNoAddress(t *testing.T) {
	s := scene.New(t)
	s.SignIn(false)
	page := filepath.Join(filepath.Dir(s.Authority()), "start.html")
	if _, err := os.Lstat(page); err != nil {
		t.Fatalf("the page's address is not where this test looks for it: %v", err)
	}
	scene.Signal(t, s.Service(), syscall.SIGKILL)
	s.Nothing(soon)
	if _, err := os.Lstat(page); !os.IsNotExist(err) {
		t.Errorf("the address is still in %s: %v", page, err)
	}
}

// P04: a login of a moment ago, by each way that the browser is ended.
func TestFreshLogin(t *testing.T) {
	for _, row := range []struct {
		name string
		end  func(s *scene.Scene)
	}{
		{"stop", func(s *scene.Scene) { s.Stop() }},
		{"Done", done},
		{"service SIGTERM", func(s *scene.Scene) { scene.Signal(s.T, s.Service(), syscall.SIGTERM); s.Nothing(soon) }},
		{"service SIGKILL", func(s *scene.Scene) { scene.Signal(s.T, s.Service(), syscall.SIGKILL); s.Nothing(soon) }},
		{"keeper SIGKILL", func(s *scene.Scene) {
			service := s.Service()
			scene.Signal(s.T, s.Find("keeper"), syscall.SIGKILL)
			s.Alone(service, soon)
		}},
	} {
		for _, kept := range []bool{true, false} { // P03: without "keep me" the cookie has no expiry
			t.Run(row.name+map[bool]string{true: ", kept", false: ", session alone"}[kept], func(t *testing.T) {
				s := scene.New(t)
				s.SignIn(kept)
				row.end(s)
				s.Kept(kept)
			})
		}
	}
}

// done is a person's Done: the view is entered and the browser ended by it.
func done(s *scene.Scene) {
	token, _, conn := s.Look()
	defer conn.Close()
	if r := s.Done(token); !r.Saved {
		s.T.Errorf("Done: %+v", r)
	}
}

// P04, the honest case: Chrome itself killed a moment after a login. The site says what became of it, and the product claims nothing.
func TestFreshLoginChromeKilled(t *testing.T) {
	s := scene.New(t)
	s.SignIn(true)
	s.Site.Forget()
	scene.Signal(t, s.Find("chrome"), syscall.SIGKILL)
	scene.Until(t, time.Minute, "the restart", func() bool { return s.Happened("chrome_restart") == 1 && len(s.All("chrome")) == 1 })
	r := s.Visit()
	t.Logf("the site saw session %t and kept %t", r.Session, r.Kept)
	if out := s.Must("ls", "--json"); !contains(out, `"state":"UNKNOWN`) {
		t.Errorf("ls claims to know: %s", out)
	}
	s.Stop()
	s.Serve("/login")
}
