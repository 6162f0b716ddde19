package life_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/5dive/browser/internal/testuser"
	"github.com/5dive/browser/test/scene"
)

// P01 through the verbs: every kind of lock that a Chrome that is gone may have left is cleared, with the login kept and strangers alive.
func TestStaleLocks(t *testing.T) {
	s := scene.New(t)
	s.SignIn(true)
	s.Stop()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	stranger := sleeper(t, s)
	dead := testuser.Command(s.AsUser(), "true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ name, target string }{
		{"another host, dangling", "box-before-rename-4242"},
		{"another host, a live stranger's pid", fmt.Sprintf("box-before-rename-%d", stranger.Process.Pid)},
		{"dead pid", fmt.Sprintf("%s-%d", host, dead.Process.Pid)},
		{"reused pid of a live stranger", fmt.Sprintf("%s-%d", host, stranger.Process.Pid)},
		{"no pid", "no-dash-or-number"},
		{"a plain file", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			leaveLock(t, s, row.target)
			before, cleared := names(t, s.Profile()), s.Happened("lock_cleared")
			s.Kept(true)
			if n := s.Happened("lock_cleared") - cleared; n != 1 {
				t.Errorf("the journal tells %d times that a lock was cleared", n)
			}
			for path := range names(t, s.Profile()) {
				delete(before, path)
			}
			maps.DeleteFunc(before, func(path string, _ bool) bool {
				return strings.Contains(path, "/chrome/Singleton") || !strings.Contains(path, "/chrome/Default/Cookies")
			})
			if len(before) > 0 {
				t.Errorf("gone: %v", before)
			}
			if !scene.Alive(stranger.Process.Pid) {
				t.Fatal("the stranger was killed")
			}
		})
	}
}

func sleeper(t *testing.T, s *scene.Scene) *exec.Cmd {
	t.Helper()
	cmd := testuser.Command(s.AsUser(), "sleep", "3600")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd
}

// leaveLock puts the three Singleton files of a Chrome that is gone into a profile.
func leaveLock(t *testing.T, s *scene.Scene, target string) {
	t.Helper()
	for name, to := range map[string]string{"SingletonLock": target, "SingletonSocket": "/tmp/org.chromium.Chromium.gone/SingletonSocket", "SingletonCookie": "12345678901234567890"} {
		path := filepath.Join(s.Profile(), "chrome", name)
		os.Remove(path)
		var err error
		if to == "" {
			err = os.WriteFile(path, nil, 0o600)
		} else {
			err = os.Symlink(to, path)
		}
		if err == nil {
			err = os.Lchown(path, s.Stage.UID, s.Stage.GID)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func names(t *testing.T, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, _ error) error { all[path] = true; return nil }); err != nil {
		t.Fatal(err)
	}
	return all
}

// A Chrome that somebody started by hand on the profile is honoured: 75, its pid, and it is left alone.
func TestLiveChromeByHand(t *testing.T) {
	s := scene.New(t)
	s.SignIn(true)
	s.Stop()
	s.Site.Forget()
	scratch := filepath.Join(s.Stage.Home(), "hand")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(scratch, s.Stage.UID, s.Stage.GID); err != nil {
		t.Fatal(err)
	}
	cmd := testuser.Command(s.AsUser(), "/usr/lib/chromium/chromium", "--headless", "--user-data-dir="+filepath.Join(s.Profile(), "chrome"),
		"--password-store=basic", "--no-first-run", "--disable-gpu", s.Origin+"/account")
	cmd.Env = append(cmd.Env, "HOME="+scratch, "TMPDIR="+scratch)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	s.Visit()
	said := s.Refused(75, "serve", scene.Name, "--url="+s.Origin+"/account")
	if !strings.Contains(said, strconv.Itoa(cmd.Process.Pid)) {
		t.Errorf("the refusal names no process %d: %s", cmd.Process.Pid, said)
	}
	s.Refused(75, "viewer", scene.Name, "--bind=local")
	lock := filepath.Join(s.Profile(), "chrome", "SingletonSocket") // the process counts, not its links
	to, err := os.Readlink(lock)
	must(s, err)
	must(s, os.Remove(lock))
	s.Refused(75, "serve", scene.Name, "--url="+s.Origin+"/account")
	must(s, os.Symlink(to, lock))
	must(s, os.Lchown(lock, s.Stage.UID, s.Stage.GID))
	if !scene.Alive(cmd.Process.Pid) {
		t.Error("the Chrome was killed")
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if !scene.Happens(time.Minute, func() bool { return cmd.Process.Signal(syscall.Signal(0)) != nil || !scene.Alive(cmd.Process.Pid) }) {
		t.Error("the Chrome did not end")
	}
	cmd.Wait()
	s.Serve("/login")
}

// The machine gets another name between a kill and the next start: really, in a UTS namespace.
func TestHostRenamed(t *testing.T) {
	s := written(t)
	for _, word := range []string{"seatd", "keeper", "chrome"} {
		scene.Signal(t, s.Find(word), syscall.SIGKILL)
	}
	scene.Until(t, time.Minute, "the end of the display", func() bool { return len(s.All("Xvfb")) == 0 })
	link, err := os.Readlink(filepath.Join(s.Profile(), "chrome", "SingletonLock"))
	if err != nil {
		t.Fatalf("the killed Chrome left no lock: %v", err)
	}
	s.Site.Forget()
	script := `hostname box-after-rename && exec setpriv --reuid=` + strconv.Itoa(s.Stage.UID) + ` --regid=` + strconv.Itoa(s.Stage.GID) +
		` --clear-groups -- "$@"`
	cmd := exec.CommandContext(scene.Limit(t, 2*time.Minute), "unshare", "--uts", "sh", "-c", script, "sh",
		s.Stage.Binary, "browser", "serve", scene.Name, "--url="+s.Origin+"/account")
	cmd.Env = []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8", "FIVEDIVE_BROWSER_ROOT=" + s.Stage.Root}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("serve on the renamed machine: %v: %s", err, out)
	}
	s.Account(true)
	now, err := os.Readlink(filepath.Join(s.Profile(), "chrome", "SingletonLock"))
	if err != nil || !strings.HasPrefix(now, "box-after-rename-") || strings.HasPrefix(link, "box-after-rename-") {
		t.Errorf("the lock was %s and is %s: %v", link, now, err)
	}
	s.Stop()
}
