package cli

import (
	"context"
	"os/exec"
	"syscall"
	"time"

	"github.com/5dive/browser/internal/fault"
	"github.com/5dive/browser/serve/api"
)

// saveGrace is how long Chrome may take to end: its cookies are on disk after 30 s at the latest.
const saveGrace = 36 * time.Second

// window runs a browser on the caller's own display and waits for its end.
type window struct {
	grace time.Duration
	env   func(string) string
}

// run starts w and returns when it has ended: by the person, or asked to when ctx or ended closes. It is asked by one SIGINT, since a second
// one kills Chrome before it has saved; for that reason it has a process group of its own, where Ctrl-C of the terminal does not
// reach it. killed tells that it had to be killed after the grace.
func (r window) run(ctx context.Context, w api.Window, ended <-chan struct{}) (killed bool, err error) {
	if len(w.Argv) == 0 {
		return false, fault.New(fault.Failed, "cannot open the window: the seat service named no program")
	}
	cmd := &exec.Cmd{Path: w.Argv[0], Args: w.Argv, Dir: w.Dir, Env: r.environment(w.Env),
		SysProcAttr: &syscall.SysProcAttr{Setpgid: true}}
	if err := cmd.Start(); err != nil {
		return false, fault.New(fault.Missing, "cannot open the window: %w", err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err := <-exited:
		return false, windowEnd(err)
	case <-ctx.Done():
	case <-ended:
	}
	cmd.Process.Signal(syscall.SIGINT)
	late := time.NewTimer(r.grace)
	defer late.Stop()
	select {
	case <-exited:
	case <-late.C:
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		<-exited
		killed = true
	}
	return killed, context.Cause(ctx)
}

// windowEnd tells a browser that could not run from one that the person closed.
func windowEnd(err error) error {
	if err != nil {
		return fault.New(fault.Failed, "the browser ended badly: %w", err)
	}
	return nil
}

// environment is that of the seat service, with the display of the caller.
func (r window) environment(env []string) []string {
	env = append([]string{}, env...)
	for _, name := range []string{"DISPLAY", "XAUTHORITY"} {
		if value := r.env(name); value != "" {
			env = append(env, name+"="+value)
		}
	}
	return env
}
