package browser

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Row 21: Chrome listens on no TCP port. The tests run as a user of their own, so each listener of that user but the site's is Chrome's.
func TestNoTCPListener(t *testing.T) {
	r := newRig(t)
	c := r.signIn(true)
	if got := len(listeners(t)); got != 1 {
		t.Errorf("this user has %d TCP listeners (%v), want the site's alone", got, listeners(t))
	}
	c.stop()
}

func listeners(t *testing.T) (found []string) {
	t.Helper()
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			f := strings.Fields(lines.Text())
			if len(f) > 7 && f[3] == "0A" && f[7] == pidText(os.Getuid()) {
				found = append(found, f[1])
			}
		}
	}
	return found
}

// Row 23: no path and no token of the address in any command line, from the start to the end of a visit; nor in an environment.
func TestAddressStaysOutOfProc(t *testing.T) {
	r := newRig(t)
	path, key := r.site.Enter(true)
	stop, seen := make(chan struct{}), make(chan string, 1)
	go func() {
		leak := ""
		for leak == "" {
			select {
			case <-stop:
				seen <- ""
				return
			default:
				leak = findInProc(key.Reveal())
			}
		}
		seen <- leak
	}()
	c := r.start(path)
	r.account()
	if st, err := os.Stat(filepath.Join(r.scratch, startPage)); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("start page: %v, %v; want mode 0600", st, err)
	}
	c.stop()
	close(stop)
	if leak := <-seen; leak != "" {
		t.Errorf("the token stands in %s", leak)
	}
	r.site.Forget()
	r.again("on the origin", true)
	if _, err := os.Stat(filepath.Join(r.scratch, startPage)); !os.IsNotExist(err) {
		t.Errorf("the start page of an earlier start is still there: %v", err)
	}
}

func findInProc(secret string) string {
	for _, pid := range processes() {
		for _, name := range []string{"cmdline", "environ"} {
			path := filepath.Join("/proc", pidText(pid), name)
			if text, _ := os.ReadFile(path); strings.Contains(string(text), secret) {
				return path
			}
		}
	}
	return ""
}

// Row 25: a crash writes no core file, and its minidump only below Scratch.
func TestCrashLeavesNothingOutsideScratch(t *testing.T) {
	r := newRig(t)
	r.signIn(true).stop()
	r.site.Forget()
	c := r.start("")
	r.account()
	renderer := r.helper("--type=renderer")
	syscall.Kill(renderer, syscall.SIGSEGV)
	syscall.Kill(c.pid(), syscall.SIGSEGV)
	select {
	case <-c.done:
	case <-time.After(20 * time.Second):
		t.Fatal("Chrome did not end after SIGSEGV")
	}
	c.kill()
	if err := awaitOrphans(r.userData); err != nil {
		t.Error(err)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		t.Fatal(err)
	}
	dumps := 0
	for _, dir := range []string{r.top, home} {
		for path := range names(t, dir) {
			name, inside := filepath.Base(path), strings.HasPrefix(path, r.scratch+"/")
			if strings.HasPrefix(name, "core") && !strings.Contains(path, "component") || strings.HasSuffix(name, ".dmp") && !inside {
				t.Errorf("a crash left %s", path)
			}
			if strings.HasSuffix(name, ".dmp") && inside {
				dumps++
			}
		}
	}
	if dumps == 0 {
		t.Error("no minidump was written at all: the test no longer shows where they go")
	}
	r.again("after the crash", true)
}

// helper is the pid of one of the rig's helper processes.
func (r *rig) helper(kind string) int {
	r.t.Helper()
	for _, pid := range processes() {
		p := look(pid)
		if p.chrome && p.holds(r.userData) && strings.Contains(strings.Join(p.argv, " "), kind) {
			return pid
		}
	}
	r.t.Fatalf("no process of Chrome has %s", kind)
	return 0
}
