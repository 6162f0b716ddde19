package display

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/5dive/browser/internal/fault"
	"golang.org/x/sys/unix"
)

// Display numbers. The start is random, so that a peer cannot hold the numbers we would try first; Xvfb refuses numbers
// whose TCP port 6000+n would not exist.
const (
	firstNumber  = 100
	numberCount  = 58900
	serverTrials = 8 // numbers on which Xvfb itself may fail before a start does
)

const socketDir = "/tmp/.X11-unix"

func displayName(n int) string { return "unix:" + strconv.Itoa(n) }
func socketPath(n int) string  { return socketDir + "/X" + strconv.Itoa(n) }
func lockPath(n int) string    { return "/tmp/.X" + strconv.Itoa(n) + "-lock" }

// reservation holds a display number: the abstract socket name, bound and never listened on. A connect to it is
// refused by the kernel, so libxcb goes on to the file; a bind by another user fails.
type reservation struct {
	number int
	fd     int
	socket os.FileInfo // the server's socket file once it was proved to be ours
}

// reserve takes the first free number after at, of all there are.
func reserve(at int) (*reservation, error) {
	for i := range numberCount {
		n := firstNumber + (at+i)%numberCount
		if taken(n) {
			continue
		}
		fd, err := bindAbstract(n)
		if err == nil {
			return &reservation{number: n, fd: fd}, nil
		}
		if err != unix.EADDRINUSE {
			return nil, fault.New(fault.Failed, "cannot reserve display %d: %w", n, err)
		}
	}
	return nil, fault.New(fault.Failed, "cannot reserve a display: every number is taken").
		Try("ss -lxp | grep -c X11-unix")
}

func randomNumber() int { return rand.IntN(numberCount) }

func bindAbstract(n int) (int, error) {
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: "@" + socketPath(n)}); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// taken tells whether a file stands where Xvfb wants to put one. Anybody can put it there; a number costs nothing.
func taken(n int) bool {
	for _, path := range []string{socketPath(n), lockPath(n), "/tmp/.tX" + strconv.Itoa(n) + "-lock"} {
		if _, err := os.Lstat(path); err == nil {
			return true
		}
	}
	return false
}

// release gives the number back, after the server has ended. A killed server leaves its socket and lock file in /tmp;
// they are removed only where they are provably that server's own.
func (r *reservation) release(server *child) {
	if now, err := os.Lstat(socketPath(r.number)); err == nil && r.socket != nil && os.SameFile(now, r.socket) {
		os.Remove(socketPath(r.number))
	}
	if pid, err := lockHolder(r.number); err == nil && server != nil && pid == server.pid {
		os.Remove(lockPath(r.number))
	}
	unix.Close(r.fd)
}

func lockHolder(n int) (int, error) {
	fd, err := unix.Open(lockPath(n), unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	text := make([]byte, 16)
	got, err := unix.Read(fd, text)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(text[:got])))
}

// CheckDirectory refuses a machine on which another user could replace the socket of a display. A caller who starts displays from a
// user namespace of its own runs it outside, where root can be told from everybody else; a sticky directory of root's stays his.
func CheckDirectory() error { return checkSocketDir(socketDir) }

// checkSocketDir refuses a directory in which another user could replace our socket. A directory of our own is as good
// as root's: in a private /tmp there is nobody else to make it.
func checkSocketDir(path string) error {
	command := fmt.Sprintf("sudo install -d -o root -g root -m 1777 %s", path)
	info, err := os.Lstat(path)
	if os.IsNotExist(err) {
		return fault.New(fault.Missing, "cannot start a display: %s does not exist", path).Try("%s", command)
	}
	if err != nil {
		return fault.New(fault.Failed, "cannot look at %s: %w", path, err)
	}
	owner := ownerOf(info)
	shared := info.Mode().Perm()&0o022 != 0
	if info.IsDir() && (owner == 0 || owner == os.Geteuid()) && (!shared || info.Mode()&os.ModeSticky != 0) {
		return nil
	}
	return fault.New(fault.Denied, "cannot trust %s: want a sticky directory of root, have %s of uid %d", path, info.Mode(), owner).
		Try("sudo rm -rf %s && %s", filepath.Clean(path), command)
}

func ownerOf(info os.FileInfo) int {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(stat.Uid)
	}
	return -1
}
