package display

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/5dive/browser/internal/fault"
	"golang.org/x/sys/unix"
)

// child is one process that we started, alone in its process group. Its goroutine waits for it; done is closed then.
type child struct {
	name string
	pid  int
	done chan struct{}
	said *tail
}

// spec says how a child is started.
type spec struct {
	path  string
	args  []string
	env   []string
	dir   string
	files []*os.File // descriptors 3 and up
	io    *os.File   // stdin and stdout, when the child speaks there; else /dev/null
	// follow: the child gets SIGTERM when this process dies. Never for Chrome or Xvfb: the signal is sent once for each
	// thread of the dying process that inherits the child, and a second one makes Chrome drop its cookies.
	follow bool
}

// spawn starts a child. The thread that forks lives until the child has ended, because the kernel sends a
// parent-death signal when that thread ends, not when the process does.
func spawn(s spec) (*child, error) {
	c := &child{name: s.args[0], done: make(chan struct{}), said: &tail{}}
	// What this process inherited open, a socket of systemd's for example, would go on to the child.
	unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC)
	cmd := &exec.Cmd{
		Path: s.path, Args: s.args, Env: s.env, Dir: s.dir, ExtraFiles: s.files, Stderr: c.said,
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true},
		WaitDelay:   endGrace, // a grandchild may hold stderr
	}
	if s.io != nil {
		cmd.Stdin, cmd.Stdout = s.io, s.io
	}
	if s.follow {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGTERM
	}
	started := make(chan error)
	go func() {
		if s.follow {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
		}
		err := cmd.Start()
		if err == nil {
			c.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			cmd.Wait()
			close(c.done)
		}
	}()
	err := <-started
	if errors.Is(err, os.ErrNotExist) {
		return nil, missing(s.args[0])
	}
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot start %s: %w", s.args[0], err)
	}
	return c, nil
}

// end asks the child to end, kills its group after the grace, and waits.
func (c *child) end() {
	c.signal(syscall.SIGTERM)
	timer := time.NewTimer(endGrace)
	defer timer.Stop()
	select {
	case <-c.done:
	case <-timer.C:
		c.signal(syscall.SIGKILL)
		<-c.done
	}
}

// signal is sent to the whole group, while the leader is known not to be reaped.
func (c *child) signal(sig syscall.Signal) {
	select {
	case <-c.done:
	default:
		syscall.Kill(-c.pid, sig)
	}
}

// tail keeps the first part of what a child says on stderr, for an error text.
type tail struct {
	mu   sync.Mutex
	text []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if room := 4096 - len(t.text); room > 0 {
		t.text = append(t.text, p[:min(room, len(p))]...)
	}
	return len(p), nil
}

// last is the last line that says something.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := strings.FieldsFunc(string(t.text), func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" && line != "(EE)" {
			return line
		}
	}
	return "it said nothing"
}
