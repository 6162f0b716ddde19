package seat

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/testuser"
)

func init() {
	// hold takes the lock, says so and keeps it until its standard input ends.
	verbs["hold"] = func(a []string) (string, error) {
		return "", withSite(a, func(s Seat, site Site) error {
			file, err := s.Lock(site)
			if err != nil {
				return err
			}
			os.Stdout.WriteString("held\n")
			bufio.NewReader(os.Stdin).ReadByte()
			return file.Close()
		})
	}
	// lend hands the lock to a sleeper and ends.
	verbs["lend"] = func(a []string) (string, error) {
		pid := ""
		err := withSite(a, func(s Seat, site Site) error {
			file, err := s.Lock(site)
			if err != nil {
				return err
			}
			cmd := exec.Command("sleep", "600")
			cmd.ExtraFiles = []*os.File{file}
			err = cmd.Start()
			if err == nil {
				pid = strconv.Itoa(cmd.Process.Pid)
			}
			return err
		})
		return pid, err
	}
}

func TestLock(t *testing.T) {
	u := testuser.New(t)
	root, seat, _ := inhabited(t, u)
	holder := testuser.Self(u, "as", "hold", root, "example.com")
	in, err := holder.StdinPipe()
	must(t, err)
	out, err := holder.StdoutPipe()
	must(t, err)
	must(t, holder.Start())
	if line, _ := bufio.NewReader(out).ReadString('\n'); line != "held\n" {
		t.Fatalf("the holder says %q", line)
	}
	for _, verb := range []string{"lock", "remove"} {
		as(t, u, verb, root, "example.com").refused(t, fault.Busy, "process "+strconv.Itoa(holder.Process.Pid))
	}
	as(t, u, "lock", root, "example.org").ok(t)
	as(t, u, "lock", root, host253).ok(t) // the longest name fits
	if err := Remove(root, u.Name, true, func(string) {}); fault.Of(err) != fault.Busy {
		t.Errorf("purge under a lock: %v", err)
	}
	must(t, holder.Process.Kill())
	holder.Wait()
	in.Close()
	as(t, u, "lock", root, "example.com").ok(t)
	if info, err := os.Stat(filepath.Join(seat, ".run/locks/example.com")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("lock file: %v, %v", info, err)
	}
}

// TestLockIsLent: the lock lives as long as the last process that has it.
func TestLockIsLent(t *testing.T) {
	u := testuser.New(t)
	root, _, _ := inhabited(t, u)
	cmd := testuser.Self(u, "as", "lend", root, "example.com")
	pid, err := strconv.Atoi(ask(t, cmd).ok(t).Value)
	must(t, err)
	as(t, u, "lock", root, "example.com").refused(t, fault.Busy, "process "+strconv.Itoa(cmd.Process.Pid))
	sleeper, err := os.FindProcess(pid)
	must(t, err)
	must(t, sleeper.Kill())
	waitGone(t, pid)
	as(t, u, "lock", root, "example.com").ok(t)
}

// TestLockOnce: of many at once, one has it.
func TestLockOnce(t *testing.T) {
	u := testuser.New(t)
	root, _, _ := inhabited(t, u)
	var wg sync.WaitGroup
	var mu sync.Mutex
	kinds := map[fault.Kind]int{}
	release := make(chan struct{})
	for range 12 {
		wg.Go(func() {
			cmd := testuser.Self(u, "as", "hold", root, "example.com")
			in, _ := cmd.StdinPipe()
			out, _ := cmd.StdoutPipe()
			if cmd.Start() != nil {
				return
			}
			line, _ := bufio.NewReader(out).ReadString('\n')
			mu.Lock()
			if line == "held\n" {
				kinds["held"]++
			} else if strings.Contains(line, `"busy"`) {
				kinds[fault.Busy]++
			}
			if kinds["held"]+kinds[fault.Busy] == 12 {
				close(release)
			}
			mu.Unlock()
			<-release
			in.Close()
			cmd.Wait()
		})
	}
	wg.Wait()
	if kinds["held"] != 1 || kinds[fault.Busy] != 11 {
		t.Errorf("%v", kinds)
	}
}

// waitGone waits on a pidfd for a process that is not our child.
func waitGone(t testing.TB, pid int) {
	t.Helper()
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 10_000); err != nil || n != 1 {
		t.Fatalf("process %d did not end: %v", pid, err)
	}
}
