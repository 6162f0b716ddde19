package testuser

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// lockFile serialises useradd and userdel among test binaries that run at once: the tools give up on a busy
// /etc/.pwd.lock instead of waiting long enough.
const lockFile = "/run/5dive-testuser.lock"

// locked calls do while no other test changes the users.
func locked(t testing.TB, do func()) {
	t.Helper()
	lock, err := os.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatalf("testuser: %v", err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatalf("testuser: cannot lock %s: %v", lockFile, err)
	}
	do()
}

// run runs one of the account tools.
func run(t testing.TB, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Errorf("testuser: %v: %v: %s", argv, err, out)
	}
}

func add(t testing.TB, argv ...string) {
	t.Helper()
	locked(t, func() {
		sweep(t)
		run(t, argv...)
	})
}

// remove ends the processes of u and deletes him.
func remove(t testing.TB, u User) {
	end(t, u.UID)
	locked(t, func() { run(t, "userdel", u.Name) })
}

// end kills every process whose real or effective uid is uid, again and again until none is left (one may fork while it is looked for),
// and waits on a pidfd for each to be gone.
func end(t testing.TB, uid int) {
	if uid < 1000 {
		return // New failed before it knew the uid
	}
	deadline := time.Now().Add(killWait)
	for {
		pids := processes(uid)
		if len(pids) == 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Errorf("testuser: processes %v of uid %d did not end", pids, uid)
			return
		}
		for _, pid := range pids {
			kill(pid)
		}
	}
}

// kill sends SIGKILL and waits up to a second for the process to have ended.
func kill(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) != nil {
		return
	}
	unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 1000)
}

// processes lists the live processes (no zombies: those are their parent's to reap) with uid as their real, effective or
// saved uid. The fourth, of the file system, may be a test's own that borrows a user's rights.
func processes(uid int) []int {
	want := []byte(strconv.Itoa(uid))
	status, _ := filepath.Glob("/proc/[0-9]*/status")
	var pids []int
	for _, path := range status {
		text, err := os.ReadFile(path)
		if err != nil || bytes.Contains(text, []byte("\nState:\tZ")) || bytes.Contains(text, []byte("\nState:\tX")) {
			continue
		}
		_, rest, _ := bytes.Cut(text, []byte("\nUid:\t"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		uids := bytes.Fields(line)
		for _, field := range uids[:min(3, len(uids))] {
			if bytes.Equal(field, want) {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
				pids = append(pids, pid)
				break
			}
		}
	}
	return pids
}

// removeTree deletes the directory of a user who is gone.
func removeTree(t testing.TB, top string) {
	if err := os.RemoveAll(top); err != nil {
		t.Errorf("testuser: %v", err)
	}
}
