package keeper

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/5dive/browser/browser"
)

// Left names what a keeper may have left behind: its session id and its scratch directory, which stands as HOME in the environment of
// everything that it started.
type Left struct {
	Session  int    `json:"session"`
	Scratch  string `json:"scratch"`
	UserData string `json:"user_data"`
}

// Sweep ends what a killed keeper left behind: Chrome by one SIGINT, waited for at most 36 s, then everything else of the keeper's
// session. A session id is not given away while a member lives; that the members are the keeper's own and not those of a later
// session with the same number is told by the scratch directory. It reports whether anything ran and whether Chrome had to be killed.
func Sweep(left Left) (found, killed bool) {
	pids := members(left.Session)
	if !slices.ContainsFunc(pids, func(pid int) bool { return homeIs(pid, left.Scratch) }) {
		return false, false
	}
	if pid, ours := browser.Holder(left.UserData); ours && slices.Contains(pids, pid) {
		killed = End(pid)
	}
	for _, pid := range members(left.Session) {
		syscall.Kill(pid, syscall.SIGKILL)
	}
	return true, killed
}

func homeIs(pid int, scratch string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && slices.Contains(strings.Split(string(env), "\x00"), "HOME="+scratch)
}

// End interrupts a Chrome that is not our child, once, and watches it go; after 36 s it is killed, which is told.
func End(pid int) (killed bool) {
	fd, err := pidfdOpen(pid)
	if err != nil {
		return false // gone already
	}
	defer syscall.Close(fd)
	syscall.Kill(pid, syscall.SIGINT)
	if ended(fd, killAfter) {
		return false
	}
	syscall.Kill(pid, syscall.SIGKILL)
	ended(fd, 5*time.Second)
	return true
}

// members lists the living processes of a session that run under our own uid.
func members(session int) []int {
	var found []int
	for _, pid := range processes() {
		if p, ok := look(pid); ok && !p.zombie && p.session == session && p.uid == os.Getuid() {
			found = append(found, pid)
		}
	}
	return found
}
