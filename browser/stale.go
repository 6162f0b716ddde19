package browser

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/internal/safefile"
)

// The three links by which a running Chrome holds its user data directory: host-pid, its socket, and a number that must agree with one beside
// the socket.
var singletons = []string{"SingletonLock", "SingletonSocket", "SingletonCookie"}

// orphanWait is how long the helpers of a Chrome that was killed may take to end. They do within milliseconds of losing it, but one of them
// owns the cookie file.
const orphanWait = 5 * time.Second

// ClearStale removes the links of a Chrome that is gone, and nothing else, and tells whether there were any; the caller holds the profile's
// lock. Chrome alone would hang in front of a message box at a link of another host name. It does not believe the link, whose pid
// may be a stranger's by now and whose host may have been renamed: it looks for a live Chrome on the directory. One that is found is
// fault.Busy, with its pid where it is known. No process is ever signalled.
func ClearStale(userData string) (cleared bool, err error) {
	if pid, _ := Holder(userData); pid != 0 {
		return false, fault.New(fault.Busy, "cannot open the profile: a Chrome has it open (process %d)", pid)
	}
	dir, err := safefile.Open(userData)
	if err != nil {
		return false, cannotPrepare(err)
	}
	defer dir.Close()
	if answers(filepath.Join(userData, "SingletonSocket")) {
		return false, fault.New(fault.Busy, "cannot open the profile: a Chrome that cannot be seen from here has it open")
	}
	if err := awaitOrphans(userData); err != nil {
		return false, err
	}
	for _, name := range singletons {
		if _, err := dir.Look(name); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := dir.RemoveFile(name); err != nil {
			return cleared, fault.New(fault.Failed, "cannot clear a stale lock: %w", err)
		}
		cleared = true
	}
	return cleared, nil
}

// answers tells whether a Chrome listens on its socket: it may live in another container that shares the directory.
func answers(socket string) bool {
	target, err := os.Readlink(socket)
	if err != nil {
		return false
	}
	var d net.Dialer
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c, err := d.DialContext(ctx, "unix", target)
	if err != nil {
		return false
	}
	c.Close()
	return true
}

// awaitOrphans waits for the helpers of a Chrome that is gone.
func awaitOrphans(userData string) error {
	deadline := time.Now().Add(orphanWait)
	for _, pid := range processes() {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue
		}
		p := look(pid)
		left := !p.chrome || !p.holds(userData) || ended(fd, time.Until(deadline))
		unix.Close(fd)
		if !left {
			return fault.New(fault.Busy, "cannot open the profile: a helper of an earlier Chrome still runs (process %d)", pid)
		}
	}
	return nil
}

// ended waits for the process of a pidfd.
func ended(fd int, wait time.Duration) bool {
	end := time.Now().Add(wait)
	for {
		left := max(0, time.Until(end))
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if n > 0 || !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}
