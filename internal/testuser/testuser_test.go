package testuser

import (
	"os"
	"os/exec"
	"os/user"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func TestUserLivesAndGoes(t *testing.T) {
	var u User
	var pid int
	t.Run("made", func(t *testing.T) {
		u = New(t)
		out, err := Command(u, "sh", "-c", "id -u; id -G; pwd; touch mine").Output()
		want := []string{strconv.Itoa(u.UID), strconv.Itoa(u.GID), u.Home}
		if got := strings.Fields(string(out)); err != nil || strings.Join(got, " ") != strings.Join(want, " ") {
			t.Fatalf("the user sees %q, %v; want %q", got, err, want)
		}
		sleep := Command(u, "sleep", "600")
		if err := sleep.Start(); err != nil {
			t.Fatal(err)
		}
		pid = sleep.Process.Pid
		t.Cleanup(func() { sleep.Wait() })
		if got := processes(u.UID); len(got) != 1 || got[0] != pid {
			t.Fatalf("processes of the user: %v, want [%d]", got, pid)
		}
		self, err := Self(u, "-test.run=^TestWhoAmI$", "-test.v").CombinedOutput()
		if err != nil || !strings.Contains(string(self), "uid="+strconv.Itoa(u.UID)) {
			t.Fatalf("the test binary as the user: %v: %s", err, self)
		}
		// The cleanups run in reverse order: sleep.Wait would hang here if its process were not ended before.
		t.Cleanup(func() { end(t, u.UID) })
	})
	if _, err := user.Lookup(u.Name); err == nil {
		t.Errorf("%s is still there", u.Name)
	}
	if _, err := os.Lstat(u.Home); !os.IsNotExist(err) {
		t.Errorf("home of %s: %v, want gone", u.Name, err)
	}
	if pids := processes(u.UID); len(pids) != 0 {
		t.Errorf("processes %v are left", pids)
	}
}

// TestSweep: a test that was killed leaves its user, the next one removes him.
func TestSweep(t *testing.T) {
	if os.Getenv("TESTUSER_CHILD") != "" {
		t.Logf("name=%s.", New(t).Name)
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	cmd := exec.Command("/proc/self/exe", "-test.run=^TestSweep$", "-test.v")
	cmd.Env = append(os.Environ(), "TESTUSER_CHILD=1")
	out, _ := cmd.CombinedOutput()
	_, rest, _ := strings.Cut(string(out), "name=")
	name, _, _ := strings.Cut(rest, ".")
	if !strings.HasPrefix(name, prefix) {
		t.Fatalf("the child says %q", out)
	}
	other := New(t)
	if _, err := user.Lookup(name); err == nil {
		t.Errorf("%s is still there", name)
	}
	if _, err := user.Lookup(other.Name); err != nil {
		t.Error(err)
	}
}

func TestWhoAmI(t *testing.T) { t.Logf("uid=%d", os.Getuid()) }
