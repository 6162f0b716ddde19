// Package testuser gives tests throwaway ordinary users of the real system: they are made with useradd, own a home of
// their own and are removed at the end of the test with every process that still runs under their uid.
//
// It needs root and Debian's useradd and userdel, and fails the test without them: a test with a made-up user proves
// nothing. Processes are ended by pid, found by uid in /proc, never by name.
package testuser

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// User is one throwaway user. UID is 1000 or more, GID is a group of his own. Home is his, mode 0700, below a directory
// of root's that everybody may traverse; both are gone after the test.
type User struct {
	Name     string
	UID, GID int
	Home     string
}

// prefix begins the name of every throwaway user.
const prefix = "fdt"

// Deadline for the end of one user's processes after SIGKILL.
const killWait = 10 * time.Second

// New makes a user and registers his removal with t.Cleanup.
func New(t testing.TB) User {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Fatal("testuser: needs root to add a user")
	}
	u := User{Name: name()}
	top := filepath.Join(os.TempDir(), u.Name)
	if err := os.Mkdir(top, 0o755); err != nil {
		t.Fatalf("testuser: cannot make %s: %v", top, err)
	}
	t.Cleanup(func() { removeTree(t, top) })
	u.Home = filepath.Join(top, "home")
	add(t, "useradd", "--comment", mark(), "--no-create-home", "--user-group", "--home-dir", u.Home, "--shell", "/bin/sh", u.Name)
	t.Cleanup(func() { remove(t, u) })
	u.UID, u.GID = ids(t, u.Name)
	own(t, u, top)
	return u
}

// Command is a command as user u: no supplementary groups, in his home, with an environment of HOME, TMPDIR (his home),
// USER, LOGNAME, PATH and LANG only. The caller starts it and waits for it.
func Command(u User, argv ...string) *exec.Cmd {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = u.Home
	cmd.Env = []string{"HOME=" + u.Home, "TMPDIR=" + u.Home, "USER=" + u.Name, "LOGNAME=" + u.Name, "LANG=C.UTF-8",
		"PATH=/usr/local/bin:/usr/bin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Credential: &syscall.Credential{Uid: uint32(u.UID), Gid: uint32(u.GID), Groups: []uint32{}},
	}
	return cmd
}

// Self is the running test binary itself as user u. It goes by /proc/self/exe, because the directory where `go test`
// puts the binary is closed to other users.
func Self(u User, args ...string) *exec.Cmd {
	return Command(u, append([]string{"/proc/self/exe"}, args...)...)
}

// name is unique on this box and within Debian's rule for user names.
func name() string {
	var b [4]byte
	rand.Read(b[:])
	return prefix + hex.EncodeToString(b[:])
}

// own gives u his home. The chmod of top undoes a stricter umask of the test run.
func own(t testing.TB, u User, top string) {
	t.Helper()
	err := os.Chmod(top, 0o755)
	if err == nil {
		err = os.Mkdir(u.Home, 0o700)
	}
	if err == nil {
		err = os.Chown(u.Home, u.UID, u.GID)
	}
	if err != nil {
		t.Fatalf("testuser: cannot make the home of %s: %v", u.Name, err)
	}
}

func ids(t testing.TB, name string) (uid, gid int) {
	t.Helper()
	entry, err := user.Lookup(name)
	if err != nil {
		t.Fatalf("testuser: cannot look up %s: %v", name, err)
	}
	uid, _ = strconv.Atoi(entry.Uid)
	gid, _ = strconv.Atoi(entry.Gid)
	if uid < 1000 || gid < 1000 {
		t.Fatalf("testuser: %s has uid %d and gid %d, want both from 1000", name, uid, gid)
	}
	return uid, gid
}
