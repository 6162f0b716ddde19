package browser

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/5dive/browser/internal/fault"
)

// Holder is the live Chrome on a user data directory, pid 0 for none. Ours tells that this package started it. Only processes with the
// caller's uid count: another user cannot open the directory, but he can write its name on a command line.
func Holder(userData string) (pid int, ours bool) {
	for _, pid := range processes() {
		if p := look(pid); p.chrome && p.main() && p.holds(userData) {
			return pid, p.ours()
		}
	}
	return 0, false
}

// Interrupt asks the Chrome with that pid, a main process of the caller's uid, to end: SIGINT, which makes it write its cookies first. Send it
// once: a second one makes Chrome end without writing. A process that is gone, or is no Chrome, is left alone: fault.Failed.
func Interrupt(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0) // holds the pid: it cannot become a stranger's between the look and the signal
	if err != nil {
		return fault.New(fault.Failed, "cannot interrupt process %d: %w", pid, err)
	}
	defer unix.Close(fd)
	if p := look(pid); !p.chrome || !p.main() {
		return fault.New(fault.Failed, "cannot interrupt process %d: it is no Chrome of this user", pid)
	}
	if err := unix.PidfdSendSignal(fd, unix.SIGINT, nil, 0); err != nil {
		return fault.New(fault.Failed, "cannot interrupt process %d: %w", pid, err)
	}
	return nil
}

func processes() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}

// process is what /proc tells of one process of the caller's uid; the zero value is one that is gone or another user's.
type process struct {
	dir    string
	chrome bool
	argv   []string
}

func look(pid int) process {
	dir := filepath.Join("/proc", strconv.Itoa(pid))
	var st syscall.Stat_t
	if syscall.Stat(dir, &st) != nil || int(st.Uid) != os.Geteuid() {
		return process{}
	}
	exe, err := os.Readlink(filepath.Join(dir, "exe"))
	if err != nil || !isChrome(exe) {
		return process{}
	}
	text, _ := os.ReadFile(filepath.Join(dir, "cmdline"))
	return process{dir: dir, chrome: true, argv: arguments(text)}
}

// isChrome goes by the file that every Chrome has beside its executable: names are many, and a renamed one must be honoured too. An upgrade
// may have taken away the executable of a Chrome that still runs.
func isChrome(exe string) bool {
	exe = strings.TrimSuffix(exe, " (deleted)")
	if slices.Contains([]string{"chrome", "chromium", "msedge"}, filepath.Base(exe)) {
		return true
	}
	_, err := os.Stat(filepath.Join(filepath.Dir(exe), "icudtl.dat"))
	return err == nil
}

// arguments splits a command line. Chrome rewrites those of its processes, the main one too, some time after the start, into one text with
// spaces; it is split where a switch begins, so that a path with spaces stays whole.
func arguments(text []byte) (argv []string) {
	line := strings.TrimRight(string(text), "\x00")
	if strings.Contains(line, "\x00") {
		return strings.Split(line, "\x00")
	}
	for i, part := range strings.Split(line, " --") {
		if i > 0 {
			part = "--" + part
		}
		argv = append(argv, part)
	}
	return argv
}

func (p process) main() bool {
	return !slices.ContainsFunc(p.argv, func(a string) bool { return strings.HasPrefix(a, "--type=") || a == "--monitor-self" })
}

func (p process) ours() bool { return slices.Contains(p.argv, mark) }

// holds tells whether the process was started on the directory, however it spells it. In a rewritten command line the page may follow.
func (p process) holds(userData string) bool {
	for _, a := range p.argv {
		path, found := strings.CutPrefix(a, "--user-data-dir=")
		if found && (path == userData || strings.HasPrefix(path, userData+" ") || p.same(path, userData)) {
			return true
		}
	}
	return false
}

func (p process) same(path, userData string) bool {
	if !filepath.IsAbs(path) {
		path = filepath.Join(p.dir, "cwd", path)
	}
	a, err := os.Stat(path)
	if err != nil {
		return false
	}
	b, err := os.Stat(userData)
	return err == nil && os.SameFile(a, b)
}
