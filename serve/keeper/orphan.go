package keeper

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// adoptOrphans makes this process the parent of what Chrome leaves behind: its crash handlers fork twice and take sessions of their own,
// so that neither process group nor session names them.
func adoptOrphans() {
	unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) // cannot fail on a kernel with pidfds
}

// reapOrphans ends and collects every child that is left once Chrome, VNC server, window manager and Xvfb have been waited for.
func reapOrphans() {
	for {
		children := children()
		if len(children) == 0 {
			return
		}
		for _, pid := range children {
			syscall.Kill(pid, syscall.SIGKILL)
			syscall.Wait4(pid, nil, 0, nil)
		}
	}
}

// children lists the pids of this process's children, zombies included. Not every kernel has /proc/PID/task/TID/children.
func children() []int {
	var pids []int
	for _, pid := range processes() {
		if p, ok := look(pid); ok && p.parent == os.Getpid() {
			pids = append(pids, pid)
		}
	}
	return pids
}
