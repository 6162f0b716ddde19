package browser

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/5dive/browser/internal/fault"
)

func pidText(pid int) string { return strconv.Itoa(pid) }

func hostName(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// stranger is a process that is no Chrome, whatever its command line says.
func stranger(t *testing.T, userData string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("sleep", "600")
	cmd.Args = []string{"sleep", "600"}
	if userData != "" {
		cmd = exec.Command("sh", "-c", "read line", "--user-data-dir="+userData)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { in.Close() })
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

func deadPID(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

func (r *rig) leaveLock(target string) {
	r.t.Helper()
	for name, target := range map[string]string{"SingletonLock": target, "SingletonSocket": "/tmp/org.chromium.Chromium.gone/SingletonSocket", "SingletonCookie": "12345678901234567890"} {
		path := filepath.Join(r.userData, name)
		os.Remove(path)
		var err error
		if target == "" {
			err = os.WriteFile(path, nil, 0o600)
		} else {
			err = os.Symlink(target, path)
		}
		if err != nil {
			r.t.Fatal(err)
		}
	}
}

func names(t *testing.T, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, _ os.DirEntry, err error) error { all[path] = true; return err })
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// P01: every kind of stale lock is cleared, and only that; the login is there after the next start; no process is harmed.
func TestStaleLocks(t *testing.T) {
	r := newRig(t)
	r.signIn(true).stop()
	plain, liar := stranger(t, ""), stranger(t, r.userData)
	for _, test := range []struct{ name, target string }{
		{"other host, dangling", "box-before-rename-4242"},
		{"other host, pid of a live stranger", "box-before-rename-" + pidText(plain.Process.Pid)},
		{"dead pid", hostName(t) + "-" + pidText(deadPID(t))},
		{"reused pid", hostName(t) + "-" + pidText(plain.Process.Pid)},
		{"reused pid, the stranger names the profile", hostName(t) + "-" + pidText(liar.Process.Pid)},
		{"no host and number", "no-dash-or-number"},
		{"plain file", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := names(t, r.userData)
			r.leaveLock(test.target)
			cleared, err := ClearStale(r.userData)
			if err != nil || !cleared {
				t.Fatalf("cleared %v, %v", cleared, err)
			}
			if after := names(t, r.userData); !maps.Equal(before, after) {
				t.Errorf("other files changed: %d before, %d after", len(before), len(after))
			}
			r.leaveLock(test.target)
			r.again(test.name, true)
		})
	}
	for _, cmd := range []*exec.Cmd{plain, liar} {
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("a stranger has ended: %v", err)
		}
	}
	if cleared, err := ClearStale(r.userData); cleared || err != nil {
		t.Errorf("a profile without locks: cleared %v, %v", cleared, err)
	}
}

// A live Chrome is honoured, also when the machine was renamed under it, when its links are gone, and by another spelling of the directory.
func TestLiveChromeIsHonoured(t *testing.T) {
	r := newRig(t)
	c := r.signIn(true)
	other := filepath.Join(r.top, "other")
	if err := os.Symlink(r.userData, other); err != nil {
		t.Fatal(err)
	}
	honoured := func(what string) {
		t.Helper()
		cleared, err := ClearStale(r.userData)
		if fault.Of(err) != fault.Busy || cleared || !strings.Contains(err.Error(), pidText(c.pid())) {
			t.Errorf("%s: cleared %v, %v; want busy with pid %d", what, cleared, err, c.pid())
		}
	}
	honoured("as it is")
	if pid, ours := Holder(other); pid != c.pid() || !ours {
		t.Errorf("holder by another name of the directory is %d, ours %v", pid, ours)
	}
	if pid, _ := Holder(r.top); pid != 0 {
		t.Errorf("holder of another directory is %d", pid)
	}
	lock := filepath.Join(r.userData, "SingletonLock")
	target, err := os.Readlink(lock)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(lock)
	if err := os.Symlink("box-after-rename-"+pidText(c.pid()), lock); err != nil {
		t.Fatal(err)
	}
	honoured("other host name")
	os.Remove(lock)
	honoured("no link")
	if err := os.Symlink(target, lock); err != nil {
		t.Fatal(err)
	}
	c.stop()
	r.again("afterwards", true)
}

// A Chrome in another container is seen by its socket only.
func TestSocketIsHonoured(t *testing.T) {
	r := newRig(t)
	c := r.signIn(true)
	socket, err := os.Readlink(filepath.Join(r.userData, "SingletonSocket"))
	if err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(filepath.Dir(socket))
	if err != nil || st.Mode().Perm() != 0o700 || !strings.HasPrefix(socket, r.scratch+"/") {
		t.Errorf("socket %s is not in a 0700 directory of Scratch: %v %v", socket, st, err)
	}
	elsewhere := filepath.Join(r.top, "elsewhere")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(socket, filepath.Join(elsewhere, "SingletonSocket")); err != nil {
		t.Fatal(err)
	}
	if _, err := ClearStale(elsewhere); fault.Of(err) != fault.Busy {
		t.Errorf("a listening socket gives %v, want busy", err)
	}
	c.stop()
	if cleared, err := ClearStale(elsewhere); !cleared || err != nil {
		t.Errorf("after the end: cleared %v, %v", cleared, err)
	}
}

func TestInterruptLeavesStrangersAlone(t *testing.T) {
	cmd := stranger(t, "")
	if err := Interrupt(cmd.Process.Pid); fault.Of(err) != fault.Failed {
		t.Errorf("interrupting a stranger: %v", err)
	}
	if err := Interrupt(deadPID(t)); fault.Of(err) != fault.Failed {
		t.Errorf("interrupting nobody: %v", err)
	}
	if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("the stranger has ended: %v", err)
	}
}

func TestCommandLines(t *testing.T) {
	for _, test := range []struct {
		name, line  string
		main, holds bool
	}{
		{"as started", "/opt/c/chrome\x00--user-data-dir=/p/a b\x00--x\x00http://h/\x00", true, true},
		{"rewritten", "/opt/c/chrome --user-data-dir=/p/a b --x http://h/\x00\x00\x00", true, true},
		{"rewritten, the page follows", "/opt/c/chrome --x --user-data-dir=/p/a b http://h/\x00", true, true},
		{"helper", "/opt/c/chrome --type=utility --user-data-dir=/p/a b --x\x00", false, true},
		{"another directory", "/opt/c/chrome --user-data-dir=/p/a bc --x\x00", true, false},
		{"no directory", "/opt/c/chrome\x00", true, false},
	} {
		p := process{dir: "/proc/self", chrome: true, argv: arguments([]byte(test.line))}
		if p.main() != test.main || p.holds("/p/a b") != test.holds {
			t.Errorf("%s: main %v, holds %v of %q", test.name, p.main(), p.holds("/p/a b"), p.argv)
		}
	}
}
