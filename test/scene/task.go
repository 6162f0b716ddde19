package scene

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Task is one process, zombies included.
type Task struct {
	PID, PPID, UID int
	State          string // as in proc(5): R, S, D, Z, T ...
	Name           string // of the executable, 15 bytes of it
	Argv           []string
}

// Zombie tells whether it has ended and was not waited for.
func (p Task) Zombie() bool { return p.State == "Z" }

func (p Task) String() string {
	return fmt.Sprintf("%d (parent %d, %s) %s %.120s", p.PID, p.PPID, p.State, p.Name, strings.Join(p.Argv, " "))
}

// Tasks lists the processes of a user, zombies included.
func Tasks(uid int) []Task {
	return slices.DeleteFunc(AllTasks(), func(p Task) bool { return p.UID != uid })
}

// AllTasks lists every process.
func AllTasks() []Task {
	entries, _ := os.ReadDir("/proc")
	var all []Task
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil {
			if p, ok := look(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

func look(pid int) (Task, bool) {
	dir := "/proc/" + strconv.Itoa(pid)
	status, err := os.ReadFile(dir + "/status")
	if err != nil {
		return Task{}, false
	}
	p := Task{PID: pid, Name: field(status, "Name:"), State: field(status, "State:")}
	p.PPID, _ = strconv.Atoi(field(status, "PPid:"))
	p.UID, _ = strconv.Atoi(field(status, "Uid:"))
	line, _ := os.ReadFile(dir + "/cmdline")
	for _, a := range bytes.Split(bytes.TrimRight(line, "\x00"), []byte{0}) {
		p.Argv = append(p.Argv, string(a))
	}
	if len(p.Argv) == 1 && strings.Contains(p.Argv[0], " --") {
		p.Argv = strings.Fields(p.Argv[0]) // Chrome writes its own anew, with spaces
	}
	return p, true
}

// field is the first word behind a name of /proc/PID/status.
func field(status []byte, name string) string {
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, name); ok {
			if f := strings.Fields(rest); len(f) > 0 {
				return f[0]
			}
		}
	}
	return ""
}

// Signal sends a signal to a process, which must be there.
func Signal(t testing.TB, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatalf("cannot send %v to process %d: %v", sig, pid, err)
	}
}

// Ended waits until a process is gone, waited for by its parent too.
func Ended(t testing.TB, pid int, within time.Duration) {
	t.Helper()
	Until(t, within, fmt.Sprintf("the end of process %d", pid), func() bool { _, there := look(pid); return !there })
}

// Alive tells whether a process is there and no zombie.
func Alive(pid int) bool {
	p, there := look(pid)
	return there && !p.Zombie()
}

// Until waits for something that can only be looked at.
func Until(t testing.TB, within time.Duration, what string, ok func() bool) {
	t.Helper()
	if !Happens(within, ok) {
		t.Fatalf("waited %v for %s", within, what)
	}
}

// Happens is Until without a test: it tells whether the thing came about.
func Happens(within time.Duration, ok func() bool) bool {
	deadline := time.Now().Add(within)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		if time.Now().After(deadline) {
			return false
		}
		<-tick.C
	}
	return true
}

// Segments are the ids of the SysV shared memory segments that /proc shows here, with owner and mode.
func Segments() ([]Segment, error) {
	text, err := os.ReadFile("/proc/sysvipc/shm")
	if err != nil {
		return nil, err
	}
	var all []Segment
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		f := strings.Fields(line)
		if i == 0 || len(f) < 8 {
			continue
		}
		var s Segment
		s.ID, _ = strconv.Atoi(f[1])
		mode, _ := strconv.ParseInt(f[2], 8, 32)
		s.Mode = int(mode) & 0o777
		s.Size, _ = strconv.Atoi(f[3])
		s.UID, _ = strconv.Atoi(f[7])
		all = append(all, s)
	}
	return all, nil
}

// Segment is one SysV shared memory segment.
type Segment struct{ ID, Mode, Size, UID int }

// Attach maps a segment, for writing or for reading only, and gives its bytes to use, nil for nobody.
func (s Segment) Attach(write bool, use func([]byte)) error {
	flag := unix.SHM_RDONLY
	if write {
		flag = 0
	}
	b, err := unix.SysvShmAttach(s.ID, 0, flag)
	if err != nil {
		return err
	}
	if use != nil {
		use(b)
	}
	return unix.SysvShmDetach(b)
}

// Limit is a context for one step. The machine may be slow: a limit is there to end a test, not to measure.
func Limit(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}
